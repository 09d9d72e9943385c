"""Requests that change an agent of another process go there, and the answer comes back to the client.

A request travels without its token: the process that answers knows the same tokens, and is told which one it
was. A turn travels with a key of its own where the client sent none, so that it is perceived once although a
second process has to answer when the first one died.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from httpx2 import ASGITransport, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.gate import CHANGING, FORWARDED, given_first
from api.problem import RefusedRequest, problem, status_of
from noodlings.errors import StoreError, UserError, told
from noodlings.ports import ROOMS

if TYPE_CHECKING:
    from api.authentication import AccessToken
    from api.parts import ServerParts
    from noodlings.store.outbox import ForwardedRequest

_KEY, _KEY_IN_BODY = "idempotency-key", "idempotency_key"
_KEPT_BACK = ("authorization", "cookie", "content-length", "x-request-id")
"""Headers that do not travel, either way."""
_TURNS = ("/perceive", "/events", "/chat/completions")
_PERSONS = "/api/persons/"
_IN_ROOMS = ("/api/commands", _PERSONS, "/api/recipes/")
ELSEWHERE = "elsewhere"
"""Marks, in the state of a request, one that another process answers, counts and notes in its audit log."""

log = logging.getLogger(__name__)


class Forwarding:
    """Passes on what another process has to answer; everything else goes through unchanged.

    It stands behind `api.gate.Gate`, which makes one piece of the body.
    """

    def __init__(self, app: ASGIApp, parts: ServerParts) -> None:
        self._app, self._parts = app, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ownership = self._parts.society.ownership
        changes = scope["type"] == "http" and scope["method"] in CHANGING
        if ownership is None or not changes or FORWARDED in scope["state"]:
            await self._app(scope, receive, send)
            return
        message = await receive()
        body = message.get("body", b"")
        if scope["path"].startswith(_PERSONS):
            scope["state"]["path"] = f"{_PERSONS}{{person}}"  # the audit log must not name the person
        try:
            try:
                agent_id = self._recipient(scope["path"], body)
                held = self._parts.authenticator.admit(Headers(scope=scope).get("authorization"))
            except (UserError, RefusedRequest):
                agent_id = None  # it is refused here
            if agent_id is None or ownership.serves(agent_id):
                await self._app(scope, given_first(message, receive), send)
                return
            request, repeatable = _request(scope, body, held)
            answer = json.loads(await ownership.ask(agent_id, json.dumps(request), repeatable))
        except StoreError as error:
            await problem(status_of(error), told(error), path=scope["path"])(scope, receive, send)
            return
        scope["state"][ELSEWHERE] = True
        body = answer["body"].encode("latin-1")
        headers = [*_raw(answer["headers"]), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": answer["status"], "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _recipient(self, path: str, body: bytes) -> str | None:
        """Whose process answers: an agent's or that of the rooms; None if any does. Raises `NotFound`."""
        if path.startswith(_IN_ROOMS):
            return ROOMS
        if path.startswith("/api/agents/"):
            return self._parts.society.persona_of(path.split("/")[3]).id
        asked = _fields(body) if path.endswith("/chat/completions") else {}
        if asked.get("stream") or not isinstance(asked.get("model"), str):
            return None  # a stream comes in parts, so its agent is handed over
        return self._parts.society.persona_of(asked["model"]).id


async def answer(app: ASGIApp, parts: ServerParts, forwarded: ForwardedRequest) -> str | None:
    """What this process answers to a request that another one let in, see `noodlings.host.workers.Answer`."""
    asked = json.loads(forwarded.request)
    try:
        if forwarded.begun:
            why = "The process that answered this died; see whether it was done before you send it again."
            raise RefusedRequest(HTTPStatus.SERVICE_UNAVAILABLE, why)
        held = parts.authenticator.by_key(asked["token"])
    except RefusedRequest as refused:
        refusal = problem(refused.status, str(refused), path=asked["path"])
        return _written(refusal.status_code, refusal.raw_headers, bytes(refusal.body))

    async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
        await app(dict(scope) | {"state": {FORWARDED: True, "held": held}}, receive, send)

    transport = ASGITransport(let_in, raise_app_exceptions=False, client=(asked["address"], 0))
    request = Request(
        asked["method"],
        f"http://worker{asked['path']}?{asked['query']}",
        headers=_raw(asked["headers"]),
        content=asked["body"].encode("latin-1"),
    )
    given = await transport.handle_async_request(request)
    unserved, ownership = given.status_code == HTTPStatus.SERVICE_UNAVAILABLE, parts.society.ownership
    if unserved and forwarded.repeatable and ownership and not ownership.serves(forwarded.agent_id):
        return None
    return _written(given.status_code, given.headers.raw, await given.aread())


def _request(scope: Scope, body: bytes, held: AccessToken) -> tuple[dict[str, Any], bool]:
    """A request as it travels, with a key if it is a turn and has none; whether it may be answered twice."""
    headers = _texts(scope["headers"])
    turn = scope["path"].endswith(_TURNS)
    keyed = _KEY in Headers(scope=scope) or bool(_fields(body).get(_KEY_IN_BODY))
    if turn and not keyed:
        headers.append((_KEY, secrets.token_hex(16)))
    return {
        "method": scope["method"],
        "path": scope["raw_path"].decode("latin-1"),
        "query": scope["query_string"].decode("latin-1"),
        "headers": headers,
        "body": body.decode("latin-1"),
        "token": held.key,
        "address": str((scope.get("client") or ("",))[0]),
    }, turn


def _written(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> str:
    """An answer as it travels; bytes as Latin-1."""
    return json.dumps({"status": status, "headers": _texts(headers), "body": body.decode("latin-1")})


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
    return [(name, value) for name, value in pairs if name.lower() not in _KEPT_BACK]


def _raw(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _fields(body: bytes) -> dict[str, Any]:
    """The fields of a JSON object; none where the body is something else."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
