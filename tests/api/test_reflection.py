"""Nights over REST: begun, watched, and for admins alone; and links that are removed."""

from __future__ import annotations

from noodlings.values.percept import Percept
from tests.api.conftest import Site

NIGHT = "/api/agents/phi/memory/reflection"


async def told(site: Site, text: str) -> int:
    site.clock.advance(3_600.0)
    said = Percept("user_caity", text, site.clock.now(), addressed=True)
    return (await site.society.perceive("phi", said)).entry_id


async def test_a_night_is_begun_and_watched(site: Site) -> None:
    goat = await told(site, "I have a goat called Bill")
    gone = await told(site, "I don't have a goat any more")
    before = (await site.client.get(NIGHT)).json()
    assert (before["night"]["running"], before["new"], before["night"]["done"]) == (False, 2, 0)
    begun = await site.client.post(NIGHT)
    assert begun.status_code == 202
    await site.society.agents["phi"].settle()
    night = (await site.client.get(NIGHT)).json()
    ended = {"running": False, "done": 2, "total": 2, "contradictions": 1, "causes": 0, "reweighed": 1}
    ended |= {"written": 0}
    assert night == {"agent": "phi", "new": 0, "night": ended}
    links = (await site.client.get(f"/api/agents/phi/memory/entries/{gone}/links")).json()["linked"]
    (link,) = [one for one in links if one["type"] == "contradicts"]
    assert link["shown_by"] == ["I don't have a goat any more", "I have a goat called Bill"]
    removed = await site.client.delete(f"/api/agents/phi/memory/links?source={gone}&target={goat}")
    assert removed.json()["removed"] == ["contradicts"]
