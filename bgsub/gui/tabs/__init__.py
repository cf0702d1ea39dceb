"""Several sources in one window: tabs, and the cameras of a watch as a grid."""
