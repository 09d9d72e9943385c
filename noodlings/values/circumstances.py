"""The circumstances of a memory: when and where it happened, what others felt, and what it belongs to.

They are kept apart from when and where it was told, and only where somebody gave them. They stand among the
data of the entry, so whatever holds for those (export, encryption, forgetting) holds for them. Bounds are
checked where data comes in (`require_circumstances`), in every percept, too.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Le, MaxLen, MinLen

from noodlings.clock import LATEST
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
EARLIEST = -62_135_596_800.0
"""The year 1, in seconds since 1970-01-01 UTC."""
DAY_SECONDS = 86_400.0

_STRICT = {"extra": "forbid", "allow_inf_nan": False}
_MARKUP = re.compile(r"[<>\[\]{}|`]")
_WHERE = re.compile(r"(?:at|by|in|inside|near|on|outside|under) ", re.I)


Text = Annotated[str, MaxLen(LONGEST)]
Filled = Annotated[Text, MinLen(1)]
Number = Annotated[float, Ge(0), Le(LATEST)]


class Certainty(StrEnum):
    """How sure a time is."""

    EXACT = "exact"
    ESTIMATED = "estimated"
    INFERRED = "inferred"


class KnownFrom(StrEnum):
    """How it is known what somebody felt."""

    TOLD = "told"
    SEEN = "seen"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class EventTime:
    """When something happened.

    Attributes:
        begins: seconds since 1970-01-01 UTC, from the year 1 on.
        duration: seconds, at least 0; None where it is not known.
        certainty: how sure that is.
        words: as somebody put it: "last summer".
    """

    __pydantic_config__: ClassVar = _STRICT

    begins: Annotated[float, Ge(EARLIEST), Le(LATEST)]
    duration: Number | None = None
    certainty: Certainty = Certainty.EXACT
    words: Text = ""

    @property
    def ends(self) -> float:
        """As `begins`; equal to it where the duration is not known."""
        return self.begins + (self.duration or 0.0)

    def in_words(self, now: float) -> str:
        """ "on 2 March", "around 2 March 1998", "from 1 June to 3 June": days are UTC, and a year is left out
        where it is that of `now`."""
        day, exact = _day(self.begins, now), self.certainty == Certainty.EXACT
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
    """

    __pydantic_config__: ClassVar = _STRICT

    who: Filled
    emotion: Filled
    known_from: KnownFrom = KnownFrom.TOLD
    evidence: Text = ""


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
    """

    __pydantic_config__: ClassVar = _STRICT

    when: EventTime | None = None
    where: Text = ""
    distance: Number | None = None
    emotions: Annotated[tuple[ObservedEmotion, ...], MaxLen(MOST)] = ()
    inferences: Annotated[tuple[Filled, ...], MaxLen(MOST)] = ()
    goals: Annotated[tuple[Filled, ...], MaxLen(MOST)] = ()
    task: Text = ""
    source_id: Text = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """By which it is found: "task:the harvest", "goal:find Ada", "place:the mill"."""
        named = ((TASK, self.task), *((GOAL, goal) for goal in self.goals), (PLACE, self.where))
        return tuple(prefix + text for prefix, text in named if text)

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

    def without(self, name: re.Pattern[str]) -> Circumstances:
        """Without what was observed of, or concluded about, whoever is found by a pattern."""
        emotions = (
            one for one in self.emotions if not name.search("\n".join((one.who, one.emotion, one.evidence)))
        )
        inferences = (one for one in self.inferences if not name.search(one))
        return replace(self, emotions=tuple(emotions), inferences=tuple(inferences))

    def as_data(self) -> dict[str, Any]:
        """For the data of a percept: JSON under `CIRCUMSTANCES`, without what is empty; {} where all is."""
        kept = asdict(self, dict_factory=lambda parts: {k: v for k, v in parts if v not in (None, "", ())})
        return {CIRCUMSTANCES: json.loads(json.dumps(kept))} if kept else {}  # with lists and plain texts


def circumstances_in(data: Any) -> Circumstances:
    """Those in stored data, without what is malformed in old or foreign data."""
    with suppress(UserError):
        return require_circumstances(data, stored=True)
    found = NOTHING
    for name, value in data.items() if isinstance(data, dict) else ():
        with suppress(UserError):
            found = replace(found, **{name: getattr(require_circumstances({name: value}, stored=True), name)})
    return found


def require_circumstances(data: Any, stored: bool = False) -> Circumstances:
    """Those in JSON from outside.

    Args:
        stored: whether it was taken in before: masked personal data has markup, and may be longer.

    Raises:
        UserError: something is malformed; the message says what.
    """
    from pydantic import ValidationError  # only here: the screens start without it

    from noodlings.validation import explain

    reader = _reader()
    try:
        read = with_texts(data, _cut) if stored else plain(data)
        found: Circumstances = reader(circumstances=read).circumstances
        return found
    except ValidationError as error:
        raise UserError(explain(error, reader)) from None
    except UserError as error:
        raise UserError(f"{CIRCUMSTANCES}: {error}") from None


def _cut(text: str) -> str:
    return shorten(clean(text), LONGEST)


@cache
def _reader() -> Any:
    from pydantic import create_model

    return create_model("Read", circumstances=(Circumstances, ...))


def plain(data: Any) -> Any:
    """JSON-compatible data. Raises `UserError` if a text in it is not one printable line without markup."""

    def checked(text: str) -> str:
        if _MARKUP.search(text):
            raise UserError(f"{text!r:.60} has markup; leave out < > [ ] {{ }} | and `")
        if text != clean(text):
            raise UserError(f"{text!r:.60} must be one line of printable text, without spaces around it")
        return text

    return with_texts(data, checked)


def _day(moment: float, now: float) -> str:
    day, today = (
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(one, EARLIEST), LATEST))
        for one in (moment, now)
    )
    return f"{day.day} {day:%B}" + ("" if day.year == today.year else f" {day.year}")


NOTHING = Circumstances()
