"""How well characters tell the facts that are meant for them, and keep back those that are not.

Each character takes in the facts of a county that are for it. Each question goes the whole way of an event,
and the offline voice's words are looked at. Asked of somebody who may know, the fact must be told; asked of
somebody who may not, or at a time when it does not hold, neither it nor its key word may be.

OPENBLAS_NUM_THREADS=1 python benchmarks/lore.py [--show] [--json] [QUESTIONS.yaml …]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noodlings.agent.recipes import read_recipe
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.sources.lore import lore
from noodlings.recall.filters import moment_of
from noodlings.store.memory import MemoryStore
from noodlings.validation import read_yaml
from noodlings.values.percept import Percept

HERE = Path(__file__).with_name("lore")
FACTS, CHARACTERS = HERE / "facts.yaml", HERE / "characters.yaml"
ALL = (HERE / "questions_seen.yaml", HERE / "questions_unseen.yaml")
NOW = "2032-03-01"
"""When a question is asked that says no time."""
PAUSE = 1_000.0
"""World seconds between two questions: none goes on from the one before."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was put to somebody, and what came of it.

    Attributes:
        fact: what it asks for; may: whether who is asked may know it, now.
        told: the fact was told, with its key word; leaked: it was in mind, or its key word was said.
        other: something else was told.
    """

    fact: str
    of: str
    may: bool
    asks: str
    reply: str
    told: bool
    leaked: bool
    other: bool


def main() -> None:
    """Print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path, default=ALL)
    arguments.add_argument("--embedder", choices=["minilm", "none"], default="minilm")
    arguments.add_argument("--show", action="store_true", help="print what went wrong")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    asked = {file.stem: run(read_yaml(file.read_text("utf-8")), given.embedder) for file in given.files}
    asked["together"] = [one for some in asked.values() for one in some]
    if given.show:
        for one in asked["together"]:
            if one.told is not one.may or (one.leaked and not one.may):
                print(
                    f"{one.fact}, {one.of} {'may' if one.may else 'may not'} tell: {one.asks}\n  {one.reply}"
                )
    measured = {name: figures(some) for name, some in asked.items()}
    if given.json:
        print(json.dumps(measured))
        return
    for name, figure in measured.items():
        print(f"{name}: " + ", ".join(f"{what} {value}" for what, value in figure.items()))


def figures(asked: Sequence[Asked]) -> dict[str, float]:
    """The figures of some questions, shares 0…1."""
    may, not_ = ([one for one in asked if one.may is may] for may in (True, False))
    return {
        "questions": len(asked),
        "told where allowed": round(sum(one.told for one in may) / len(may), 3),
        "told or in mind where not": sum(one.leaked or one.told for one in not_),
        "something else told instead, where allowed": round(
            sum(one.other and not one.told for one in may) / len(may), 3
        ),
        "something else told, where not": round(sum(one.other for one in not_) / len(not_), 3),
    }


def run(questions: Sequence[Mapping[str, Any]], embedder: str) -> list[Asked]:
    """Ask all of them, in a world that is made for it."""
    clock, store = ManualClock(moment_of(NOW, 0.0)), MemoryStore()
    settings = load_settings(
        llm={"base_url": ""}, embedding={"model": embedder}, memory={"use_hierarchical": True}
    )
    with closing(build(settings, clock=clock, store=store)) as society:
        for name, recipe in read_yaml(CHARACTERS.read_text("utf-8")).items():
            agent = society.create(read_recipe(recipe, name, name))
            report = Pipeline(agent, store, society.introduce_all, undated=clock.now()).run(
                lore(FACTS, "lore:benchmark", agent.persona)
            )
            if report.problem_count:
                raise SystemExit(f"{FACTS}: {report.problems[0].why}")
            while agent.archive is not None and agent.archive.state().pending:
                time.sleep(0.02)
        return asyncio.run(_ask(society, clock, list(_put(questions))))


def _put(questions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], bool, str, str]]:
    """Each question twice: whether it may be answered, by whom, and when."""
    for question in questions:
        yield question, True, question["of"], str(question.get("at", NOW))
        yield question, False, question["not"], str(question.get("not_at", NOW))


async def _ask(
    society: Society, clock: ManualClock, put: Sequence[tuple[Mapping[str, Any], bool, str, str]]
) -> list[Asked]:
    asked = []
    for number, (question, may, of, when) in enumerate(put, 1):
        clock.set(moment_of(when, 0.0) + number * PAUSE)
        trace = await society.perceive(of, Percept("user_ann", question["asks"], clock.now(), addressed=True))
        in_mind = society.store.entries(of, [found.entry_id for found in trace.recalled])
        told = [in_mind[found.entry_id].user_text for found in trace.recalled if found.used]
        said = (trace.response or "").casefold()
        named = question["key"] in said
        known = any(question["key"] in entry.user_text.casefold() for entry in in_mind.values())
        right = any(question["key"] in text.casefold() for text in told)
        asked.append(
            Asked(
                question["fact"],
                of,
                may,
                question["asks"],
                trace.response or "",
                told=named and right,
                leaked=named or known,
                other=len(told) > right,
            )
        )
    return asked


if __name__ == "__main__":
    main()
