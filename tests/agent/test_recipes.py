"""Recipes: the built-in ones are whole, a refusal helps, and who has none is somebody all the same."""

import json
from pathlib import Path

import pytest
import yaml

from noodlings.agent.recipe_form import unused
from noodlings.agent.recipes import BUILT_IN, find_recipes, load_recipe, plain_persona
from noodlings.errors import UserError
from noodlings.values.affect import NEUTRAL
from noodlings.values.persona import APPETITES, TRAITS
from noodlings.values.topic import SelfTopic
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
    found = find_recipes([BUILT_IN]).personas
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
        assert set(persona.voice.about_itself) == {*SelfTopic}
        missing = {occasion.value for occasion in DialogueAct} - set(persona.voice.lines)
        assert not missing - {"comfort"}, f"{persona.id} has no own words for {missing}"


def test_every_part_of_a_built_in_recipe_is_explained() -> None:
    """A person who writes a new recipe reads these first."""
    for path in BUILT_IN.glob("*.yaml"):
        parts = path.read_text(encoding="utf-8").split("\n\n")
        assert len(parts) > 8
        assert all(part.startswith("#") for part in parts), path.name


def test_only_a_name_is_needed(write) -> None:
    persona = load_recipe(write(species=None, description=None, identity=None))
    assert (persona.id, persona.name, persona.species) == ("ada", "Ada", "person")
    assert persona.description == "Ada looks back at you."
    assert persona.identity == "You are Ada."


def test_what_is_left_out_is_middling(write) -> None:
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
        ({"personality": {"openness": 1.5}}, "personality.openness: .* less than or equal to 1"),
        ({"baseline": {"fear": float("nan")}}, "baseline.fear"),
        ({"voice": {"case": "loud"}}, "voice.case: .*'upper'"),
        ({"voice": {"lines": {"greting": ["hi"]}}}, "no occasion greting; did you mean greeting"),
        ({"voice": {"about_itself": {"aeg": ["ten"]}}}, "no topic aeg; did you mean age"),
        ({"voice": {"about_itself": {"age": ["{memory}"]}}}, "about_itself.age has no slot memory"),
        ({"voice": {"on_topics": {"pett": ["ha"]}}}, "no topic pett; did you mean pet"),
        ({"voice": {"on_topics": {"pet": ["{memory}"]}}}, "on_topics.pet has no slot memory"),
        ({"voice": {"interjections": {"joi": ["ha"]}}}, "no feeling joi; did you mean joy"),
        ({"voice": {"lines": {"greeting": ["(hi|ho"]}}}, "lines.greeting: a .* is never closed"),
        ({"voice": {"colours": {"joi": ["hops"]}}}, "no colour joi; did you mean joy"),
        ({"voice": {"colours": {"joy": ["hops on {memory}"]}}}, "colours.joy has no slot memory"),
        ({"transistors": {"../wit": 0.5}}, "a transistor is one of affect, .* or a file of your own"),
        ({"transistors": {"memory": 1.5}}, "transistors.memory: .*less than or equal to 1"),
        (
            {"voice": {"lines": {"greeting": ["{memory}"]}}},
            "lines.greeting has no slot memory; use one of: .*name",
        ),
        ({"voice": {"mannerisms": ["{topic}"]}}, "mannerisms has no slot topic"),
        ({"name": "  "}, "name: must not be empty"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"language_mode": "shouted"}, "language_mode: .*'verbal' or 'nonverbal'"),
        ({"constraints": {"temperature": 3}}, "constraints.temperature: .*less than or equal to 2"),
        (
            {"personality": "grumpy"},
            "personality: should be a section with keys of its own, not 'grumpy'; use one of: agreeableness",
        ),
        ({"language_mode": "nonverbal", "voice": {"idle": ['"Hm."']}}, "voice.idle: .* never speaks"),
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
    with pytest.raises(UserError, match="no recipe folder"):
        find_recipes([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("name", "right"),
    [("Ada Lovelace.yaml", "for example, ada_lovelace.yaml"), ("7.yaml", "letter$"), ("ü.yaml", "")],
)
def test_a_file_name_that_is_no_id_is_refused(write, name: str, right: str) -> None:
    with pytest.raises(UserError, match=f"becomes the character's id.*{right}"):
        load_recipe(write(name))


def test_a_later_folder_replaces_a_character(write, tmp_path: Path) -> None:
    write(folder="first")
    write(folder="second", species="heron")
    found = find_recipes([tmp_path / "first", tmp_path / "second"]).personas
    assert found["ada"].species == "heron"


def test_two_characters_cannot_listen_to_one_name(write, tmp_path: Path) -> None:
    write(folder="all")
    path = write(folder="all", file="bert.yaml", aliases=["ADA"])
    found = find_recipes([tmp_path / "all"])
    assert list(found.personas) == ["ada"]
    assert [(skipped, "bert.yaml: 'ada' is already a name" in why) for skipped, why in found.skipped] == [
        (path, True)
    ]


def test_a_file_that_is_wrong_is_named_and_left_out(write, tmp_path: Path) -> None:
    write(folder="all")
    bad = write(folder="all", file="bert.yaml", name="Bert", personality={"openness": 7})
    (tmp_path / "all" / "notes.txt").write_text("no recipe")
    (tmp_path / "all" / ".#ada.yaml").write_text("what an editor left")
    (tmp_path / "all" / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    found = find_recipes([tmp_path / "all"])
    assert list(found.personas) == ["ada"]
    assert [path.name for path, _ in found.skipped] == ["bert.yaml", "torn.png"]
    assert "personality.openness" in found.skipped[0].why
    assert str(bad) in found.skipped[0].why


def test_two_files_of_one_folder_cannot_be_one_character(write, tmp_path: Path) -> None:
    write(folder="all", file="ada.json")
    write(folder="all", file="ada.yaml")
    (tmp_path / "all" / "ada.json").write_text('{"name": "Ada", "species": "crow"}')
    found = find_recipes([tmp_path / "all"])
    assert found.personas["ada"].species == "crow"
    assert "the character ada is already in" in found.skipped[0].why


def test_unknown_keys_are_kept_and_listed_with_what_may_have_been_meant(write) -> None:
    persona = load_recipe(write(voise={"a": [1, 2]}, personality={"opennes": 1, "vanity": "much"}))
    assert persona.extra == {"voise": {"a": [1, 2]}, "personality": {"opennes": 1, "vanity": "much"}}
    assert list(unused(persona.extra)) == [
        "voise (did you mean voice?)",
        "personality.opennes (did you mean openness?)",
        "personality.vanity",
    ]


def test_what_is_kept_can_be_written_as_json(write, tmp_path: Path) -> None:
    path = write()
    path.write_text(
        "name: Ada\nborn: 1815-12-10\nodd: [.nan, .inf, !!set {a}, !!binary aGk=, {1: {true: x}}]\n"
    )
    kept = load_recipe(path).extra
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
    assert kept["born"] == "1815-12-10"


PAGE = "a: &a [1,1]\n" + "".join(
    f"{chr(b)}: &{chr(b)} [*{chr(b - 1)},*{chr(b - 1)}]\n" for b in range(98, 123)
)


@pytest.mark.parametrize(
    "text",
    [
        "x: &a [*a]",
        PAGE,
        f"{PAGE}species: *z",
        f"{PAGE}personality: {{openness: *z}}",
        f"{PAGE}spec: *z\ndata: {{}}",
        f"{PAGE}spec: chara_card_v2\ndata: {{name: *z}}",
    ],
    ids=["itself", "a page", "as text", "as a number", "a card", "in a card"],
)
def test_a_page_of_aliases_is_refused_and_not_kept(write, text: str) -> None:
    path = write()
    path.write_text(f"name: Ada\n{text}\n")
    with pytest.raises(UserError, match="it has an alias; write out what it stands for"):
        load_recipe(path)


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
