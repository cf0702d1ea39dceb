"""Compiled perceptrons, in kernel space and linear."""
