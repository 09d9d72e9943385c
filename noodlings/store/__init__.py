"""Where agents are kept: the adapters of the port `noodlings.ports.Repository`.

`SqlStore` (sql.py) keeps them in one SQLite file, `MemoryStore` (memory.py) in a database without a file, for
as long as the process lives.
"""
