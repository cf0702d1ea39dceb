"""Perceptrons and their kin: learners that change on a mistake or a small margin, by a step of a fixed form."""
