"""What a process answers to requests that another one let in: as to its own, and to each of them."""

from __future__ import annotations

import json
import logging
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.types import Receive, Scope, Send

from api.authentication import OWNER
from api.forwarding import _request, answer
from api.server import make_app
from noodlings.store.outbox import ForwardedRequest
from tests.api.conftest import MakeSite, Site


def forwarded(
    path: str, body: Any, token: str = OWNER.key, query: str = "", begun: bool = False
) -> ForwardedRequest:
    asked = {
        "method": "POST",
        "path": unquote(path),
        "raw_path": path,
        "query": query,
        "headers": [("host", "127.0.0.1"), ("content-type", "application/json")],
        "body": json.dumps(body),
        "token": token,
        "address": "127.0.0.1",
    }
    return ForwardedRequest("1", "phi", "asker", json.dumps(asked), repeatable=not begun, begun=begun)


async def answered(site: Site, request: ForwardedRequest, app: Any = None) -> tuple[int, dict[str, Any]]:
    """Status and body of an answer."""
    given = await answer(app or make_app(site.parts), site.parts, request)
    assert given is not None
    found = json.loads(given)
    return found["status"], json.loads(found["body"])


async def test_it_is_answered_as_if_it_had_come_here(site: Site) -> None:
    status, body = await answered(site, forwarded("/api/agents/phi/perceive", {"text": "hello"}))
    assert (status, body["turn"]["percept"]["text"]) == (200, "hello")


@pytest.mark.parametrize(
    "path",
    ["/api/agents/phi/../servnak/perceive", "/api/agents/phi%23x/perceive", "/api/agents/ph%C3%AF/perceive"],
)
async def test_the_path_is_the_one_that_was_asked_for(site: Site, path: str) -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await make_app(site.parts)(scope, receive, send)

    status, _ = await answered(site, forwarded(path, {"text": "hello"}), app)
    assert (seen[0]["path"], seen[0]["raw_path"]) == (unquote(path), path.encode())
    assert status == 404


async def test_a_long_address_is_refused_as_any_other(site: Site) -> None:
    status, _ = await answered(
        site, forwarded("/api/agents/phi/perceive", {"text": "hi"}, query="a" * 70_000)
    )
    assert status == 422


async def test_what_breaks_is_answered_and_logged_once(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError("the zzverbena")

    with caplog.at_level(logging.ERROR):
        status, body = await answered(site, forwarded("/api/agents/phi/perceive", {"text": "hi"}), app)
    assert (status, body["title"]) == (500, "Internal Server Error")
    assert "zzverbena" not in str(body)
    assert len(caplog.records) == 1


async def test_what_cannot_be_read_is_answered_too(site: Site) -> None:
    assert (await answered(site, ForwardedRequest("1", "phi", "asker", "{", True, False)))[0] == 500


async def test_a_token_that_was_taken_back_meanwhile_is_refused(make_site: MakeSite) -> None:
    site = make_site(tokens=True)
    status, body = await answered(site, forwarded("/v1/chat/completions", {}, token="gone"))
    assert (status, body["error"]["code"]) == (401, "invalid_api_key")


async def test_what_a_dead_process_had_begun_is_not_done_again(site: Site) -> None:
    status, body = await answered(site, forwarded("/api/commands", {"line": "say hi"}, begun=True))
    assert status == 503
    assert "see whether it was done" in body["detail"]


@pytest.mark.parametrize(
    ("header", "body"), [(None, {}), (b"", {}), (b"", {"idempotency_key": "\u0001"}), (b" ", {"text": "hi"})]
)
async def test_a_turn_without_a_key_travels_with_one_and_is_taken_in_once(
    site: Site, header: bytes | None, body: dict[str, str]
) -> None:
    path, own = "/api/agents/phi/perceive", [] if header is None else [(b"idempotency-key", header)]
    asked = {"path": path, "raw_path": path.encode(), "query_string": b"", "method": "POST"}
    headers = [(b"content-type", b"application/json"), *own]
    sent = json.dumps({"text": "hello"} | body).encode()
    request, repeatable = _request(asked | {"headers": headers}, sent, OWNER)
    assert repeatable
    once = ForwardedRequest("1", "phi", "asker", json.dumps(request), repeatable=True, begun=False)
    turns = [(await answered(site, once))[1]["turn"]["percept"]["id"] for _ in range(2)]
    assert turns[0] == turns[1]
