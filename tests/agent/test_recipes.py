"""Recipes: the built-in ones are whole, a refusal helps, and who has none is somebody all the same."""

from pathlib import Path

import pytest
import yaml

from noodlings.agent.recipes import BUILT_IN, load_recipe, load_recipes, plain_persona
from noodlings.errors import UserError
from noodlings.values.affect import NEUTRAL
from noodlings.values.persona import APPETITES, TRAITS
from noodlings.values.wording import DialogueAct, SpokenFeeling

SMALLEST = {"name": "Ada", "species": "owl", "description": "An owl.", "identity": "You are Ada."}


@pytest.fixture
def write(tmp_path: Path):
    def write(file: str = "ada.yaml", folder: str = "", **more: object) -> Path:
        path = tmp_path / folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(SMALLEST | more), encoding="utf-8")
        return path

    return write


def test_the_built_in_characters_are_whole() -> None:
    found = load_recipes([BUILT_IN])
    assert {name: persona.home for name, persona in found.items()} == {
        "maren": "library",
        "phi": "workshop",
        "servnak": "workshop",
    }
    for persona in found.values():
        assert set(persona.personality) == set(TRAITS)
        assert set(persona.appetites) == set(APPETITES)
        assert set(persona.voice.interjections) == {feeling.value for feeling in SpokenFeeling}
        assert persona.voice.mannerisms
        assert persona.voice.gestures
        assert len(persona.voice.idle) >= 5
        assert persona.identity_words
        assert persona.baseline != NEUTRAL
        missing = {occasion.value for occasion in DialogueAct} - set(persona.voice.lines)
        assert not missing - {"comfort"}, f"{persona.id} has no own words for {missing}"


def test_every_part_of_a_built_in_recipe_is_explained() -> None:
    """A person who writes a new recipe reads these first."""
    for path in BUILT_IN.glob("*.yaml"):
        parts = path.read_text(encoding="utf-8").split("\n\n")
        assert len(parts) > 8
        assert all(part.startswith("#") for part in parts), path.name


def test_only_four_keys_are_needed(write) -> None:
    persona = load_recipe(write())
    assert (persona.id, persona.name) == ("ada", "Ada")
    assert set(persona.personality.values()) == {0.5}
    assert set(persona.appetites.values()) == {0.5}
    assert persona.baseline == NEUTRAL


def test_control_characters_do_not_get_through(write) -> None:
    assert (
        load_recipe(write(description="An \x1b[31mowl\x07\nwith a lamp")).description == "An owl with a lamp"
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"voise": {}}, "unknown key voise; did you mean voice"),
        ({"personality": {"opennes": 1}}, "unknown key personality.opennes; did you mean openness"),
        ({"personality": {"openness": 1.5}}, "personality.openness: .* less than or equal to 1"),
        ({"baseline": {"fear": float("nan")}}, "baseline.fear"),
        ({"voice": {"case": "loud"}}, "voice.case: .*'upper'"),
        ({"voice": {"lines": {"greting": ["hi"]}}}, "no occasion greting; did you mean greeting"),
        ({"voice": {"interjections": {"joi": ["ha"]}}}, "no feeling joi; did you mean joy"),
        ({"voice": {"lines": {"greeting": ["(hi|ho"]}}}, "lines.greeting: a bracket is never closed"),
        ({"voice": {"colours": {"joi": ["hops"]}}}, "no colour joi; did you mean joy"),
        ({"voice": {"colours": {"joy": ["hops on {memory}"]}}}, "colours.joy has no slot memory"),
        ({"transistors": {"../wit": 0.5}}, "a transistor is one of affect, .* or a file of your own"),
        ({"transistors": {"memory": 1.5}}, "transistors.memory: .*less than or equal to 1"),
        (
            {"voice": {"lines": {"greeting": ["{memory}"]}}},
            "lines.greeting has no slot memory; it has .*name",
        ),
        ({"voice": {"mannerisms": ["{topic}"]}}, "mannerisms has no slot topic"),
        ({"name": "  "}, "name: it must not be empty"),
        ({"species": None}, "species"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_a_mistake_is_refused_with_the_file_and_what_would_be_right(write, wrong, words: str) -> None:
    path = write(**wrong)
    with pytest.raises(UserError, match=words) as refused:
        load_recipe(path)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    "text", ["name: [", "- a\n- b", "", "!!python/object:os.system x", "\x00", "a: &a [*a]"]
)
def test_a_file_that_is_no_recipe_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ada.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"ada\.yaml"):
        load_recipe(path)


def test_what_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "ada.yaml").write_bytes(b"name: \xff\xfe")
    for path in (tmp_path / "ada.yaml", tmp_path / "gone.yaml"):
        with pytest.raises(UserError, match=path.name):
            load_recipe(path)
    with pytest.raises(UserError, match="no folder"):
        load_recipes([tmp_path / "nowhere"])


@pytest.mark.parametrize("name", ["Ada Lovelace.yaml", "7.yaml", "ü.yaml"])
def test_a_file_name_that_is_no_id_is_refused(write, name: str) -> None:
    with pytest.raises(UserError, match="becomes the character's id"):
        load_recipe(write(name))


def test_a_later_folder_replaces_a_character(write, tmp_path: Path) -> None:
    write(folder="first")
    write(folder="second", species="heron")
    found = load_recipes([tmp_path / "first", tmp_path / "second"])
    assert found["ada"].species == "heron"


def test_two_characters_cannot_listen_to_one_name(write, tmp_path: Path) -> None:
    write(folder="all")
    write(folder="all", file="bert.yaml", aliases=["ADA"])
    with pytest.raises(UserError, match=r"bert\.yaml: 'ada' is already a name"):
        load_recipes([tmp_path / "all"])


@pytest.mark.parametrize(
    ("agent_id", "identifier", "name"),
    [
        ("agent_fred_rogers", "fred_rogers", "Fred Rogers"),
        ("callie", "callie", "Callie"),
        ("agent_Mr. Toad", "mr_toad", "Mr Toad"),
        ("agent_", "somebody", "Somebody"),
        ("\x1b[31m", "somebody", "Somebody"),
    ],
)
def test_who_has_no_recipe_is_named_from_its_id(agent_id: str, identifier: str, name: str) -> None:
    persona = plain_persona(agent_id)
    assert (persona.id, persona.name) == (identifier, name)
    assert name in persona.identity
