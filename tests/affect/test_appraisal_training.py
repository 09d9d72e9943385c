"""What the appraisal learns from is ours: it neither stands in, nor sounds like, what it is measured on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.outside import DATA, needs
from tools.affect.near import TOO_ALIKE, nearest, texts_of
from tools.affect.network import _Look, seen
from tools.affect.sentences import RatedLine, read_lines, read_sentences

ROOT = Path(__file__).parents[2]
SENTENCES = [
    sentence.text for sentence in read_sentences(ROOT / "tools" / "affect" / "sentences.txt", 20_251)
]
LINES = [
    line.text for line in read_lines(ROOT / "tools" / "affect" / "lines.tsv") if line.valence is not None
]
FERRY = "The ferry was late again, so I missed my violin lesson."
GOAT = "Otto's goat climbed the lighthouse this morning."

ANSWERED = re.compile(
    r"i (am |was |just |still )*feel(ing)?\b|i felt\b|(when|while) (i|my|our|we|the|a)\b.*[^?]$"
    r"|(the (day|first|night|time)|being|seeing|as a child|at the|it was)\b.*\b(when|that) (i|my|our|we)\b",
    re.IGNORECASE,
)
"""How public corpora of emotion were answered and posted: 'When I …', 'i feel …', 'The day that I …'."""


@pytest.mark.parametrize("text", ["When I lost my keys.", "i was feeling lost", "The day when we won."])
def test_the_form_of_an_answer_is_known(text: str) -> None:
    assert ANSWERED.match(text)


def test_no_training_sentence_takes_the_form_in_which_a_corpus_was_answered() -> None:
    assert [text for text in SENTENCES if ANSWERED.match(text)] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FERRY, "the ferry was late again so i missed my violin lesson"),
        (FERRY, "The ferry was late again, so I missed my singing lesson!"),
        (FERRY, "The ferry was late again and I missed my first violin lesson this week."),
        (GOAT, "Otto’s goat climbed the lighthouse this morning"),
        (GOAT, "This morning the goat of Otto climbed the lighthouse."),
    ],
)
def test_the_same_words_or_nearly_are_near(one: str, other: str) -> None:
    assert nearest([one], ["Wilma turned seven last week.", other])[0][1] == 1
    assert nearest([one], [other])[0][0] >= TOO_ALIKE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FERRY, "The coach was late today, so he lost his place in the choir."),
        (GOAT, "Otto's goat ate the timetable of the harbour."),
        (
            "When the ferry sank I was afraid for my brother.",
            "When the barn burned I was afraid for my horses.",
        ),
        ("I miss my brother every day.", "I miss my goat every evening."),
        ("Thank you, Otto!", "Thank you, Otto!"),
        ("", ""),
    ],
)
def test_a_like_form_or_a_commonplace_is_not_near(one: str, other: str) -> None:
    assert nearest([one], [other])[0][0] < TOO_ALIKE


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.csv", f'label,text\njoy,"{FERRY}"\n'),
        ("data.json", json.dumps({"scenarios": [{"events": [{"n": 1, "content": FERRY}]}]})),
        ("data.jsonl", '{"text": "hm"}\n' + json.dumps({"text": FERRY}) + "\n"),
        ("data.txt", f"hm\n{FERRY}\n"),
    ],
)
def test_an_evaluation_file_of_any_kind_is_read(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert FERRY in texts_of(tmp_path / name)


def test_a_line_may_have_a_valence(tmp_path: Path) -> None:
    file = tmp_path / "lines.tsv"
    file.write_text("# how they are written\n9\t-5\tdad went this morning\n3\thad rice again\n", "utf-8")
    grave, plain = read_lines(file)
    assert grave == RatedLine("dad went this morning", 0.9, -1.0, 2)
    assert plain == RatedLine("had rice again", 0.3, None, 3)


def test_what_is_learnt_about_the_queries_is_the_slope_of_what_they_see() -> None:
    random = np.random.default_rng(0)
    states = [random.normal(size=(tokens, 6)).astype(np.float32) for tokens in (1, 3, 5)]
    queries, toward, way = (random.normal(size=shape) for shape in ((6, 2), (3, 2, 6), (6, 2)))

    def at(step: float) -> float:
        return float((_Look(states, queries + step * way).seen * toward).sum())

    expected = (at(1e-3) - at(-1e-3)) / 2e-3
    assert (_Look(states, queries).slope(toward) * way).sum() == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(_Look(states, queries).seen[0], [states[0][0]] * 2, rtol=1e-5)
    np.testing.assert_array_equal(seen(states, queries), _Look(states, queries).seen.reshape(3, -1))


@pytest.mark.slow
@pytest.mark.parametrize("file", ["sentences.txt", "lines.tsv"])
def test_nothing_is_fitted_while_one_of_ours_stands_in_an_evaluation_file(tmp_path: Path, file: str) -> None:
    shutil.copytree(ROOT / "tools" / "affect", tmp_path / "tools" / "affect")
    ours = max(SENTENCES if file == "sentences.txt" else LINES, key=len)
    (tmp_path / "emobank.csv").write_text("V,A,D,text\n3,3,3,Wilma turned seven last week.\n", "utf-8")
    (tmp_path / "shown.json").write_text(json.dumps([f"{ours.upper()}!"]), "utf-8")
    fit = [sys.executable, "tools/affect/fit.py", "emobank.csv", "shown.json"]
    ended = subprocess.run(fit, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 1
    assert f"{ours!r} comes near" in ended.stderr
    assert f"nothing is fitted: rewrite these 1 in {file}" in ended.stderr


@needs("emobank/train.csv")
@needs("mood-recall-dev")
@pytest.mark.slow
def test_no_training_sentence_comes_near_the_data_it_is_measured_on() -> None:
    files = ("emobank/train.csv", "mood-recall-dev/realistic_recall_v1.json")
    theirs = [text for file in files for text in texts_of(DATA / file)]
    ours = SENTENCES + LINES
    found = zip(ours, nearest(ours, theirs), strict=True)
    assert [text for text, (alike, _) in found if alike >= TOO_ALIKE] == []
