"""What happens in a source: looked for ahead of the frame that is shown, and written as a scan is."""
