"""The keys of a recipe, and the persona made from it.

Older recipes are read too, with `identity_prompt`, `constraints`, `language_mode` and traits that have since
become appetites or moodiness. A known key with a wrong value is refused with a hint; an unknown key is kept
in the persona and does nothing.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from itertools import count
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from noodlings.errors import UserError
from noodlings.stemming import stem
from noodlings.text import clean, one_line, shorten
from noodlings.validation import Unit, nearest, yaml_of
from noodlings.values import persona as values
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.persona import APPETITES, COOL_DOWN, ID, TRAITS, TRANSISTORS, Persona
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import COLOURS, COMMON_SLOTS, SLOTS, DialogueAct, SpokenFeeling, parse

LONGEST_NAME = 40

MIDDLING = 0.5
"""The default of a trait or an appetite."""

DEFAULT_SPECIES = "person"

LONGEST_IDENTITY = 16_000
"""Characters of an identity: about 4,000 tokens of every call."""

CARD = "character_card"
"""The key under which a recipe keeps its card."""
OF_CARD = frozenset(
    {"name", "nickname", "description", "personality", "scenario", "first_mes", "mes_example"}
)
"""The fields of a card that a character is made of."""

MOST_KEPT = 50_000
"""Unknown values that are kept: more come from YAML aliases, not from writing."""
DEEPEST_KEPT = 100


def _transistor_name(name: str) -> str:
    """A name that may become a file name, and cannot lead out of the folder."""
    if not ID.fullmatch(name):
        raise ValueError(
            f"a transistor is one of {', '.join(TRANSISTORS)} or a file of your own, by its name "
            "without .py: up to 40 letters a-z, digits and underscores, beginning with a letter"
        )
    return name


Line = Annotated[str, Field(max_length=4_000), AfterValidator(one_line)]
Identity = Annotated[str, Field(max_length=LONGEST_IDENTITY), AfterValidator(one_line)]
Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(one_line)]
TransistorName = Annotated[str, AfterValidator(_transistor_name)]
Penalty = Annotated[float, Field(ge=-2, le=2, allow_inf_nan=False)]


class _Section(BaseModel):
    """A section of a recipe: empty values count as missing, unknown keys are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {str(key): value for key, value in given.items() if value is not None}


class _Levels(_Section):
    """Named levels, which older recipes put into groups (`personality: {big_five: …}`)."""

    @model_validator(mode="before")
    @classmethod
    def _lifted(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        groups = {key: value for key, value in given.items() if isinstance(value, dict)}
        lifted = {key: value for key, value in given.items() if key not in groups}
        for name, group in groups.items():
            known = {key: value for key, value in group.items() if key in cls.model_fields}
            rest = {key: value for key, value in group.items() if key not in known}
            lifted = known | lifted | ({name: rest} if rest else {})
        return lifted


class _Personality(_Levels):
    openness: Unit = MIDDLING
    conscientiousness: Unit = MIDDLING
    extraversion: Unit = MIDDLING
    agreeableness: Unit = MIDDLING
    neuroticism: Unit = MIDDLING
    curiosity: Unit | None = None
    emotional_volatility: Unit | None = None


class _Appetites(_Levels):
    curiosity: Unit = MIDDLING
    status: Unit = MIDDLING
    mastery: Unit = MIDDLING
    novelty: Unit = MIDDLING
    safety: Unit = MIDDLING
    social_bond: Unit = MIDDLING
    comfort: Unit = MIDDLING
    autonomy: Unit = MIDDLING


class _Baseline(_Section):
    valence: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = NEUTRAL.valence
    arousal: Unit = NEUTRAL.arousal
    fear: Unit = NEUTRAL.fear
    sorrow: Unit = NEUTRAL.sorrow
    boredom: Unit = NEUTRAL.boredom


class _Constraints(_Section):
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 200
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    response_cooldown: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] = COOL_DOWN
    stop: (
        Annotated[tuple[Annotated[str, Field(min_length=1, max_length=60)], ...], Field(max_length=3)] | None
    ) = None
    frequency_penalty: Penalty | None = None
    presence_penalty: Penalty | None = None
    min_p: Unit | None = None


_KEYS: dict[str, tuple[str, list[str]]] = {
    "interjections": ("feeling", list(SpokenFeeling)),
    "lines": ("occasion", list(DialogueAct)),
    "about_itself": ("topic", list(SelfTopic)),
    "on_topics": ("topic", list(ToldTopic)),
    "colours": ("colour", list(COLOURS)),
}


class _Voice(_Section):
    case: Literal["plain", "upper", "lower"] = "plain"
    address: tuple[Name, ...] = ()
    interjections: dict[SpokenFeeling, tuple[Line, ...]] = {}
    mannerisms: tuple[Line, ...] = ()
    lines: dict[DialogueAct, tuple[Line, ...]] = {}
    about_itself: dict[SelfTopic, tuple[Line, ...]] = {}
    on_topics: dict[ToldTopic, tuple[Line, ...]] = {}
    gestures: tuple[Line, ...] = ()
    idle: tuple[Line, ...] = ()
    colours: dict[str, tuple[Line, ...]] = {}
    sounds: tuple[Name, ...] = ()

    @field_validator("interjections", "lines", "about_itself", "on_topics", "colours", mode="before")
    @classmethod
    def _known_keys(cls, given: Any, info: ValidationInfo) -> Any:
        what, right = _KEYS[info.field_name or ""]
        wrong = [key for key in given if key not in right] if isinstance(given, dict) else []
        if wrong:
            raise ValueError(f"there is no {what} {wrong[0]}{nearest(str(wrong[0]), right)}")
        return given

    @model_validator(mode="after")
    def _slots_can_be_filled(self) -> _Voice:
        """Refuse slots that are never filled for an act, as the line would never be said."""
        _check_phrases("mannerisms", self.mannerisms, COMMON_SLOTS)
        _check_phrases("gestures", self.gestures, COMMON_SLOTS)
        for feeling, phrases in self.interjections.items():
            _check_phrases(f"interjections.{feeling}", phrases, COMMON_SLOTS)
        for act, phrases in self.lines.items():
            _check_phrases(f"lines.{act}", phrases, COMMON_SLOTS | SLOTS.get(act, frozenset()))
        for section in ("about_itself", "on_topics"):
            for topic, phrases in getattr(self, section).items():
                _check_phrases(f"{section}.{topic}", phrases, COMMON_SLOTS)
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
            raise ValueError(f"{where} has no slot {min(unknown)}; use one of: {', '.join(sorted(slots))}")


class Recipe(_Section):
    name: Name
    species: Name = DEFAULT_SPECIES
    description: Line | None = None
    identity: Identity | None = None
    story: Line | None = None
    home: Annotated[str, Field(max_length=40)] = ""
    profession: Name | None = None
    factions: tuple[Name, ...] = ()
    aliases: tuple[Name, ...] = ()
    personality: _Personality = _Personality()
    appetites: _Appetites = _Appetites()
    baseline: _Baseline = _Baseline()
    moodiness: Unit | None = None
    identity_words: tuple[Name, ...] = ()
    transistors: dict[TransistorName, Unit] = {}
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    constraints: _Constraints = _Constraints()
    language_mode: Literal["verbal", "nonverbal"] = "verbal"
    examples: Annotated[tuple[Line, ...], Field(max_length=100)] = ()
    voice: _Voice = _Voice()

    @model_validator(mode="before")
    @classmethod
    def _as_one_form(cls, given: Any) -> Any:
        """Unwrap an older recipe from its outer section, and use its prompt as the identity."""
        if not isinstance(given, dict):
            return given
        inner = [key for key, value in given.items() if isinstance(value, dict) and "name" in value]
        if "name" not in given and len(inner) == 1:
            given = {key: value for key, value in given.items() if key != inner[0]} | given[inner[0]]
        prompt = given.get("identity_prompt")
        if prompt is not None and given.get("identity") is None:
            given = {key: value for key, value in given.items() if key != "identity_prompt"}
            given["identity"] = prompt
        return given

    @field_validator("language_mode", mode="before")
    @classmethod
    def _mode(cls, given: Any) -> Any:
        return re.sub(r"[\s_-]", "", given.lower()) if isinstance(given, str) else given

    @model_validator(mode="after")
    def _acts_alone(self) -> Recipe:
        spoken = [act for act in self.voice.idle if act[0] in '"“«']
        if self.language_mode == "nonverbal" and spoken:
            raise ValueError(
                f"voice.idle: {shorten(spoken[0], 40)} is spoken, but language_mode: nonverbal never speaks; "
                "write what it does instead, without quotation marks"
            )
        return self

    def persona(self, identifier: str) -> Persona:
        """The persona. Raises `UserError` when there is too much to keep."""
        voice, traits, limits = self.voice, self.personality, self.constraints
        appetites = {name: getattr(self.appetites, name) for name in APPETITES}
        if traits.curiosity is not None and "curiosity" not in self.appetites.model_fields_set:
            appetites["curiosity"] = traits.curiosity
        verbal = self.language_mode == "verbal"
        return Persona(
            id=identifier,
            name=self.name,
            species=self.species,
            description=self.description or f"{self.name} looks back at you.",
            identity=self.identity or clean(f"You are {self.name}. {self.description or ''}"),
            story=self.story or "",
            personality={name: getattr(traits, name) for name in TRAITS},
            appetites=appetites,
            voice=values.PersonaVoice(
                **{name: getattr(voice, name) for name in _Voice.model_fields}
                | {
                    section: {key.value: lines for key, lines in getattr(voice, section).items()}
                    for section in ("interjections", "lines", "about_itself", "on_topics")
                }
                | {"sounds": self._sounds(verbal)}
            ),
            aliases=self.aliases,
            home=clean(self.home),
            profession=self.profession or "",
            factions=self.factions,
            baseline=Affect(*(getattr(self.baseline, name) for name in _Baseline.model_fields)),
            identity_words=self.identity_words,
            transistors=dict(self.transistors),
            max_tokens=limits.max_tokens if self.max_tokens is None else self.max_tokens,
            moodiness=self._moodiness(),
            verbal=verbal,
            examples=self.examples,
            temperature=limits.temperature,
            sampling=values.Sampling(
                limits.stop, limits.frequency_penalty, limits.presence_penalty, limits.min_p
            ),
            response_cooldown=limits.response_cooldown,
            extra=_kept(self, count(1)),
        )

    def _moodiness(self) -> float:
        """As given, else lower than usual for a character of low volatility."""
        volatility = self.personality.emotional_volatility
        if self.moodiness is not None:
            return self.moodiness
        return 1.0 if volatility is None else min(2.0 * volatility, 1.0)

    def _sounds(self, verbal: bool) -> tuple[str, ...]:
        """Noises that its text says it makes; if it speaks, only those that it must always make."""
        if "sounds" in self.voice.model_fields_set:
            return self.voice.sounds
        identity = self.identity or ""
        if verbal:
            told = [line for line in re.split(r"(?<=[.!?])\s+", identity) if _ALWAYS.search(line)]
        else:
            told = [identity, self.description or "", *self.voice.gestures]
        words = re.findall(r"[a-z]+", " ".join(told).lower())
        stems = {stem(word) for word in words}
        return tuple(sound for sound in _known_sounds() if stem(sound) in stems)


_ALWAYS = re.compile(r"\b(?:must|always|only|every|nothing but)\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _known_sounds() -> tuple[str, ...]:
    return tuple(yaml_of(resources.files(__package__).joinpath("sounds.yaml")))


def _kept(section: _Section, counter: Iterator[int]) -> dict[str, Any]:
    """The unknown keys of a section and its subsections, JSON-compatible."""
    kept = {key: _plain(value, counter, 1) for key, value in (section.model_extra or {}).items()}
    for name in type(section).model_fields:
        inner = getattr(section, name)
        if isinstance(inner, _Section) and (below := _kept(inner, counter)):
            kept[name] = below
    return kept


def _plain(value: Any, counter: Iterator[int], depth: int) -> Any:
    if next(counter) > MOST_KEPT or depth > DEEPEST_KEPT:
        raise UserError(
            f"it has too many unknown keys: remove some, as at most {MOST_KEPT:,} values are kept, "
            f"{DEEPEST_KEPT} levels deep"
        )
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, counter, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner, counter, depth + 1) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def unused(extra: Mapping[str, Any]) -> Iterator[str]:
    """The unknown keys that are kept of a recipe, each with a suggestion where there is one.

    "voise (did you mean voice?)", "personality.vanity", "conscience".
    """
    for key, value in extra.items():
        field = Recipe.model_fields.get(key)
        if key == CARD and isinstance(value, Mapping):
            yield from (f"{key}.{clean(inner)}" for inner in value if value[inner] and inner not in OF_CARD)
        elif field is not None and isinstance(field.default, _Section):
            known = type(field.default).model_fields
            yield from (f"{key}.{clean(inner)}{_meant(inner, known)}" for inner in value)
        else:
            yield f"{clean(key)}{_meant(key, Recipe.model_fields)}"


def _meant(key: str, known: Iterable[str]) -> str:
    hint = nearest(key, known)
    return f" ({hint.removeprefix('; ')})" if hint.startswith("; did") else ""
