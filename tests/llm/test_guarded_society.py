"""A society whose model answers badly: no fragment of it is shown, kept, or put into a prompt."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from noodlings.host.visit import rooms_of
from noodlings.values.percept import Percept
from noodlings.worlds.beings import RoomLine
from tests.agent.played import society_of
from tests.llm.answers import BAD, EDDA, GOOD, TOLD
from tests.llm.server import Answer, chat, serving

LINES = (TOLD, "My house burned down, I am terrified")
"""Each of them intense, so that each answer is given for an image as well."""


@pytest.mark.slow
async def test_no_bad_answer_reaches_the_world_the_store_or_a_next_prompt(tmp_path: Path) -> None:
    bad, tellings = BAD[0], [one.nowhere for one in BAD]
    seen: list[RoomLine] = []

    def answer(asked: dict[str, Any]) -> Answer:
        return chat(bad.whole)

    async with serving(answer) as server:
        society = society_of(tmp_path, [EDDA], server.settings(timeout_seconds=30.0))
        world = rooms_of(society)
        world.enter("user_caity", "Caity", seen.append)
        voices = []
        for number, bad in enumerate(BAD):
            society.clock.advance(30.0)  # type: ignore[attr-defined]
            line = LINES[number % len(LINES)]
            before = len(server.asked)
            percept = Percept("user_caity", line, society.clock.now(), addressed=True)
            trace = await society.perceive(bad.who, percept)
            world.answered(bad.who, percept, trace)
            await society.agents[bad.who].settle()
            assert len(server.asked) > before
            voices.append(trace.voice)
            assert (trace.voice == "llm") is bool(bad.said), (bad, trace)
            if bad.said:
                assert trace.response == bad.said
            else:
                assert any(bad.kind in told for told in trace.degraded)
                assert trace.calls == 2
        await world.settle()
        await world.close()
        await society.rest(5.0)
        kept = [society.store.archive(who) for who in ("maren", "edda")]
        records = [society.store.load(who) for who in ("maren", "edda")]
        traces = [asdict(trace) for who in ("maren", "edda") for trace in society.store.traces(who, 500)]
        everything = f"{seen} {kept} {records} {traces} {json.dumps(server.asked, ensure_ascii=False)}"
        assert records[0] is not None
        assert records[0].symbols
        society.close()
    assert {"llm", "offline"} <= set(voices)
    assert len(server.asked) > 3 * len(BAD)
    assert [telling for telling in tellings if telling in everything] == []


@pytest.mark.slow
async def test_every_good_answer_is_said_and_asked_for_once(tmp_path: Path) -> None:
    line = ""
    async with serving(lambda _: chat(line)) as server:
        society = society_of(tmp_path, [EDDA], server.settings(timeout_seconds=30.0))
        for who, line in GOOD:
            if who not in society.agents:
                continue
            society.clock.advance(30.0)  # type: ignore[attr-defined]
            percept = Percept("user_caity", "hello", society.clock.now(), addressed=True)
            trace = await society.perceive(who, percept)
            assert (trace.response, trace.calls, trace.degraded) == (line, 1, ())
        await society.rest(5.0)
        society.close()
