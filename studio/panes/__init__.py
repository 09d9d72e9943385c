"""The panes, one a file, in the order of their tabs."""

from studio.panes.affect import Affect
from studio.panes.base import Pane
from studio.panes.episodic import Episodic
from studio.panes.stats import Stats
from studio.panes.working import Working

PANES: tuple[type[Pane], ...] = (Stats, Working, Episodic, Affect)
