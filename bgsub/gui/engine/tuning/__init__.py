"""Settings that agree better with labels, looked for in the background."""
