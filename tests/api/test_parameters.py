"""A query parameter that a route does not have is refused, as a body with an unknown key is."""

from __future__ import annotations

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from api.gate import CLOSED
from api.server import make_app
from tests.api.conftest import Site

PART = dict.fromkeys(("agent", "recipe", "id", "model", "person"), "servnak") | {"entry": "1"}


async def test_the_nearest_right_one_is_named(site: Site) -> None:
    answer = await site.get("/api/agents/servnak/recall", params={"query": "dog", "emotion_wieght": 0.5})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    what = "unknown parameter; did you mean emotion_weight?"
    assert answer.json()["errors"] == [{"where": "query.emotion_wieght", "what": what}]
    assert answer.json()["detail"] == f"query.emotion_wieght: {what}"


async def test_a_body_and_a_query_are_refused_in_one_form(site: Site) -> None:
    body = await site.post("/api/agents/servnak/perceive", {"user_id": "user_ann", "text": "hi", "txet": 1})
    query = await site.get("/api/agents/servnak/memory/working", params={"lmit": 3})
    assert body.status_code == query.status_code == 422
    assert set(body.json()) == set(query.json())
    assert (body.json()["errors"][0]["where"], query.json()["errors"][0]["where"]) == (
        "body.txet",
        "query.lmit",
    )


@pytest.mark.slow
async def test_every_route_refuses_what_it_does_not_have(site: Site) -> None:
    paths = (await site.get("/openapi.json")).json()["paths"]
    asked = 0
    for path, methods in paths.items():
        for method in methods:
            answer = await site.ask(method.upper(), path.format_map(PART), params={"nonsense": "1"})
            if path.startswith("/v1/"):  # in the shape that chat clients know
                assert answer.status_code == 400, (method, path, answer.text)
                assert "query.nonsense: unknown parameter" in answer.json()["error"]["message"]
                continue
            assert answer.status_code == 422, (method, path, answer.text)
            wrong = [one for one in answer.json()["errors"] if one["where"] == "query.nonsense"]
            assert len(wrong) == 1, (method, path)
            known = [one["name"] for one in methods[method].get("parameters", []) if one["in"] == "query"]
            assert all(name in wrong[0]["what"] for name in known), (method, path)
            asked += 1
    assert asked > 30


async def test_a_route_that_is_added_later_does_so_too(site: Site) -> None:
    later = APIRouter()

    @later.get("/later")
    async def answered(colour: str = "") -> str:
        return colour

    app = make_app(site.parts)
    app.include_router(later, prefix="/api")
    client = TestClient(app, base_url="http://127.0.0.1")
    assert client.get("/api/later", params={"colour": "red"}).json() == "red"
    refused = client.get("/api/later", params={"color": "red"})
    assert refused.status_code == 422
    assert "did you mean colour?" in refused.json()["detail"]


async def test_the_live_stream_says_so_when_it_closes(site: Site) -> None:
    client = TestClient(make_app(site.parts), base_url="http://127.0.0.1")
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect("/api/live?agnet=servnak", headers={"host": "127.0.0.1"}),
    ):
        pass
    assert closed.value.code == CLOSED
    assert closed.value.reason == "agnet: unknown parameter; did you mean agent?"


async def test_a_hostile_name_is_told_as_one_short_clean_line(site: Site) -> None:
    answer = await site.get("/api/agents", params={"\x1b[31m\n" + "x" * 9_000: "1"})
    assert answer.status_code == 422
    told = answer.json()["detail"]
    assert told.isprintable()
    assert len(told) < 400


async def test_the_page_of_the_documentation_opens_whatever_a_link_to_it_carries(site: Site) -> None:
    assert (await site.get("/docs", params={"utm": "1"})).status_code == 200
