"""Adapters of the port `Voice`: the offline voice and OpenAI-compatible models."""
