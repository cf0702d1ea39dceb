"""Learners made of learners."""
