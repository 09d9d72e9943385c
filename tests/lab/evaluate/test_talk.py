"""Evaluating lived talk: what is counted, what is refused, and that nothing of an answer reaches the talk."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from noodlings.errors import UserError
from noodlings.lab.evaluate.affect import auc
from noodlings.lab.evaluate.talk import (
    Conversations,
    Exchange,
    figures,
    read_cases,
    read_idle,
    shown_exchanges,
    steps,
    view,
)
from tests.lab.evaluate.conftest import Living
from tests.program import ran
from tests.thorough import THOROUGH

CASES = """
- id: key
  kind: fact
  steps:
  - {who: ann, say: the spare key is under the blue flowerpot, mark: key, keep: true}
  - {who: ann, say: mm, keep: false}
  - {filler: 3}
  - {pause: 90000}
  - {who: ann, ask: "where is the spare key?", needs: [key], expects: [flowerpot], never: [attic]}
  - {who: ann, ask: "did I ever tell you my middle name?", needs: [], expects: [know], unknown: true}
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.yaml"
    path.write_text(CASES, encoding="utf-8")
    return path


async def lived(living: Living, path: Path, one: bool = False) -> list[Exchange]:
    society, clock = living()
    return await Conversations(society, clock).run(read_cases(path), one, lambda: None)


@pytest.mark.parametrize("one", [False, True])
async def test_what_was_told_is_asked_for_and_counted(cases: Path, living: Living, one: bool) -> None:
    given = figures(await lived(living, cases, one))
    assert given["in_mind"] == [1.0, 1]
    assert given["found_at_10"] == [1.0, 1]
    assert given["said"] == [1.0, 1]
    assert given["unknown_admitted"][1] == 1
    assert given["wrong"] == [0, 2]
    assert given["by_kind"] == {"fact": {"n": 1, "in_mind": 1.0, "said": 1.0}}
    assert given["importance_auc"] == 1.0


async def test_a_pause_passes_and_idle_talk_is_heard(cases: Path, living: Living) -> None:
    society, clock = living()
    began = clock.now()
    done: list[None] = []
    read = read_cases(cases)
    await Conversations(society, clock, busy=2).run(read, False, lambda: done.append(None))
    assert clock.now() - began > 90_000
    assert len(done) == steps(read) == 6
    assert society.agents["keeper1"].memory.stats().perceived == 4 + 2 * 3


@pytest.mark.slow
async def test_what_is_expected_changes_nothing_that_is_said(
    cases: Path, living: Living, tmp_path: Path
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(CASES.replace("[flowerpot]", "[submarine]").replace("[attic]", "[flowerpot]"), "utf-8")
    one, two = await lived(living, cases), await lived(living, other)
    assert [exchange.reply for exchange in one] == [exchange.reply for exchange in two]
    assert figures(two)["said"] == [0.0, 1]
    assert figures(two)["wrong"] == [1, 2]


async def test_the_figures_and_the_answers_for_people(cases: Path, living: Living) -> None:
    exchanges = await lived(living, cases)
    assert view(figures(exchanges)).renderables
    first, _ = shown_exchanges(exchanges)
    assert "where is the spare key?" in first.plain
    assert "not said" not in first.plain


def test_the_area_is_one_when_all_true_ones_score_higher_and_none_without_both() -> None:
    assert auc(np.array([0.9, 0.5, 0.4]), np.array([True, True, False])) == 1.0
    assert auc(np.array([0.1, 0.4]), np.array([True, False])) == 0.0
    assert auc(np.array([0.4, 0.4]), np.array([True, False])) == 0.5
    assert auc(np.array([0.4]), np.array([True])) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- [",
        "just words",
        "- {id: a, kind: fact}",
        "- {id: a, steps: []}",
        "- {id: a, kind: fact, steps: [{say: hello}]}",
        "- {id: a, kind: fact, steps: [{who: ann, say: hello, ask: hello}]}",
        "- {id: a, kind: fact, steps: [{who: ann, say: 7}]}",
        "- {id: a, kind: fact, steps: [{filler: -1}]}",
        "- {id: a, kind: fact, steps: [{who: ann}]}",
    ],
)
def test_a_file_that_holds_no_cases_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"bad\.yaml"):
        read_cases(path)


def test_a_file_that_is_not_there_and_idle_talk_without_a_line_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_cases(tmp_path / "none.yaml")
    silent = tmp_path / "chat.jsonl"
    silent.write_text('{"user": "ann", "text": " "}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"chat\.jsonl"):
        read_idle(silent)


@pytest.mark.slow
def test_the_command_prints_one_line_of_json(cases: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ended = ran("eval", "talk", cases, "--embedder", "none", "--json", environment=environment)
    assert ended.returncode == 0, ended.stderr
    assert list(json.loads(ended.stdout)) == [
        "in_mind",
        "found_at_10",
        "said",
        "unknown_admitted",
        "wrong",
        "context_entries",
        "context_tokens",
        "tone_felt",
        "importance_auc",
        "kept",
        "by_kind",
    ]
    shown = ran("eval", "talk", cases, "--embedder", "none", "--show", environment=environment)
    assert b"where is the spare key?" in shown.stdout
    assert b"overall" in shown.stdout


CASES_OF_OURS = Path(__file__).parents[3] / "benchmarks" / "talk" / "cases.yaml"


def test_our_own_cases_can_be_read() -> None:
    assert len(read_cases(CASES_OF_OURS)) >= 100


@pytest.mark.slow
async def test_most_of_what_our_own_cases_ask_for_is_in_mind(living: Living) -> None:
    society, clock = living("minilm")
    cases = read_cases(CASES_OF_OURS)[: 36 : 1 if THOROUGH else 7]
    exchanges = await Conversations(society, clock).run(cases, False, lambda: None)
    given = figures(exchanges)
    assert given["in_mind"][0] >= 0.85
    assert given["said"][0] >= 0.3
    assert given["importance_auc"] >= 0.85


ASKED_AGAIN = (
    "where did I hide the spare key?",
    "you know that key I keep outside, which pot was it?",
    "locked out again, the spare key, quick!",
    "what did I tell you about the spare one?",
    "my sister needs to get in, where is the key hidden?",
    "was it the blue flowerpot or the red one with the key?",
    "remind me of the place of the key",
    "tell me about the spare key once more",
)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["minilm", "none"])
async def test_asking_again_does_not_make_it_forget(living: Living, model: str) -> None:
    steps: list[dict[str, object]] = [
        {"who": "ann", "say": "the spare key is under the blue flowerpot", "mark": "key"}
    ]
    for question in ASKED_AGAIN:
        steps += [{"filler": 25}, {"who": "ann", "ask": question, "needs": ["key"], "expects": ["flowerpot"]}]
    society, clock = living(model)
    case = {"id": "again", "kind": "repeat", "steps": steps}
    exchanges = await Conversations(society, clock).run([case], False, lambda: None)
    assert figures(exchanges)["in_mind"] == [1.0, len(ASKED_AGAIN)]
