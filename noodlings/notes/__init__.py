"""Notes: every memory that ever mattered, as a Markdown file beside the database.

They are copies, for people and for the day the database cannot be opened: made in the background, made again
by a command, gone with what is forgotten. Nothing is ever read back from them into a memory. Layout:

    notes/<agent>/YYYY/MM/DD/HH_MM_SS_memory_<id>.md        UTC; ids are numbers within an agent
"""
