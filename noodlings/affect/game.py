"""What the events of a game do to a companion: its named mood, the state of the game, and notable events.

They are rendered anew for every prompt, because the times in them are relative.

- The named mood is one of four. Events set it, and without further events it becomes chill again. It is
  computed when it is asked for: `at_time` gives the mood at any world time.
- The memory bank holds a few notable events of this session. When it is full, the oldest event of the most
  frequent kind leaves, so that repeated events do not push out a single one.
- The game state becomes the `[GAME STATE]` line of a prompt. It holds the latest value of each field that the
  rules call state, and says how old it is when it is old.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, FiniteFloat, ValidationError

from noodlings.affect.game_rules import (
    MOST_SLOTS,
    GameRules,
    MoodRule,
    NamedMood,
    Remembering,
    event_name,
    value_of,
)
from noodlings.errors import UserError
from noodlings.text import clean
from noodlings.validation import explain
from noodlings.values.affect import Affect


def ago(seconds: float) -> str:
    """A time that has passed, in one unit: "just now", "4 min ago", "3 h ago", "2 d ago"."""
    minutes = int(max(seconds, 0.0) // 60)
    if not minutes:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 24 else f"{hours // 24} d ago"


@dataclass(frozen=True, slots=True)
class MoodTracker:
    """The mood that an event last led to, and since when, in world seconds. A value."""

    mood: NamedMood = NamedMood.CHILL
    since: float = 0.0

    def at_time(self, now: float, lasts: float) -> NamedMood:
        """The mood at a world time, if it lasts `lasts` seconds after its last event."""
        return NamedMood.CHILL if abs(now - self.since) >= lasts else self.mood

    def left(self, now: float, lasts: float) -> float:
        """Seconds until it is chill, if nothing happens; 0 when it is."""
        return 0.0 if self.at_time(now, lasts) is NamedMood.CHILL else lasts - (now - self.since)

    def after(self, rule: MoodRule, now: float, lasts: float) -> MoodTracker:
        """The tracker after an event with this rule; itself if the rule requires another mood before."""
        return MoodTracker(rule.become, now) if self.at_time(now, lasts) in rule.only_from else self


BEFORE = 2
"""How many earlier values a folded line names."""


@dataclass(frozen=True, slots=True)
class Notable:
    """One event worth remembering.

    Attributes:
        summary: the line, without a time.
        at: world time in seconds.
        values: of the field that such events are folded by, oldest first; empty if they are not folded.
        kind: see `GameRules.kind`; "" if only its name is known.
    """

    event: str
    summary: str
    at: float
    values: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class MemoryBank:
    """Notable events, oldest first. A value."""

    events: tuple[Notable, ...] = ()

    def with_event(
        self, rules: GameRules, event: str, rule: Remembering, data: Mapping[str, Any], now: float
    ) -> MemoryBank:
        """The bank with one more event, if its data make it notable; at most `rules.slots` are kept."""
        if rule.only_if and not rule.only_if.holds(data):
            return self
        kept = self.events
        values: tuple[str, ...] = ()
        line = rules.line(rule.summary, data)
        if rule.fold:
            value = value_of(data, rule.fold) or ""
            before = next((notable.values for notable in kept if notable.event == event), ())
            if before and _same(value, before[-1]):
                return self
            # A value that came before as well is not named as its own predecessor.
            if others := [name for name in before if not _same(name, value)]:
                line = rules.line(rule.folded, {**data, "before": ", ".join(others[-BEFORE:])})
            kept = tuple(notable for notable in kept if notable.event != event)
            values = (*before[-BEFORE:], value)
        if line is None:
            return self
        new = Notable(event, line, now, values, rules.kind(event))
        return MemoryBank(_varied((*kept, new), rules.slots))

    def without(self, moments: Collection[float]) -> MemoryBank:
        """The bank without events at these moments, in world seconds, and later lines that may name them."""
        first = min(moments, default=math.inf)
        return MemoryBank(
            tuple(e for e in self.events if e.at not in moments and not (len(e.values) > 1 and e.at > first))
        )

    def format_memory(self, now: float, limit: int = 5) -> str:
        """The [MEMORY] block with up to `limit` events (see `_varied`), newest first; "" for none."""
        latest = _varied(self.events, max(limit, 0))[::-1]
        lines = [f"- {ago(now - e.at)}: {e.summary}" for e in latest]
        return "\n".join(["[MEMORY]", *lines]) if lines else ""


def _varied(events: Sequence[Notable], most: int) -> tuple[Notable, ...]:
    """At most `most` events, in order: of more, the oldest of the most frequent kind leaves first."""
    kept, counts = list(events), Counter(e.kind or e.event for e in events)
    while len(kept) > most:
        crowd = max(counts.values())
        place = next(place for place, e in enumerate(kept) if counts[e.kind or e.event] == crowd)
        leaves = kept.pop(place)
        counts[leaves.kind or leaves.event] -= 1
    return tuple(kept)


def _same(one: str, other: str) -> bool:
    """Whether two values are the same name: "Birch Forest" is "birch_forest"."""
    return one.casefold().replace(" ", "_") == other.casefold().replace(" ", "_")


MAX_FIELDS = 12
"""How many fields of a game's state are shown."""

# Label, field, the field with its maximum, and the usual maximum.
_MEASURED = (("HP", "hp", "max_hp", "20"), ("Food", "food", "max_food", "20"))


@dataclass(frozen=True, slots=True)
class GameState:
    """What a game last told of itself. A value.

    Attributes:
        fields: by name, each value as printable text with the world time at which it came.
        at: world time in seconds of the latest event; None before the first one.
    """

    fields: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    at: float | None = None

    def told(self, rules: GameRules, data: Mapping[str, Any], now: float) -> GameState:
        """The state after an event. A field that came empty is removed."""
        came = {name: value_of(data, name) for name in rules.state if name in data}
        kept = {name: told for name, told in self.fields.items() if name not in came}
        return GameState(kept | {name: (value, now) for name, value in came.items() if value}, now)

    def without(self, moments: Collection[float]) -> GameState:
        """The state without fields that came at these moments, in world seconds."""
        fields = {name: (value, at) for name, (value, at) in self.fields.items() if at not in moments}
        return GameState(fields, self.at)

    def line(self, mood: NamedMood, rules: GameRules, now: float) -> str:
        """The `[GAME STATE]` line at a world time; "" before the first event.

        A state that is older than a mood lasts says so: `| Seen:2 h ago`.
        """
        if self.at is None:
            return ""
        told = {name: self.fields[name][0] for name in rules.state if name in self.fields}
        line = format_game_state(mood, told)
        return f"{line} | Seen:{ago(now - self.at)}" if now - self.at >= rules.lasts_seconds else line


def format_game_state(mood: NamedMood, state: Mapping[str, Any]) -> str:
    """The state as one line: `[GAME STATE] Mood:nervous | HP:8/20 | Biome:plains`.

    Args:
        state: `hp` and `food` (with `max_hp` and `max_food` if those are not 20), `biome`, and other fields.
            What is neither text nor a number is left out.
    """
    return "[GAME STATE] " + " | ".join([f"Mood:{mood}", *_told(state)][: MAX_FIELDS + 1])


def _told(state: Mapping[str, Any]) -> Iterator[str]:
    done = {"mood"}
    for label, name, full, usual in _MEASURED:
        done |= {name, full}
        if value := value_of(state, name):
            yield f"{label}:{value}/{value_of(state, full) or usual}"
    for name in ["biome", *state]:
        if name not in done and (value := value_of(state, name)):
            done.add(name)
            yield f"{_label(name)}:{value}"


def _label(name: str) -> str:
    """`held_item` as "Held item"."""
    return clean((value_of({"name": name}, "name") or "").replace("_", " ")).capitalize() or "?"


Text = Annotated[str, AfterValidator(clean)]


class _StoredTracker(BaseModel):
    mood: NamedMood
    since: FiniteFloat


class _StoredNotable(BaseModel):
    event: Text
    summary: Text
    at: FiniteFloat
    values: tuple[Text, ...]
    kind: Text = ""


class _StoredState(BaseModel):
    fields: dict[Text, tuple[Text, FiniteFloat]]
    at: FiniteFloat | None


class _Stored(BaseModel):
    """A `GameFeeling` as it is stored."""

    version: Literal[1]
    tracker: _StoredTracker
    events: Annotated[tuple[_StoredNotable, ...], Field(max_length=MOST_SLOTS)]
    state: _StoredState


@dataclass(frozen=True, slots=True)
class GameFeeling:
    """Named mood, notable events and the latest state. A value: an event gives a new one."""

    tracker: MoodTracker = field(default_factory=MoodTracker)
    bank: MemoryBank = field(default_factory=MemoryBank)
    state: GameState = field(default_factory=GameState)

    def after(
        self, rules: GameRules, event: str, data: Mapping[str, Any], now: float
    ) -> tuple[GameFeeling, Affect | None]:
        """Apply an event of the game. The first one of a new session resets all.

        Args:
            event: its name; one without a rule may report the state, and changes nothing else.
            data: of any form; fields that are missing or of an odd type do no harm.
            now: world time in seconds.

        Returns:
            The new value, and what the event feels like (to push the slow mood), or None for nothing.

        Raises:
            UserError: the time is not finite.
        """
        if not math.isfinite(now):
            raise UserError(f"the time of a game event must be finite seconds, not {now!r}")
        rule = rules.rule(event, data)
        before = GameFeeling() if rule and rule.new_session else self
        tracker, bank, state = before.tracker, before.bank, before.state.told(rules, data, now)
        if rule is None:
            return GameFeeling(tracker, bank, state), None
        if rule.mood:
            tracker = tracker.after(rule.mood, now, rules.lasts_seconds)
        if rule.remember:
            bank = bank.with_event(rules, event_name(event), rule.remember, data, now)
        return GameFeeling(tracker, bank, state), rule.feel.affect() if rule.feel else None

    def without(self, moments: Collection[float]) -> GameFeeling:
        """The value without the words of what happened at these moments, in world seconds."""
        return GameFeeling(self.tracker, self.bank.without(moments), self.state.without(moments))

    @property
    def began(self) -> bool:
        """Whether there ever was an event of a game."""
        return self.state.at is not None

    def mood(self, rules: GameRules, now: float) -> NamedMood:
        return self.tracker.at_time(now, rules.lasts_seconds)

    def blocks(self, rules: GameRules, now: float) -> tuple[str, ...]:
        """What a voice is told in each turn: `[GAME STATE] …` and `[MEMORY] …`, as far as there are any."""
        told = (self.state.line(self.mood(rules, now), rules, now), self.bank.format_memory(now))
        return tuple(block for block in told if block)

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible and exact."""
        kept = {"version": 1, "tracker": self.tracker, "events": self.bank.events, "state": self.state}
        return _Stored.model_validate(kept, from_attributes=True).model_dump(mode="json")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GameFeeling:
        """Raises `UserError` for another version, and for anything that is damaged; it quotes nothing."""
        try:
            stored = _Stored.model_validate(data)
        except ValidationError as error:
            raise UserError(f"not a stored game feeling: {explain(error, _Stored, quoted=False)}") from None
        events = tuple(Notable(**dict(event)) for event in stored.events)
        return cls(MoodTracker(**dict(stored.tracker)), MemoryBank(events), GameState(**dict(stored.state)))
