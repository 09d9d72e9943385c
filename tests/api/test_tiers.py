"""Tiers over REST and in the world: set, shown, and refused where there is no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.store.sql import SqlStore
from noodlings.values.memory import hearsay_of
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


@pytest.mark.slow
async def test_what_was_between_those_who_heard_it_is_told_on_by_none_of_them(guarded: Site) -> None:
    """By none of the characters, whomever it was said to, and not in the words of an answer either."""
    told = "servnak, between us, my uncle Barnabas hid the crown in the old well"
    asked = "what did my uncle hide in the well?"
    for kind, text in (
        ("say", told),
        ("emote", f'leans over and says "{told}"'),
        ("say", f"servnak, {asked}"),
    ):
        for agent, other in (("servnak", "phi"), ("phi", "servnak")):
            await guarded.tell(text, agent=agent, kind=kind, present=[other], addressed=agent == "servnak")
    answer = guarded.society.store.traces("servnak", 1)[0].response or ""
    assert "crown" in answer.lower()
    await guarded.tell(answer, user="servnak", agent="phi", present=["user_caity"], depth=1)
    kept = guarded.society.store.archive("phi")
    assert [kept[0].tier, kept[1].tier, kept[-1].tier] == [1, 1, 1]
    assert kept[-1].audience.witnesses == {"servnak", "user_caity", "phi"}
    for agent in ("servnak", "phi"):
        for question in (asked, "what did Caity say about her uncle?", "what did servnak tell you?"):
            body = {"text": question, "kind": "whisper"}
            heard = await guarded.post(f"/api/agents/{agent}/perceive", body, who="toad")
            assert "crown" not in (heard.json()["turn"]["response"] or "").lower()
    body = {"text": asked, "kind": "whisper"}
    heard = await guarded.post("/api/agents/phi/perceive", body, who="caity")
    assert "crown" in heard.json()["turn"]["response"].lower()


@pytest.mark.slow
async def test_a_world_that_speaks_as_a_character_learns_nothing_by_it(guarded: Site) -> None:
    """Phi was there, and may be told. Whoever speaks as Phi was not."""
    crown = "servnak, between us, my uncle Barnabas hid the crown in the old well"
    asked = "servnak, what did Caity say about her uncle and the crown?"
    for agent, other in (("servnak", "phi"), ("phi", "servnak")):
        await guarded.tell(crown, agent=agent, present=[other], addressed=agent == "servnak")
    path, said = "/api/agents/servnak/perceive", [{"role": "user", "content": asked}]
    event = {"event": "asked", "data": {"question": asked}, "user_id": "phi"}
    for made in (
        (path, {"text": asked, "user_id": "phi"}),
        (path, {"text": asked, "user_id": "phi", "present": ["user_caity"]}),
        (path, {"text": asked, "user_id": "phi", "kind": "whisper"}),
        ("/api/agents/servnak/events", event),
        ("/v1/chat/completions", {"model": "servnak", "user": "phi", "messages": said}),
    ):
        answer = await guarded.post(*made, who="world")
        assert answer.status_code == 200, answer.text
        assert "crown" not in answer.text.replace(asked, "").lower(), made
    kept = guarded.society.store.archive("servnak")[-1]
    assert kept.audience.witnesses == {"phi", "servnak", "api_world"}
    assert kept.audience.confined  # to be alone with a character is private all the same
    answer = await guarded.post(path, {"text": asked, "user_id": "phi"}, who="admin")
    assert "crown" in answer.json()["turn"]["response"].lower()


@pytest.mark.parametrize("named", ["servnak", "SERVNAK", "agent_servnak"])
async def test_what_is_handed_on_keeps_its_source_however_a_world_names_the_character(
    guarded: Site, named: str
) -> None:
    for text in ("my uncle Barnabas hid the crown in the old well", "what did my uncle hide in the well?"):
        body = {"text": text, "user_id": "user_caity", "kind": "whisper"}
        told = await guarded.post("/api/agents/servnak/perceive", body, who="world")
    said = {"text": told.json()["turn"]["response"], "user_id": named, "present": ["user_toad"]}
    heard = await guarded.post("/api/agents/phi/perceive", said, who="world")
    assert heard.json()["turn"]["percept"]["tier"] == 1
    kept = guarded.society.store.archive("phi")[-1]
    assert (kept.user_id, hearsay_of(kept)) == ("servnak", {"user_caity"})


@pytest.mark.parametrize("asker", ["caity", "world"])
async def test_a_world_that_speaks_as_a_character_learns_no_answer_that_it_did_not_hear(
    guarded: Site, asker: str
) -> None:
    """The words of an answer in confidence have its tier where the world that hands it on heard it. Where it
    did not, nothing tells a guess that is right from one that is wrong."""
    for text in ("my uncle Barnabas hid the crown in the old well", "what did my uncle hide in the well?"):
        body = {"text": text, "user_id": "user_caity", "kind": "whisper"}
        told = await guarded.post("/api/agents/servnak/perceive", body, who=asker)
    answer = told.json()["turn"]["response"]
    assert "crown" in answer.lower()
    for number, guess in enumerate((answer, "uncle Barnabas hid the crown", "crown", "parrot")):
        said = {"text": guess, "user_id": "servnak", "present": [f"user_{number}"]}
        heard = await guarded.post("/api/agents/phi/perceive", said, who="world")
        percept = heard.json()["turn"]["percept"]
        known = asker == "world" and guess.count(" ") > 0
        assert (percept["tier"], percept["private"]) == (int(known), known), guess
        kept = guarded.society.store.archive("phi")[-1]
        assert bool(hearsay_of(kept)) is known
