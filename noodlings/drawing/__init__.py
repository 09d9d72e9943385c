"""What is drawn in a terminal, whoever draws it: marks, a screen, progress."""
