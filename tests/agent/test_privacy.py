"""Personal data that is found is not remembered, or told to nobody who was not there."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Literal

import pytest

from noodlings import app
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.host.visit import opened
from noodlings.ports import Allowance, PersonalDatum
from noodlings.store.cipher import UserKey
from noodlings.text import CleanText
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import confined_to
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Percept
from tests.llm.server import chat, serving
from tests.test_reach import recording

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


def personal(folder: Path, url: str, kind: str, key: bool) -> Settings:
    return Settings(
        store={"path": str(folder)} | ({"key": UserKey(bytes(32)).text} if key else {}),
        embedding={"model": "none"},
        privacy={"personal": kind},
        llm={"base_url": url, "model": "m"},
    )


EARLIER = MemoryEntry(
    id=-1, timestamp=1e6, step=0, user_id=ANN, user_text=CleanText(LINE), affect=None, surprise=0.0,
    encoded_importance=0.0, parts=ImportanceParts(), response="so it is ann.may@example.org?",
    audience=confined_to({"phi", ANN}),
)  # fmt: skip


@pytest.mark.skipif(sys.platform == "darwin", reason="there 127.0.0.2 is no address of the loopback")
@pytest.mark.parametrize(
    ("kind", "key", "shown"),
    [("none", True, True), ("raise", True, False), ("raise", False, True), ("mask", False, False)],
)
async def test_what_a_client_sends_along_is_shown_to_a_model_as_if_it_were_said(
    tmp_path: Path, kind: str, key: bool, shown: bool
) -> None:
    async with serving(chat("I see.")) as model, recording(model.port, "127.0.0.2") as recorder:
        with opened(personal(tmp_path, recorder.url, kind, key), ManualClock(1e6)) as society:
            said = Percept(ANN, "and now?", 1e6, addressed=True)
            trace = await society.perceive("phi", said, earlier=(EARLIER,))
            await society.agents["phi"].answer_again(trace.entry_id, earlier=(EARLIER,))
            assert society.ask is not None
            title = await society.ask([("user", f"Generate a title. USER: {LINE}")], Allowance())
            assert (title is None) == (kind == "raise" and key)
            await society.rest(5.0)
        assert b"and now?" in recorder.sent
        assert (b"ann.may" in recorder.sent) is shown
        assert (b"7946" in recorder.sent) is shown
        assert (b"[e-mail address]" in recorder.sent) is (kind == "mask")


async def test_what_may_be_long_is_looked_through_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = dict[str, bool]()

    def find(text: str) -> tuple[PersonalDatum, ...]:
        where[text] = threading.current_thread() is not threading.main_thread()
        return ()

    monkeypatch.setattr(app, "personal_finder", lambda: find)
    async with serving(chat("I see.")) as model:
        with opened(
            personal(tmp_path, model.settings().base_url, "mask", False), ManualClock(1e6)
        ) as society:
            trace = await society.perceive("phi", Percept(ANN, "and now?", 1e6), earlier=(EARLIER,))
            assert where == {"and now?": False, LINE: True, EARLIER.response: True, "": False}
            where.clear()
            await society.agents["phi"].answer_again(trace.entry_id, earlier=(EARLIER,))
            assert where.pop(LINE)
            assert society.ask is not None
            await society.ask([("user", "Generate a title.")], Allowance())
            assert where["Generate a title."]


async def test_personal_data_in_facts_place_and_things_is_masked(tmp_path: Path) -> None:
    with opened(settings(tmp_path, "mask"), ManualClock(1e6)) as society:
        data = {"mail": "ann.may@example.org", "tags": ["+44 20 7946 0958"], "hp": 3, "more": {"pin": "x"}}
        said = Percept(
            ANN, "hello", 1e6, place="the home of ann.may@example.org", things=("to ann.may@example.org",),
            data=data,
        )  # fmt: skip
        trace = await society.perceive("phi", said)
        entry = society.agents["phi"].entry(trace.entry_id)
        assert entry is not None
        assert entry.place == "the home of [e-mail address]"
        kept = {"mail": "[e-mail address]", "tags": ["[telephone number]"], "hp": 3, "more": {"pin": "x"}}
        assert entry.extra["data"] == kept
    assert b"ann.may" not in everything(tmp_path)


async def test_personal_data_in_a_fact_raises_the_tier(tmp_path: Path) -> None:
    with opened(settings(tmp_path, "raise"), ManualClock(1e6)) as society:
        trace = await society.perceive("phi", Percept(ANN, "hi", 1e6, data={"mail": "ann.may@example.org"}))
        entry = society.agents["phi"].entry(trace.entry_id)
        assert entry is not None
        assert entry.audience.confined
