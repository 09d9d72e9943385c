"""Checks before a request is handled: where it comes from, how often, how big and how deeply nested it is.

This is a plain ASGI middleware, so that a refused request costs next to nothing.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from itertools import accumulate
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.authentication import AccessToken, Authenticator
from api.problem import RefusedRequest, refusal
from api.protocol import place_of
from noodlings.config import ApiSettings
from noodlings.connections import SHARE, Place
from noodlings.errors import StoreError
from noodlings.ports import Ownership
from noodlings.values.caller import Role

MAX_DEPTH = 20
"""How deeply a JSON body may be nested; a recipe has four levels."""
MAX_BUCKETS = 10_000
"""How many callers the rate limit remembers; the one silent for longest is dropped first."""
BURST_SECONDS = 2.0
"""How many seconds' worth of requests may come at once."""
CLOSED = 1008
"""The close code of a WebSocket that is refused."""

FORWARDED = "forwarded"
"""Marks, in the state of a request, one that the gate of another process let in."""

UNCOUNTED = "/health"
"""Has no rate limit: an answer costs no more than a refusal, and a monitor may share its address."""

SHARES = {Role.ADMIN: 1.0, Role.WORLD: 0.5}
"""The share of all connections that one token of this role may hold, if it is not the usual one: an admin
must be able to see what is wrong, and a world asks for all its users."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
VISITED = ("/", "/docs", "/health", "/ready")
"""Pages that other sites may link to; they show nobody's data."""

CHANGING = ("POST", "PUT", "PATCH", "DELETE")
_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.S)


class Rate:
    """A token bucket for each caller.

    Args:
        per_second: how many requests each may make; a full bucket holds `BURST_SECONDS` worth.
        now: a monotonic clock, in seconds.
        ownership: where several processes serve, it keeps the buckets for all of them.
    """

    def __init__(
        self,
        per_second: float,
        now: Callable[[], float] = time.monotonic,
        ownership: Ownership | None = None,
    ) -> None:
        self._ownership = ownership
        self._per_second = per_second
        self._most = max(per_second * BURST_SECONDS, 1.0)
        self._now = now
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Count one request. Returns 0 if it is allowed, else the seconds to wait."""
        if self._ownership is not None:
            # While the database cannot be reached, each process counts for itself.
            with suppress(StoreError):
                return self._ownership.take_request(key, self._per_second, self._most)
        now = self._now()
        held, since = self._held.pop(key, (self._most, now))
        held = min(held + (now - since) * self._per_second, self._most)
        granted = held >= 1.0
        self._held[key] = (held - granted, now)
        if len(self._held) > MAX_BUCKETS:
            self._held.popitem(last=False)
        return 0.0 if granted else (1.0 - held) / self._per_second


class Gate:
    """Refuses requests that may not come in, and passes on all others unchanged.

    Args:
        app: behind the gate.
        authenticator: tells tokens apart for the rate limit.
        settings: how often a token, or an address without one, may ask; which web pages may call, besides
            this server's own; and the longest body.
        ownership: as of `Rate`.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        settings: ApiSettings,
        ownership: Ownership | None = None,
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._rate = Rate(settings.requests_per_second, ownership=ownership)
        self._origins = settings.origins
        self._max_body_bytes = settings.max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or FORWARDED in scope.get("state", ()):
            await self._app(scope, receive, send)
            return
        try:
            self._require_known_page(scope, Headers(scope=scope))
            self._require_rate(scope)
            if scope["type"] == "http" and scope["method"] in CHANGING:
                receive = await self._whole_body(Headers(scope=scope), receive)
            if scope["type"] == "http":
                enter(scope)
        except RefusedRequest as refused:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": CLOSED, "reason": str(refused)[:100]})
                return
            await refusal(refused, scope["path"])(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _require_known_page(self, scope: Scope, headers: Headers) -> None:
        """Refuse foreign web pages, because the browser that shows one may be behind the firewall.

        Without tokens, the host name must also be this machine's. Otherwise a page could point a name of its
        own at our address.
        """
        host = headers.get("host", "")
        if self._authenticator.open and _split(f"//{host}").hostname not in LOOPBACK:
            raise RefusedRequest(HTTPStatus.FORBIDDEN, f"Use {' or '.join(LOOPBACK)}, or set api.tokens.")
        origin = headers.get("origin")
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if origin is None:  # browsers fetch images and links without naming the page
            unknown = foreign and not _is_visit(scope, headers)
        else:
            unknown = origin not in self._origins and (foreign or _split(origin).netloc != host)
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
        """A `receive` that gives the body in one piece, unless it is too long or too deep."""
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > self._max_body_bytes:
            raise self._too_long()
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return given_first(message, receive)
            body += message.get("body", b"")
            if len(body) > self._max_body_bytes:
                raise self._too_long()
            more = message.get("more_body", False)
        whole = bytes(body)
        if depth_of(whole) > MAX_DEPTH:
            raise RefusedRequest(
                HTTPStatus.BAD_REQUEST, f"The body is nested more than {MAX_DEPTH} levels deep; flatten it."
            )
        return given_first({"type": "http.request", "body": whole, "more_body": False}, receive)

    def _too_long(self) -> RefusedRequest:
        return RefusedRequest(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is over {self._max_body_bytes:,} bytes."
        )


def enter(scope: Scope, held: AccessToken | None = None) -> None:
    """Protect the connection of a known caller from being displaced while it is answered.

    Args:
        held: the caller's token, if the gate could not know it.

    Raises:
        RefusedRequest: 429, this token has too many connections; 503, all connections are busy.
    """
    place = place_of(scope)
    if place is None:
        return
    if held is not None:
        _prove(place, held)
    if place.owner and not place.enter():
        status, why = HTTPStatus.SERVICE_UNAVAILABLE, "All connections are busy; try again in a moment."
        if place.greedy:
            status = HTTPStatus.TOO_MANY_REQUESTS
            why = "This token has too many requests and streams open; close one, or wait."
        raise RefusedRequest(status, why, {"Connection": "close"})


def _prove(place: Place | None, held: AccessToken) -> None:
    if place is not None:
        place.prove(held.key, SHARES.get(held.role, SHARE))


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Whether somebody follows a link to a page that anybody may see."""
    asked = scope.get("method"), headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return asked == ("GET", "navigate", "document") and scope["path"] in VISITED


def depth_of(body: bytes) -> int:
    """How deeply lists and objects are nested in JSON, which need not be valid."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return 0
    bare = _JSON_STRING.sub(b"", body)
    steps = ({91: 1, 123: 1, 93: -1, 125: -1}.get(byte, 0) for byte in bare)
    return max(accumulate(steps), default=0)


def _split(url: str) -> SplitResult:
    """The parts of an address; all are empty if it is none."""
    with suppress(ValueError):
        return urlsplit(url)
    return urlsplit("")


def given_first(message: Message, receive: Receive) -> Receive:
    """A `receive` that gives this message first."""
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
