"""The main window: its menus, its handlers of commands, and what it remembers."""
