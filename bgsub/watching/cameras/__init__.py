"""From one camera to its events, on a thread of its own."""
