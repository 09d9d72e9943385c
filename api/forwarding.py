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

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.gate import CHANGING, FORWARDED, given_first
from api.problem import BROKE, RefusedRequest, problem, refusal
from noodlings.errors import StoreError, UserError
from noodlings.ports import ROOMS
from noodlings.text import clean

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
            await refusal(error, scope["path"])(scope, receive, send)
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
    """What this process answers to a request that another one let in, see `noodlings.host.workers.Answer`.

    It answers whatever happens, or the other one would wait and this one try again.
    """
    path, sent = "", list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": asked["body"].encode("latin-1")}

    try:
        if forwarded.begun:
            why = "The process that answered this died; see whether it was done before you send it again."
            raise RefusedRequest(HTTPStatus.SERVICE_UNAVAILABLE, why)
        asked = json.loads(forwarded.request)
        path = asked["path"]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "scheme": "http",
            "method": asked["method"],
            "path": path,
            "raw_path": asked["raw_path"].encode("latin-1"),
            "query_string": asked["query"].encode("latin-1"),
            "headers": _raw(asked["headers"]),
            "client": (asked["address"], 0),
            "state": {FORWARDED: True, "held": parts.authenticator.by_key(asked["token"])},
        }
        await app(scope, receive, send)
    except RefusedRequest as refused:
        await refusal(refused, path)({"type": "http"}, receive, send)
    except Exception:
        log.exception("a request that another process let in broke")
        if not sent:
            await problem(HTTPStatus.INTERNAL_SERVER_ERROR, BROKE, path=path)({"type": "http"}, receive, send)
    (started, *parts_of_body), ownership = sent, parts.society.ownership
    unserved = started["status"] == HTTPStatus.SERVICE_UNAVAILABLE
    if unserved and forwarded.repeatable and ownership and not ownership.serves(forwarded.agent_id):
        return None
    body = b"".join(message.get("body", b"") for message in parts_of_body).decode("latin-1")
    return json.dumps({"status": started["status"], "headers": _texts(started["headers"]), "body": body})


def _request(scope: Scope, body: bytes, held: AccessToken) -> tuple[dict[str, Any], bool]:
    """A request as it travels, with a key if it is a turn and has none; whether it may be answered twice."""
    headers = _texts(scope["headers"])
    turn = scope["path"].endswith(_TURNS)
    keys = Headers(scope=scope).get(_KEY, ""), _fields(body).get(_KEY_IN_BODY) or ""
    if turn and not any(clean(str(key)) for key in keys):
        headers = [header for header in headers if header[0] != _KEY]
        headers.append((_KEY, secrets.token_hex(16)))
    return {
        "method": scope["method"],
        "path": scope["path"],
        "raw_path": scope["raw_path"].decode("latin-1"),
        "query": scope["query_string"].decode("latin-1"),
        "headers": headers,
        "body": body.decode("latin-1"),
        "token": held.key,
        "address": str((scope.get("client") or ("",))[0]),
    }, turn


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
