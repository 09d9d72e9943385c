"""What the routes work with, and how each gets at the part it needs.

The rule it keeps: none of it leaves the event loop. FastAPI would run what is no coroutine on another thread,
and a request that needs four parts would wait four times for its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Path, Security, WebSocketException
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from api.authentication import MAX_ID, USER_HEADER, AccessToken, Authenticator
from api.gate import CLOSED
from noodlings.agent.society import Society
from noodlings.inspect.inspector import Inspector
from noodlings.text import clean, shorten
from noodlings.validation import nearest
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
        forget_lines: has nothing shown again that was said in the rooms of late.
    """

    society: Society
    inspector: Inspector
    authenticator: Authenticator
    turns: Turns
    people: PeopleOnline
    feed: Feed
    metrics: Metrics
    ready: Callable[[], bool]
    forget_lines: Callable[[], None]


def parts_of(connection: HTTPConnection) -> ServerParts:
    """The parts of the server that was asked."""
    parts: ServerParts = connection.app.state.parts
    return parts


def topic_router(prefix: str = "", **more: Any) -> APIRouter:
    """A router whose routes are whole as they stand, for `make_app` to take over.

    FastAPI works out anew each route of a router that is included, models and all, and in the first request.
    """
    return APIRouter(prefix=prefix, dependencies=[Depends(require_known_parameters)], **more)


async def require_known_parameters(connection: HTTPConnection) -> None:
    """Refuse a query parameter that the route does not have, as a body with an unknown key is refused.

    Raises:
        RequestValidationError: each of them, with the nearest right one.
        WebSocketException: the same of a stream.
    """
    route = connection.scope["route"]
    if not connection.query_params or not getattr(route, "include_in_schema", True):  # as the page /docs
        return
    fields = get_flat_params(route.dependant)
    known = {field.alias for field in fields if isinstance(field.field_info, Query)}
    unknown = [name for name in connection.query_params if name not in known]
    if not unknown:
        return
    none = "; this route takes none"
    told = {name: f"unknown parameter{nearest(name, known) or none}" for name in unknown}
    if connection.scope["type"] == "websocket":
        name, why = next(iter(told.items()))
        raise WebSocketException(CLOSED, shorten(f"{clean(name)}: {why}", 100))
    raise RequestValidationError(
        [{"type": "extra_forbidden", "loc": ("query", name), "msg": why} for name, why in told.items()]
    )


_bearer = HTTPBearer(auto_error=False, description="A token from `api.tokens`; not needed if none are set.")


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
            description="The user a world token acts for. Percent-encode what is not ASCII.",
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
    Path(alias="agent", max_length=80, description="A character's id, name or alias.", examples=["servnak"]),
]
LARGEST_ID = 2**53
EntryId = Annotated[
    int,
    Path(alias="entry", ge=1, le=LARGEST_ID, description="The number of one of its memories.", examples=[12]),
]
