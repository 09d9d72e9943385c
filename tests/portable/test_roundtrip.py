"""What is exported and imported again is the same, to the last byte."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.portable.export import Exported, export
from noodlings.portable.intake import check, take_in
from noodlings.ports import Changes
from noodlings.store.sql import SqlStore
from noodlings.store.transfer import snapshot
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ArchivedAgent, ArchivedEntry, ArchivedSymbol, Link, LinkType, MemoryEntry
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace
from tests.store.records import (
    a_symbol,
    a_trace,
    an_entry,
    entries,
    moments,
    same,
    symbols,
    taken_records,
    traces,
    unit,
)
from tests.thorough import examples

NUMBERS = count()
QUIET = Settings(embedding={"model": "none"})


def exported(folder: Path, *agents: str) -> tuple[bytes, Exported]:
    lines = io.StringIO()
    with snapshot(folder) as kept:
        done = export(kept, agents or kept.agents(), lines.write)
    return lines.getvalue().encode(), done


def imported(folder: Path, content: bytes) -> None:
    file = io.BytesIO(content)
    found = check(file, lambda number: None)
    with closing(SqlStore(folder)) as into:
        take_in(file, found.agents, into, lambda number: None)


def told(
    folder: Path, agent_id: str
) -> tuple[
    ArchivedAgent, list[ArchivedEntry], list[Trace], list[Link], list[ArchivedSymbol], list[IngestedRecord]
]:
    with snapshot(folder) as kept:
        return (
            kept.agent(agent_id),
            list(kept.entries(agent_id)),
            list(kept.traces(agent_id)),
            list(kept.links(agent_id)),
            list(kept.symbols(agent_id)),
            list(kept.taken(agent_id)),
        )


def talk(folder: Path) -> None:
    """A real society's talk, kept in a folder."""
    society = build(QUIET, clock=ManualClock(1_000_000.0), store=SqlStore(folder))

    async def tell(agent_id: str, text: str) -> None:
        society.clock.advance(60)  # type: ignore[attr-defined]
        await society.perceive(agent_id, Percept("user_caity", text, society.clock.now(), addressed=True))

    async def talk() -> None:
        for text in ("My dog died yesterday", "hello", "Do you remember my dog?", "ünïcödé 漢字 🦆"):
            for agent_id in ("phi", "servnak"):
                await tell(agent_id, text)

    asyncio.run(talk())
    society.close()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two folders for all the examples of a property; each example has an agent of its own."""
    return tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talked")
    talk(folder)
    return folder


@st.composite
def whole_agents(
    draw: st.DrawFn,
) -> tuple[list[ArchivedEntry], list[Trace], list[Link], list[ArchivedSymbol]]:
    """Memories with rising numbers, and traces, links and symbols that refer to them."""
    ids = sorted(draw(st.sets(st.integers(1, 2**52), max_size=5)))
    made = draw(st.lists(entries, min_size=len(ids), max_size=len(ids)))
    kept = [
        ArchivedEntry(
            replace(entry, id=number, stability=max(entry.stability, 1e-300)),
            *draw(st.sampled_from([(False, False), (False, True), (True, True)])),
        )
        for number, entry in zip(ids, made, strict=True)
    ]
    if not ids:
        return [], [], [], []
    turns = draw(st.sets(st.sampled_from(ids), max_size=3))
    told = [replace(draw(traces), entry_id=number) for number in sorted(turns)]
    ends = draw(st.sets(st.permutations(ids).map(lambda some: tuple(some[:2])), max_size=3))
    links = []
    for pair in sorted(ends):
        if len(pair) == 2:
            older_first = pair[0] < pair[1]
            types = [kind for kind in LinkType if not (older_first and kind is LinkType.REPLACED)]
            links.append(Link(*pair, draw(st.sampled_from(types)), draw(unit), draw(moments)))
    made_of_them = [
        ArchivedSymbol(replace(symbol, entry_id=draw(st.sampled_from(ids))), draw(st.booleans()))
        for symbol in draw(st.lists(symbols, max_size=3, unique_by=lambda symbol: symbol.id))
    ]
    return kept, told, links, sorted(made_of_them, key=lambda made: made.symbol.id)


some_taken = st.lists(taken_records, max_size=4, unique_by=lambda one: (one.source, one.id))


@settings(max_examples=examples(60))
@given(whole_agents(), st.integers(0, 9), some_taken)
@pytest.mark.slow
def test_any_memories_come_back_as_they_were(
    folders: tuple[Path, Path],
    talked: Path,
    made: tuple[list[ArchivedEntry], list[Trace], list[Link], list[ArchivedSymbol]],
    beyond: int,
    given_to_it: list[IngestedRecord],
) -> None:
    here, there = folders
    kept, turns, links, images = made
    agent_id = f"agent_{next(NUMBERS)}"
    state = told(talked, "phi")[0].state
    last_id = min(max([entry.entry.id for entry in kept], default=0) + beyond, 2**52)
    turns = [replace(turn, agent_id=agent_id) for turn in turns]
    with closing(SqlStore(here)) as into:
        last_symbol_id = max([made.symbol.id for made in images], default=0)
        agent = ArchivedAgent(agent_id, last_id, state, last_symbol_id)
        into.take_in(agent, [*kept, *turns, *links, *images, *given_to_it])

    content, done = exported(here, agent_id)
    assert (done.entries, done.traces, done.links) == (len(kept), len(turns), len(links))
    assert (done.symbols, done.records, done.left_out) == (len(images), len(given_to_it), 0)
    imported(there, content)
    assert exported(there, agent_id)[0] == content

    before, after = told(here, agent_id), told(there, agent_id)
    assert replace(before[0], state={}) == replace(after[0], state={})
    assert before[2:] == after[2:]
    for one, other in zip(before[1], after[1], strict=True):
        assert equal(one.entry, other.entry)
        assert (one.episodic, one.consolidated) == (other.episodic, other.consolidated)


def equal(one: MemoryEntry, other: MemoryEntry) -> bool:
    """Equal but for the precision of a state that single precision holds as well."""
    a, b = one.phenomenal_state, other.phenomenal_state
    if a is None or b is None:
        return same(one, other)
    bare = [replace(entry, phenomenal_state=None) for entry in (one, other)]
    return same(*bare) and np.array_equal(a, b)


@pytest.mark.slow
def test_an_agent_that_came_from_a_file_goes_on_as_if_nothing_had_been(talked: Path, tmp_path: Path) -> None:
    content, _ = exported(talked)
    imported(tmp_path, content)

    async def goes_on(folder: Path) -> tuple[Any, ...]:
        store = SqlStore(folder)
        society = build(QUIET, clock=ManualClock(2_000_000.0), store=store)
        percept = Percept("user_caity", "What about my dog?", 2_000_000.0, addressed=True)
        trace = await society.perceive("phi", percept)
        state, stats = society.agents["phi"].state(), society.agents["phi"].memory.stats()
        society.close()
        return replace(trace, milliseconds={}), state, stats

    here, there = (asyncio.run(goes_on(copy)) for copy in (copied(talked, tmp_path / "copy"), tmp_path))
    assert here == there
    assert "dog" in here[0].response


def copied(folder: Path, to: Path) -> Path:
    from noodlings.store.backup import back_up

    back_up(folder, to)
    return to


def test_one_agent_alone(talked: Path, tmp_path: Path) -> None:
    content, done = exported(talked, "phi")
    assert (done.agents, done.entries) == (["phi"], 4)
    imported(tmp_path, content)
    assert exported(tmp_path)[0] == content
    assert (
        b"servnak" not in content.lower().replace(b'"servnak"', b"servnak")
        or b'"agent": "servnak"' not in content
    )


def test_an_agent_without_a_state_or_memories(tmp_path: Path) -> None:
    store = SqlStore(tmp_path / "here")
    store.commit(Changes("phi"))
    store.close()
    content, _ = exported(tmp_path / "here")
    imported(tmp_path / "there", content)
    assert exported(tmp_path / "there")[0] == content


def test_nobody_at_all(tmp_path: Path) -> None:
    SqlStore(tmp_path / "here").close()
    content, _ = exported(tmp_path / "here")
    assert len(content.splitlines()) == 2
    imported(tmp_path / "there", content)
    assert exported(tmp_path / "there")[0] == content


def test_a_person_can_read_it(talked: Path) -> None:
    lines = [json.loads(line) for line in exported(talked)[0].decode().splitlines()]
    assert lines[0] == {"format": "noodlings-export", "version": 1}
    sorts = [line["type"] for line in lines[1:]]
    assert sorts[:9] == ["agent", *["entry"] * 4, *["trace"] * 4]
    assert sorts[-1] == "end"
    assert sorts.count("link") == lines[-1]["links"] > 0
    entry = lines[2]
    assert (entry["agent"], entry["id"], entry["user_text"]) == ("phi", 1, "My dog died yesterday")
    assert entry["episodic"] is True
    assert len(entry["phenomenal_state"]) == 40
    assert set(entry["affect"]) == {"valence", "arousal", "fear", "sorrow", "boredom"}
    assert "漢字 🦆" in lines[5]["user_text"]
    assert all(number == number for row in lines[1]["state"]["mind"]["readout"] for number in row)
    longest = max(len(text) for text in strings(lines))
    assert longest < 400, "nothing is packed away in base64"


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


def test_what_no_import_would_take_is_left_out_and_the_rest_can_be_imported(tmp_path: Path) -> None:
    fine, bad = {"stability": 9.0}, {"stability": -1.0}
    with closing(SqlStore(tmp_path / "here")) as into:
        into.take_in(
            ArchivedAgent("phi", 3, {"version": 99}, 5),
            [
                *(
                    ArchivedEntry(an_entry(number, **with_))
                    for number, with_ in ((1, fine), (2, bad), (3, fine))
                ),
                a_trace(1),
                a_trace(2),
                Link(3, 1, LinkType.FOLLOWED, 0.5, 1.0),
                Link(3, 2, LinkType.FOLLOWED, 0.5, 1.0),
                ArchivedSymbol(a_symbol(1, 3)),
                ArchivedSymbol(a_symbol(2, 2)),
                ArchivedSymbol(a_symbol(4, 3, salience=7.0)),
            ],
        )
    content, done = exported(tmp_path / "here")
    assert (done.entries, done.traces, done.links, done.symbols, done.left_out) == (2, 1, 1, 1, 3)
    imported(tmp_path / "there", content)
    agent, kept, _, links, images, _ = told(tmp_path / "there", "phi")
    assert agent == ArchivedAgent("phi", 3, {}, 5)
    assert [entry.entry.id for entry in kept] == [1, 3]
    assert len(links) == 1
    assert images == [ArchivedSymbol(a_symbol(1, 3))]


def test_what_was_taken_in_what_waits_and_what_was_forgotten_go_along(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    store = SqlStore(here)
    waits = IngestedRecord("talk:log", "2", "cd", None, "past:bob", 2, "find: no", {"text": "hm"})
    kept = IngestedRecord("talk:log", "1", "ab", 1)
    store.commit(Changes("phi", added=(an_entry(1, source="talk:log", stability=9.0),), taken=(kept, waits)))
    store.commit(Changes("phi", taken=(IngestedRecord("talk:log", "3"),)))
    store.close()
    content, done = exported(here)
    assert (done.entries, done.records) == (1, 3)
    imported(there, content)
    assert exported(there)[0] == content
    store = SqlStore(there)
    assert store.taken("phi", "talk:log", ["1", "2", "3"]) == {
        "1": kept,
        "2": waits,
        "3": IngestedRecord("talk:log", "3"),
    }
    assert store.entries("phi", [1])[1].source == "talk:log"
    store.close()


def test_who_has_no_sources_is_written_as_before_there_were_any(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    store.commit(Changes("phi", added=(an_entry(1, stability=9.0),)))
    store.close()
    content, done = exported(tmp_path)
    assert done.entries == 1
    assert b'"source"' not in content
    assert b'"records"' not in content


@pytest.mark.parametrize("kept", [{"where": "at [email address] " + "x" * 400}, "rain", ["rain"]])
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"distance": -1.0}, "distance is -1.0: it must be a number"),
        ({"when": 7}, "when does not fit"),
        ({"goals": ["x"] * 17}, "at most 16"),
    ],
)
def test_malformed_circumstances_are_refused_and_what_a_host_calls_so_is_not(
    tmp_path: Path, kept: object, wrong: dict[str, Any], why: str
) -> None:
    extra = {"data": {"circumstances": kept}}
    with closing(SqlStore(tmp_path / "here")) as store:
        store.commit(Changes("phi", added=(replace(an_entry(1), extra=extra, stability=1.0),)))
    content, _ = exported(tmp_path / "here")
    broken = content.replace(json.dumps(kept).encode(), json.dumps(wrong).encode())
    with pytest.raises(UserError, match=f"line 3: extra: circumstances.*{why}"):
        imported(tmp_path / "there", broken)
    imported(tmp_path / "there", content)
    assert told(tmp_path / "there", "phi")[1][0].entry.extra == extra
