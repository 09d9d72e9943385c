"""Transistors: each colours a thought by one thing that is in the character, before it is said."""
