"""For old agent bridges: a list of rows with a hierarchical memory behind it."""
