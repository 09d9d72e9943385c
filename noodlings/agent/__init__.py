"""Agents: the way of one event from percept to trace, and the society they form."""
