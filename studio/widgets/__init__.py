"""Drawings in the cells of a terminal. Each is handed what it shows, and none knows a source."""
