"""Whose transistors: the five in order, a user's own behind them, and clear words for what is wrong."""

from dataclasses import replace
from pathlib import Path

import pytest

from noodlings.agent.recipes import BUILT_IN, find_recipes
from noodlings.errors import UserError
from noodlings.transistors.chain import DEFAULT_GAIN, load_chain
from noodlings.values.affect import NEUTRAL
from noodlings.values.persona import TRANSISTORS
from tests.fakes import make_persona
from tests.transistors.states import SAD, make_state

EXAMPLES = Path(__file__).parents[2] / "examples" / "transistors"
GOOD = (EXAMPLES / "wit.py").read_text(encoding="utf-8")


def chain(folder: Path, **gains: float):
    return load_chain(make_persona("Ada", transistors=gains), folder)


def test_the_five_come_in_their_order_with_the_gains_of_the_recipe(tmp_path):
    made = chain(tmp_path / "nowhere", ego=0.9, affect=0.0)
    assert [t.name for t in made.transistors] == list(TRANSISTORS)
    assert [t.gain for t in made.transistors] == [0.0, DEFAULT_GAIN, DEFAULT_GAIN, DEFAULT_GAIN, 0.9]


def test_the_built_in_characters_name_all_five():
    for persona in find_recipes([BUILT_IN]).personas.values():
        assert set(persona.transistors) == set(TRANSISTORS)
        assert set(persona.voice.colours) >= {"joy", "sorrow", "fear", "anger", "alike", "image", "self"}


async def test_a_users_own_is_a_short_file_and_a_line_in_the_recipe(tmp_path):
    wit = chain(EXAMPLES, memory=0.0, wit=1.0, affect=0.0).transistors[-1]
    assert (wit.name, wit.gain) == ("wit", 1.0)
    said = await wit.modulate("So it is.", make_state())
    assert said.startswith("So it is. ")
    assert said.removeprefix("So it is. ") in wit.lens(make_state()).phrases
    assert wit.lens(make_state(affect=SAD)) is None


async def test_own_ones_stand_behind_the_five_in_the_order_of_the_recipe(tmp_path):
    for name in ("zest", "awe"):
        (tmp_path / f"{name}.py").write_text(GOOD, encoding="utf-8")
    made = chain(tmp_path, zest=0.1, affect=0.3, awe=0.2)
    assert [t.name for t in made.transistors] == [*TRANSISTORS, "zest", "awe"]
    assert (await made.serial("So.", make_state(affect=NEUTRAL))).degraded == ()


@pytest.mark.parametrize("name", ["../wit", "./wit", "sub/wit", "/wit", "wit\0", ""])
def test_a_name_leads_to_no_other_file(tmp_path, name):
    folder = tmp_path / "transistors"
    (folder / "sub").mkdir(parents=True)
    for path in (tmp_path / "wit.py", folder / "wit.py", folder / "sub" / "wit.py", folder / ".py"):
        path.write_text(GOOD, encoding="utf-8")
    name = f"{tmp_path}/wit" if name == "/wit" else name
    with pytest.raises(UserError, match="names a transistor"):
        chain(folder, **{name: 0.5})


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (None, "names a transistor wit, but there is no .*wit.py"),
        ("x = 1\n", "one class that extends .*CognitiveTransistor, but holds none"),
        (GOOD + "\nclass Other(Wit):\n    pass\n", "but holds Wit, Other"),
        ("1 / 0\n", "wit.py cannot be run: ZeroDivisionError"),
        ("def (:\n", "wit.py cannot be run: SyntaxError"),
        (GOOD.replace("def lens", "def lense"), "define lens or modulate"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, file, words):
    if file is not None:
        (tmp_path / "wit.py").write_text(file, encoding="utf-8")
    with pytest.raises(UserError, match=words):
        chain(tmp_path, wit=0.5)


def test_a_slip_of_the_pen_is_answered_with_what_was_meant(tmp_path):
    with pytest.raises(UserError, match="did you mean memory"):
        chain(tmp_path, memmory=0.5)


def test_nothing_is_run_that_no_recipe_names(tmp_path):
    (tmp_path / "wit.py").write_text("raise SystemExit('run')", encoding="utf-8")
    assert len(chain(tmp_path).transistors) == len(TRANSISTORS)
    assert len(load_chain(replace(make_persona("Ada")), tmp_path).transistors) == len(TRANSISTORS)
