"""Memory: what is kept, how strongly, and how it is found again by importance and by feeling."""
