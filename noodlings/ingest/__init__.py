"""A past that began elsewhere: logs, documents, lore, the history of a repository.

A source reads a file and yields records; the pipeline turns each into a memory, once.
"""
