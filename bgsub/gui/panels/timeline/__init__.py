"""What goes with time: playing, curves, and what happened when."""
