"""Events of a game, checked and turned into percepts.

An event is a name (`creeper_nearby`) and a few flat facts (`hp: 6`). The rules say what it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noodlings.affect.game_rules import GameRules, event_name, shipped_rules
from noodlings.errors import UserError
from noodlings.text import clean, shorten
from noodlings.values.circumstances import CIRCUMSTANCES, NOTHING, Circumstances
from noodlings.values.memory import OWN_MARKS
from noodlings.values.percept import Kind, Percept

EVENT = "event"
"""The key of the event's name in a percept's data."""

RESERVED = OWN_MARKS | {"tags", CIRCUMSTANCES}
"""Names in the data of a percept that nobody else may use."""
MAX_NAME = 60
"""Characters of an event's name, and of the name of a fact."""
MAX_FIELDS = 50
MAX_TEXT = 500
"""Characters of one fact."""
LARGEST_NUMBER = 2**53
"""JSON programs agree on all whole numbers up to here."""


def game_event(
    name: str,
    data: Mapping[str, Any] | None,
    now: float,
    user_id: str = "game",
    rules: GameRules | None = None,
    circumstances: Circumstances = NOTHING,
) -> Percept:
    """The percept of an event.

    Args:
        name: at most 60 characters, in any case. An event without a rule does not change the mood.
        data: at most 50 facts by name, each a text of at most 500 characters, a number, true, false or None.
        now: world time in seconds.
        user_id: who tells it, as in memory: the game, or the player to whom it happened.
        rules: where its text comes from, if they have a summary for it; None for the shipped ones.

    Raises `UserError`: something is invalid; the message says what.
    """
    event = event_name(_name(name, "the name of an event"))
    facts = checked_facts({} if data is None else data)
    if EVENT in facts:
        raise UserError(f"a fact must not be called {EVENT}: that is where the event's own name is kept")
    return Percept(
        user_id=user_id,
        text=_sentence(event, facts, rules or shipped_rules()),
        timestamp=now,
        kind=Kind.EVENT,
        data={EVENT: event, **facts, **circumstances.as_data()},
    )


def event_in(kind: Kind, data: Any) -> str:
    """The name of the game event in the data of a percept or an entry, or ""."""
    name = data.get(EVENT) if kind is Kind.EVENT and isinstance(data, Mapping) else None
    return name if isinstance(name, str) else ""


def _sentence(event: str, facts: Mapping[str, Any], rules: GameRules) -> str:
    """The rule's summary where it has one and the facts for it, else the name in words."""
    rule = rules.rule(event, facts)
    line = rules.line(rule.remember.summary, facts) if rule and rule.remember else None
    return line or clean(event.replace("_", " ")) or event


def checked_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an event or a line, cleaned. Raises `UserError`, see `game_event`."""
    if not isinstance(data, Mapping):
        raise UserError(f'data must be facts by name, such as {{"hp": 3}}, not {data!r:.60}')
    if len(data) > MAX_FIELDS:
        raise UserError(f"data may have at most {MAX_FIELDS} facts, not {len(data):,}")
    facts = {_name(name, "the name of a fact"): _fact(str(name), value) for name, value in data.items()}
    if reserved := sorted(facts.keys() & RESERVED):
        raise UserError(f"data must not have a fact called {reserved[0]}, a reserved name; choose another")
    return facts


def _fact(name: str, value: Any) -> str | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise UserError(f"the fact {_shown(name)} has {len(value):,} characters, not at most {MAX_TEXT}")
        return clean(value)
    if isinstance(value, int | float) and abs(value) <= LARGEST_NUMBER:  # NaN and infinity fail this too
        return value
    raise UserError(
        f"the fact {_shown(name)} must be text, a number up to 2^53, true, false or null, not {value!r:.40}"
    )


def _name(name: Any, what: str) -> str:
    cleaned = clean(name) if isinstance(name, str) else ""
    if not 0 < len(cleaned) <= MAX_NAME:
        raise UserError(f"{what} must be text of 1 to {MAX_NAME} characters, not {name!r:.80}")
    return cleaned


def _shown(name: str) -> str:
    return shorten(clean(name), 30)
