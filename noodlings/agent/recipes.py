"""Recipes: YAML files that say who a character is, read into personas.

Whatever is wrong in a file is refused with its name, the key and what would be right. Nothing in a file is
run; it is data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from noodlings.errors import UserError
from noodlings.text import clean
from noodlings.validation import explain, nearest, read_yaml
from noodlings.values import persona as values
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.persona import APPETITES, TRAITS, TRANSISTORS, Persona
from noodlings.values.wording import COLOURS, COMMON_SLOTS, SLOTS, DialogueAct, SpokenFeeling, parse

BUILT_IN = Path(__file__).parents[1] / "recipes"
"""The folder of the characters that come with the program."""

LARGEST = 1_000_000
"""Bytes of a recipe; more is no recipe."""

_ID = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PREFIX = re.compile(r"^(?:agent|npc|user)_")
_MIDDLING = 0.5


def load_recipes(folders: Sequence[Path]) -> dict[str, Persona]:
    """All recipes (`*.yaml`) of the folders, by id; one in a later folder replaces one of the same id.

    Raises:
        UserError: a folder does not exist, a recipe is wrong, or two characters listen to one name.
    """
    found: dict[str, tuple[Path, Persona]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UserError(f"no folder of recipes at {folder}")
        for path in sorted(folder.glob("*.yaml")):
            persona = load_recipe(path)
            found[persona.id] = (path, persona)
    _refuse_shared_names(found.values())
    return {name: found[name][1] for name in sorted(found)}


def load_recipe(path: Path) -> Persona:
    """The persona of one file; its id is the file's name without the ending.

    Raises:
        UserError: the file cannot be read, or says something that is not allowed; the message names it.
    """
    identifier = path.stem.lower()
    if not _ID.fullmatch(identifier):
        raise UserError(
            f"recipe {path}: a file's name becomes the character's id, so it is made of up to 40 letters "
            "a-z, digits and underscores, and begins with a letter"
        )
    try:
        return _parsed(_read(path), identifier, f"recipe {path}")
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"recipe {path} cannot be read as YAML: {' '.join(str(error).split())}") from None
    except OSError as error:
        raise UserError(f"recipe {path} cannot be read: {error.strerror}") from None


def read_recipe(data: Any, identifier: str, where: str) -> Persona:
    """The persona of a recipe that was read from YAML.

    Args:
        where: how a refusal begins.

    Raises:
        UserError: it says something that is not allowed.
    """
    if not isinstance(data, dict):
        raise UserError(f"{where}: it holds no keys; at least name, species, description and identity")
    try:
        return _Recipe.model_validate(data).persona(identifier)
    except ValidationError as error:
        raise UserError(f"{where}: {explain(error, _Recipe)}") from None


def plain_persona(agent_id: str) -> Persona:
    """A friendly, unremarkable character for an agent that has no recipe.

    "agent_fred_rogers" becomes the persona "fred_rogers", shown as "Fred Rogers".
    """
    words = re.findall(r"[^\W_]+", _PREFIX.sub("", clean(agent_id).lower())) or ["somebody"]
    name = " ".join(word.capitalize() for word in words)[:60]
    return Persona(
        id="_".join(words)[:60],
        name=name,
        species="person",
        description=f"{name} is friendly and looks like anybody else one is glad to meet.",
        identity=(
            f"You are {name}, a friendly and unremarkable person. You listen, you speak plainly in one to "
            "three short sentences, and you remember what people tell you."
        ),
        personality=dict.fromkeys(TRAITS, _MIDDLING),
        appetites=dict.fromkeys(APPETITES, _MIDDLING),
        aliases=(agent_id,) if agent_id.lower() != name.lower() else (),
    )


@lru_cache(maxsize=32)
def _parsed(text: str, identifier: str, where: str) -> Persona:
    """The persona of a file's text.

    Opening a folder would mostly be parsing the same few recipes once more, so what they say is kept. It is
    kept by their text: a change is seen however soon it is made.
    """
    return read_recipe(read_yaml(text), identifier, where)


def _read(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        raise UserError(f"recipe {path} has more than {LARGEST:,} bytes; that is no recipe")
    return path.read_text(encoding="utf-8")


def _refuse_shared_names(recipes: Iterable[tuple[Path, Persona]]) -> None:
    """Whoever is called must be one character."""
    owners: dict[str, Path] = {}
    for path, persona in recipes:
        for name in {n.casefold() for n in (persona.id, persona.name, *persona.aliases)}:
            other = owners.setdefault(name, path)
            if other != path:
                raise UserError(f"recipe {path}: {name!r} is already a name of the character in {other}")


def _one_line(text: str) -> str:
    text = clean(text)
    if not text:
        raise ValueError("it must not be empty")
    return text


def _transistor_name(name: str) -> str:
    """It may become the name of a file, and must not lead out of the folder."""
    if not _ID.fullmatch(name):
        raise ValueError(
            f"a transistor is one of {', '.join(TRANSISTORS)} or a file of your own, by its name "
            "without .py: up to 40 letters a-z, digits and underscores, beginning with a letter"
        )
    return name


Line = Annotated[str, Field(max_length=4_000), AfterValidator(_one_line)]
Name = Annotated[str, Field(max_length=40), AfterValidator(_one_line)]
TransistorName = Annotated[str, AfterValidator(_transistor_name)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Personality(_Strict):
    openness: Unit = _MIDDLING
    conscientiousness: Unit = _MIDDLING
    extraversion: Unit = _MIDDLING
    agreeableness: Unit = _MIDDLING
    neuroticism: Unit = _MIDDLING


class _Appetites(_Strict):
    curiosity: Unit = _MIDDLING
    status: Unit = _MIDDLING
    mastery: Unit = _MIDDLING
    novelty: Unit = _MIDDLING
    safety: Unit = _MIDDLING
    social_bond: Unit = _MIDDLING
    comfort: Unit = _MIDDLING
    autonomy: Unit = _MIDDLING


class _Baseline(_Strict):
    valence: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = NEUTRAL.valence
    arousal: Unit = NEUTRAL.arousal
    fear: Unit = NEUTRAL.fear
    sorrow: Unit = NEUTRAL.sorrow
    boredom: Unit = NEUTRAL.boredom


class _Voice(_Strict):
    case: Literal["plain", "upper", "lower"] = "plain"
    address: tuple[Name, ...] = ()
    interjections: dict[SpokenFeeling, tuple[Line, ...]] = {}
    mannerisms: tuple[Line, ...] = ()
    lines: dict[DialogueAct, tuple[Line, ...]] = {}
    gestures: tuple[Line, ...] = ()
    idle: tuple[Line, ...] = ()
    colours: dict[str, tuple[Line, ...]] = {}

    @field_validator("interjections", mode="before")
    @classmethod
    def _known_feelings(cls, given: Any) -> Any:
        return _known(given, [feeling.value for feeling in SpokenFeeling], "feeling")

    @field_validator("lines", mode="before")
    @classmethod
    def _known_acts(cls, given: Any) -> Any:
        return _known(given, [act.value for act in DialogueAct], "occasion")

    @field_validator("colours", mode="before")
    @classmethod
    def _known_colours(cls, given: Any) -> Any:
        return _known(given, list(COLOURS), "colour")

    @model_validator(mode="after")
    def _slots_can_be_filled(self) -> _Voice:
        """A slot is filled only for acts that know it; elsewhere the line would never be said."""
        _check_phrases("mannerisms", self.mannerisms, COMMON_SLOTS)
        _check_phrases("gestures", self.gestures, COMMON_SLOTS)
        for feeling, phrases in self.interjections.items():
            _check_phrases(f"interjections.{feeling}", phrases, COMMON_SLOTS)
        for act, phrases in self.lines.items():
            _check_phrases(f"lines.{act}", phrases, COMMON_SLOTS | SLOTS.get(act, frozenset()))
        for colour, phrases in self.colours.items():
            _check_phrases(f"colours.{colour}", phrases, COMMON_SLOTS | COLOURS[colour])
        return self


def _check_phrases(where: str, phrases: Iterable[str], slots: frozenset[str]) -> None:
    for phrase in phrases:
        try:
            unknown = parse(phrase).slots - slots
        except UserError as error:
            raise ValueError(f"{where}: {error}") from None
        if unknown:
            raise ValueError(f"{where} has no slot {min(unknown)}; it has {', '.join(sorted(slots))}")


class _Recipe(_Strict):
    name: Name
    species: Name
    description: Line
    identity: Line
    home: Annotated[str, Field(max_length=40)] = ""
    aliases: tuple[Name, ...] = ()
    personality: _Personality = _Personality()
    appetites: _Appetites = _Appetites()
    baseline: _Baseline = _Baseline()
    identity_words: tuple[Name, ...] = ()
    transistors: dict[TransistorName, Unit] = {}
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 200
    voice: _Voice = _Voice()

    def persona(self, identifier: str) -> Persona:
        """The value that the program works with."""
        voice = self.voice
        return Persona(
            id=identifier,
            name=self.name,
            species=self.species,
            description=self.description,
            identity=self.identity,
            personality=self.personality.model_dump(),
            appetites=self.appetites.model_dump(),
            voice=values.PersonaVoice(
                case=voice.case,
                address=voice.address,
                interjections={feeling.value: lines for feeling, lines in voice.interjections.items()},
                mannerisms=voice.mannerisms,
                lines={act.value: lines for act, lines in voice.lines.items()},
                gestures=voice.gestures,
                idle=voice.idle,
                colours=dict(voice.colours),
            ),
            aliases=self.aliases,
            home=clean(self.home),
            baseline=Affect(**self.baseline.model_dump()),
            identity_words=self.identity_words,
            transistors=dict(self.transistors),
            max_tokens=self.max_tokens,
        )


def _known(given: Any, right: Sequence[str], what: str) -> Any:
    wrong = [key for key in given if key not in right] if isinstance(given, dict) else []
    if wrong:
        raise ValueError(f"there is no {what} {wrong[0]}{nearest(str(wrong[0]), right)}")
    return given
