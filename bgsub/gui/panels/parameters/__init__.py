"""Parameters of a detector: their words, their form and their files."""
