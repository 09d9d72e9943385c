"""`noodlings recipe`: what is read is told, what is wrong is named, and no file is ever written over."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from noodlings.agent.cards import LISTS, TEXTS
from noodlings.agent.recipe_form import Recipe
from noodlings.agent.recipes import load_recipe
from noodlings.cli.main import app
from noodlings.errors import UserError
from noodlings.values.persona import APPETITES, TRAITS

OLD = Path(__file__).parents[1] / "agent" / "old_recipes"
DOC = Path(__file__).parents[2] / "docs" / "recipes.md"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def type_it(*words: object) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, ["recipe", *map(str, words)])
        if isinstance(done.exception, UserError):
            raise done.exception
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    return type_it


def test_what_is_read_and_what_is_kept_is_told(run: Run) -> None:
    code, said, wrong = run("check", OLD / "goose.yaml")
    assert (code, wrong) == (0, "")
    assert "Mr. Goose, goose, by the id goose" in said
    assert "acts and never speaks; must go honk" in said
    assert "appetites: curiosity 0.7, status 0.95" in said
    assert max(map(len, said.splitlines()[1:])) <= 80
    told = " ".join(said.split())
    assert "up to 60 tokens, temperature 0.9; speaks unasked no sooner than 5 s" in told
    assert "kept but not used: enlightenment, age, pronoun, llm, personality.impulsivity" in told


def test_of_several_each_that_is_wrong_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gus.yaml").write_text("name: \x1b[31mGus\x1b[0m\nvoice: {lines: {greting: [hi]}}\n\x1b")
    (tmp_path / "torn.png").write_bytes(b"x")
    code, said, wrong = run("check", "gus.yaml", OLD / "callie.yaml", "torn.png", "gone.yaml")
    assert code == 2
    assert "Callie, human" in said
    assert re.fullmatch(
        r"noodlings: recipe gus\.yaml cannot be read as YAML: .*\n"
        r"noodlings: recipe torn\.png: it is not a PNG image, despite its name\n"
        r"noodlings: recipe gone\.yaml cannot be read: No such file or directory\n",
        wrong,
    )
    assert "\x1b" not in said + wrong


def test_a_near_key_is_suggested(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gus.yaml").write_text("name: Gus\nvoise: {}\n")
    # The first thing after the name: what follows are the values that hold instead.
    assert run("check", "gus.yaml")[1].splitlines()[1] == "  kept but not used: voise (did you mean voice?)"
    (tmp_path / "gus.yaml").write_text("name: Gus\nvoice: {lines: {greting: [hi]}}\n")
    assert "no occasion greting; did you mean greeting?" in run("check", "gus.yaml")[2]


@pytest.mark.parametrize(
    ("name", "file"),
    [("Lotta", "lotta"), ("Old Gus", "old_gus"), ("Ünal: the \"$x\" '#1'", "unal_the_x_1"), ("No", "no")],
)
def test_a_new_recipe_is_whole_and_never_written_over_another(
    run: Run, tmp_path: Path, name: str, file: str
) -> None:
    (tmp_path / "recipes").mkdir()
    said = run("new", name, "--folder", "recipes")[1]
    path = Path("recipes") / f"{file}.yaml"
    assert str(path) in said
    made = load_recipe(path)
    assert made.name == name
    assert f"You are {name}." in made.story
    assert made.extra == {}
    assert all(part.startswith("#") for part in path.read_text().split("\n\n"))
    before = path.read_bytes()
    with pytest.raises(UserError, match="already exists and was not changed"):
        run("new", name, "--folder", "recipes")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["", "漢字", "7 dwarfs", "x" * 41, "../.."])
def test_a_name_that_is_none_for_a_file_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="begin with a letter a-z"):
        run("new", name)
    assert not list(tmp_path.iterdir())


def test_a_folder_for_a_recipe_is_made_and_a_file_is_none(run: Run, tmp_path: Path) -> None:
    run("new", "Lotta", "--folder", "not/yet")
    assert (tmp_path / "not" / "yet" / "lotta.yaml").is_file()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="file is a file; name a folder"):
        run("new", "Lotta", "--folder", "file")


@pytest.mark.slow
def test_a_recipe_becomes_a_card_and_a_card_another(run: Run, tmp_path: Path) -> None:
    run("card", OLD / "goose.yaml", "--out", "goose.png")
    assert "version 3.0" in run("card", "goose.png", "--v3", "--out", "goose.json")[1]
    card = json.loads((tmp_path / "goose.json").read_text())
    assert (card["spec"], card["data"]["name"]) == ("chara_card_v3", "Mr. Goose")
    assert load_recipe(Path("goose.json")) == load_recipe(OLD / "goose.yaml")
    with pytest.raises(UserError, match=r"goose\.png already exists"):
        run("card", "goose.json", "--out", "goose.png")
    with pytest.raises(UserError, match=r"neither \.json nor \.png"):
        run("card", "goose.json", "--out", "goose.yaml")


def test_the_documentation_shows_what_is_said(run: Run, tmp_path: Path) -> None:
    """The transcript in docs/recipes.md, typed as it stands there."""
    shown = re.findall(r"^\$ noodlings recipe (.+)\n((?:(?!\$ |```).*\n)*)", DOC.read_text("utf-8"), re.M)
    assert [typed.split()[0] for typed, _ in shown] == ["new", "check", "card"]
    for typed, said in shown:
        assert run(*typed.split()) == (0, said, "")


def test_the_documentation_explains_every_key() -> None:
    text = re.sub(r"^```.*?^```", "", DOC.read_text("utf-8"), flags=re.M | re.S)
    named = set(re.findall(r"[a-z_0-9]+", " ".join(re.findall(r"`([^`]+)`", text))))
    old = "identity_prompt enlightenment age pronoun impulsivity vanity enforce_action_format llm admin_flags"
    of_cards = "nickname character_book extensions group_only_greetings"
    wanted = {*Recipe.model_fields, *TEXTS, *LISTS, *TRAITS, *APPETITES, *old.split(), *of_cards.split()}
    wanted |= {"conscience", "toxicity_threshold", "self_monitoring", "boundary_style", "provider", "model"}
    for field in Recipe.model_fields.values():
        if isinstance(field.default, BaseModel):
            wanted |= set(type(field.default).model_fields)
    assert wanted - named == set()
