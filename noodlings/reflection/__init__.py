"""Reflection: what a mind makes of what happened, on evidence; so far what it knows of people."""
