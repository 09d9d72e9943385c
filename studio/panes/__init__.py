"""The panes, one a file, in the order of their tabs."""

from studio.panes.base import Pane
from studio.panes.stats import Stats

PANES: tuple[type[Pane], ...] = (Stats,)
