"""Where the studio gets its data: a data folder or a server.

Every source answers a question of `noodlings.inspect.questions` with the view that the inspector gives, so
nothing that is drawn depends on the kind of source.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from noodlings.errors import Forbidden, NoodlingsError
from noodlings.inspect.questions import Question, V

if TYPE_CHECKING:
    from noodlings.inspect.feed import TurnEventView


class Unreachable(NoodlingsError):
    """The source does not answer now. It keeps trying, and reports that in `Source.events`."""


class Action(StrEnum):
    """What can be done to a memory of an agent, or said to the agent."""

    PIN = "pin"
    """Arguments: `entry`, `pinned`."""
    IMPORTANCE = "importance"
    """Arguments: `entry`, and `value` 0…1 or None for the one it was encoded with."""
    FORGET = "forget"
    """Argument: `entry`. Cannot be undone."""
    SAY = "say"
    """Argument: `text`."""


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """An action that the user asked for.

    Attributes:
        arguments: see `Action`.
        confirmation: the question to ask the user first, "" for none.
        success: what to tell the user afterwards.
    """

    action: Action
    arguments: dict[str, Any] = field(default_factory=dict)
    confirmation: str = ""
    success: str = ""


DISCONNECTED = "disconnected"
RECONNECTED = "reconnected"


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """Something has changed.

    Attributes:
        agent: id of the agent, "" for all.
        step: as in `noodlings.inspect.feed.TurnEventView`, or `DISCONNECTED` or `RECONNECTED`.
        turn_event: details of an agent's turn, where the source gives them.
        reason: why the source was disconnected.
    """

    agent: str = ""
    step: str = "turn"
    turn_event: TurnEventView | None = None
    reason: str = ""


class Source(Protocol):
    """Answers questions about agents.

    Attributes:
        label: where the agents are, in one short line.
        changeable: whether `act` is possible at all.
    """

    label: str
    changeable: bool

    async def ask(self, question: Question[V], agent: str = "", **arguments: Any) -> V:
        """Answer a question.

        Raises:
            Unreachable: there is no answer at the moment.
            NoodlingsError: it was refused; the message is for the user.
        """

    async def act(self, action: Action, agent: str, **arguments: Any) -> Mapping[str, Any]:
        """Do something. Raises as `ask` does, and `Forbidden`."""

    async def note(self, agent: str, entry: int) -> str:
        """The Markdown note of a memory. Raises `NotFound`."""

    def events(self) -> AsyncIterator[SourceEvent]:
        """Events without end, including the loss and the return of the connection."""

    async def close(self) -> None:
        """Release all resources."""


class ReadOnlySource:
    """What sources that only read have in common."""

    changeable = False

    async def act(self, action: Action, agent: str, **arguments: Any) -> Mapping[str, Any]:
        raise Forbidden(
            "This only reads the folder. To speak or change anything, connect to a running server with --url."
        )
