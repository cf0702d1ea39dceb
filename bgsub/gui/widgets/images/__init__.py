"""Panes as widgets: images, what is drawn above them, and how they are arranged."""
