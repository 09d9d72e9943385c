"""Significance: what is worth keeping ranks above what is not, and above trifles in strong words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from noodlings.affect.appraisal import Appraiser
from noodlings.embed.minilm import MiniLM
from noodlings.lab.evaluate.affect import auc
from noodlings.text import clean
from tests.thorough import THOROUGH

LINES = Path(__file__).parents[2] / "benchmarks" / "talk" / "lines.yaml"


@pytest.fixture(scope="module")
def significance() -> Callable[..., float]:
    embedder, appraiser = MiniLM(), Appraiser()

    def of(text: str, meant: bool = True) -> float:
        understood = embedder.read([text])[0] if meant else None
        return appraiser.appraise(clean(text), said=True, understood=understood).significance

    return of


@pytest.mark.parametrize(
    ("grave", "trifle"),
    [
        ("My grandmother fell down the stairs and her hip is gone", "I would murder somebody for a biscuit"),
        ("We lost the farm", "This soup is to die for!!!"),
        ("Nuts make my throat close up", "the gate creaks again"),
        ("I'm moving to Oslo in the autumn", "WORST. QUEUE. EVER."),
        ("Call me Odalys, that is my name now", "lovely weather we are having"),
    ],
)
def test_what_matters_is_told_from_trifles_in_strong_words(
    significance: Callable[..., float], grave: str, trifle: str
) -> None:
    assert significance(grave) > significance(trifle)


@pytest.mark.slow
def test_lines_that_were_never_learnt_from_are_told_apart(significance: Callable[..., float]) -> None:
    lines = yaml.safe_load(LINES.read_text(encoding="utf-8"))[:: 1 if THOROUGH else 2]
    keep = np.array([line["keep"] for line in lines])
    by_meaning = np.array([significance(line["text"]) for line in lines])
    by_words = np.array([significance(line["text"], meant=False) for line in lines])
    assert (auc(by_meaning, keep) or 0.0) >= 0.9
    assert (auc(by_words, keep) or 0.0) >= 0.6


@pytest.mark.parametrize("text", ["", " ", "?", "x" * 5_000, "🙂🙂🙂", "\x1b[31mred"])
@pytest.mark.parametrize("meant", [False, True])
def test_it_lies_between_nothing_and_one(significance: Callable[..., float], text: str, meant: bool) -> None:
    assert 0.0 <= significance(text, meant) <= 1.0
