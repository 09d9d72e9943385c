"""Scenes: one moment of one character, written down in a file, to hear what each transistor makes of it."""
