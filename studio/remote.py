"""A running server as a source: questions over HTTP, signs over its live stream.

The stream is listened to for as long as the studio is there. Where it ends it is tried again, soon at first
and then every few seconds, and both the loss and the return are signs.
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
from noodlings.inspect.questions import Question, V, reader_of
from noodlings.text import clean, shorten
from studio.source import FOUND, LOST, Action, Sign, Unreachable

if TYPE_CHECKING:
    from noodlings.inspect.feed import TurnEventView

Told = dict[str, Any]
"""An answer as JSON."""

SECONDS = 10.0
"""So long an answer may take."""
MEETING_SECONDS = 3.0
"""So long the first one is waited for, before there is a screen."""
TURN_SECONDS = 120.0
"""So long a turn may take; a slow model speaks in it."""
WAITS = (0.5, 1.0, 2.0, 4.0)
"""Seconds before the stream is tried again; the last one over and over."""
LONGEST_MESSAGE = 16 * 2**20
WEB_SCHEMES = {"http": "ws", "https": "wss"}


class RemoteSource:
    """The agents of a server.

    Args:
        url: where it is, such as http://127.0.0.1:8765.
        token: what it wants to see, or "".
        user: on behalf of whom one looks and speaks, an id; "" for oneself.

    Raises:
        UserError: it is no web address.
    """

    changeable = True

    def __init__(self, url: str, token: str = "", user: str = "") -> None:
        base = _address(url)
        self.label = base
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if user:
            headers["Noodlings-User"] = quote(user)
        scheme, rest = base.split(":", 1)
        asked = f"?{urlencode({'user': user})}" if user else ""
        self._live = f"{WEB_SCHEMES[scheme]}:{rest}/api/live{asked}"
        self._headers = headers
        self._client = httpx2.AsyncClient(base_url=f"{base}/api", headers=headers, timeout=SECONDS)

    def meet(self) -> None:
        """Ask once whether one may look at all; to be called before there is a screen, and once.

        A server that does not answer now is no reason to give up: it is waited for.

        Raises:
            NoodlingsError: it refuses, and waiting does not change that.
        """
        with httpx2.Client(headers=self._headers, timeout=MEETING_SECONDS) as client, suppress(Unreachable):
            try:
                response = client.get(f"{self.label}/api/agents")
            except httpx2.TransportError:
                return
            self._answer_of(response)

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """See `studio.source.Source`."""
        path, parameters = question.address(agent, how)
        return await question.read(self._request("GET", path, params=parameters))

    async def act(self, action: Action, agent: str, **how: Any) -> Told:
        """See `studio.source.Source`."""
        if action is Action.SAY:
            body = {"text": how["text"]}
            return await self._request("POST", f"{_agent(agent)}/perceive", json=body, timeout=TURN_SECONDS)
        entry = f"{_agent(agent)}/memory/entries/{how['entry']}"
        if action is Action.PIN:
            return await self._request("PUT" if how["pinned"] else "DELETE", f"{entry}/pin")
        if action is Action.IMPORTANCE:
            return await self._request("PUT", f"{entry}/importance", json={"importance": how["value"]})
        return await self._request("DELETE", entry)

    async def note(self, agent: str, entry: int) -> str:
        """See `studio.source.Source`."""
        answer = await self._request("GET", f"{_agent(agent)}/memory/entries/{entry}/note")
        return str(answer["markdown"])

    async def happenings(self) -> AsyncIterator[Sign]:
        """See `studio.source.Source`."""
        tried = 0
        while True:
            try:
                async with connect(
                    self._live,
                    additional_headers=self._headers,
                    max_size=LONGEST_MESSAGE,
                    open_timeout=SECONDS,
                ) as stream:
                    if tried:
                        yield Sign(step=FOUND)
                    tried = 0
                    async for message in stream:
                        if (sign := await _sign(message)) is not None:
                            yield sign
                why = clean(stream.close_reason or "") or "the live stream ended"
            except InvalidStatus as error:
                why = f"the live stream was refused ({error.response.status_code})"
            except ConnectionClosed as error:
                reason = error.rcvd.reason if error.rcvd is not None else ""
                why = clean(reason) or "the server went away"
            except (OSError, WebSocketException) as error:  # a time-out is an OSError
                why = clean(str(error)) or "the server went away"
            except NoodlingsError as error:
                why = str(error)
            if not tried:
                yield Sign(step=LOST, why=shorten(why, 200))
            await asyncio.sleep(WAITS[min(tried, len(WAITS) - 1)])
            tried += 1

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _request(self, method: str, path: str, **options: Any) -> Told:
        """One answer. Raises `Unreachable`, or what was refused in the server's words."""
        try:
            response = await self._client.request(method, path, **options)
        except httpx2.TimeoutException:
            raise Unreachable(f"{self.label} is taking too long to answer") from None
        except httpx2.TransportError:
            raise Unreachable(f"{self.label} does not answer") from None
        return self._answer_of(response)

    def _answer_of(self, response: httpx2.Response) -> Told:
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise NoodlingsError(
                f"{self.label} answers, but not as noodlings serve does. Is the address right?"
            )
        if response.is_success:
            return answer
        raise _refusal(response.status_code, clean(str(answer.get("detail", "it was refused"))))


def _agent(agent: str) -> str:
    return f"/agents/{quote(agent, safe='')}"


async def _sign(message: str | bytes) -> Sign | None:
    """What a message of the stream says; None for a sign of life; else `NoodlingsError`."""
    try:
        told = json.loads(message)
        kind = told["type"]
    except (ValueError, TypeError, KeyError):
        raise NoodlingsError("the live stream is not that of noodlings serve") from None
    if kind == "heartbeat":
        return None
    if kind in ("step", "speech", "turn"):
        turn_event = (await asyncio.to_thread(_turn_event_reader))(told)
        return Sign(turn_event.agent, turn_event.step, turn_event)
    return Sign()


def _turn_event_reader() -> Callable[[Any], TurnEventView]:
    from noodlings.inspect.feed import TurnEventView

    return reader_of(TurnEventView)


def _refusal(status: int, words: str) -> NoodlingsError:
    if status == HTTPStatus.UNAUTHORIZED:
        return Forbidden(f"{words} Pass it with --token or NOODLINGS_TOKEN.")
    if status == HTTPStatus.FORBIDDEN:
        return Forbidden(words)
    if status == HTTPStatus.NOT_FOUND:
        return NotFound(words)
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return Unreachable(words)
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return UserError(words)
    return NoodlingsError(words)


def _address(url: str) -> str:
    """The address without a slash at its end. Raises `UserError`."""
    given = url.strip().rstrip("/")
    try:
        parts = urlsplit(given)
        sound = parts.scheme in WEB_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not given.isprintable() or "@" in given or "?" in given or " " in given:
        raise UserError(
            f"{shorten(clean(url), 80)!r} is not the address of a server, such as http://127.0.0.1:8765. "
            "Pass a token with --token."
        )
    return given
