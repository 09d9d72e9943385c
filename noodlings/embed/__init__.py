"""Texts to vectors: the adapters of the port `Embedder`, and the queue that asks one for all agents."""
