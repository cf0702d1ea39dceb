"""Labels: painted, compared with masks, and used to suggest settings."""
