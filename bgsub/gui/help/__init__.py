"""Pages of help: about, keys, and the guide to tuning."""
