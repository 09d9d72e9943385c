"""Language models behind an OpenAI-compatible endpoint: the gateway to them, and what they are asked."""
