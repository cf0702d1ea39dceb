"""Compiled rules and stores of the learners."""
