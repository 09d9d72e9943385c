"""Where the studio gets what it shows: the questions it asks, what may be done, what happens meanwhile.

The rule: every source answers a question with the same JSON-compatible data, `as_dict()` of the view that
`noodlings.inspect.inspector.Inspector` gives; so nothing that is drawn knows where it came from.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from noodlings.errors import NoodlingsError

Answer = dict[str, Any]


class Unreachable(NoodlingsError):
    """The source does not answer now; it keeps trying, and says so in `Source.happenings`."""


class Question(StrEnum):
    """What can be asked: each is the name of a method of the inspector, and takes its arguments by name.

    An affect is a list of five numbers here, in the order of `noodlings.values.affect.AXES`.
    """

    AGENTS = "agents"
    """Of all agents; every other question is about one."""
    STATS = "stats"
    WORKING = "working"
    AFFECT_GROUPS = "affect_groups"
    ALIKE = "affect_alike"
    FLOW = "last_retrieval"
    WHY = "why"
    TURN = "turn"
    TRANSISTORS = "transistors"
    LINKS = "links"
    SYMBOLS = "symbols"
    MOOD = "mood"
    OBSERVE = "observe"
    BROWSE = "browse"
    """One page of what is in mind or of everything that was ever perceived, sorted and filtered."""
    RECALL = "recall"
    """With `mood` and `emotion_weight` beside the arguments of the inspector's `recall`."""
    ARCHIVE = "archive"
    """How far everything that was ever perceived is loaded, for `RECALL` to find."""


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
        data: the whole of what was told; with "lost", `why`.
    """

    agent: str = ""
    step: str = "turn"
    data: Answer = field(default_factory=dict)


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

    async def ask(self, question: Question, agent: str = "", **how: Any) -> Answer:
        """The answer as data.

        Raises:
            Unreachable: not now.
            NoodlingsError: refused; the words are for the person who looks.
        """

    async def act(self, action: Action, agent: str, **how: Any) -> Answer:
        """Do something. Raises as `ask`, and `Forbidden` where one may not."""

    async def note(self, agent: str, entry: int) -> str:
        """The Markdown note of a memory. Raises `NotFound` where there is none, or none can be had."""

    def happenings(self) -> AsyncIterator[Sign]:
        """Signs, for as long as one listens; losing the source and finding it again are signs too."""

    async def close(self) -> None:
        """Let go of everything."""
