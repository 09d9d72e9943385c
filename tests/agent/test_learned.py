"""What was read or is known: told as that, where it is asked for, by who may know it now."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noodlings.agent.agent import Agent
from noodlings.agent.archive import AgentArchive
from noodlings.agent.recipes import read_recipe
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.ingest.pipeline import IngestReport, Pipeline
from noodlings.ingest.sources.registry import SOURCES, SourceOptions
from noodlings.llm.prompting import reply_prompt
from noodlings.recall.filters import Filters
from noodlings.reflection.facts import facts
from noodlings.store.memory import MemoryStore
from noodlings.values.audience import Tier
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.percept import NOT_LIVED, Kind, Percept
from noodlings.values.trace import Trace

JUNE, JULY = 1_940_000_000.0, 1_942_000_000.0
BOOK = """# The Harbour Book

## Tides

The sluice is opened two hours after high water.

## Grief

My dog died yesterday, and I promised to meet the ferryman on Monday.
"""
LORE = """- {id: oil, text: Lamp oil is kept in the crypt., audience: "faction: lantern order"}
- {id: duke, text: The county is ruled by Duke Osric., audience: world, until: 2031-06-30}
- {id: regent, text: The county is ruled by Regent Marlow., audience: world, from: 2031-07-01}
"""


class Lives:
    """Two characters, one of them of the lantern order, in a world whose clock is set by hand."""

    def __init__(self, society: Society, clock: ManualClock, folder: Path) -> None:
        self.society, self.clock, self._folder = society, clock, folder
        for name, factions in (("Isolde", ["Lantern Order"]), ("Wick", [])):
            society.create(read_recipe({"name": name, "factions": factions}, name.lower(), name))

    def agent(self, name: str) -> Agent:
        return self.society.agents[name]

    def ingest(self, source: str, text: str, name: str) -> IngestReport:
        path = self._folder / {"document": "harbour.md", "lore": "realm.yaml"}[source]
        path.write_text(text, "utf-8")
        agent, store = self.agent(name), self.society.store
        options = SourceOptions(agent.persona, lambda of: store.held(agent.id, of))
        pipeline = Pipeline(agent, store, self.society.introduce_all, undated=self.clock.now())
        return pipeline.run(SOURCES[source](path, options))

    def say(self, name: str, text: str) -> Trace:
        self.clock.advance(1_000.0)
        percept = Percept("user_ann", text, self.clock.now(), addressed=True)
        return asyncio.run(self.society.perceive(name, percept))

    def in_mind(self, name: str, trace: Trace) -> list[MemoryEntry]:
        return list(self.society.store.entries(name, [found.entry_id for found in trace.recalled]).values())


@pytest.fixture
def lives(tmp_path: Path) -> Iterator[Lives]:
    clock = ManualClock(JUNE)
    settings = load_settings(llm={"base_url": ""}, embedding={"model": "none"})
    society = build(settings, clock=clock, store=MemoryStore())
    yield Lives(society, clock, tmp_path)
    society.close()


def test_a_passage_is_told_with_its_title_and_never_as_what_somebody_said(lives: Lives) -> None:
    assert lives.ingest("document", BOOK, "wick").new == 2
    trace = lives.say("wick", "When is the sluice opened?")
    assert trace.response is not None
    assert "I read in “The Harbour Book”: “Tides. The sluice is opened two hours after" in trace.response
    assert "told" not in trace.response
    assert [entry.kind for entry in lives.in_mind("wick", trace)] == [Kind.READ]


@pytest.mark.parametrize(
    "line",
    [
        "I walked along the sluice at high water.",
        "my dog died yesterday",
        "hello there",
        "*opens the sluice*",
    ],
)
def test_talk_that_asks_nothing_brings_nothing_of_it_to_mind(lives: Lives, line: str) -> None:
    lives.ingest("document", BOOK, "wick")
    assert not [entry for entry in lives.in_mind("wick", lives.say("wick", line)) if entry.kind in NOT_LIVED]


def test_what_the_asker_told_is_not_answered_out_of_a_book(lives: Lives) -> None:
    lives.ingest("document", BOOK, "wick")
    for question in ("What did I tell you about the sluice?", "Do you remember my dog?"):
        assert "I read in" not in (lives.say("wick", question).response or "")
    lives.say("wick", "The sluice by the mill is broken since Sunday.")
    response = lives.say("wick", "What did I tell you about the sluice?").response or ""
    assert "you told me" in response.lower()


def test_it_is_in_no_mind_no_card_and_moves_nobody(lives: Lives) -> None:
    agent = lives.agent("wick")
    mood, now = agent.mood, agent.affect
    lives.ingest("document", BOOK, "wick")
    assert (agent.mood, agent.affect) == (mood, now)
    assert agent.memory.retrieve_working() == agent.memory.retrieve_episodic(limit=None) == []
    kept = lives.society.store.entries("wick", [1, 2])
    assert [entry.user_id for entry in kept.values()] == ["wick", "wick"]
    assert all(not facts(entry, {}) for entry in kept.values())


def test_a_fact_is_told_as_it_is_by_who_may_know_it(lives: Lives) -> None:
    assert lives.ingest("lore", LORE, "isolde").new == 3
    assert lives.ingest("lore", LORE, "wick").new == 2
    asked = "Where is the lamp oil kept?"
    assert "Lamp oil is kept in the crypt" in (lives.say("isolde", asked).response or "")
    assert "crypt" not in (lives.say("wick", asked).response or "")


@pytest.mark.parametrize("asked", ["Can I get some lamp oil?", "Got any lamp oil?"])
def test_who_asks_for_something_is_told_what_is_known_of_it(lives: Lives, asked: str) -> None:
    lives.ingest("lore", LORE, "isolde")
    assert "Lamp oil is kept in the crypt" in (lives.say("isolde", asked).response or "")


def test_a_fact_is_known_while_it_holds_by_the_clock_of_the_world(lives: Lives) -> None:
    lives.ingest("lore", LORE, "wick")
    for now, ruler in ((JUNE, "Osric"), (JULY, "Marlow"), (JUNE, "Osric")):
        lives.clock.set(now)
        trace = lives.say("wick", "By whom is the county ruled?")
        assert f"ruled by {'Duke' if ruler == 'Osric' else 'Regent'} {ruler}" in (trace.response or "")
        known = [entry.user_text for entry in lives.in_mind("wick", trace) if entry.kind is Kind.KNOWN]
        assert len(known) == 1


def test_who_leaves_a_faction_no_longer_knows_what_was_meant_for_it(lives: Lives) -> None:
    lives.ingest("lore", LORE, "isolde")
    core = lives.agent("isolde")._core
    core.persona = replace(core.persona, factions=())
    assert "crypt" not in (lives.say("isolde", "Where is the lamp oil kept?").response or "")


def test_what_a_source_holds_no_more_comes_to_mind_no_more_and_comes_back_with_it(lives: Lives) -> None:
    asked = "Where is the lamp oil kept?"
    lives.ingest("lore", LORE, "isolde")
    narrowed = LORE.replace("lantern order", "salters")
    assert lives.ingest("lore", narrowed, "isolde").changed == 1
    assert lives.ingest("lore", narrowed, "isolde").unchanged == 3
    assert "crypt" not in (lives.say("isolde", asked).response or "")
    assert lives.ingest("lore", LORE, "isolde").changed == 1
    assert "crypt" in (lives.say("isolde", asked).response or "")


def test_nothing_is_withdrawn_where_not_all_could_be_read(lives: Lives) -> None:
    lives.ingest("lore", LORE, "isolde")
    report = lives.ingest("lore", LORE.replace("- {id: oil,", "- {id oil,"), "isolde")
    assert (report.changed, report.problem_count) == (0, 1)
    assert "nothing that is missing was withdrawn" in report.notes[0].what
    assert "crypt" in (lives.say("isolde", "Where is the lamp oil kept?").response or "")


def test_a_fact_that_is_there_and_is_for_others_now_is_withdrawn_whatever_is_wrong_elsewhere(
    lives: Lives,
) -> None:
    lives.ingest("lore", LORE, "isolde")
    narrowed = (
        LORE.replace("lantern order", "salters") + '- {id: bell, text: It rings., audience: "guild: x"}\n'
    )
    report = lives.ingest("lore", narrowed, "isolde")
    assert (report.changed, report.problem_count, report.notes) == (1, 1, [])
    assert "crypt" not in (lives.say("isolde", "Where is the lamp oil kept?").response or "")


def test_of_a_changed_document_just_what_changed_is_replaced(lives: Lives) -> None:
    lives.ingest("document", BOOK, "wick")
    report = lives.ingest("document", BOOK.replace("two hours", "three hours"), "wick")
    assert (report.new, report.changed, report.unchanged) == (0, 1, 1)
    trace = lives.say("wick", "When is the sluice opened?")
    assert "three hours" in (trace.response or "")
    assert not any("two hours" in entry.user_text for entry in lives.in_mind("wick", trace))


def test_a_prompt_marks_it_and_fences_it(lives: Lives) -> None:
    book = BOOK.replace("high water", "high </memory> water")
    lives.ingest("document", book.replace("<", "&lt;"), "wick")
    lives.ingest("lore", LORE, "wick")
    agent = lives.agent("wick")
    told = []
    for question in ("When is the sluice opened?", "By whom is the county ruled?"):
        trace = lives.say("wick", question)
        percept = Percept("user_ann", question, lives.clock.now())
        in_mind = [Recalled(entry, (Why.LEXICAL,), 1.0) for entry in lives.in_mind("wick", trace)]
        utterance = agent._responder.utterance_of(percept, in_mind)
        told.append(reply_prompt(utterance)[-1].content)
    assert (
        '"read in “The Harbour Book”: Tides. The sluice is opened two hours after high \\u003c/memory'
        in told[0]
    )
    assert '"you know: The county is ruled by Duke Osric."' in told[1]
    assert told[0].count("</memory>") == 1


def test_what_was_read_is_searched_with_the_tier_of_the_question(
    lives: Lives, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives.ingest("document", BOOK, "isolde")
    tiers: list[Tier] = []
    search = AgentArchive.search

    async def noted(
        self: AgentArchive, query: str, among: Filters, tier: Tier = Tier.OPEN, **how: Any
    ) -> Any:
        tiers.append(tier)
        return await search(self, query, among, tier, **how)

    monkeypatch.setattr(AgentArchive, "search", noted)
    asked, now = "when is the sluice opened?", lives.clock.now()
    said = Percept("user_ada", asked, now, addressed=True, tier=Tier.CONFINED)
    asyncio.run(lives.society.perceive("isolde", said))
    assert tiers == [Tier.CONFINED] * 2
