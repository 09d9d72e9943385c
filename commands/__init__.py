"""The commands one can type in the world. Importing this package declares them all in `registry`."""

from commands.registry import registry

__all__ = ["registry"]
