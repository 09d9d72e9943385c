"""A scenario is read whole, or refused with the place that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from noodlings.errors import UserError
from noodlings.simulate import load_scenario

GOOD: dict[str, Any] = {
    "version": 1,
    "agents": {"mara": {"personality": {"openness": 0.9}}, "villager": {"count": 2}, "servnak": None},
    "meetings": [{"says": ["(Hello|Hi), {name}."], "who": ["mara", "villager"], "about": "talk"}],
    "events": [{"text": ["Rain."], "at": [0, 3], "witnesses": 1}, {"game": "night_fall"}],
}


def written(folder: Path, content: Any) -> Path:
    path = folder / "scenario.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    return path


def test_a_whole_scenario(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, GOOD))
    assert scenario.ids == ("mara", "villager_1", "villager_2", "servnak")
    assert scenario.among(("villager",)) == ("villager_1", "villager_2")
    assert scenario.among(()) == scenario.ids
    assert scenario.characters()["mara"].personality == {"openness": 0.9}
    assert (scenario.tick_seconds, scenario.begins.timestamp()) == (600.0, 1_767_225_600.0)
    assert [scenario.events[0].is_due(tick) for tick in range(4)] == [True, False, False, True]
    assert scenario.folder == tmp_path.resolve()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "version": ({"version": 2}, "version"),
    "unknown key": ({"agent": {}}, "unknown key agent; did you mean agents"),
    "nobody": ({"agents": {}}, "agents"),
    "an id": ({"agents": {"Mara!": None, "jon": None}}, "agents"),
    "a trait": ({"agents": {"a": {"personality": {"opennes": 1}}, "b": None}}, "there is no trait opennes"),
    "the same id": ({"agents": {"a_1": None, "a": {"count": 2}}}, "two of the agents have the same id"),
    "alone": ({"meetings": [{"says": ["Hi"], "who": ["mara"]}]}, r"meetings\.0\.who: a meeting needs two"),
    "who": ({"meetings": [{"says": ["Hi"], "who": ["mar"]}]}, "no agent mar; did you mean mara"),
    "witnesses": ({"events": [{"text": ["x"], "witnesses": ["bo"]}]}, r"events\.0\.witnesses.*no agent bo"),
    "silence": ({"meetings": [{"says": []}]}, "says"),
    "an empty line": ({"meetings": [{"says": [" "]}]}, "must not be empty"),
    "a slot": ({"meetings": [{"says": ["Hi {nme}"]}]}, r"no slot \{nme\}; use \{name\}"),
    "a bracket": ({"meetings": [{"says": ["Hi (a|b"]}]}, "never closed"),
    "a chance": ({"meetings": [{"says": ["Hi"], "chance": 1.5}]}, "chance"),
    "ticks": ({"meetings": [{"says": ["Hi"], "ticks": [5, 2]}]}, "the first and the last"),
    "two things": ({"events": [{"text": ["x"], "game": "dawn"}]}, "either game"),
    "nothing": ({"events": [{}]}, "either game"),
    "a tag": ({"meetings": [{"says": ["Hi"], "about": "a;b"}]}, "about"),
    "a time": ({"begins": "2026-01-01T00:00:00"}, "begins"),
    "a pace": ({"tick_seconds": 0}, "tick_seconds"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str, tmp_path: Path) -> None:
    change, said = WRONG[name]
    with pytest.raises(UserError, match=said):
        load_scenario(written(tmp_path, GOOD | change))


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        load_scenario(tmp_path / "nowhere.yaml")
    path = tmp_path / "scenario.yaml"
    path.write_text("a: [", "utf-8")
    with pytest.raises(UserError, match="cannot be read"):
        load_scenario(str(path))
    path.write_text("!!python/object/apply:os.system ['true']", "utf-8")
    with pytest.raises(UserError, match="cannot be read"):
        load_scenario(path)
