"""What the viewer does without widgets: playing, detecting, recording."""
