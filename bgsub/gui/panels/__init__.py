"""The panels around the panes."""
