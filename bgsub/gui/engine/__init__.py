"""The viewer without widgets: playing, detecting, recording."""
