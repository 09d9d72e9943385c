"""Personal data that is found is not remembered, or told to nobody who was not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.host.visit import opened
from noodlings.values.affect import NEUTRAL
from noodlings.values.percept import Percept

ANN, BOB, EVE = "user_ann", "user_bob", "user_eve"
LINE = "my address is ann.may@example.org and my number is +44 20 7946 0958"


def settings(folder: Path, personal: Literal["none", "raise", "mask"]) -> Settings:
    return Settings(
        store={"path": str(folder)},
        embedding={"model": "none"},
        privacy={"personal": personal},
        log={"level": "debug"},
    )


async def told(folder: Path, personal: Literal["none", "raise", "mask"]) -> tuple[str, bool, tuple[str, ...]]:
    """What is remembered of a line, whether only those may learn it who were there, and the trace."""
    with opened(settings(folder, personal), ManualClock(1e6)) as society:
        said = Percept(ANN, LINE, 1e6, addressed=True, present=frozenset({BOB}))
        trace = await society.perceive("phi", said)
        (entry,) = society.store.archive("phi")
        assert said.text == LINE  # what the world shows
        if personal == "raise":
            asked = Percept(EVE, "what is the number of ann?", 1e6 + 60.0, addressed=True)
            later = await society.perceive("phi", asked)
            assert later.recalled == ()
        return entry.user_text, entry.audience.confined, trace.degraded


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_by_default_nothing_is_done(tmp_path: Path) -> None:
    assert await told(tmp_path, "none") == (LINE, False, ())


async def test_what_is_masked_is_in_no_file(tmp_path: Path) -> None:
    text, confined, degraded = await told(tmp_path, "mask")
    assert text == "my address is [e-mail address] and my number is [telephone number]"
    assert not confined
    assert degraded == ("not remembered, because it is personal: e-mail address, telephone number",)
    assert b"ann.may" not in everything(tmp_path)
    assert b"7946" not in everything(tmp_path)


async def test_what_is_raised_is_for_those_who_were_there(tmp_path: Path) -> None:
    text, confined, degraded = await told(tmp_path, "raise")
    assert (text, confined) == (LINE, True)
    why = "confined to those present, because it is personal: e-mail address, telephone number"
    assert degraded == (why,)


async def test_a_fact_by_hand_is_masked_too(tmp_path: Path) -> None:
    with opened(settings(tmp_path, "mask"), ManualClock(1e6)) as society:
        fact = await society.agents["phi"].know(ANN, "writes from ann.may@example.org", "api_admin")
        assert fact.user_text == "writes from [e-mail address]"


def test_what_a_source_told_is_masked_too(tmp_path: Path) -> None:
    with opened(settings(tmp_path, "mask"), ManualClock(1e6)) as society:
        entry = society.agents["phi"].remember_told(Percept(ANN, LINE, 1e6), "log", NEUTRAL, 0.5)
        assert "[telephone number]" in entry.user_text


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    with pytest.raises(UserError, match=r"pip install 'noodlings\[privacy\]'"):
        build(settings(tmp_path, "mask"))
