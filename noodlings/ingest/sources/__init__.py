"""One file for each kind of source: what is read, and the records it yields."""
