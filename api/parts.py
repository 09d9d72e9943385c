"""The parts of a server, and the dependencies by which routes get them.

All dependencies are coroutines. FastAPI would run plain functions on other threads, and a request with four
dependencies would wait four times for its turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar

from fastapi import APIRouter, Depends, Header, Path, Security, WebSocket, WebSocketException
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.params import Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection, Request

from api.authentication import MAX_ID, USER_HEADER, AccessToken, Authenticator, named_user
from api.gate import CLOSED
from api.problem import RefusedRequest
from noodlings.agent.society import Society
from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.text import clean, shorten
from noodlings.validation import nearest
from noodlings.values.caller import Caller

if TYPE_CHECKING:
    from api.command_lines import PeopleOnline
    from api.metrics import Metrics
    from api.turns import Turns
    from noodlings.inspect.feed import Feed


@dataclass(frozen=True, slots=True)
class ServerParts:
    """The parts of one server.

    Attributes:
        people: the users in the rooms by `POST /api/commands`.
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
    parts: ServerParts = connection.app.state.parts
    return parts


def topic_router(prefix: str = "", **more: Any) -> APIRouter:
    """A router whose routes `make_app` takes over as they are.

    FastAPI would build each route of an included router again, with its models, during the first request.
    """
    return APIRouter(prefix=prefix, dependencies=[Depends(require_known_parameters)], **more)


async def require_known_parameters(connection: HTTPConnection) -> None:
    """Refuse unknown query parameters, as unknown keys of a body are refused.

    Raises:
        RequestValidationError: names each of them, with the most similar known one.
        WebSocketException: the same for a stream.
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
    """What the caller's token permits. Raises `RefusedRequest` (401)."""
    held: AccessToken | None = getattr(connection.state, "held", None)
    if held is None:  # else another process let the request in
        held = parts_of(connection).authenticator.admit(connection.headers.get("authorization"))
        connection.state.held = held
    return held


async def _inspector(connection: HTTPConnection) -> Inspector:
    return parts_of(connection).inspector


async def _society(connection: HTTPConnection) -> Society:
    return parts_of(connection).society


Held = Annotated[AccessToken, Depends(_held)]
InspectorPart = Annotated[Inspector, Depends(_inspector)]
SocietyPart = Annotated[Society, Depends(_society)]


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
    return named_user(user)


OnBehalfOf = Annotated[str, Depends(_on_behalf_of)]


def only_one(in_body: str, in_header: str, field: str, header: str = USER_HEADER) -> str:
    """The value given in either place. Raises `UserError` if the two differ."""
    given = {in_body, in_header} - {""}
    if len(given) > 1:
        raise UserError(f"the field {field} and the header {header} differ; send only one")
    return given.pop() if given else ""


async def _reader(connection: HTTPConnection, held: Held, user: OnBehalfOf) -> Caller:
    caller = held.reader(user)
    connection.state.caller = caller
    return caller


async def _actor(connection: HTTPConnection, held: Held, user: OnBehalfOf) -> Caller:
    caller = held.actor(user)
    held.reader(user)  # a character may not be read for, so it may not be corrected for either
    connection.state.caller = caller
    return caller


Reader = Annotated[Caller, Depends(_reader)]
"""The caller of a route that only reads."""
Actor = Annotated[Caller, Depends(_actor)]
"""The caller of a route that changes something."""
AgentName = Annotated[
    str,
    Path(alias="agent", max_length=80, description="A character's id, name or alias.", examples=["servnak"]),
]
LARGEST_ID = 2**53
EntryId = Annotated[
    int,
    Path(alias="entry", ge=1, le=LARGEST_ID, description="The number of one of its memories.", examples=[12]),
]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AskAgent:
    """Asks the inspector about the character in the path, on behalf of the caller."""

    request: Request
    caller: Caller
    agent: str

    def __call__(
        self, question: Callable[Concatenate[Inspector, Caller, str, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """The answer to a question, a method of `Inspector`; its other arguments follow."""
        return question(parts_of(self.request).inspector, self.caller, self.agent, *args, **named)

    async def at_length(
        self,
        question: Callable[Concatenate[Inspector, Caller, str, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **named: P.kwargs,
    ) -> T:
        """The answer to a question that takes a while; the work for it ends where the client goes away."""
        answer = asyncio.create_task(self(question, *args, **named))
        gone = asyncio.create_task(until_gone(self.request))
        try:
            await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise RefusedRequest(HTTPStatus.REQUEST_TIMEOUT, "The client went away before the answer.")
            return answer.result()
        finally:
            answer.cancel()
            gone.cancel()


async def until_gone(connection: Request | WebSocket) -> None:
    """Return when the client of a request, whose body was read, or of a stream goes away."""
    while not (await connection.receive())["type"].endswith(".disconnect"):
        pass


async def _asking(request: Request, agent: AgentName, caller: Reader) -> AskAgent:
    # Else everybody would wait for all that ask at once.
    await parts_of(request).society.readers.turn(caller.user_id)
    return AskAgent(request, caller, agent)


Asking = Annotated[AskAgent, Depends(_asking)]
