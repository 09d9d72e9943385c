"""Export and import of agents as text, and the data of one person.

An export has one JSON object a line: first the name of the format and its version, then each agent with its
state, its memories, its traces and its links, in the order of their numbers, and last how many of each.
"""
