"""From a file of events to those who are to know of them: each event once, in order, across restarts."""
