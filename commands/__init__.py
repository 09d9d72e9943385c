"""The commands one can type in the world. Importing this package declares them all in `registry`."""

from commands import (
    agents,
    browse,
    corrections,
    event,
    focus,
    help,
    links,
    memories,
    mood,
    recall,
    recipes,
    symbols,
    talk,
    why,
)
from commands.registry import registry

__all__ = [
    "agents",
    "browse",
    "corrections",
    "event",
    "focus",
    "help",
    "links",
    "memories",
    "mood",
    "recall",
    "recipes",
    "registry",
    "symbols",
    "talk",
    "why",
]
