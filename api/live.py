"""The live stream: a snapshot, then everything as it happens, and heartbeats in between.

Messages are JSON objects with a `type`: snapshot, step, speech, turn, lost, heartbeat. What a client sends is
ignored. A client that is too slow loses the oldest messages; `lost` says how many.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from fastapi import WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from api.audit import note
from api.authentication import USER_HEADER, AccessToken, named_user
from api.gate import CLOSED, enter
from api.parts import ServerParts, parts_of, topic_router, until_gone
from api.problem import RefusedRequest, refusal
from noodlings.errors import NoodlingsError, told
from noodlings.inspect.feed import FeedReader, TurnEventView
from noodlings.inspect.why import WhyView
from noodlings.text import shorten
from noodlings.values.caller import Caller

PROTOCOL = "noodlings"
"""The first subprotocol that a browser asks for; the second may be `bearer.` and the token."""
BEARER = "bearer."
GOING_AWAY = 1001
CACHED_MESSAGES = 1_000

router = topic_router("/api")


class MessageCache:
    """Serializes each message once for all clients that are shown the same."""

    def __init__(self) -> None:
        self._cached: OrderedDict[tuple[str, int, str, str, int], tuple[WhyView | None, str]] = OrderedDict()

    def written(self, view: TurnEventView) -> str:
        # Readers who are shown different turns get different objects. A cached one stays alive, so that its
        # id cannot be reused.
        key = (view.agent, view.entry, view.step, view.said, id(view.turn))
        if key not in self._cached:
            kind = "speech" if view.said else "step" if view.turn is None else "turn"
            message = {"type": kind} | view.as_dict()
            self._cached[key] = view.turn, _written(message)
            if len(self._cached) > CACHED_MESSAGES:
                self._cached.popitem(last=False)
        return self._cached[key][1]


@router.websocket("/live")
async def live(socket: WebSocket, agent: str = "", user: str = "") -> None:
    """See the module. `agent` may be empty, for all; `user` is like the header Noodlings-User."""
    parts = parts_of(socket)
    try:
        held = parts.authenticator.admit(_authorization(socket))
        caller = held.reader(user or named_user(socket.headers.get(USER_HEADER, "")))
        agent_id = parts.society.find(agent).id if agent else ""
    except NoodlingsError as refused:
        if isinstance(refused, RefusedRequest):
            note(
                address=str(socket.client.host if socket.client else ""),
                path=socket.url.path,
                what=agent if agent in parts.society.agents else "",
                status=int(refused.status),
            )
        await socket.close(CLOSED, shorten(told(refused), 100))
        return
    try:
        enter(socket.scope, held)
    except RefusedRequest as crowded:
        await socket.send_denial_response(refusal(crowded))
        return
    offered = socket.scope.get("subprotocols", [])
    await socket.accept(PROTOCOL if PROTOCOL in offered else None)
    with parts.feed.reading(caller, agent_id) as reader, suppress(WebSocketDisconnect):
        await _serve(socket, parts, reader, held)


async def _serve(socket: WebSocket, parts: ServerParts, reader: FeedReader, held: AccessToken) -> None:
    """Send until either side ends the stream or the token is no longer valid."""
    sending = asyncio.create_task(_send_all(socket, parts, reader, held), name="live: sending")
    hearing = asyncio.create_task(until_gone(socket), name="live: hearing")
    try:
        await asyncio.wait((sending, hearing), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, hearing):
            task.cancel()
        results = await asyncio.gather(sending, hearing, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
            raise result
    if socket.application_state is WebSocketState.CONNECTED is socket.client_state:
        if parts.authenticator.holds(held):
            await socket.close(GOING_AWAY)
        else:
            await socket.close(CLOSED, "the token has expired or was taken back")


async def _send_all(socket: WebSocket, parts: ServerParts, reader: FeedReader, held: AccessToken) -> None:
    messages: MessageCache = socket.app.state.messages
    heartbeat = parts.society.settings.live.heartbeat_seconds
    await socket.send_text(_written(await _snapshot(parts, reader.caller, reader.agent_id)))
    while True:
        taken = reader.take()
        if taken is None:
            try:
                async with asyncio.timeout(heartbeat):
                    taken = await reader.next()
            except TimeoutError:
                if not parts.authenticator.holds(held):
                    return
                await socket.send_text(_written({"type": "heartbeat", "time": parts.society.clock.now()}))
                continue
        if not parts.authenticator.holds(held):
            return
        lost, view = taken
        if lost:
            await socket.send_text(_written({"type": "lost", "count": lost}))
        await socket.send_text(messages.written(view))


async def _snapshot(parts: ServerParts, caller: Caller, agent_id: str) -> dict[str, Any]:
    """The first message to a client."""
    inspector = parts.inspector
    return {
        "type": "snapshot",
        "time": parts.society.clock.now(),
        "agents": [
            {
                "agent": inspector.agent(caller, one).as_dict(),
                "stats": inspector.stats(caller, one).as_dict(),
                "mood": inspector.mood(caller, one).as_dict(),
            }
            async for one in inspector.in_turn(caller, agent_id)
        ],
    }


def _written(message: dict[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _authorization(socket: WebSocket) -> str | None:
    """The token, from the header or, as browsers must send it, from the subprotocols."""
    header = socket.headers.get("authorization")
    if header is not None:
        return header
    offered: list[str] = socket.scope.get("subprotocols", [])
    secrets = [one.removeprefix(BEARER) for one in offered if one.startswith(BEARER)]
    return f"Bearer {secrets[0]}" if secrets else None
