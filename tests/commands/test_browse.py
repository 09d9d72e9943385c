"""`@browse` and `@agents`: what one sees at any width."""

from __future__ import annotations

import pytest

from tests.commands.conftest import Player

pytestmark = pytest.mark.slow


@pytest.fixture
async def told(player: Player) -> Player:
    for line in ("servnak, my dog died, I am so sad", "servnak, I won the race, I am so happy!", "hm"):
        await player.type(f"say {line}", after=60.0)
    return player


@pytest.mark.parametrize("width", [40, 80, 200])
async def test_agents_at_any_width(told: Player, width: int):
    lines = await told.read("@agents", width)
    assert any("SERVNAK" in line for line in lines)
    assert "robot" in " ".join(await told.read("@agents servnak", width))


async def test_sorted_and_narrowed(told: Player):
    first = (await told.type("@browse servnak --everything --sort when --rising --limit 1")).data
    assert first["offset"] == 0
    assert first["total"] > 1
    found = (await told.type('@browse servnak "dog" --everything --sort when')).data["entries"]
    assert found
    assert all("dog" in f"{entry['text']}{entry['response']}" for entry in found)


@pytest.mark.parametrize("width", [40, 80, 200])
async def test_pages_lead_on(told: Player, width: int):
    shown = "\n".join(await told.read("@browse servnak --everything --sort when --limit 2", width))
    assert "more with --limit 2 --page 2" in " ".join(shown.split())
    assert "There is nothing on this page" in "\n".join(await told.read("@browse servnak --page 9", width))
    assert "Nothing there." in "\n".join(await told.read('@browse servnak "xyzzy"', width))


async def test_an_order_that_there_is_not(told: Player):
    reply = await told.type("@browse servnak --sort colour")
    assert reply.error
    assert "when" in reply.data["error"]
