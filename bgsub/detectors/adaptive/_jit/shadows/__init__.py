"""Compiled search for shadows: what looks like darkened background, and what of it is voted shadow."""
