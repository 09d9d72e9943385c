"""The commands one can type in the world. Importing this package declares them all in `registry`."""

from commands import (
    agents,
    chronicle,
    corrections,
    event,
    help,
    journal,
    links,
    memories,
    people,
    recall,
    recipes,
    symbols,
    talk,
    why,
)
from commands.registry import registry

__all__ = [
    "agents",
    "chronicle",
    "corrections",
    "event",
    "help",
    "journal",
    "links",
    "memories",
    "people",
    "recall",
    "recipes",
    "registry",
    "symbols",
    "talk",
    "why",
]
