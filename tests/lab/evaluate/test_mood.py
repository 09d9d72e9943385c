import copy
import io
import json

import pytest
from rich.console import Console

from noodlings.embed.minilm import MiniLM
from noodlings.errors import UserError
from noodlings.lab.evaluate.mood import evaluate, read_scenarios, view
from tests.lab.evaluate.conversations import SCENARIOS, written
from tests.outside import DATA, needs
from tests.thorough import THOROUGH


def test_scenarios_are_read(tmp_path):
    [scenario] = read_scenarios(written(tmp_path, SCENARIOS))
    assert [sorted(query.expected) for query in scenario.queries] == [[0], [2]]
    assert scenario.percepts[0].affect.valence == -0.9
    assert scenario.queries[1].mood.arousal == 0.8


@pytest.mark.parametrize("model", ["none", "minilm"])
@pytest.mark.slow
async def test_the_figures(tmp_path, living, model):
    calls = []
    embedder = MiniLM() if model == "minilm" else None
    figures = await evaluate(*living(model), written(tmp_path, SCENARIOS), embedder, lambda: calls.append(1))
    assert len(calls) == figures["n"] == 2
    # In no mood both questions are the same, so one of the two answers is wrong.
    assert figures["search"]["top1"] <= 0.5
    assert figures["given"]["top1"] == figures["given"]["hit2"] == 1.0
    assert figures["given"]["by_challenge"] == {"arc": {"top1": 1.0, "hit2": 1.0}}
    assert figures["emotion_weight"] == 0.3


async def test_what_setting_aside_contributes_is_told_apart(tmp_path, living):
    data = copy.deepcopy(SCENARIOS)
    for query in data["scenarios"][0]["sessions"][1]["queries"]:
        query["query"] = "Who danced at the harbour, rather than typed a list of chairs?"
        query["expected_memory_ids"] = ["dance"]
    figures = await evaluate(*living(), written(tmp_path, data), None)
    assert figures["search"]["top1"] == 1.0
    assert figures["nothing_set_aside"].keys() == {"plain", "search", "given", "own"}
    assert figures["nothing_set_aside"]["search"]["top1"] == 0.0
    same = await evaluate(*living(), written(tmp_path, SCENARIOS), None)
    assert same["nothing_set_aside"] == {way: same[way] for way in same["nothing_set_aside"]}


async def test_feelings_of_the_data_do_not_reach_our_own_appraisal(tmp_path, living):
    turned = copy.deepcopy(SCENARIOS)
    for session in turned["scenarios"][0]["sessions"]:
        for event in session["events"]:
            event["valence"] = -event["valence"]
    figures = await evaluate(*living(), written(tmp_path, SCENARIOS), None)
    other = await evaluate(*living(), written(tmp_path, turned), None)
    assert other["own"] == figures["own"]
    assert other["given"] != figures["given"]


async def test_the_figures_for_people(tmp_path, living):
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(view(await evaluate(*living(), written(tmp_path, SCENARIOS), None)))
    shown = console.export_text()
    assert "2 queries" in shown
    assert "nothing set aside" in shown


@pytest.mark.parametrize("data", [[], {"scenarios": [{}]}, {"scenarios": [{"sessions": [{"events": [{}]}]}]}])
async def test_a_file_of_another_shape_is_refused(tmp_path, living, data):
    with pytest.raises(UserError, match=r"data\.json"):
        await evaluate(*living(), written(tmp_path, data), None)


def test_a_file_that_is_nested_too_deep_is_refused(tmp_path):
    path = tmp_path / "data.json"
    path.write_text("[" * 100_000)
    with pytest.raises(UserError, match=r"data\.json"):
        read_scenarios(path)


async def test_a_file_without_queries_is_refused(tmp_path, living):
    with pytest.raises(UserError, match="no query"):
        await evaluate(*living(), written(tmp_path, {"scenarios": []}), None)
    with pytest.raises(UserError, match="cannot read"):
        await evaluate(*living(), tmp_path / "missing.json", None)


@needs("mood-recall-dev")
@pytest.mark.slow
async def test_mood_brings_back_what_fits_it(tmp_path, living):
    data = json.loads((DATA / "mood-recall-dev" / "realistic_recall_v1.json").read_text("utf-8"))
    data["scenarios"] = data["scenarios"][:: 1 if THOROUGH else 4]
    figures = await evaluate(*living("minilm"), written(tmp_path, data), MiniLM())
    assert figures["given"]["top1"] >= 0.7
    assert figures["own"]["top1"] > figures["search"]["top1"] > figures["plain"]["top1"]
    without = figures["nothing_set_aside"]
    assert without["given"]["top1"] > without["own"]["top1"] > without["search"]["top1"]
    assert figures["search"]["top1"] - without["search"]["top1"] > 0.2
