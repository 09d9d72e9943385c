"""Tiers over REST and in the world: set, shown, and refused where there is no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.store.sql import SqlStore
from tests.api.conftest import MakeSite, Site


async def test_a_world_sets_a_tier_and_sees_it(site: Site) -> None:
    for tier in range(4):
        entry = await site.tell(f"line {tier}", tier=tier, present=["user_bo"])
        view = (await site.get(f"/api/agents/servnak/turns/{entry}")).json()
        assert view["turn"]["percept"]["tier"] == tier
        assert view["turn"]["percept"]["private"] is (tier > 0)
        assert view["turn"]["percept"]["text"] == ("" if tier == 3 else f"line {tier}")
        assert (view["turn"]["response"] is None) is (tier == 3)


@pytest.mark.parametrize("tier", [-1, 4, 1.5, "2", True])
async def test_what_is_no_tier_is_refused(site: Site, tier: object) -> None:
    body = {"user_id": "user_caity", "text": "hello", "tier": tier}
    answer = await site.post("/api/agents/servnak/perceive", body)
    assert answer.status_code == 422


async def test_without_a_key_a_secret_is_refused_in_words(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(store=SqlStore(tmp_path / "plain"))
    body = {"user_id": "user_caity", "text": "the spare key is under the pot", "tier": 2}
    answer = await site.post("/api/agents/servnak/perceive", body)
    assert answer.status_code == 400
    assert "there is no key" in answer.text
    assert site.society.store.archive("servnak") == []


async def test_a_player_keeps_own_words_secret(guarded: Site) -> None:
    body = {"text": "psst", "kind": "whisper", "tier": 2}
    answer = await guarded.post("/api/agents/servnak/perceive", body, who="caity")
    assert answer.status_code == 200, answer.text
    assert answer.json()["turn"]["percept"]["tier"] == 2


async def test_a_player_who_seals_something_is_told_that_it_is_kept_and_reads_no_word_of_it(
    guarded: Site,
) -> None:
    body = {"text": "my name is Zuleika", "kind": "whisper", "tier": 3}
    answer = await guarded.post("/api/agents/servnak/perceive", body, who="caity")
    assert answer.status_code == 200, answer.text
    assert answer.json()["turn"]["percept"]["tier"] == 3
    entry = answer.json()["turn"]["percept"]["id"]
    views = [
        await guarded.get(f"/api/agents/servnak/{view}", who="caity")
        for view in (
            "memory/working",
            "recall?query=Zuleika&user=user_caity",
            "memory/browse",
            f"turns/{entry}",
            "links",
        )
    ]
    assert not [view.text for view in (answer, *views) if "Zuleika" in view.text.replace('"Zuleika"', "")]
