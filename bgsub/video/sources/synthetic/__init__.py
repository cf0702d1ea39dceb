"""Generated scenes with ground truth."""
