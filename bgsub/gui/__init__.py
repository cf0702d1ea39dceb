"""The viewer: watch, understand and tune a detector live. The only package that knows Qt.

`app` starts it. `main_window` arranges `panels` and `widgets` around a `session`, and builds `menus` from `commands`.
The session runs `engine` on a worker's thread; engine, `messages` and `panes` are plain Python without Qt.
"""
