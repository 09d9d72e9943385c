"""A small village keeps its secrets, by every door; and is seen not to, where nothing is confined."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.village import DOORS, village
from noodlings.values.audience import Audience
from noodlings.values.percept import Percept

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def test_nobody_learns_what_was_not_meant_for_them(tmp_path: Path) -> None:
    watch = await village(tmp_path / "data", questions=50, moments=45, told_on=2)
    assert watch.leaks == []
    assert watch.asked.keys() == {*DOORS, "live stream", "who told you"}
    assert watch.prompts > 100
    assert sum(among is not None for among in watch.meant_for.values()) > 10
    assert watch.sources
    assert all(watch.sources)


async def test_where_nothing_is_confined_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Percept, "heard_by", property(lambda percept: Audience(percept.listeners)))
    assert (await village(tmp_path / "data", questions=8, moments=12, told_on=0)).leaks
