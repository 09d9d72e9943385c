"""Societies to evaluate with: put together as every other, and keeping nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.memory import MemoryStore

Living = Callable[..., tuple[Society, ManualClock]]


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    """Makes an empty society and its clock."""
    with ExitStack() as opened:

        def make(model: str = "none", **memory: object) -> tuple[Society, ManualClock]:
            settings = Settings(
                embedding={"model": model}, memory=memory, store={"path": str(tmp_path / "nothing")}
            )
            clock = ManualClock()
            return opened.enter_context(closing(build(settings, clock=clock, store=MemoryStore()))), clock

        yield make
