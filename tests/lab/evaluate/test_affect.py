"""The evaluation of text → affect: both kinds of files, honest failures, and the data it was made for."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from noodlings.affect.appraisal import shipped
from noodlings.embed.minilm import MiniLM
from noodlings.errors import UserError
from noodlings.lab.evaluate.affect import auc, evaluate, held_back, pearson, view
from tests.fakes import HashingEmbedder
from tests.outside import DATA, needs

RATED = """V,A,D,text
1.8,3.1,2.9,"Her little son was killed in the war, and she wept."
4.3,3.9,3.2,"We won the first prize, what a wonderful day!"
3.0,2.9,3.0,The shop is on the left.
2.2,3.6,2.9,"I hate that horrible, lying thief."
"""
LABELLED = """label,text
fear,I was terrified of the dark cellar.
sadness,I miss her and cry every night.
joy,"We laughed and danced, it was lovely."
Neutral,The cup is on the table.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data.csv"


def _printed(figures: dict[str, object]) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(view(figures))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_ratings_give_agreement_on_the_scale_of_the_raters(file: Path) -> None:
    file.write_text(RATED, "utf-8")
    figures = evaluate(file, None)
    assert figures["embedder"] == "none"
    for axis in ("valence", "arousal"):
        assert set(figures[axis]) == {"r", "mae", "n"}
        assert figures[axis]["n"] == 4
        assert 0 < figures[axis]["mae"] < 1
    assert figures["valence"]["r"] > 0.8
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert "r flatters" in _printed(figures)


def test_labels_give_separation(file: Path) -> None:
    file.write_text(LABELLED, "utf-8-sig")
    figures = evaluate(file, None)
    assert figures["auc"] == {"fear": 1.0, "sorrow": 1.0}
    assert "sorrow" in _printed(figures)


def test_a_feeling_without_a_label_is_undefined(file: Path) -> None:
    file.write_text("label,text\nfear,A ghost!\njoy,A cake.\n", "utf-8")
    figures = evaluate(file, None)
    assert figures["auc"]["sorrow"] is None
    assert "undefined" in _printed(figures)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "at least two"),
        ("V,A,text\n3,3,hello\n", "at least two"),
        ("a,b\n1,2\n3,4\n", "needs V, A, text or label, text"),
        ("V,A,text\n3,3,hello\n3,seven,there\n", "row 2: V and A must be numbers from 1 to 5"),
        ("V,A,text\n3,3,hello\n0,3,there\n", "row 2"),
        ("V,A,text\n3,3,hello\nnan,3,there\n", "row 2"),
        ("label,text\njoy,hello\nanger,there\n", "at least two labels"),
    ],
)
def test_an_unusable_file_is_explained(file: Path, content: str, words: str) -> None:
    file.write_text(content, "utf-8")
    with pytest.raises(UserError, match=words):
        evaluate(file, None)


def test_a_file_that_is_no_text_is_explained(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a CSV file in UTF-8"):
        evaluate(file, None)


def test_a_missing_file_is_explained(file: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        evaluate(file, None)


def test_an_embedder_whose_vectors_mean_nothing_to_us_is_refused(file: Path) -> None:
    file.write_text(RATED, "utf-8")
    with pytest.raises(UserError, match="not those of hashing-64"):
        evaluate(file, HashingEmbedder())


def test_progress_is_told_after_each_text(file: Path) -> None:
    file.write_text(RATED, "utf-8")
    ticks: list[None] = []
    evaluate(file, None, lambda: ticks.append(None))
    assert len(ticks) == 4


def test_auc_counts_ties_half() -> None:
    assert auc(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True])) == 0.875
    assert auc(np.zeros(6), np.arange(6) < 2) == 0.5
    assert auc(np.array([1.0]), np.array([True])) is None


def test_pearson_is_undefined_where_nothing_varies() -> None:
    assert pearson(np.ones(3), np.arange(3.0)) is None
    assert pearson(np.arange(3.0), 5 - np.arange(3.0)) == -1


@needs("emobank/train.csv")
@pytest.mark.slow
def test_the_tenth_of_emobank_that_no_weight_has_seen_is_met_as_the_weights_claim(file: Path) -> None:
    with (DATA / "emobank" / "train.csv").open(encoding="utf-8", newline="") as rows:
        header, *table = csv.reader(rows)
    with file.open("w", encoding="utf-8", newline="") as sample:
        csv.writer(sample).writerows([header, *(row for row in table if held_back(row[-1]))])
    figures = evaluate(file, MiniLM())
    assert figures["valence"]["n"] == 808
    assert figures["valence"]["r"] >= 0.68
    assert figures["arousal"]["r"] >= 0.57
    claimed = shipped().provenance["figures"]["layers"]["held-out r"]
    for axis in ("valence", "arousal"):
        assert figures[axis]["r"] == pytest.approx(claimed[axis], abs=0.01)
