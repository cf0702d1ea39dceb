"""The page that shows learners at work."""
