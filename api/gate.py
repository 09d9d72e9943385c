"""What a request has to pass before anything looks at it: where it comes from, how often, how big, how deep.

A plain ASGI middleware, so that a refused request costs next to nothing.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from http import HTTPStatus
from itertools import accumulate
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.authentication import AccessToken, Authenticator
from api.problem import RefusedRequest, problem
from api.protocol import place_of
from noodlings.connections import SHARE, Place
from noodlings.values.caller import Role

MAX_DEPTH = 20
"""Lists and objects within one another in a JSON body; a recipe has four."""
MAX_BUCKETS = 10_000
"""Callers whose rate is known; who was silent for longest is forgotten first."""
BURST_SECONDS = 2.0
"""So many seconds' worth of requests may come at once."""
CLOSED = 1008
"""The close code of a WebSocket for somebody who may not be here."""

UNCOUNTED = "/health"
"""Answered however often it is asked, which costs no more than a refusal: whoever watches over the server may
share an address with others."""

SHARES = {Role.ADMIN: 1.0, Role.WORLD: 0.5}
"""The part of all connections that requests and streams of one token may hold, if it is not the usual one: an
admin comes in to see what is wrong, and a world asks for everybody in it."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
VISITED = ("/", "/docs", "/health", "/ready")
"""What a link on somebody else's page may lead to; there is nothing in them that is anybody's."""

_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.S)


class Rate:
    """A bucket of permissions for each caller, filled at a steady rate.

    Args:
        per_second: how many permissions come each second; twice as many are held at most.
        now: seconds that only ever rise.
    """

    def __init__(self, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._most = max(per_second * BURST_SECONDS, 1.0)
        self._now = now
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """One permission. Returns the seconds until there is one, 0 when it was had."""
        now = self._now()
        held, since = self._held.pop(key, (self._most, now))
        held = min(held + (now - since) * self._per_second, self._most)
        granted = held >= 1.0
        self._held[key] = (held - granted, now)
        if len(self._held) > MAX_BUCKETS:
            self._held.popitem(last=False)
        return 0.0 if granted else (1.0 - held) / self._per_second


class Gate:
    """Refuses what may not come in; everything else goes on unchanged.

    Args:
        app: behind the gate.
        authenticator: knows who asks, for the rate.
        rate: of each token, or of each address without one.
        origins: web pages that may ask, beside pages of this server itself.
        max_body_bytes: the longest body.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        rate: Rate,
        origins: Collection[str],
        max_body_bytes: int,
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._rate = rate
        self._origins = frozenset(origins)
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Gate`."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            self._require_known_page(scope, Headers(scope=scope))
            self._require_rate(scope)
            if scope["type"] == "http" and scope["method"] in _WITH_BODY:
                receive = await self._whole_body(Headers(scope=scope), receive)
            if scope["type"] == "http":
                enter(scope)
        except RefusedRequest as refused:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": CLOSED, "reason": str(refused)[:100]})
                return
            answer = problem(refused.status, str(refused), headers=refused.headers, path=scope["path"])
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _require_known_page(self, scope: Scope, headers: Headers) -> None:
        """A page in somebody's browser may be anybody's, and the browser stands behind every firewall.

        Without tokens the name that was asked for must be of this machine as well: else a page could give its
        own name our address.
        """
        host = headers.get("host", "")
        if self._authenticator.open and _hostname(host) not in LOOPBACK:
            raise RefusedRequest(HTTPStatus.FORBIDDEN, f"Use {' or '.join(LOOPBACK)}, or set api.tokens.")
        origin = headers.get("origin")
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if origin is None:  # as with pictures and links, which browsers fetch without naming the page
            unknown = foreign and not _is_visit(scope, headers)
        else:
            unknown = origin not in self._origins and (foreign or _place(origin) != host)
        if unknown:
            raise RefusedRequest(HTTPStatus.FORBIDDEN, "That site may not call this API; see api.origins.")

    def _require_rate(self, scope: Scope) -> None:
        key = self._key(scope)
        seconds = 0.0 if scope["path"] == UNCOUNTED else self._rate.take(key)
        if seconds:
            after = {"Retry-After": str(max(round(seconds + 0.5), 1))}
            raise RefusedRequest(HTTPStatus.TOO_MANY_REQUESTS, f"Too often; wait {seconds:.2f} s.", after)

    def _key(self, scope: Scope) -> str:
        address = str((scope.get("client") or ("somewhere",))[0])
        try:
            held = self._authenticator.admit(Headers(scope=scope).get("authorization"))
        except RefusedRequest:
            return address
        _prove(place_of(scope), held)
        return address if self._authenticator.open else held.key

    async def _whole_body(self, headers: Headers, receive: Receive) -> Receive:
        """The body in one piece, once it is known to be neither too long nor too deep."""
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > self._max_body_bytes:
            raise self._too_long()
        parts: list[bytes] = []
        length = 0
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return _once(message, receive)
            parts.append(message.get("body", b""))
            length += len(parts[-1])
            if length > self._max_body_bytes:
                raise self._too_long()
            more = message.get("more_body", False)
        body = b"".join(parts)
        if depth_of(body) > MAX_DEPTH:
            raise RefusedRequest(
                HTTPStatus.BAD_REQUEST, f"The body is nested more than {MAX_DEPTH} levels deep; flatten it."
            )
        return _once({"type": "http.request", "body": body, "more_body": False}, receive)

    def _too_long(self) -> RefusedRequest:
        return RefusedRequest(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is over {self._max_body_bytes:,} bytes."
        )


def enter(scope: Scope, held: AccessToken | None = None) -> None:
    """Let the connection of somebody known make room for nobody while it is answered.

    Args:
        held: what is known only now, by something that the gate does not look at.

    Raises:
        Refused: 429, those of the same token are as many as it may have; 503, all that there may be are busy.
    """
    place = place_of(scope)
    if place is None:
        return
    if held is not None:
        _prove(place, held)
    if place.owner and not place.enter():
        if place.greedy:
            raise RefusedRequest(
                HTTPStatus.TOO_MANY_REQUESTS,
                "This token has too many requests and streams open; close one, or wait.",
                {"Retry-After": "1", "Connection": "close"},
            )
        raise RefusedRequest(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "All connections are busy; try again in a moment.",
            {"Retry-After": "1", "Connection": "close"},
        )


def _prove(place: Place | None, held: AccessToken) -> None:
    if place is not None:
        place.prove(held.key, SHARES.get(held.role, SHARE))


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Whether somebody follows a link to a page that is open to everybody."""
    asked = scope.get("method"), headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return asked == ("GET", "navigate", "document") and scope["path"] in VISITED


def depth_of(body: bytes) -> int:
    """How deep lists and objects lie within one another in JSON, whether or not it is otherwise sound."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return 0
    bare = _JSON_STRING.sub(b"", body)
    steps = ({91: 1, 123: 1, 93: -1, 125: -1}.get(byte, 0) for byte in bare)
    return max(accumulate(steps), default=0)


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _place(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _once(message: Message, receive: Receive) -> Receive:
    """A `receive` that gives this message first."""
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
