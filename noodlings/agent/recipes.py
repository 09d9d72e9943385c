"""Recipes: files that say who a character is, read into personas.

A recipe is YAML or JSON, or a character card (`noodlings.agent.cards`). Mistakes are refused with the file,
the key and what would be right. Nothing in a file is run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from noodlings.agent import cards, png_text
from noodlings.agent.recipe_form import DEFAULT_SPECIES, MIDDLING, Recipe
from noodlings.errors import UserError
from noodlings.files import read_bounded
from noodlings.text import clean
from noodlings.validation import explain, read_yaml, yaml_trouble
from noodlings.values.persona import APPETITES, ID, TRAITS, Persona

BUILT_IN = Path(__file__).parents[1] / "recipes"
"""The folder of the shipped characters."""

LARGEST_RECIPE = 1_000_000
"""Bytes of a recipe."""

ENDINGS = (".yaml", ".yml", ".json", ".png")

_PREFIX = re.compile(r"^(?:agent|npc|user)_")


class Skipped(NamedTuple):
    """A file that is no recipe, and why."""

    path: Path
    why: str


class FoundRecipes(NamedTuple):
    """The personas in folders of recipes by id, and the files that were skipped."""

    personas: dict[str, Persona]
    skipped: tuple[Skipped, ...]


def find_recipes(folders: Sequence[Path]) -> FoundRecipes:
    """All recipes of the folders; a later folder may replace a recipe of the same id.

    A file is skipped if it is wrong, or shares its id with another file of its folder or a name with another
    character.

    Raises `UserError`: a folder does not exist, or cannot be read.
    """
    found: dict[str, tuple[Path, Persona]] = {}
    skipped: list[Skipped] = []
    for folder in folders:
        for path in _files(folder):
            try:
                persona = load_recipe(path)
                other = found.get(persona.id)
                if other is not None and other[0].parent == folder:
                    raise UserError(f"recipe {path}: the character {persona.id} is already in {other[0]}")
                found[persona.id] = (path, persona)
            except UserError as error:
                skipped.append(Skipped(path, str(error)))
    owners: dict[str, Path] = {}
    for identifier, (path, persona) in list(found.items()):
        names = {*persona.names}
        if taken := sorted(names & owners.keys()):
            why = f"recipe {path}: {taken[0]!r} is already a name of the character in {owners[taken[0]]}"
            skipped.append(Skipped(path, why))
            del found[identifier]
        else:
            owners |= dict.fromkeys(names, path)
    return FoundRecipes({name: found[name][1] for name in sorted(found)}, tuple(skipped))


def load_recipe(path: Path) -> Persona:
    """The persona of one file; its id is the file name without the ending.

    Raises `UserError` when the file cannot be read or is wrong; the message names it.
    """
    identifier = path.stem.lower()
    if not ID.fullmatch(identifier):
        raise UserError(
            f"recipe {path}: the file name becomes the character's id, so use up to 40 letters a-z, digits "
            "and underscores, beginning with a letter" + _such_as(path)
        )
    where = f"recipe {path}"
    try:
        if path.suffix.lower() in (".png", ".json"):
            return read_recipe(_not_yaml(path), identifier, where)
        return _parsed(read_bounded(path, LARGEST_RECIPE).decode(), identifier, where)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{where} cannot be read as YAML: {yaml_trouble(error)}") from None
    except OSError as error:
        raise UserError(f"{where} cannot be read: {error.strerror}") from None


def read_recipe(data: Any, identifier: str, where: str) -> Persona:
    """The persona of a recipe or card that was read from a file; `where` begins every error message.

    Raises `UserError` when something in it is wrong.
    """
    if not isinstance(data, dict):
        raise UserError(f"{where}: it has no keys; write at least name: and a name")
    try:
        recipe = cards.recipe_of(data) if cards.is_card(data) else data
        return Recipe.model_validate(recipe).persona(identifier)
    except ValidationError as error:
        raise UserError(f"{where}: {explain(error, Recipe)}") from None
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def plain_persona(agent_id: str) -> Persona:
    """A friendly, unremarkable character for an agent without a recipe.

    "agent_fred_rogers" becomes the persona "fred_rogers", shown as "Fred Rogers".
    """
    words = re.findall(r"[^\W_]+", _PREFIX.sub("", clean(agent_id).lower())) or ["somebody"]
    name = " ".join(word.capitalize() for word in words)[:60]
    return Persona(
        id="_".join(words)[:60],
        name=name,
        species=DEFAULT_SPECIES,
        description=f"{name} is friendly and looks like anybody else one is glad to meet.",
        identity=(
            f"You are {name}, a friendly and unremarkable person. You listen, you speak plainly in one to "
            "three short sentences, and you remember what people tell you."
        ),
        personality=dict.fromkeys(TRAITS, MIDDLING),
        appetites=dict.fromkeys(APPETITES, MIDDLING),
        aliases=(agent_id,) if agent_id.lower() != name.lower() else (),
    )


def kept_persona(agent_id: str) -> Persona:
    """The same under exactly this id, which memories are kept under, whatever it looks like."""
    return replace(plain_persona(agent_id), id=agent_id)


def _files(folder: Path) -> list[Path]:
    """The recipe files of a folder, without hidden files that editors leave."""
    if not folder.is_dir():
        raise UserError(f"there is no recipe folder {folder}")
    try:
        found = [path for path in folder.iterdir() if path.suffix.lower() in ENDINGS]
    except OSError as error:
        raise UserError(f"the recipe folder {folder} cannot be read: {error.strerror}") from None
    return sorted(path for path in found if not path.name.startswith("."))


@lru_cache(maxsize=32)
def _parsed(text: str, identifier: str, where: str) -> Persona:
    """The persona of a file's text. Parsing is slow, so it is cached by the text."""
    return read_recipe(read_yaml(text, aliases=False), identifier, where)


def _not_yaml(path: Path) -> Any:
    image = path.suffix.lower() == ".png"
    largest = png_text.LARGEST_IMAGE if image else LARGEST_RECIPE
    content = read_bounded(path, largest)
    try:
        return cards.card_in(content) if image else cards.read_json(content)
    except UserError as error:
        raise UserError(f"recipe {path}: {error}") from None


def _such_as(path: Path) -> str:
    """A suggestion for a valid name near to the file's own, where there is one."""
    words = "_".join(re.findall(r"[a-z0-9]+", path.stem.lower()))[:40].strip("_")
    return f"; for example, {words}{path.suffix.lower()}" if ID.fullmatch(words) else ""
