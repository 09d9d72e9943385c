"""Mood-congruent recall: does the memory come to mind that fits the question and the mood?

The data: an object with `scenarios`; each has `sessions` with `events` (memory_id, content, valence −1…1,
arousal 0…1) and `queries` (query, expected_memory_ids, challenge_type, state: the mood at asking). Every
scenario has an archive of its own, its events apart in time, so that none is the neighbour of another.

Four ways are compared: the nearest vector to the question (plain), the whole search in no mood (search), and
in the mood of the query, where the memories' feelings are those of the data (given) or our own appraisal
(own). All are tried again without the rule that leaves out of a search what a question sets aside ("rather
than the drizzle"), so that mood gets no credit for that rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from noodlings.agent.society import Society
from noodlings.clock import ManualClock
from noodlings.errors import UserError
from noodlings.lab.evaluate.ingest import Listener
from noodlings.ports import Embedder
from noodlings.recall.mood_congruence import DEFAULT_WEIGHT
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind, Percept

WAYS = {
    "plain": "the nearest by meaning alone",
    "search": "the whole search, in no mood",
    "given": "in the mood, feelings as the data has them",
    "own": "in the mood, feelings as we appraise them",
}
METRICS = ("top1", "hit2")
LIMIT = 10
"""Hits of a search."""

_NARRATOR = "narrator"
_DAY, _EVENT = 86_400.0, 7_200.0


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked in which mood, and the positions of the events that should come."""

    text: str
    mood: Affect
    challenge: str
    expected: frozenset[int]


@dataclass(frozen=True, slots=True)
class MoodScenario:
    """Events with the feelings of the data, and the queries about them."""

    percepts: tuple[Percept, ...]
    queries: tuple[Query, ...]


async def evaluate(
    society: Society,
    clock: ManualClock,
    file: Path,
    embedder: Embedder | None,
    progress: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The figures over all queries of a file; two agents of its own live through each scenario.

    Args:
        society: an empty one that keeps nothing; clock and embedder are its own.
        progress: called after each query.

    Returns:
        for each of `WAYS`: top1 (the first hit is expected) and hit2 (one of the first two is), 0…1, with
        by_challenge; nothing_set_aside: the same without that rule; n; emotion_weight: the default in force;
        embedder.

    Raises:
        UserError: the file cannot be read or has no query in it.
        NoodlingsError: there is an embedder, and it failed.
    """
    scores: dict[bool, dict[str, list[tuple[str, bool, bool]]]] = {
        rule: {way: [] for way in WAYS} for rule in (True, False)
    }
    for number, scenario in enumerate(read_scenarios(file), start=1):
        given, own = (Listener(society, clock, f"{way}_{number}") for way in ("given", "own"))
        await given.hear(scenario.percepts)
        await own.hear(replace(percept, affect=None) for percept in scenario.percepts)
        for query in scenario.queries:
            bare = None if embedder is None else embedder.embed([query.text])[0]
            for rule, ways in scores.items():
                given.set_aside(rule)
                own.set_aside(rule)
                vector = await given.vector(query.text)
                found = {
                    "plain": given.by_one(query.text, bare, 2),
                    "search": given.ask(query.text, vector, LIMIT)[0],
                    "given": given.ask(query.text, vector, LIMIT, query.mood)[0],
                    "own": own.ask(query.text, vector, LIMIT, query.mood)[0],
                }
                for way, hits in found.items():
                    first, second = (bool(query.expected.intersection(hits[:cut])) for cut in (1, 2))
                    ways[way].append((query.challenge, first, second))
            progress()
    return {
        **{way: _mean(rows) for way, rows in scores[True].items()},
        "nothing_set_aside": {way: _mean(rows) for way, rows in scores[False].items()},
        "n": len(scores[True]["plain"]),
        "emotion_weight": DEFAULT_WEIGHT,
        "embedder": "none" if embedder is None else embedder.name,
    }


def read_scenarios(path: Path) -> list[MoodScenario]:
    """The scenarios of a file. Raises `UserError`, naming the file and what is wrong in it."""
    try:
        scenarios = [_scenario(data) for data in json.loads(path.read_bytes())["scenarios"]]
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not a file of mood recall scenarios: {error!r:.120}") from error
    if not any(scenario.queries for scenario in scenarios):
        raise UserError(f"{path} has no query in it")
    return scenarios


def view(figures: dict[str, Any]) -> Group:
    """The figures for people: top-1 / hit@2 by challenge type."""
    table = Table(box=None, pad_edge=False)
    for name in ("top-1 / hit@2", *WAYS):
        table.add_column(name)
    for challenge in figures["plain"]["by_challenge"]:
        table.add_row(challenge, *(_cell(figures[way]["by_challenge"][challenge]) for way in WAYS))
    table.add_row("all", *(_cell(figures[way]) for way in WAYS))
    table.add_row("nothing set aside", *(_cell(figures["nothing_set_aside"][way]) for way in WAYS))
    weight, embedder = figures["emotion_weight"], figures["embedder"]
    return Group(
        table,
        *(Text(f"{way}: {meaning}") for way, meaning in WAYS.items()),
        Text('nothing set aside: all, where what follows "rather than" is looked for, too'),
        Text(f"{figures['n']} queries, default weight of mood {weight:g}, embedder {embedder}"),
    )


def _cell(row: dict[str, float]) -> str:
    return f"{row['top1']:.2f} / {row['hit2']:.2f}"


def _scenario(data: dict[str, Any]) -> MoodScenario:
    percepts: list[Percept] = []
    positions: dict[str, int] = {}
    queries: list[Query] = []
    for day, session in enumerate(data["sessions"]):
        for place, event in enumerate(session["events"]):
            positions[event["memory_id"]] = len(percepts)
            when, felt = day * _DAY + place * _EVENT, _affect(event)
            percepts.append(Percept(_NARRATOR, event["content"], when, Kind.EVENT, affect=felt))
    for session in data["sessions"]:
        for query in session["queries"]:
            expected = frozenset(positions[memory_id] for memory_id in query["expected_memory_ids"])
            mood = _affect(query["state"])
            queries.append(Query(query["query"], mood, query["challenge_type"], expected))
    return MoodScenario(tuple(percepts), tuple(queries))


def _affect(given: dict[str, float]) -> Affect:
    return Affect.of([given["valence"], given["arousal"], 0.0, 0.0, 0.0])


def _mean(rows: Sequence[tuple[str, bool, bool]]) -> dict[str, Any]:
    def of(chosen: Sequence[tuple[str, bool, bool]]) -> dict[str, float]:
        return {
            name: round(float(np.mean([row[place] for row in chosen])), 4)
            for place, name in enumerate(METRICS, start=1)
        }

    challenges = sorted({challenge for challenge, _, _ in rows})
    by_challenge = {challenge: of([row for row in rows if row[0] == challenge]) for challenge in challenges}
    return {**of(rows), "by_challenge": by_challenge}
