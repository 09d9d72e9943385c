"""The panes, one a file, in the order of their tabs."""

from studio.panes.affect import Affect
from studio.panes.base import Pane
from studio.panes.episodic import Episodic
from studio.panes.flow import Flow
from studio.panes.people import People
from studio.panes.state import State
from studio.panes.stats import Stats
from studio.panes.subconscious import Subconscious
from studio.panes.talk import Talk
from studio.panes.transistors import Transistors
from studio.panes.what_if import WhatIf
from studio.panes.working import Working

PANES: tuple[type[Pane], ...] = (
    Talk,
    Flow,
    Working,
    Episodic,
    Affect,
    Subconscious,
    Transistors,
    State,
    WhatIf,
    Stats,
    People,
)
PANE_KEYS = (*"1234567890", "minus")
"""The key of each pane."""
