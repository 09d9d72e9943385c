"""A real society behind the API, asked without a socket; its clock is set by hand, it is kept in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient, Response

from api.parts import ServerParts
from api.server import make_app, make_parts
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.host.visit import rooms_of
from noodlings.store.memory import MemoryStore
from noodlings.worlds.rooms import World

TOKENS = {
    "admin": {"role": "admin", "token": "the-token-of-the-admin"},
    "world": {"role": "world", "token": "the-token-of-the-world"},
    "viewer": {"role": "viewer", "token": "the-token-of-a-viewer"},
    "caity": {"role": "player", "token": "the-token-of-player-caity", "user": "user_caity"},
    "toad": {"role": "player", "token": "the-token-of-player-toad", "user": "user_toad"},
}


@dataclass
class Site:
    """A server and those who ask it.

    Attributes:
        who: whose token goes with a request; "" for none.
    """

    society: Society
    clock: ManualClock
    parts: ServerParts
    client: AsyncClient
    who: str = ""
    _headers: dict[str, str] = field(default_factory=dict)

    async def ask(
        self, method: str, path: str, who: str = "", headers: dict[str, str] | None = None, **more: Any
    ) -> Response:
        """One request, as somebody."""
        token = TOKENS[who]["token"] if who else None
        sent = dict(headers or {}) | ({"Authorization": f"Bearer {token}"} if token else {})
        return await self.client.request(method, path, headers=sent, **more)

    async def get(self, path: str, who: str = "", **more: Any) -> Response:
        """Ask for something."""
        return await self.ask("GET", path, who, **more)

    async def post(self, path: str, body: Any = None, who: str = "", **more: Any) -> Response:
        """Send something."""
        return await self.ask("POST", path, who, json=body, **more)

    async def tell(self, text: str, user: str = "user_caity", agent: str = "servnak", **more: Any) -> int:
        """Let an agent perceive a line a minute later. Returns the entry."""
        self.clock.advance(60.0)
        who = "admin" if not self.parts.authenticator.open else ""
        body = {"user_id": user, "text": text} | more
        answer = await self.post(f"/api/agents/{agent}/perceive", body, who)
        assert answer.status_code == 200, answer.text
        entry: int = answer.json()["turn"]["percept"]["id"]
        return entry


MakeSite = Callable[..., Site]


@pytest.fixture
async def make_site(tmp_path: Path) -> AsyncIterator[MakeSite]:
    """Makes servers, with settings of the API and of other sections; all are closed in the end."""
    made: list[tuple[Site, World]] = []

    def make(
        tokens: bool = False,
        store: MemoryStore | None = None,
        sections: dict[str, dict[str, Any]] | None = None,
        **api: Any,
    ) -> Site:
        clock = ManualClock(1_000_000.0)
        given: dict[str, Any] = {
            "store": {"path": str(tmp_path)},
            "embedding": {"model": "none"},
            "api": {"tokens": list(TOKENS.values()) if tokens else []} | api,
        }
        settings = Settings(**given | (sections or {}))
        society = build(settings, clock=clock, store=store or MemoryStore())
        world = rooms_of(society)
        parts = make_parts(society, world)
        transport = ASGITransport(app=make_app(parts), raise_app_exceptions=True)
        client = AsyncClient(transport=transport, base_url="http://127.0.0.1")
        made.append((Site(society, clock, parts, client), world))
        return made[-1][0]

    yield make
    for site, world in made:
        await site.client.aclose()
        await site.parts.turns.close()
        await world.settle()
        await world.close()
        site.society.close()


@pytest.fixture
async def site(make_site: MakeSite) -> Site:
    """A server without tokens."""
    return make_site()


@pytest.fixture
async def guarded(make_site: MakeSite) -> Site:
    """A server with a token for each role."""
    return make_site(tokens=True)
