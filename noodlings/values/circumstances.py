"""The circumstances of a memory: when and where it happened, what others felt, and what it belongs to.

They are kept apart from when and where it was told, and only where somebody gave them. They stand among the
data of the entry, so whatever holds for those (export, encryption, forgetting) holds for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, ClassVar, Literal, get_args

from noodlings.clock import EARLIEST, LATEST, calendar_time
from noodlings.errors import UserError
from noodlings.text import clean, shorten, with_texts

CIRCUMSTANCES = "circumstances"
"""Key in the data of a percept or an entry."""
TASK, GOAL, PLACE = "task:", "goal:", "place:"
"""Prefixes of the tags by which entries are found."""
MOST = 16
"""Entries of a list."""
LONGEST = 300
"""Characters of a text."""
SHOWN = 40
"""Characters of a text that are told."""
DAY_SECONDS = 86_400.0

_STRICT = {"extra": "forbid"}
_MARKUP = re.compile(r"[<>\[\]{}|`]")
_WHERE = re.compile(r"(?:at|by|in|inside|near|on|outside|under) ", re.I)

Certainty = Literal["exact", "estimated", "inferred"]
"""How sure a time is."""
KnownFrom = Literal["told", "seen", "inferred"]
"""How it is known what somebody felt."""


@dataclass(frozen=True, slots=True)
class EventTime:
    """When something happened.

    Attributes:
        begins: seconds since 1970-01-01 UTC, from the year 1 on.
        duration: seconds, at least 0; None where it is not known.
        certainty: how sure that is.
        words: as somebody put it: "last summer".

    Raises:
        UserError: something is out of range.
    """

    __pydantic_config__: ClassVar = _STRICT

    begins: float
    duration: float | None = None
    certainty: Certainty = "exact"
    words: str = ""

    def __post_init__(self) -> None:
        _require_number(self.begins, "begins", EARLIEST)
        if self.duration is not None:
            _require_number(self.duration, "duration")
        _require_one_of(get_args(Certainty), self.certainty, "certainty")
        _require_text(self.words, "words")

    @property
    def ends(self) -> float:
        """As `begins`; equal to it where the duration is not known."""
        return self.begins + (self.duration or 0.0)

    def in_words(self, now: float) -> str:
        """ "on 2 March", "around 2 March 1998", "from 1 June to 3 June": days are UTC, and a year is left out
        where it is that of `now`."""
        day, exact = _day(self.begins, now), self.certainty == "exact"
        dated = f"{'on' if exact else 'around'} {day}"
        if self.ends - self.begins > DAY_SECONDS:
            dated = f"from {'' if exact else 'around '}{day} to {_day(self.ends, now)}"
        return f"“{shorten(self.words, SHOWN)}”, {dated}" if self.words else dated


@dataclass(frozen=True, slots=True)
class ObservedEmotion:
    """What somebody felt, and how that is known.

    Attributes:
        who: an id or a name.
        emotion: a word for it.
        known_from: how it is known.
        evidence: what showed it, in words.

    Raises:
        UserError: something is missing or too long.
    """

    __pydantic_config__: ClassVar = _STRICT

    who: str
    emotion: str
    known_from: KnownFrom = "told"
    evidence: str = ""

    def __post_init__(self) -> None:
        _require_text(self.who, "who", least=1)
        _require_text(self.emotion, "emotion", least=1)
        _require_one_of(get_args(KnownFrom), self.known_from, "known_from")
        _require_text(self.evidence, "evidence")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known about something that happened, beside what was said of it. Texts are single lines of up
    to `LONGEST` characters, lists have up to `MOST` entries.

    Attributes:
        when: when it happened; None where that was not given.
        where: where it happened.
        distance: metres between there and whoever remembers it, at least 0; None where it is not known.
        emotions: what others felt.
        inferences: what was concluded from it.
        goals: what it served.
        task: what it was part of.
        source_id: its id in the source it came from.

    Raises:
        UserError: something is out of range, too long or too much.
    """

    __pydantic_config__: ClassVar = _STRICT

    when: EventTime | None = None
    where: str = ""
    distance: float | None = None
    emotions: tuple[ObservedEmotion, ...] = ()
    inferences: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    task: str = ""
    source_id: str = ""

    def __post_init__(self) -> None:
        for name in ("where", "task", "source_id"):
            _require_text(getattr(self, name), name)
        if self.distance is not None:
            _require_number(self.distance, "distance")
        for name in ("emotions", "inferences", "goals"):
            if (count := len(getattr(self, name))) > MOST:
                raise UserError(f"{name} has {count} entries; it may have at most {MOST}")
        for text in (*self.inferences, *self.goals):
            _require_text(text, "each of inferences and goals", least=1)

    @property
    def tags(self) -> tuple[str, ...]:
        """By which it is found: "task:the harvest", "goal:find Ada", "place:the mill"."""
        named = ((TASK, self.task), *((GOAL, goal) for goal in self.goals), (PLACE, self.where))
        return tuple(prefix + text for prefix, text in named if text)

    @property
    def texts(self) -> tuple[str, ...]:
        """Whatever of it could be told in words, with its days, empty texts left out."""
        felt = (text for one in self.emotions for text in (one.who, one.emotion, one.evidence))
        when = self.when.in_words(0.0) if self.when else ""
        texts = (when, self.where, *felt, *self.inferences, *self.goals, self.task, self.source_id)
        return tuple(filter(None, texts))

    def in_words(self, now: float) -> str:
        """ "it happened on 2 March, in the mill"; "" where neither is known. `now` as of `EventTime`."""
        where = shorten(self.where, SHOWN)
        where = where if not where or _WHERE.match(where) else f"in {where}"
        told = ", ".join(filter(None, [self.when.in_words(now) if self.when else "", where]))
        return f"it happened {told}".replace('"', "'") if told else ""

    def summary(self, now: float) -> str:
        """All of it on one line, for views."""
        told = [self.in_words(now), "" if self.distance is None else f"{self.distance:,g} m away"]
        for one in self.emotions:
            why = f", {one.evidence}" if one.evidence else ""
            told.append(f"{one.who} felt {one.emotion} ({one.known_from}{why})")
        lists = {
            "inferred:": self.inferences,
            "goal:": self.goals,
            "part of": (self.task,),
            "id": (self.source_id,),
        }
        told += [f"{name} {text}" for name, texts in lists.items() for text in texts if text]
        return " · ".join(filter(None, told))

    def without(self, named: Callable[[str], bool], felt: Callable[[str], bool]) -> Circumstances:
        """Without what was observed of, or concluded about, whoever is named in a text, or in words for an
        emotion by what `felt` finds."""
        emotions = (
            one for one in self.emotions if not (named(one.who) or felt(one.emotion) or named(one.evidence))
        )
        inferences = (one for one in self.inferences if not named(one))
        return replace(self, emotions=tuple(emotions), inferences=tuple(inferences))

    def as_data(self) -> dict[str, Any]:
        """For the data of a percept: JSON under `CIRCUMSTANCES`, without what is empty; {} where all is."""
        kept = asdict(self, dict_factory=lambda parts: {k: v for k, v in parts if v not in (None, "", ())})
        return {CIRCUMSTANCES: json.loads(json.dumps(kept))} if kept else {}  # with lists


def circumstances_in(data: Any) -> Circumstances:
    """Those in stored data, without what is malformed in old or foreign data."""
    found = NOTHING
    for name, value in data.items() if isinstance(data, dict) else ():
        with suppress(UserError):
            found = _with(found, name, with_texts(value, _cut))
    return found


def require_circumstances(data: Any, stored: bool = False) -> Circumstances:
    """Those in JSON from outside.

    Args:
        stored: whether it was taken in before: masked personal data has markup, and may be longer.

    Raises:
        UserError: something is malformed; the message says what.
    """
    if not isinstance(data, dict):
        raise UserError(f'{CIRCUMSTANCES} must be an object, such as {{"task": "the harvest"}}')
    found = NOTHING
    try:
        for name, value in with_texts(data, _cut if stored else _without_markup).items():
            found = _with(found, name, value)
    except UserError as error:
        raise UserError(f"{CIRCUMSTANCES}: {error}") from None
    return found


def _cut(text: str) -> str:
    return shorten(clean(text), LONGEST)


def _without_markup(text: str) -> str:
    """The same text. Raises `UserError` if it has markup."""
    if _MARKUP.search(text):
        raise UserError(f"{text!r:.60} has markup; leave out < > [ ] {{ }} | and `")
    return text


def _with(found: Circumstances, name: Any, value: Any) -> Circumstances:
    """With one part, as JSON has it. Raises `UserError`."""
    kind: type = {"when": EventTime, "emotions": ObservedEmotion}.get(name, Circumstances)
    try:
        if name in ("emotions", "inferences", "goals"):
            if not isinstance(value, list | tuple):
                raise UserError(f"{name} must be a list")
            value = tuple(ObservedEmotion(**one) if name == "emotions" else one for one in value)
        elif name == "when" and value is not None:
            value = EventTime(**value)
        return replace(found, **{name: value})
    except TypeError:  # a part that does not exist, or is no object
        known = ", ".join(part.name + " (required)" * (part.default is MISSING) for part in fields(kind))
        if kind is Circumstances:
            raise UserError(f"there is no {name!r:.40}; use one of: {known}") from None
        raise UserError(f"{name} does not fit; it takes {known}") from None


def _require_number(value: Any, name: str, least: float = 0.0) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= LATEST:
        raise UserError(f"{name} is {value!r:.40}: it must be a number from {least:.0f} to {LATEST:.0f}")


def _require_text(value: Any, name: str, least: int = 0) -> None:
    if not isinstance(value, str) or not least <= len(value) <= LONGEST or value != clean(value):
        length = f"{least} to {LONGEST}" if least else f"up to {LONGEST}"
        raise UserError(
            f"{name} must be one line of printable text of {length} characters, without spaces around it"
        )


def _require_one_of(choices: Sequence[str], value: Any, name: str) -> None:
    if value not in choices:
        raise UserError(f"{name} is {value!r:.40}: it must be one of {', '.join(choices)}")


def _day(moment: float, now: float) -> str:
    day = calendar_time(moment)
    return f"{day.day} {day:%B}" + ("" if day.year == calendar_time(now).year else f" {day.year}")


NOTHING = Circumstances()
