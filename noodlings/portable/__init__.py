"""Agents in a file that a person can read, and that another noodlings takes in; and one person's own data.

One JSON object a line: first the name of the format and its version, then each agent with its state, its
memories, its traces and its links, in the order of their numbers, and last how many of each there were.
"""
