"""The live stream: a snapshot, then whatever happens as it happens, with signs of life between.

Messages are JSON objects with a `type`: snapshot, step, turn, lost, heartbeat. What a client sends is not
looked at. Whoever is too slow loses the oldest, and is told how many with `lost`.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from api.audit import note
from api.gate import CLOSED
from api.parts import Parts, parts_of
from api.problem import Refused
from api.rights import USER_HEADER
from noodlings.errors import NoodlingsError
from noodlings.inspect.feed import HappeningView, Reader
from noodlings.text import clean, shorten
from noodlings.values.caller import Caller

PROTOCOL = "noodlings"
"""What a browser asks for as the first subprotocol; the second may be `bearer.` and the token."""
BEARER = "bearer."
GOING_AWAY = 1001

router = APIRouter()


@router.websocket("/live")
async def live(socket: WebSocket, agent: str = "", user: str = "") -> None:
    """See the module. `agent` is the one to look at, empty for all; `user` as the header Noodlings-User."""
    parts = parts_of(socket)
    try:
        held = parts.doorkeeper.admit(_authorization(socket))
        caller = held.reader(user or socket.headers.get(USER_HEADER.lower(), ""))
        agent_id = parts.society.find(agent).id if agent else ""
    except NoodlingsError as refused:
        if isinstance(refused, Refused):
            note(live=True, status=int(refused.status), agent=shorten(clean(agent), 80))
        await socket.close(CLOSED, shorten(str(refused), 100))
        return
    offered = socket.scope.get("subprotocols", [])
    await socket.accept(PROTOCOL if PROTOCOL in offered else None)
    with parts.feed.reading(caller, agent_id) as reader, suppress(WebSocketDisconnect):
        await _serve(socket, parts, reader)


async def _serve(socket: WebSocket, parts: Parts, reader: Reader) -> None:
    """Send until one side has had enough."""
    sending = asyncio.create_task(_send_all(socket, parts, reader), name="live: sending")
    hearing = asyncio.create_task(_until_gone(socket), name="live: hearing")
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
        await socket.close(GOING_AWAY)


async def _send_all(socket: WebSocket, parts: Parts, reader: Reader) -> None:
    heartbeat = parts.society.settings.live.heartbeat_seconds
    await _send(socket, _snapshot(parts, reader.caller, reader.agent_id))
    while True:
        try:
            lost, view = await asyncio.wait_for(reader.next(), heartbeat)
        except TimeoutError:
            await _send(socket, {"type": "heartbeat", "time": parts.society.clock.now()})
            continue
        if lost:
            await _send(socket, {"type": "lost", "count": lost})
        await _send(socket, _message(view))


async def _until_gone(socket: WebSocket) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return


def _snapshot(parts: Parts, caller: Caller, agent_id: str) -> dict[str, Any]:
    """How things stand when a reader comes."""
    inspector = parts.inspector
    agents = [agent_id] if agent_id else list(parts.society.agents)
    return {
        "type": "snapshot",
        "time": parts.society.clock.now(),
        "agents": [
            {
                "agent": inspector.agent(caller, one).as_dict(),
                "stats": inspector.stats(caller, one).as_dict(),
                "mood": inspector.mood(caller, one).as_dict(),
            }
            for one in agents
        ],
    }


def _message(view: HappeningView) -> dict[str, Any]:
    kind = "step" if view.turn is None else "turn"
    return {"type": kind} | view.as_dict()


async def _send(socket: WebSocket, message: dict[str, Any]) -> None:
    await socket.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))


def _authorization(socket: WebSocket) -> str | None:
    """The token, from the header or from the subprotocols, the one way that a browser has."""
    header = socket.headers.get("authorization")
    if header is not None:
        return header
    offered: list[str] = socket.scope.get("subprotocols", [])
    secrets = [one.removeprefix(BEARER) for one in offered if one.startswith(BEARER)]
    return f"Bearer {secrets[0]}" if secrets else None
