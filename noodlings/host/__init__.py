"""Processes that hold a society: a visit in the terminal, the server, and what the studio reads."""
