"""What does not come in: from unknown pages, too often, too long, too deep; and how a refusal looks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.gate import MAX_DEPTH, Rate, depth_of
from noodlings.errors import LLMError, NoodlingsError, StoreError
from tests.api.conftest import MakeSite, Site

SAID = {"user_id": "user_caity", "text": "hello"}


def problem_of(answer) -> dict:
    """The one shape of every error."""
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == answer.status_code
    assert body["type"] == "about:blank"
    assert body["title"]
    assert body["detail"]
    return body


def test_a_bucket_fills_at_its_rate():
    now = [0.0]
    rate = Rate(2.0, lambda: now[0])
    assert [rate.take("a") for _ in range(5)] == [0.0, 0.0, 0.0, 0.0, 0.5]
    assert rate.take("b") == 0.0
    now[0] = 0.5
    assert rate.take("a") == 0.0
    assert rate.take("a") > 0.0


async def test_too_often_is_refused_until_later(make_site: MakeSite):
    site = make_site(requests_per_second=0.5)
    assert (await site.get("/ready")).status_code == 200
    refused = await site.get("/ready")
    assert problem_of(refused)["status"] == 429
    assert int(refused.headers["retry-after"]) >= 1


async def test_health_checks_are_not_kept_out_by_others(make_site: MakeSite):
    site = make_site(requests_per_second=0.5)
    assert [(await site.get("/health")).status_code for _ in range(5)] == [200] * 5


async def test_each_token_has_its_own_rate(make_site: MakeSite):
    site = make_site(tokens=True, requests_per_second=0.5)
    assert (await site.get("/api/agents", "caity")).status_code == 200
    assert (await site.get("/api/agents", "caity")).status_code == 429
    assert (await site.get("/api/agents", "toad")).status_code == 200


async def test_guesses_share_the_rate_of_their_address(make_site: MakeSite):
    site = make_site(tokens=True, requests_per_second=0.5)
    for guess, status in (("one", 401), ("two", 429)):
        answer = await site.get("/api/agents", headers={"Authorization": f"Bearer {guess}"})
        assert answer.status_code == status


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "[", ""])
async def test_without_tokens_only_names_of_this_machine_are_answered_to(site: Site, host: str):
    assert problem_of(await site.get("/api/agents", headers={"Host": host}))["status"] == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765"])
async def test_names_of_this_machine(site: Site, host: str):
    assert (await site.get("/api/agents", headers={"Host": host})).status_code == 200


async def test_pages_from_elsewhere_may_not_ask(make_site: MakeSite):
    site = make_site(origins=["https://studio.example"])
    for origin, status in (
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
        ("https://studio.example", 200),
        ("http://127.0.0.1", 200),
    ):
        answer = await site.post("/api/agents/servnak/perceive", SAID, headers={"Origin": origin})
        assert answer.status_code == status, origin
    granted = await site.ask(
        "OPTIONS",
        "/api/agents",
        headers={"Origin": "https://studio.example", "Access-Control-Request-Method": "GET"},
    )
    assert granted.headers["access-control-allow-origin"] == "https://studio.example"


async def test_without_origins_no_page_is_let_in(site: Site):
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"}
    answer = await site.ask("OPTIONS", "/api/agents", headers=asked)
    assert "access-control-allow-origin" not in answer.headers


async def test_a_long_body_is_refused(make_site: MakeSite):
    site = make_site(max_body_bytes=1_000)
    long = json.dumps(SAID | {"text": "x" * 2_000})
    headers = {"content-type": "application/json"}
    declared = await site.ask("POST", "/api/agents/servnak/perceive", content=long, headers=headers)
    assert problem_of(declared)["status"] == 413

    async def in_pieces():
        for start in range(0, len(long), 100):
            yield long[start : start + 100].encode()

    undeclared = await site.ask("POST", "/api/agents/servnak/perceive", content=in_pieces(), headers=headers)
    assert problem_of(undeclared)["status"] == 413


@pytest.mark.parametrize("opening", ["[", '{"a":'])
async def test_a_deep_body_is_refused_for_its_depth_though_it_is_valid(site: Site, opening: str):
    """One level less comes through to the route, which says something else of it."""
    closing = "]" if opening == "[" else "}"

    def event(depth: int) -> str:
        inner = depth - 2  # within the body and `data`
        return (
            f'{{"event": "x", "data": {{"deep": {opening * inner}{"1" if inner else ""}{closing * inner}}}}}'
        )

    for depth, status in ((MAX_DEPTH, 422), (MAX_DEPTH + 1, 400)):  # an event's data are flat
        body = event(depth)
        json.loads(body)
        answer = await site.ask(
            "POST",
            "/api/agents/servnak/events",
            content=body,
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == status, answer.text
    assert f"more than {MAX_DEPTH} levels" in problem_of(answer)["detail"]


@pytest.mark.parametrize(
    ("site", "mode", "dest", "path", "status"),
    [
        ("cross-site", "no-cors", "image", "/api/agents", 403),
        ("same-site", "no-cors", "script", "/health", 403),
        ("cross-site", "navigate", "document", "/api/agents", 403),
        ("cross-site", "navigate", "iframe", "/docs", 403),
        ("cross-site", "navigate", "document", "/docs", 200),
        ("cross-site", "navigate", "document", "/health", 200),
        ("same-origin", "cors", "empty", "/api/agents", 200),
        ("none", "navigate", "document", "/api/agents", 200),
    ],
)
async def test_what_a_browser_fetches_for_the_page_of_another_is_refused(
    make_site: MakeSite, site: str, mode: str, dest: str, path: str, status: int
):
    """Without a word of which page it is, as with pictures, scripts and links."""
    asked = make_site(origins=["https://studio.example"])
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    assert (await asked.get(path, headers=headers)).status_code == status
    known = headers | {"Origin": "https://studio.example"}
    assert (await asked.get(path, headers=known)).status_code == 200


@pytest.mark.parametrize("error", [StoreError, LLMError])
async def test_what_fails_inside_is_told_without_rows_paths_and_sql(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: type[NoodlingsError]
):
    inside = "SELECT user_text FROM entries in /srv/data: 'the zebrafinch'"

    def broken(*args, **more):
        raise error(inside)

    monkeypatch.setattr(type(site.parts.inspector), "agents", broken)
    answer = await site.get("/api/agents")
    assert problem_of(answer)["status"] == 503
    typed = await site.post("/api/commands", {"user_id": "user_caity", "line": "@agents", "rooms": False})
    assert typed.json()["error"] is True
    for text in (answer.text, typed.text):
        assert "details are in the log" in text
        assert not any(word in text for word in ("SELECT", "/srv", "zebrafinch"))
    assert caplog.text.count(inside) == 2


@pytest.mark.slow
@given(st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_depth_is_that_of_the_parsed_value(value):
    def depth(one) -> int:
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    body = json.dumps(value).encode()
    found = depth_of(body)
    assert found == depth(value) or (found == 0 and depth(value) <= MAX_DEPTH)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nowhere", None, 404),
        ("GET", "/api/agents/nobody/mood", None, 404),
        ("PATCH", "/api/agents", None, 405),
        ("POST", "/api/agents/servnak/perceive", {"text": ""}, 422),
        ("POST", "/api/agents/servnak/perceive", {"text": "x", "kind": "thought"}, 422),
        ("POST", "/api/agents/servnak/perceive", {"text": "x", "wat": 1}, 422),
        ("POST", "/api/agents/servnak/perceive", {"text": "\x1b[31m"}, 400),
        ("GET", "/api/agents/servnak/memory/episodic?min_importance=2", None, 422),
        ("GET", "/api/agents/servnak/memory/episodic?min_importance=nan", None, 422),
        ("GET", "/api/agents/servnak/memory/working?cursor=zzz", None, 400),
        ("GET", "/api/agents/servnak/memory/working?limit=0", None, 422),
        ("GET", "/api/agents/servnak/memory/entries/99/links", None, 404),
        ("GET", "/api/agents/servnak/focus?query=%20", None, 400),
        ("POST", "/api/agents/servnak/memory/undo", None, 400),
        ("POST", "/api/agents/servnak/events", {"event": "x", "data": {"event": 1}}, 400),
        ("GET", "/ready", None, 200),
    ],
)
async def test_errors_have_one_shape(site: Site, method: str, path: str, body, status: int):
    answer = await site.ask(method, path, json=body)
    assert answer.status_code == status, answer.text
    if status != 200:
        problem_of(answer)
    if status == 405:
        assert answer.headers["allow"] == "GET"


async def test_a_body_that_is_no_json_is_refused(site: Site):
    for content in (b"{", b"\xff\xfe", b'{"text": "\\ud800"}', b"text=hello"):
        answer = await site.ask(
            "POST",
            "/api/agents/servnak/perceive",
            content=content,
            headers={"content-type": "application/json"},
        )
        assert answer.status_code in (400, 422), content
        problem_of(answer)


async def test_a_fault_of_ours_is_told_without_its_insides(site: Site, monkeypatch: pytest.MonkeyPatch):
    def broken(*args):
        raise ZeroDivisionError("the inside")

    monkeypatch.setattr(type(site.parts.inspector), "agents", broken)
    site.client._transport.raise_app_exceptions = False  # type: ignore[attr-defined]
    answer = await site.get("/api/agents")
    assert problem_of(answer)["status"] == 500
    assert "inside" not in answer.text
