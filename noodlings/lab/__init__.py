"""Trying things out: recorded talk replayed, scenes played, simulations, and evaluations on data."""
