"""The commands one can type in the world. Importing this package declares them all in `registry`."""

from commands import agents, corrections, event, focus, help, links, memories, mood, recall, talk, why
from commands.registry import registry

__all__ = [
    "agents",
    "corrections",
    "event",
    "focus",
    "help",
    "links",
    "memories",
    "mood",
    "recall",
    "registry",
    "talk",
    "why",
]
