import io
from pathlib import Path

import pytest
from rich.console import Console

from noodlings.affect.appraise import Appraiser
from noodlings.embed.minilm import MiniLM
from noodlings.errors import UserError
from noodlings.evaluate.mood import evaluate, read_scenarios, view
from tests.evaluate.conversations import SCENARIOS, written
from tests.fakes import HashingEmbedder

DATA = Path(__file__).parents[3] / "shared" / "data" / "mood-recall-dev" / "realistic_recall_v1.json"


def test_scenarios_are_read(tmp_path):
    [scenario] = read_scenarios(written(tmp_path, SCENARIOS))
    assert [sorted(query.expected) for query in scenario.queries] == [[0], [2]]
    assert scenario.percepts[0].affect.valence == -0.9
    assert scenario.queries[1].mood.arousal == 0.8


@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
def test_the_figures(tmp_path, embedder):
    calls = []
    figures = evaluate(written(tmp_path, SCENARIOS), embedder, Appraiser(), lambda: calls.append(1))
    assert len(calls) == figures["n"] == 2
    # In no mood both questions are the same, so one of the two answers is wrong.
    assert figures["search"]["top1"] <= 0.5
    assert figures["given"]["top1"] == figures["given"]["hit2"] == 1.0
    assert figures["given"]["by_challenge"] == {"arc": {"top1": 1.0, "hit2": 1.0}}
    assert figures["emotion_weight"] == 0.3


def test_feelings_of_the_data_do_not_reach_our_own_appraisal(tmp_path):
    class Indifferent:
        def appraise(self, text, *, vector=None):
            return Appraiser().appraise("")

    figures = evaluate(written(tmp_path, SCENARIOS), None, Indifferent())
    assert figures["own"] == figures["search"]


def test_the_figures_for_people(tmp_path):
    figures = evaluate(written(tmp_path, SCENARIOS), None, Appraiser())
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(view(figures))
    assert "2 queries" in console.export_text()


@pytest.mark.parametrize("data", [[], {"scenarios": [{}]}, {"scenarios": [{"sessions": [{"events": [{}]}]}]}])
def test_a_file_of_another_shape_is_refused(tmp_path, data):
    with pytest.raises(UserError, match=r"data\.json"):
        evaluate(written(tmp_path, data), None, Appraiser())


def test_a_file_without_queries_is_refused(tmp_path):
    with pytest.raises(UserError, match="no query"):
        evaluate(written(tmp_path, {"scenarios": []}), None, Appraiser())
    with pytest.raises(UserError, match="cannot read"):
        evaluate(tmp_path / "missing.json", None, Appraiser())


@pytest.mark.skipif(not DATA.exists(), reason=f"the scenarios to measure with are not at {DATA}")
def test_mood_brings_back_what_fits_it():
    figures = evaluate(DATA, MiniLM(), Appraiser())
    assert figures["given"]["top1"] >= 0.7
    assert figures["own"]["top1"] > figures["search"]["top1"] > figures["plain"]["top1"]
