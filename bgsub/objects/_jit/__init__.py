"""Compiled loops over labels."""
