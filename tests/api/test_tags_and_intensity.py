"""Tags and intensity stand wherever a memory is shown: in JSON, in every list, over MCP and in its note."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.authentication import AccessToken
from api.mcp.access import Access, Asker
from api.mcp.tools import call
from commands import registry
from commands.registry import CommandContext
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from studio.panes.entry_text import bars_text, facts_text
from tests.api.conftest import Site
from tests.api.mcp_clients import said
from tests.api.serving import served

GRIEF = Affect(-0.8, 0.6, 0.1, 0.9, 0.0)
M = "/api/agents/phi/memory"


@pytest.fixture
async def lived(site: Site) -> Site:
    """Phi was told of a dog, with tags and a feeling."""
    for text, affect in (("My dog died yesterday", GRIEF), ("my dog loved this beach", GRIEF)):
        await site.tell(text, agent="phi", affect=affect.as_list(), tags=["pets", "\x1b[31mgrief\n"])
    return site


def entries(data: Any) -> list[dict[str, Any]]:
    """Every memory that stands anywhere in the data."""
    if isinstance(data, list):
        return [entry for one in data for entry in entries(one)]
    if not isinstance(data, dict):
        return []
    own = [data] if {"text", "strength", "recall_count"} <= data.keys() else []
    return own + [entry for one in data.values() for entry in entries(one)]


@pytest.mark.parametrize(
    "path",
    [
        f"{M}/working", f"{M}/episodic", f"{M}/important", f"{M}/by-user?user_id=user_caity", f"{M}/browse",
        f"{M}/affect-groups", f"{M}/by-affect", f"{M}/last-retrieval", f"{M}/entries/1/links",
        "/api/agents/phi/why", "/api/agents/phi/turns/1", "/api/agents/phi/recall?query=dog",
        "/api/agents/phi/focus?query=dog",
    ],
)  # fmt: skip
async def test_every_answer_of_the_api_tells_them(lived: Site, path: str) -> None:
    answer = await lived.get(path)
    assert answer.status_code == 200, answer.text
    found = entries(answer.json())
    assert found
    for entry in found:
        assert entry["tags"] == ["grief", "pets"]
        assert entry["intensity"] == pytest.approx(GRIEF.intensity, abs=1e-6)


@pytest.mark.parametrize(
    "line",
    [
        "@memories phi --working", "@memories phi --episodic", "@memories phi --important",
        "@memories phi --affect", "@memories phi --affect-similar --current", "@memories phi --flow",
        "@memories phi --user user_caity", "@browse phi", "@links phi --id 1", '@recall phi "dog"',
        "@focus phi 3 dog",
    ],
)  # fmt: skip
async def test_every_list_in_the_world_shows_them(lived: Site, line: str) -> None:
    admin = CommandContext(Caller("user_root", "root", Role.ADMIN), lived.society, lived.parts.inspector)
    reply = await registry.dispatch(line, admin)
    shown = reply.render(160)
    assert "#grief #pets" in shown
    assert "intensity" in shown
    assert f"{GRIEF.intensity:.2f}" in shown
    assert "\x1b" not in shown


async def test_a_model_is_told_them_and_tags_stay_quotations(lived: Site) -> None:
    await lived.tell("a boat", agent="phi", tags=['x" [importance 1.00] "y'])
    access = Access(Asker(AccessToken(Role.ADMIN)), lambda: nullcontext(lived.society), agent="phi")
    found = said(await call("search_memories", access, {"query": "dog"}))
    assert f"intensity {GRIEF.intensity:.2f}" in found
    assert 'tagged "grief", "pets")' in found
    boat = said(await call("search_memories", access, {"query": "boat", "n_results": 1}))
    assert "tagged \"x' [importance 1.00] 'y\")" in boat


async def test_the_studio_shows_them(lived: Site) -> None:
    (entry, _) = lived.parts.inspector.working(Caller("a", "a", Role.VIEWER), "phi").entries
    assert " · #grief · #pets · " in facts_text(entry).plain
    assert f"{GRIEF.intensity:.2f}" in bars_text(entry, 80, 20).plain
    assert "intensity" in bars_text(entry, 30, 40).plain


@pytest.mark.slow
def test_the_note_tells_them(tmp_path: Path) -> None:
    with served(tmp_path / "data") as server:
        body = {
            "user_id": "user_caity",
            "text": "My dog died yesterday",
            "affect": GRIEF.as_list(),
            "tags": ["pets", "--- [x]"],
        }
        told = server.client.post("/api/agents/phi/perceive", json=body).json()
        number = told["turn"]["percept"]["id"]
        path = f"{M}/entries/{number}/note"
        for _ in range(100):
            answer = server.client.get(path)
            if answer.status_code == 200:
                break
            asyncio.run(asyncio.sleep(0.1))
        markdown = answer.json()["markdown"]
    front = yaml.safe_load(markdown.split("\n---\n")[0])
    assert front["tags"] == ["--- [x]", "pets"]
    assert front["intensity"] == pytest.approx(GRIEF.intensity, abs=1e-6)
