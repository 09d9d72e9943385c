"""HTTP with deadlines for the headers, for the body, and for reading the answer.

A deadline is for the whole, so a byte now and then earns no more time. What is refused here never becomes a
request that `api.gate.Gate` could see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from api.problem import problem
from noodlings.connections import Connections, Place
from noodlings.frames import FrameLimit

HEADERS_SECONDS = 10.0
"""From the connection, or from the first byte of a later request, to the end of the headers."""
BODY_SECONDS = 30.0
"""From the end of the headers to the end of the body."""
TAKE_SECONDS = 30.0
"""How long an answer may wait for a client that does not read it."""
MOST_HEADERS = 16_384
"""The most bytes of headers."""

SAFE_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "frame-ancestors 'none'"),
]
"""In every answer: no guessing of its type, and no framing."""

_PLACE = "place"


def place_of(scope: Mapping[str, Any]) -> Place | None:
    """The place of a request's connection; None if no server of ours accepted it."""
    place: Place | None = scope.get("state", {}).get(_PLACE)
    return place


def timed(connections: Connections) -> type[asyncio.Protocol]:
    """The `http` argument of `uvicorn.Config`."""
    return cast("type[asyncio.Protocol]", partial(TimedProtocol, connections))


class TimedProtocol(H11Protocol):
    """One connection. It may be displaced while it waits for a request, see `noodlings.connections`."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self.conn = _Unambiguous(h11.SERVER, MOST_HEADERS)
        self._connections = connections
        self._phase = ""
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._place = self._connections.place_of(transport)
        self._place.let_go = transport.abort
        self.app_state = self.app_state | {_PLACE: self._place}
        self._update_phase()

    def connection_lost(self, exc: Exception | None) -> None:
        self._enter_phase("gone")
        self._answer_was_read()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        self._update_phase()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From here on it is a WebSocket, without these deadlines."""
        self._enter_phase("upgraded")
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        self._place.wait()
        super().on_response_complete()
        self._update_phase()

    def send_400_response(self, msg: str) -> None:
        self._refuse(
            HTTPStatus.BAD_REQUEST,
            "This is not valid HTTP/1.1, or it has both Content-Length and Transfer-Encoding; send only one.",
        )
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._answer_was_read()

    def _answer_was_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _update_phase(self) -> None:
        """Enter the phase that the connection is in now."""
        if self._phase in ("upgraded", "gone"):
            return
        theirs = self.conn.their_state
        if self.transport.is_closing():
            self._enter_phase("closing", TAKE_SECONDS)
        elif theirs is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):
            self._enter_phase("headers", HEADERS_SECONDS)
        elif theirs is h11.IDLE:  # uvicorn closes it in time, provided the client reads what was written
            self._enter_phase("idle", self.timeout_keep_alive + TAKE_SECONDS)
        elif theirs is h11.SEND_BODY:
            self._enter_phase("body", BODY_SECONDS)
        else:
            self._enter_phase("answering")

    def _enter_phase(self, phase: str, seconds: float | None = None) -> None:
        if phase == self._phase:
            return
        self._phase = phase
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        if self._phase in ("headers", "body"):
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, f"The {self._phase} took too long; try again.")
        self.transport.abort()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Answer in place of the application, unless an answer has begun."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        answer = problem(status, detail)
        headers = [*answer.raw_headers, *self.config.encoded_headers, (b"connection", b"close")]
        lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(b": ".join(one) for one in headers)]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))


class LiveProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that discards what it is sent, of which there may be little; see `api.live`."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._frames = FrameLimit(self.transport, self.conn)

    def data_received(self, data: bytes) -> None:
        self._frames.read(data, super().data_received)

    def pause_writing(self) -> None:
        """Stop reading from a client that does not read: answers to its pings would pile up."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.transport.resume_reading()

    def handle_text(self, event: Frame) -> None:
        """Ignore a message, even one that is not UTF-8."""
        self._frames.count()

    handle_bytes = handle_cont = handle_pong = handle_text

    def handle_ping(self) -> None:
        super().handle_ping()
        self._frames.count()


class _Unambiguous(h11.Connection):
    """Refuses a request that gives its length twice: a proxy may have believed the other length."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event
