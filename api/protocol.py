"""HTTP on a connection whose time is limited: for the headers, for the body, and for taking the answer.

Each deadline is for the whole: a byte now and then earns no more time. What comes before a request is one, so
before `api.gate.Gate` can see it, is refused here.
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

HEADERS_SECONDS = 10.0
"""From the connection, or from the first byte of another request over it, to the end of the headers."""
BODY_SECONDS = 30.0
"""From the headers to the end of the body."""
TAKE_SECONDS = 30.0
"""So long an answer may lie here because its reader takes none of it, or not the rest after the last one."""
MOST_HEADERS = 16_384
"""Bytes of headers."""

SAFE_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "frame-ancestors 'none'"),
]
"""Of every answer: it is what it says it is, and stands in nobody's frame."""

_PLACE = "place"


def place_of(scope: Mapping[str, Any]) -> Place | None:
    """The place of a request's connection; None where no server of ours took it."""
    place: Place | None = scope.get("state", {}).get(_PLACE)
    return place


def timed(connections: Connections) -> type[asyncio.Protocol]:
    """What `uvicorn.Config` takes for `http`."""
    return cast("type[asyncio.Protocol]", partial(TimedProtocol, connections))


class TimedProtocol(H11Protocol):
    """One connection. It may be displaced while it waits for a request, see `noodlings.connections`."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self.conn = _Unambiguous(h11.SERVER, MOST_HEADERS)
        self._all = connections
        self._phase = ""
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection was made."""
        super().connection_made(transport)
        self._place = self._all.place_of(transport)
        self._place.let_go = transport.abort
        self.app_state = self.app_state | {_PLACE: self._place}
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._in_time("gone")
        self._taken()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Something was received."""
        super().handle_events()
        self._look()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From here on it is no HTTP, and no longer watched here."""
        self._in_time("upgraded")
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """An answer was written."""
        self._place.wait()
        super().on_response_complete()
        self._look()

    def send_400_response(self, msg: str) -> None:
        """What came is no request."""
        self._refuse(
            HTTPStatus.BAD_REQUEST,
            "This is not valid HTTP/1.1, or it has both Content-Length and Transfer-Encoding; send only one.",
        )
        self.transport.close()

    def pause_writing(self) -> None:
        """Too much of an answer is not taken."""
        super().pause_writing()
        self._unread = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It was taken."""
        super().resume_writing()
        self._taken()

    def _taken(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _look(self) -> None:
        """What is waited for now, and until when."""
        if self._phase in ("upgraded", "gone"):
            return
        theirs = self.conn.their_state
        if self.transport.is_closing():
            self._in_time("closing", TAKE_SECONDS)
        elif theirs is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):
            self._in_time("headers", HEADERS_SECONDS)
        elif theirs is h11.IDLE:  # uvicorn closes it in time, if what is written is taken
            self._in_time("idle", self.timeout_keep_alive + TAKE_SECONDS)
        elif theirs is h11.SEND_BODY:
            self._in_time("body", BODY_SECONDS)
        else:
            self._in_time("answering")

    def _in_time(self, phase: str, seconds: float | None = None) -> None:
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
        """Answer in place of the application, where nothing was answered yet."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        answer = problem(status, detail)
        headers = [*answer.raw_headers, *self.config.encoded_headers, (b"connection", b"close")]
        lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(b": ".join(one) for one in headers)]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))


class LiveProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that holds nothing of what it is sent, which nobody looks at; see `api.live`."""

    def pause_writing(self) -> None:
        """Who does not read is not read on: each ping would be answered, and the answers would lie here."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """It was taken."""
        super().resume_writing()
        self.transport.resume_reading()

    def handle_text(self, event: Frame) -> None:
        """A message; also one that is no UTF-8."""

    def handle_bytes(self, event: Frame) -> None:
        """A message."""

    def handle_cont(self, event: Frame) -> None:
        """A piece of a message."""


class _Unambiguous(h11.Connection):
    """Takes no request that says its length twice: what stands before us may have believed the other one."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event
