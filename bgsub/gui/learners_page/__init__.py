"""The window that shows learners at work."""
