"""Compiled comparison of frame and background: what it says about camera and light, and another light's background."""
