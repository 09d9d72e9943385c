"""Where the studio gets what it shows: who answers its questions, what may be done, what happens meanwhile.

The rule: every source answers a question of `noodlings.inspect.questions` with the view that the inspector
gives; so nothing that is drawn knows where it came from.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from noodlings.errors import NoodlingsError
from noodlings.inspect.questions import Question, V

if TYPE_CHECKING:
    from noodlings.inspect.feed import TurnEventView


class Unreachable(NoodlingsError):
    """The source does not answer now; it keeps trying, and says so in `Source.happenings`."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Stands where there is no answer: the words for why."""

    words: str


class Action(StrEnum):
    """What can be done to a memory of an agent, or said to the agent."""

    PIN = "pin"
    """`entry`, `pinned`."""
    IMPORTANCE = "importance"
    """`entry`, and `value` 0…1 or None for what it was at encoding."""
    FORGET = "forget"
    """`entry`. For good; the application asks first."""
    SAY = "say"
    """`text`."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something somebody wants done.

    Attributes:
        action: what.
        how: its arguments, see `Action`.
        question: what to ask a person before, "" for nothing.
        done: what is said when it is done.
    """

    action: Action
    how: dict[str, Any] = field(default_factory=dict)
    question: str = ""
    done: str = ""


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign that something has changed.

    Attributes:
        agent: id of the agent that it is about, or "" for all.
        step: as in `noodlings.inspect.feed.TurnEventView`, or "lost" and "found" for the source itself.
        turn_event: the whole of what was told of an agent at work, None where that was not told.
        why: with "lost", in words.
    """

    agent: str = ""
    step: str = "turn"
    turn_event: TurnEventView | None = None
    why: str = ""


LOST = "lost"
FOUND = "found"


class Source(Protocol):
    """Answers questions about agents.

    Attributes:
        label: where it is, one short line.
        changeable: whether anything can be done at all.
    """

    label: str
    changeable: bool

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """The answer.

        Raises:
            Unreachable: not now.
            NoodlingsError: refused; the words are for the person who looks.
        """

    async def act(self, action: Action, agent: str, **how: Any) -> Mapping[str, Any]:
        """Do something. Returns what was told of that. Raises as `ask`, and `Forbidden` where one may not."""

    async def note(self, agent: str, entry: int) -> str:
        """The Markdown note of a memory. Raises `NotFound` where there is none, or none can be had."""

    def happenings(self) -> AsyncIterator[Sign]:
        """Signs, for as long as one listens; losing the source and finding it again are signs too."""

    async def close(self) -> None:
        """Let go of everything."""
