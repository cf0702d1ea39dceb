"""Damaged inputs and absurd arguments for `bgsub`: whatever it is given, it must explain itself in one line."""
