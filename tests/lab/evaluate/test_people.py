"""How facts on cards are judged, and our own weeks."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.lab.evaluate.people import evaluate, read_weeks, view
from noodlings.llm.facts import LONGEST_FACT
from noodlings.store.memory import MemoryStore
from noodlings.text import clean
from tests.cli.test_reflect import at, model
from tests.llm.server import Answer, chat, serving
from tests.program import ran
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

OURS = Path(__file__).parents[3] / "benchmarks" / "people"
WEEKS = {
    "characters": ["edda"],
    "players": ["marta", "jonas"],
    "lines": [
        {"day": 1, "at": "19:40", "who": "marta", "to": "edda", "say": "my sister Ruth is a nurse", "facts": [
            {"id": "f1", "of": "marta", "kind": "kin"},
            {"id": "f2", "of": "marta's sister", "kind": "trade"},
        ]},
        {"day": 1, "at": "19:50", "who": "marta", "to": "edda", "say": "I live in Leeds", "facts": [
            {"id": "f3", "of": "marta", "kind": "home"},
        ]},
        {"day": 2, "at": "8:00", "who": "jonas", "to": "edda", "say": "I love rain", "facts": []},
        {"day": 3, "at": "8:00", "who": "marta", "to": "edda", "say": "we moved to Porto", "facts": [
            {"id": "f4", "of": "marta", "kind": "home", "instead_of": "f3"},
        ]},
        {"day": 4, "at": "8:00", "who": "marta", "to": "edda", "say": "yes, we moved to Porto", "facts": [
            {"id": "f5", "of": "marta", "kind": "home", "same_as": "f4"},
            {"id": "f6", "of": "marta", "kind": "fear"},
        ]},
    ],
}  # fmt: skip


def written(folder: Path, data: object) -> Path:
    file = folder / "weeks.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    return file


async def test_the_figures(tmp_path, living):
    calls = []
    weeks = read_weeks(written(tmp_path, WEEKS))
    figures = await evaluate(*living(), weeks, lambda: calls.append(1))
    assert len(calls) == 5
    counts = {name: value for name, value in figures.items() if name != "by_kind"}
    assert counts == {
        "told": 5, "on_cards": 5, "precision": 0.8, "recall": 0.8,
        "superseded_told": 0.0, "current": 1.0, "merged": 1.0,
        "whole": {"lines": 6, "precision": 0.833333, "recall": 1.0, "superseded_told": 0.0},
        "due": {"told": 0, "found": 0, "right": 0},
        "relations": {
            "contradictions": {"told": 2, "found": 2, "wrong": 0},
            "causes": {"told": 0, "found": 0, "wrong": 0},
        },
    }  # fmt: skip
    assert figures["by_kind"]["likes"] == {"told": 0, "found": 0, "right": 0, "wrong": 1}
    assert figures["by_kind"]["fear"] == {"told": 1, "found": 0, "right": 0, "wrong": 0}
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(view(figures))
    shown = console.export_text()
    assert "5 facts told, 5 on cards" in shown
    assert "whole cards: 6 lines" in shown
    assert "contradictions: 2 of 2 found, 0 wrong" in shown


async def test_a_line_as_it_was_told_counts_for_the_whole_card_alone(tmp_path, living):
    says = ("I left the convent for a woman from Bergen.", "I will never set foot in that house again.")
    lines = [
        {"day": 1, "at": f"9:0{number}", "who": "marta", "to": "edda", "say": say, "facts": [
            {"id": f"f{number}", "of": "marta", "kind": "belief"}]}
        for number, say in enumerate(says)
    ]  # fmt: skip
    figures = await evaluate(*living(), read_weeks(written(tmp_path, WEEKS | {"lines": lines})))
    assert "told" not in figures["by_kind"]
    assert figures["recall"] == 0.0
    assert figures["whole"] == {"lines": 2, "precision": 1.0, "recall": 1.0, "superseded_told": None}


async def test_the_day_of_a_plan_is_judged_by_the_calendar_of_the_file(tmp_path, living):
    def plan(number: int, say: str, due: int) -> dict[str, object]:
        fact = {"id": f"f{number}", "of": "marta", "kind": "plan", "due": due}
        return {"day": 1, "at": "9:00", "who": "marta", "to": "edda", "say": say, "facts": [fact]}

    says = [("my test is on Friday", 5), ("my test is tomorrow", 3), ("my test is soon", 4)]
    lines = [plan(number, *said) for number, said in enumerate(says)]
    weeks = read_weeks(written(tmp_path, WEEKS | {"begins": "2026-11-22", "lines": lines}))
    figures = await evaluate(*living(), weeks)
    assert figures["due"] == {"told": 3, "found": 2, "right": 1}
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(view(figures))
    assert "of 3 plans with a day 2 found, 1 on that day" in console.export_text()


@pytest.mark.parametrize("name", ["weeks", "unseen_1", "unseen_2"])
def test_our_own_weeks_are_sound(name: str) -> None:
    weeks = read_weeks(OURS / f"{name}.yaml")
    seen, latest = set[str](), 0.0
    for line in weeks.lines:
        assert line.to in weeks.characters
        assert line.who in (*weeks.players, *weeks.characters)
        assert line.seconds >= latest
        latest = line.seconds
        for fact in line.facts:
            assert fact.id not in seen
            assert {fact.instead_of, fact.same_as} - {""} <= seen
            seen.add(fact.id)
    assert len(seen) >= 170
    assert sum(not line.facts for line in weeks.lines) >= 70


@pytest.mark.parametrize(
    "wrong", [[], {"lines": []}, WEEKS | {"lines": [WEEKS["lines"][0] | {"at": "noon"}]}, "no weeks"]
)
def test_what_is_no_such_file_is_refused(tmp_path, wrong):
    with pytest.raises(UserError):
        read_weeks(written(tmp_path, wrong))


@pytest.mark.slow
async def test_what_a_model_understands_is_on_the_cards(tmp_path):
    """With a model that knows what every line tells: what is missing then is lost on the way to the cards."""
    weeks = yaml.safe_load((OURS / "weeks.yaml").read_text(encoding="utf-8"))
    weeks["lines"] = weeks["lines"][: None if THOROUGH else 60]
    told = {clean(line["say"]): line for line in weeks["lines"]}

    def facts_of(number: int, words: str) -> Iterator[dict[str, Any]]:
        line = told[words]
        for fact in line.get("facts", ()):
            whose, theirs, who = fact["of"].partition(f"{line['who']}'s ")
            about = f"my {who}" if theirs and not whose else fact["of"].capitalize()
            yield {
                "line": number,
                "about": "speaker" if fact["of"] == line["who"] else about,
                "kind": fact["kind"],
                "quote": words,
                "fact": f"{fact['of'].capitalize()} {fact['fact']}."[:LONGEST_FACT],
                "replaces": 0,
            }

    def answer(asked: dict[str, Any]) -> Answer:
        if "response_format" not in asked:
            return chat("I hear you.")
        heard = asked["messages"][1]["content"].split("<heard>\n")[1].split("\n</heard>")[0].splitlines()
        read = [json.loads(line.partition(". ")[2]) for line in heard]
        facts = [fact for number, words in enumerate(read, 1) for fact in facts_of(number, words)]
        return chat(json.dumps({"facts": facts}))

    async with serving(answer) as server:
        settings = Settings(
            llm={"base_url": f"http://127.0.0.1:{server.port}/v1", "model": "m", "write_journal": False},
            embedding={"model": "none"},
            thought={"ruminate": False},
        )
        clock = ManualClock()
        society = build(settings, clock=clock, store=MemoryStore())
        figures = await evaluate(society, clock, read_weeks(written(tmp_path, weeks)))
        await society.rest(5.0)
        society.close()
    assert figures["precision"] >= 0.95
    assert figures["recall"] >= 0.8


@pytest.mark.slow
def test_a_model_is_asked_for_facts_and_for_no_journal(tmp_path):
    weeks = yaml.safe_load((OURS / "weeks.yaml").read_text(encoding="utf-8"))
    weeks["lines"] = weeks["lines"][:40]
    with model(chat('{"facts": []}')) as server:
        file = written(tmp_path, weeks)
        measured = ran(
            "eval", "people", file, "--embedder", "none", "--voice", "model", environment=at(server)
        )
    assert measured.returncode == 0, measured.stderr
    prompts = [asked["messages"][1]["content"] for asked in server.asked]
    assert any("<heard>" in prompt for prompt in prompts)
    assert not any("<day>" in prompt for prompt in prompts)
