import json
import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.mind.appetites import Appetites, DriveTable, shipped_drives, signals
from noodlings.validation import read_table
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.persona import APPETITES
from tests.fakes import make_persona
from tests.mind.streams import affects

TABLE = shipped_drives()
CALM = make_persona("Calm", appetites=dict.fromkeys(APPETITES, 0.4))

happenings = st.lists(
    st.tuples(
        affects,
        st.floats(0, 1),
        st.booleans(),
        st.sampled_from(["", "dawn", "under_attack"]),
        st.floats(0, 1e7),
    ),
    max_size=40,
)


def lived(happened):
    appetites = Appetites.of(CALM, 0.0)
    for affect, surprise, addressed, event, now in happened:
        appetites = appetites.moved(TABLE, signals(affect, surprise, addressed, event), now)
    return appetites


@given(happenings, st.floats(0, 1e9))
def test_levels_stay_in_range_and_goals_are_few(happened, later):
    appetites = lived(happened)
    assert all(0.0 <= level <= 1.0 for level in appetites.at_time(TABLE, appetites.at + later).values())
    goals = appetites.goals(TABLE, appetites.at)
    assert len(goals) <= TABLE.most
    assert [goal.level for goal in goals] == sorted((goal.level for goal in goals), reverse=True)


@pytest.mark.slow
@given(happenings)
def test_a_restart_changes_nothing(happened):
    appetites = lived(happened)
    assert Appetites.from_dict(json.loads(json.dumps(appetites.as_dict())), CALM) == appetites


@pytest.mark.parametrize("name", APPETITES)
def test_time_brings_half_of_it_back_in_every_half_life(name):
    sated = Appetites(tuple(0.0 for _ in APPETITES), 50.0, Appetites.of(CALM, 0.0).resting)
    half_life = TABLE.appetites[name].half_life_minutes * 60.0
    assert sated.at_time(TABLE, 50.0)[name] == 0.0
    assert sated.at_time(TABLE, 50.0 + half_life)[name] == pytest.approx(0.2)
    assert sated.at_time(TABLE, 50.0 + 2 * half_life)[name] == pytest.approx(0.3)


def moved(affect=NEUTRAL, surprise=0.2, addressed=False, event="", times=5):
    appetites = lived([(affect, surprise, addressed, event, 0.0)] * times)
    return appetites.at_time(TABLE, 0.0)


@pytest.mark.parametrize(
    ("appetite", "rises", "happened"),
    [
        ("safety", True, {"affect": Affect(-0.4, 0.8, 0.8, 0, 0)}),
        ("safety", True, {"event": "under_attack"}),
        ("safety", False, {"event": "dawn"}),
        ("comfort", True, {"affect": Affect(-0.5, 0.4, 0, 0.8, 0)}),
        ("comfort", False, {"affect": Affect(0.8, 0.5, 0, 0, 0)}),
        ("novelty", True, {"affect": Affect(-0.1, 0.3, 0, 0, 0.8), "surprise": 0.05}),
        ("novelty", False, {"surprise": 0.9}),
        ("curiosity", True, {"surprise": 0.9}),
        ("status", True, {"affect": Affect(-0.7, 0.7, 0, 0, 0), "addressed": True}),
        ("status", False, {"affect": Affect(0.7, 0.6, 0, 0, 0), "addressed": True}),
        ("social_bond", False, {"addressed": True}),
        ("social_bond", True, {"addressed": False, "times": 30}),
        ("mastery", True, {"event": "player_death"}),
        ("mastery", False, {"event": "mob_killed"}),
        ("autonomy", True, {"affect": Affect(-0.7, 0.7, 0, 0, 0), "addressed": True}),
    ],
)
def test_what_feeds_and_what_sharpens(appetite, rises, happened):
    assert (moved(**happened)[appetite] > 0.4) is rises


def test_who_is_frightened_wants_to_be_safe():
    goals = lived([(Affect(-0.6, 0.9, 0.9, 0, 0), 0.5, False, "under_attack", 0.0)] * 4).goals(TABLE, 0.0)
    assert goals[0].appetite == "safety"
    assert goals[0].text == TABLE.appetites["safety"].presses


def test_who_lacks_nothing_wants_nothing():
    assert Appetites.of(CALM, 0.0).goals(TABLE, 0.0) == ()


def _changed(**change):
    return TABLE.model_dump() | change


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (_changed(hunger=1), "unknown key hunger"),
        (_changed(appetites={}), "curiosity, status"),
        (_changed(appetites=TABLE.model_dump()["appetites"] | {"greed": {}}), "greed"),
        (_changed(most=9), "most"),
        (
            _changed(
                appetites=TABLE.model_dump()["appetites"]
                | {"safety": {"half_life_minutes": 1, "moved_by": {"fear": 7}, "wants": "", "presses": ""}}
            ),
            "fear moves it by 7",
        ),
    ],
)
def test_a_mistake_in_a_table_is_named(tmp_path, table, complaint):
    file = tmp_path / "appetites.yaml"
    file.write_text(yaml.safe_dump(table), "utf-8")
    with pytest.raises(UserError, match=complaint):
        read_table(file, DriveTable)


@pytest.mark.parametrize(
    "change",
    [{"version": 9}, {"levels": [0.5]}, {"levels": [2.0] * 8}, {"levels": [math.nan] * 8}, {"levels": 3},
     {"at": math.inf}, {"at": None}],
)  # fmt: skip
def test_damaged_appetites_are_refused(change):
    with pytest.raises(UserError):
        Appetites.from_dict(Appetites.of(CALM, 0.0).as_dict() | change, CALM)
