"""Compiled filters: least mean squares, recursive least squares."""
