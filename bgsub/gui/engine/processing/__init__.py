"""What happens to one frame, and what is kept of it: results to look back at, and models to go on from."""
