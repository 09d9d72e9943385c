"""Adapters of the port `Embedder`: texts to vectors. Only the composition root imports them."""
