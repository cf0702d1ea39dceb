"""The viewer: watch, understand and tune a detector live. The only package that knows Qt.

`settings`, `mailbox`, `history`, `lane`, `player`, `render`, `recording` and `engine` are plain Python: the engine does
one frame at a time on the worker's thread. `session` is what widgets talk to; `main_window` puts the widgets together.
"""
