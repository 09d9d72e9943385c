"""Where agents are kept: the adapters of the port `noodlings.ports.Repository`.

`SqlStore` (sql.py) keeps them in one SQLite file, `MemoryStore` (memory.py) for as long as it lives. Nothing
is imported here, so that importing one does not load the other.
"""
