"""Simulations: a society in ten lines, the same again from the same seed, and without any part of a mind."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from noodlings.cli.main import app
from noodlings.errors import UserError
from noodlings.lab.simulation import COLUMNS
from noodlings.simulate import Ablation, Scenario, Simulation, Turn, load_scenario, sweep, written_table
from noodlings.values.persona import TRANSISTORS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
VILLAGE = ROOT / "examples" / "village.yaml"
GRIEF = "My (dog|cat) died last night. I cried until morning."
TALK = ["The bread was (good|fine) today.", "I (fixed|painted) the (fence|roof) yesterday."]


def village(**content: Any) -> Scenario:
    return Scenario.model_validate({"version": 1, "agents": {"mara": None, "jon": None}} | content)


@cache
def whole_life(without: tuple[str, ...]) -> list[Turn]:
    with Simulation(GRIEVING, 1, without) as simulation:
        return simulation.run(14)


def lived(ticks: int, without: tuple[str, ...] = ()) -> list[Turn]:
    """The first ticks of it, which are the same however long it goes on."""
    return [turn for turn in whole_life(without) if turn.tick < ticks]


GRIEVING = village(
    agents={"mara": None, "jon": None, "bo": None},
    meetings=[
        {"says": [GRIEF], "about": "grief", "draws": 3, "ticks": [0, 2]},
        {"says": TALK, "draws": 5, "ticks": [3, 9]},
        {"says": [GRIEF], "about": "grief", "ticks": [10, 13]},
    ],
)


def test_every_percept_is_a_turn_and_an_answer_is_heard() -> None:
    turns = lived(2)
    asked = [turn for turn in turns if turn.trace.decision == "addressed"]
    assert len(asked) == 6
    assert len(turns) == 6 + sum(turn.trace.response is not None for turn in asked) == 12
    for turn, answer in zip(turns[::2], turns[1::2], strict=True):
        assert (answer.entry.user_id, answer.entry.user_text) == (turn.trace.agent_id, turn.trace.response)
        assert (turn.about, answer.about) == ("grief", "")
    times = [turn.entry.timestamp - 1_767_225_600.0 for turn in turns]
    assert times == [1, 2, 3, 4, 5, 6, 600, 601, 602, 603, 604, 605]


def test_a_grief_brings_back_another_which_a_list_has_lost() -> None:
    late = [turn for turn in lived(14) if turn.tick > 9 and turn.about]
    assert late
    assert all("grief" in turn.recalled_about for turn in late)
    plain = next(turn for turn in lived(14, ("streams",)) if turn.tick > 9 and turn.about)
    assert plain.trace.recalled
    assert "grief" not in plain.recalled_about


def test_all_arms_hear_the_same() -> None:
    def heard(turns: list[Turn]) -> list[tuple[Any, ...]]:
        return [
            (turn.tick, turn.trace.agent_id, turn.entry.user_id, turn.entry.user_text)
            for turn in turns
            if turn.trace.decision == "addressed"
        ]

    whole = heard(lived(14))
    for without in ("streams", "transistors", "mood", "feeling"):
        assert heard(lived(14, (without,))) == whole


# -- parts that are left out


def test_without_streams_there_is_a_list() -> None:
    with Simulation(GRIEVING, without=["streams"]) as simulation:
        simulation.run(2)
        assert not simulation.society.agents["mara"].memory.hierarchical


def test_without_transistors_no_thought_is_coloured() -> None:
    with Simulation(GRIEVING) as whole, Simulation(GRIEVING, without=["transistors"]) as without:
        assert set(without.society.agents["mara"].gains.values()) == {0.0}
        assert list(without.society.agents["mara"].gains) == list(TRANSISTORS)
        assert max(whole.society.agents["mara"].gains.values()) > 0.0
    done = {made.how for turn in lived(14, ("transistors",)) for made in turn.trace.modulations}
    assert done == {"off"}
    assert "offline" in {made.how for turn in lived(14) for made in turn.trace.modulations}


def test_without_mood_nothing_moves_it_and_feelings_are_felt() -> None:
    with Simulation(GRIEVING, without=["mood"]) as simulation:
        mara = simulation.society.agents["mara"]
        turns = simulation.run(4)
        assert mara.mood == mara.baseline
        assert max(turn.trace.affect.sorrow for turn in turns) > 0.3
    moods = {turn.trace.mood for turn in lived(4)}
    assert len(moods) > 3


def test_without_feeling_nothing_comes_to_mind_for_it() -> None:
    def reasons(turns: list[Turn]) -> set[str]:
        return {why for turn in turns for found in turn.trace.recalled for why in found.why}

    assert "affect" in reasons(lived(14))
    assert "affect" not in reasons(lived(14, ("feeling",)))
    with Simulation(GRIEVING, without=["feeling"]) as simulation:
        context = simulation.society.settings.context
        assert (context.working, context.affect_similar) == (7, 0)


def test_another_metric() -> None:
    with Simulation(GRIEVING, metric="cosine") as simulation:
        assert simulation.society.settings.memory.affect_metric == "cosine"
        assert str(simulation.ablation) == "metric=cosine"


def test_what_cannot_be_left_out_is_named() -> None:
    with pytest.raises(UserError, match="nothing is called moods; did you mean mood"):
        Simulation(GRIEVING, without=["moods"])
    with pytest.raises(UserError, match="no metric sine; did you mean cosine"):
        Simulation(GRIEVING, metric="sine")
    with pytest.raises(UserError, match="embedding is one of none, minilm"):
        Simulation(GRIEVING, embedding="mini")
    ablation = Ablation.of([" mood", "metric=euclidean", "feeling ", "mood", ""])
    assert (ablation.without, ablation.metric) == (("feeling", "mood"), "euclidean")
    assert str(ablation) == "feeling mood metric=euclidean"


# -- time, characters, events


def test_one_goes_on_where_one_stopped() -> None:
    with Simulation(GRIEVING, 1) as simulation:
        in_parts = [turn for ticks in (5, 0, 7) for turn in simulation.run(ticks)]
        assert simulation.tick == 12
    rows = [[turn.row(1, "") for turn in turns] for turns in (in_parts, lived(12))]
    assert rows[0] == rows[1]


async def test_in_an_event_loop_it_is_gone_through_turn_by_turn() -> None:
    with Simulation(GRIEVING, 1) as simulation:
        with pytest.raises(UserError, match=r"async for turn in simulation\.live"):
            simulation.run(1)
        assert [turn.tick async for turn in simulation.live(1)] == [0] * 6


def test_recipes_are_themselves_and_others_are_plain() -> None:
    scenario = village(agents={"servnak": {"personality": {"openness": 0.1}}, "guard": {"count": 2}})
    with Simulation(scenario) as simulation:
        personas = simulation.society.personas
        assert (personas["servnak"].name, personas["servnak"].species) == ("SERVNAK", "robot")
        assert personas["servnak"].personality["openness"] == 0.1
        assert [personas[name].name for name in ("guard_1", "guard_2")] == ["Guard 1", "Guard 2"]


def test_recipes_and_rules_beside_a_scenario_count(tmp_path: Path) -> None:
    (tmp_path / "recipes").mkdir()
    recipe = "name: Bo\nspecies: bear\ndescription: A bear.\nidentity: You are Bo.\n"
    (tmp_path / "recipes" / "bo.yaml").write_text(recipe)
    path = tmp_path / "wood.yaml"
    path.write_text("version: 1\nagents: {bo: , mara: }\nmeetings: [{says: [Hello]}]\n")
    with Simulation(load_scenario(path)) as simulation:
        assert simulation.society.personas["bo"].species == "bear"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["recipes", "wood.yaml"]


def test_events_of_a_game_have_their_rules() -> None:
    scenario = village(
        events=[
            {"game": "creeper_nearby", "witnesses": ["mara"]},
            {"text": ["A terrible storm, everybody runs in fear!"], "witnesses": ["jon"], "about": "storm"},
        ]
    )
    with Simulation(scenario) as simulation:
        first, second = simulation.run(1)
        assert simulation.society.agents["mara"].named_mood == "nervous"
    assert (first.trace.appraised_by, first.entry.user_text) == ("event", "creeper nearby")
    assert (second.trace.appraised_by, second.about) == ("words", "storm")
    assert second.trace.affect.fear > 0.3


# -- tables


def small_sweep(path: Path, **named: Any) -> bytes:
    with written_table(path) as write:
        for rows in sweep(GRIEVING, 6, range(1, 4), **named):
            write(rows)
    return path.read_bytes()


def test_a_table_is_the_same_in_any_number_of_processes(tmp_path: Path) -> None:
    tables: list[list[bytes]] = []
    for jobs in (1, 2):
        csv_path, parquet_path = (tmp_path / f"{jobs}{suffix}" for suffix in (".csv", ".parquet"))
        with written_table(csv_path) as to_csv, written_table(parquet_path) as to_parquet:
            for rows in sweep(GRIEVING, 2, range(1, 4), jobs=jobs):
                to_csv(rows)
                to_parquet(rows)
        tables.append([csv_path.read_bytes(), parquet_path.read_bytes()])
    assert tables[0] == tables[1]


def test_a_table_is_the_same_whatever_strings_hash_to(tmp_path: Path) -> None:
    tables = []
    for number in ("0", "1"):
        path = tmp_path / f"{number}.csv"
        command = [sys.executable, "-m", "noodlings", "simulate", VILLAGE, "--ticks", "4", "--out", path]
        env = os.environ | {"PYTHONHASHSEED": number, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", timeout=60, check=True)
        assert done.stderr == ""
        tables.append(path.read_bytes())
    assert tables[0] == tables[1]


def test_what_stands_in_a_table(tmp_path: Path) -> None:
    small_sweep(tmp_path / "t.csv", without=["mood"])
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(COLUMNS)
    assert [row["seed"] for row in rows] == sorted(row["seed"] for row in rows)
    assert {row["seed"] for row in rows} == {"1", "2", "3"}
    assert {row["ablated"] for row in rows} == {"mood"}
    told = [row for row in rows if row["about"] == "grief" and row["recalled"]]
    assert all(row["recalled"].count(":") == row["recalled_about"].count(";") + 1 for row in told)
    assert all(row["modulations"].startswith("affect:") for row in rows if row["response"])

    small_sweep(tmp_path / "t.parquet", without=["mood"])
    table = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert [{name: str(value) for name, value in row.items()} for row in table] == rows


def test_tables_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"must end in \.csv or \.parquet"):
        small_sweep(tmp_path / "t.txt")
    with pytest.raises(UserError, match="cannot be written"):
        small_sweep(tmp_path / "nowhere" / "t.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"pip install '\.\[parquet\]'"):
        small_sweep(tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_that_fails_leaves_the_old_table(tmp_path: Path) -> None:
    before = small_sweep(tmp_path / "t.csv")
    with pytest.raises(UserError, match="nothing is called mod"):
        small_sweep(tmp_path / "t.csv", without=["mod"])
    assert (tmp_path / "t.csv").read_bytes() == before


def test_no_process_is_not_enough() -> None:
    with pytest.raises(UserError, match="at least one process"):
        next(sweep(GRIEVING, 1, [1], jobs=0))


# -- the command


def test_the_command(tmp_path: Path) -> None:
    options = ["--ticks", "3", "--seeds", "2-3", "--ablate", "mood,metric=cosine", "--json"]
    done = CliRunner().invoke(app, ["simulate", str(VILLAGE), *options, "--out", str(tmp_path / "t.csv")])
    assert done.exit_code == 0
    assert done.stdout.startswith('{"seeds": 2, "ticks": 3, "ablated": "mood metric=cosine", "turns": ')
    assert (tmp_path / "t.csv").read_text().count("mood metric=cosine") > 10
    said = CliRunner().invoke(app, ["simulate", str(VILLAGE), "--ticks", "2"]).stdout
    assert said.endswith("replies; --out FILE.csv writes down each\n")


@pytest.mark.parametrize("seeds", ["0", "x", "5-2", "1-", "", f"1-{10**23}", "1-5000000", f"{10**23}"])
def test_seeds_that_are_none_or_too_many(seeds: str) -> None:
    failed = CliRunner().invoke(app, ["simulate", str(VILLAGE), "--seeds", seeds])
    assert isinstance(failed.exception, UserError)
    assert re.match("--seeds (needs a number|takes at most)", str(failed.exception))


def test_what_two_say_alone_no_third_hears_of() -> None:
    hidden = "I hid the (zarna|zarnb|zarnc|zarnd|zarne|zarnf) in the mill"
    secrets = village(
        agents={"mara": None, "jon": None, "bo": None},
        meetings=[
            {"says": [hidden], "draws": 3, "ticks": [0, 4]},
            {"says": ["what do you know about the mill?"], "draws": 3, "ticks": [3, 9]},
        ],
    )
    known: dict[str, set[str]] = {name: set() for name in ("mara", "jon", "bo")}
    told_again = 0
    with Simulation(secrets, 1) as simulation:
        for turn in simulation.run(9):
            said = set(re.findall("zarn[a-f]", turn.entry.user_text))
            known[turn.trace.agent_id] |= said
            if turn.trace.decision == "addressed" and turn.entry.user_text.startswith("I hid"):
                known[turn.entry.user_id] |= said
            answered = set(re.findall("zarn[a-f]", turn.trace.response or ""))
            assert answered <= known[turn.entry.user_id]
            told_again += len(answered - said)
    assert told_again > 0
