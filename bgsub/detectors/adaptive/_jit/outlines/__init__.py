"""Compiled outlines of the final mask: trimmed to smaller squares, with thin details, and open where gaps show."""
