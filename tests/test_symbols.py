"""The whole program: an intense moment leaves a symbol that comes back, lasts and can be forgotten."""

from __future__ import annotations

from pathlib import Path

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.audience import Audience
from noodlings.values.percept import Kind, Percept

FATHER_IN_LAW = "My father-in-law shouted at me: my report is worthless! I am terrified of him"
BOSS = "My boss screams at me, I am so scared that I will lose my job"


def a_society(folder: Path, **memory: object) -> Society:
    settings = Settings(
        store={"path": str(folder)},  # type: ignore[arg-type]
        embedding={"model": "none"},  # type: ignore[arg-type]
        thought={"ruminate": False},  # type: ignore[arg-type]
        memory=memory,  # type: ignore[arg-type]
    )
    return build(settings, clock=ManualClock(1_000_000.0), store=SqlStore(folder))


async def hear(society: Society, text: str, **more: object) -> int:
    society.clock.advance(60)  # type: ignore[attr-defined]
    percept = Percept("user_caity", text, society.clock.now(), **{"addressed": True, **more})  # type: ignore[arg-type]
    return (await society.perceive("phi", percept)).entry_id


async def test_an_intense_moment_leaves_a_symbol_and_calm_ones_leave_none(tmp_path: Path):
    society = a_society(tmp_path)
    subconscious = society.agents["phi"].subconscious
    for calm in ("hello", "what time is it?", "the mill is on the hill"):
        await hear(society, calm)
    assert subconscious.symbols == ()
    entry_id = await hear(society, FATHER_IN_LAW)
    (symbol,) = subconscious.symbols
    assert (symbol.entry_id, symbol.literal_event, symbol.made_by) == (entry_id, FATHER_IN_LAW, "images")
    assert (symbol.timestamp, symbol.audience.confined) == (society.clock.now(), True)
    society.close()


async def test_a_like_feeling_brings_it_back_after_a_restart(tmp_path: Path):
    society = a_society(tmp_path)
    await hear(society, FATHER_IN_LAW)
    (symbol,) = society.agents["phi"].subconscious.symbols
    society.close()

    society = a_society(tmp_path)
    phi = society.agents["phi"]
    assert phi.subconscious.symbols == (symbol,)
    await hear(society, BOSS)
    latest = phi.subconscious.symbols[-1]
    assert latest.id == symbol.id + 1
    assert latest.symbolic_encoding != symbol.symbolic_encoding
    assert symbol in phi.subconscious.retrieve_by_affect(phi.affect)
    society.close()


async def test_forgetting_the_moment_takes_the_symbol_and_every_byte_of_it(tmp_path: Path):
    society = a_society(tmp_path)
    phi = society.agents["phi"]
    entry_id = await hear(society, FATHER_IN_LAW)
    (symbol,) = phi.subconscious.symbols
    await hear(society, BOSS)
    phi.forget([entry_id], "user_caity", society.clock.now())
    assert society.store.erase()
    assert symbol.id not in [kept.id for kept in phi.subconscious.symbols]
    society.close()
    content = (tmp_path / "noodlings.db").read_bytes()
    assert symbol.symbolic_encoding.encode() not in content
    assert b"father-in-law" not in content.lower()


async def test_what_was_told_in_private_is_known_to_those_who_know_it(tmp_path: Path):
    society = a_society(tmp_path)
    phi = society.agents["phi"]
    await hear(society, FATHER_IN_LAW, kind=Kind.WHISPER, audience=frozenset({"phi"}))
    (symbol,) = phi.subconscious.symbols
    assert symbol.audience == Audience(frozenset({"user_caity", "phi"}), confined=True)
    assert phi.subconscious.retrieve_by_affect(phi.affect, present=frozenset({"user_bob"})) == []
    society.close()


async def test_a_plain_list_has_none(tmp_path: Path):
    society = a_society(tmp_path, use_hierarchical=False)
    await hear(society, FATHER_IN_LAW)
    assert society.agents["phi"].subconscious.symbols == ()
    society.close()


async def test_the_same_talk_leaves_the_same_symbols(tmp_path: Path):
    made = []
    for _ in range(2):
        settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})  # type: ignore[arg-type]
        society = build(settings, clock=ManualClock(1_000_000.0), store=MemoryStore())
        for line in (FATHER_IN_LAW, "hello", BOSS):
            await hear(society, line)
        made.append(society.agents["phi"].subconscious.symbols)
        society.close()
    assert made[0] == made[1]
    assert len(made[0]) >= 2
