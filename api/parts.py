"""What the routes work with, and how each gets at the part it needs.

The rule it keeps: none of it leaves the event loop. FastAPI would run what is no coroutine on another thread,
and a request that needs four parts would wait four times for its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote

from fastapi import Depends, Header, Path, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from api.authentication import MAX_ID, USER_HEADER, AccessToken, Authenticator
from noodlings.agent.society import Society
from noodlings.inspect.inspector import Inspector
from noodlings.values.caller import Caller

if TYPE_CHECKING:
    from api.metrics import Metrics
    from api.people import PeopleOnline
    from api.turns import Turns
    from noodlings.inspect.feed import Feed


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What one server is made of.

    Attributes:
        society, inspector: what it is thin over.
        authenticator: who may.
        turns: percepts on their way, each at most once.
        people: whoever is in the rooms by `POST /api/commands`.
        feed: who looks on.
        metrics: figures.
        ready: whether everything is loaded.
    """

    society: Society
    inspector: Inspector
    authenticator: Authenticator
    turns: Turns
    people: PeopleOnline
    feed: Feed
    metrics: Metrics
    ready: Callable[[], bool]


def parts_of(connection: HTTPConnection) -> ServerParts:
    """The parts of the server that was asked."""
    parts: ServerParts = connection.app.state.parts
    return parts


_bearer = HTTPBearer(auto_error=False, description="A token of `api.tokens`; none is needed without any.")


async def _held(
    connection: HTTPConnection,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> AccessToken:
    """What whoever asks may do. Raises `Refused` (401)."""
    held = parts_of(connection).authenticator.admit(connection.headers.get("authorization"))
    connection.state.held = held
    return held


async def _inspector(connection: HTTPConnection) -> Inspector:
    return parts_of(connection).inspector


async def _society(connection: HTTPConnection) -> Society:
    return parts_of(connection).society


Held = Annotated[AccessToken, Depends(_held)]
Looking = Annotated[Inspector, Depends(_inspector)]
Living = Annotated[Society, Depends(_society)]


async def _on_behalf_of(
    user: Annotated[
        str,
        Header(
            alias=USER_HEADER,
            max_length=3 * MAX_ID,
            description="For whom a world asks: it reads and may what this user reads and may. What is not "
            "ASCII is percent-encoded.",
            examples=["user_caity"],
        ),
    ] = "",
) -> str:
    return unquote(user)


OnBehalfOf = Annotated[str, Depends(_on_behalf_of)]


async def _reader(connection: HTTPConnection, held: Held, user: OnBehalfOf) -> Caller:
    caller = held.reader(user)
    connection.state.caller = caller
    return caller


async def _actor(connection: HTTPConnection, held: Held, user: OnBehalfOf) -> Caller:
    caller = held.actor(user)
    held.reader(user)  # who may not even read, as a character, corrects nothing either
    connection.state.caller = caller
    return caller


Reader = Annotated[Caller, Depends(_reader)]
"""Whoever reads."""
Actor = Annotated[Caller, Depends(_actor)]
"""Whoever changes something."""
AgentName = Annotated[
    str,
    Path(alias="agent", max_length=80, description="Id, name or alias of a character.", examples=["servnak"]),
]
LARGEST_ID = 2**53
EntryId = Annotated[
    int,
    Path(alias="entry", ge=1, le=LARGEST_ID, description="Number of a memory of it.", examples=[12]),
]
