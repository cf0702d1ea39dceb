"""What the adaptive detector does about its camera: one that shakes, that is knocked or turned, its light and noise."""
