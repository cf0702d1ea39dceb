"""OpenCV's subtractors as detectors, and its names for the parameters of any detector."""
