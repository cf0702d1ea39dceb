"""Compiled functions over whole masks."""
