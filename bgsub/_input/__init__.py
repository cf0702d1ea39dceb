"""Checked reading of files that others made: images, texts and archives, each within limits of size."""
