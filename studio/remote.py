"""A running server as a source: questions over HTTP, events over its live stream.

When the live stream ends, it is opened again: soon at first, then every few seconds. The loss and the return
of the connection are events too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from noodlings.errors import Forbidden, NoodlingsError, NotFound, UserError
from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V, reader_of
from noodlings.text import clean, shorten
from studio.source import DISCONNECTED, RECONNECTED, Action, SourceEvent, Unreachable

if TYPE_CHECKING:
    from noodlings.inspect.feed import TurnEventView

Json = dict[str, Any]

TIMEOUT = 10.0
CONNECT_TIMEOUT = 3.0
"""For the first request, before there is a screen."""
TURN_TIMEOUT = 120.0
"""A turn may wait for a slow model, and cards of a long memory are made for a while."""
_SLOW = (questions.PEOPLE, questions.PROFILE, questions.JOURNAL)
RETRY_DELAYS = (0.5, 1.0, 2.0, 4.0)
"""Seconds before the stream is opened again; the last one is repeated."""
MAX_MESSAGE_BYTES = 16 * 2**20
WEB_SOCKET_SCHEMES = {"http": "ws", "https": "wss"}


class RemoteSource:
    """The agents of a server.

    Args:
        url: such as http://127.0.0.1:8765.
        token: for the API, or "".
        user: id of the user to look and speak as, "" for the one of the token.

    Raises:
        UserError: it is not a web address.
    """

    changeable = True

    def __init__(self, url: str, token: str = "", user: str = "") -> None:
        self.label = base = _checked_address(url)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        if user:
            self._headers["Noodlings-User"] = quote(user)
        scheme, rest = base.split(":", 1)
        parameters = f"?{urlencode({'user': user})}" if user else ""
        self._live_address = f"{WEB_SOCKET_SCHEMES[scheme]}:{rest}/api/live{parameters}"
        self._client = httpx2.AsyncClient(base_url=f"{base}/api", headers=self._headers, timeout=TIMEOUT)

    def connect(self) -> None:
        """Check that the server accepts the token. To be called once, before there is a screen.

        A server that does not answer now is no error: the studio waits for it.

        Raises:
            NoodlingsError: the server refuses, and waiting would not help.
        """
        with httpx2.Client(headers=self._headers, timeout=CONNECT_TIMEOUT) as client, suppress(Unreachable):
            try:
                response = client.get(f"{self.label}/api/agents")
            except httpx2.TransportError:
                return
            except httpx2.RequestError:  # the answer says that it is compressed, and is not
                raise self._not_ours() from None
            self._read(response)

    async def ask(self, question: Question[V], agent: str = "", **arguments: Any) -> V:
        path, parameters = question.address(agent, arguments)
        timeout = TURN_TIMEOUT if question in _SLOW else TIMEOUT
        return await question.read(self._request("GET", path, params=parameters, timeout=timeout))

    async def act(self, action: Action, agent: str, **arguments: Any) -> Json:
        if action is Action.SAY:
            body = {"text": arguments["text"]}
            return await self._request("POST", f"{_path(agent)}/perceive", json=body, timeout=TURN_TIMEOUT)
        entry = f"{_path(agent)}/memory/entries/{arguments['entry']}"
        if action is Action.PIN:
            return await self._request("PUT" if arguments["pinned"] else "DELETE", f"{entry}/pin")
        if action is Action.IMPORTANCE:
            return await self._request("PUT", f"{entry}/importance", json={"importance": arguments["value"]})
        return await self._request("DELETE", entry)

    async def note(self, agent: str, entry: int) -> str:
        answer = await self._request("GET", f"{_path(agent)}/memory/entries/{entry}/note")
        if not isinstance(markdown := answer.get("markdown"), str):
            raise self._not_ours()
        return markdown

    async def events(self) -> AsyncIterator[SourceEvent]:
        failures = 0
        while True:
            try:
                async with connect(
                    self._live_address,
                    additional_headers=self._headers,
                    max_size=MAX_MESSAGE_BYTES,
                    open_timeout=TIMEOUT,
                ) as stream:
                    if failures:
                        yield SourceEvent(step=RECONNECTED)
                    failures = 0
                    async for message in stream:
                        if (event := await _parse_event(message)) is not None:
                            yield event
                reason = clean(stream.close_reason or "") or "the live stream ended"
            except InvalidStatus as error:
                reason = f"the live stream was refused ({error.response.status_code})"
            except ConnectionClosed as error:
                reason = clean(error.rcvd.reason if error.rcvd else "") or "the server went away"
            except (OSError, WebSocketException) as error:  # a time-out is an OSError
                reason = clean(str(error)) or "the server went away"
            except NoodlingsError as error:
                reason = str(error)
            if not failures:
                yield SourceEvent(step=DISCONNECTED, reason=shorten(reason, 200))
            await asyncio.sleep(RETRY_DELAYS[min(failures, len(RETRY_DELAYS) - 1)])
            failures += 1

    async def close(self) -> None:
        await self._client.aclose()

    async def _request(self, method: str, path: str, **options: Any) -> Json:
        """Raises `Unreachable`, or an error with the server's message."""
        try:
            response = await self._client.request(method, path, **options)
        except httpx2.TimeoutException:
            raise Unreachable(f"{self.label} is taking too long to answer") from None
        except httpx2.TransportError:
            raise Unreachable(f"{self.label} does not answer") from None
        except httpx2.RequestError:
            raise self._not_ours() from None
        return self._read(response)

    def _read(self, response: httpx2.Response) -> Json:
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._not_ours()
        if response.is_success:
            return answer
        raise _error(response.status_code, clean(str(answer.get("detail", "it was refused"))))

    def _not_ours(self) -> NoodlingsError:
        return NoodlingsError(f"{self.label} answers, but not as noodlings serve does. Is the address right?")


def _path(agent: str) -> str:
    return f"/agents/{quote(agent, safe='')}"


async def _parse_event(message: str | bytes) -> SourceEvent | None:
    """The event in a message of the live stream; None for a heartbeat. Raises `NoodlingsError`."""
    try:
        data = json.loads(message)
        kind = data["type"]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise NoodlingsError("the live stream is not that of noodlings serve") from None
    if kind == "heartbeat":
        return None
    if kind in ("step", "speech", "turn"):
        turn_event = (await asyncio.to_thread(_turn_event_reader))(data)
        return SourceEvent(turn_event.agent, turn_event.step, turn_event)
    return SourceEvent()


def _turn_event_reader() -> Callable[[Any], TurnEventView]:
    from noodlings.inspect.feed import TurnEventView

    return reader_of(TurnEventView)


def _error(status: int, message: str) -> NoodlingsError:
    if status == HTTPStatus.UNAUTHORIZED:
        return Forbidden(f"{message} Pass it with --token or NOODLINGS_TOKEN.")
    if status == HTTPStatus.FORBIDDEN:
        return Forbidden(message)
    if status == HTTPStatus.NOT_FOUND:
        return NotFound(message)
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return Unreachable(message)
    return (UserError if status < HTTPStatus.INTERNAL_SERVER_ERROR else NoodlingsError)(message)


def _checked_address(url: str) -> str:
    """The address without a slash at its end. Raises `UserError`."""
    address = url.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        valid = parts.scheme in WEB_SOCKET_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not address.isprintable() or "@" in address or "?" in address or " " in address:
        raise UserError(
            f"{shorten(clean(url), 80)!r} is not the address of a server, such as http://127.0.0.1:8765. "
            "Pass a token with --token."
        )
    return address
