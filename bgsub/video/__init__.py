"""Frames in and out: sources, the capture thread and sinks."""
