"""The commands one can type in the world. Importing this package declares them all in `registry`."""

from commands import help, memories, talk
from commands.registry import registry

__all__ = ["help", "memories", "registry", "talk"]
