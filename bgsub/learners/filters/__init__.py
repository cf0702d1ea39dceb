"""Kernel adaptive filters: regressors that learn a function sample by sample by least squares."""
