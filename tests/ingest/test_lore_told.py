"""The benchmark of lore on some of its questions: told by who may know, and by nobody else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from noodlings.validation import read_yaml
from tests.thorough import THOROUGH

FILE = Path(__file__).parents[2] / "benchmarks" / "lore.py"


@pytest.mark.slow
def test_facts_are_told_by_whom_they_are_meant_for_alone() -> None:
    spec = importlib.util.spec_from_file_location("lore_benchmark", FILE)
    assert spec is not None
    assert spec.loader is not None
    lore = sys.modules["lore_benchmark"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lore)
    questions = read_yaml((FILE.parent / "lore" / "questions_seen.yaml").read_text("utf-8"))
    figures = lore.figures(lore.run(questions[:: 2 if THOROUGH else 4], "minilm"))
    assert figures["told or in mind where not"] == 0
    assert figures["told where allowed"] >= 0.75
