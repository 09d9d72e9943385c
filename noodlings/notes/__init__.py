"""Notes: every memory that ever became episodic, as a Markdown file beside the database.

They are copies for people, and for the day the database cannot be opened. They are made in the background, or
again by a command, and removed with what is forgotten. Nothing is ever read back from them. Layout:

    notes/<agent>/YYYY/MM/DD/HH_MM_SS_memory_<id>.md        UTC; ids are numbers within an agent
"""
