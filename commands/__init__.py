"""The commands one can type in the world. Importing this package declares them all in `registry`."""

from commands import (  # noqa: F401 -- importing them declares their commands
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
from commands.registry import registry as registry
