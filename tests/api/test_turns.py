"""Each percept once under its key: sent twice, sent at once, after a start anew, after it was forgotten."""

from __future__ import annotations

import asyncio

import pytest

from api import turns
from noodlings.errors import StoreError
from noodlings.store.memory import MemoryStore
from tests.api.conftest import MakeSite, Site

PATH = "/api/agents/servnak/perceive"
BODY = {"user_id": "user_caity", "text": "My dog died yesterday"}


def perceived(site: Site) -> int:
    return site.society.agents["servnak"].memory.stats().perceived


def slowed(site: Site, monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Semaphore, asyncio.Event]:
    """Agents that begin, and go on when they are told to."""
    begun, go_on, perceive = asyncio.Semaphore(0), asyncio.Event(), site.society.perceive

    async def slowly(agent_id, percept):
        begun.release()
        await go_on.wait()
        return await perceive(agent_id, percept)

    monkeypatch.setattr(site.society, "perceive", slowly)
    return begun, go_on


async def test_a_turn_comes_out_whole(site: Site):
    answer = await site.post(PATH, BODY | {"name": "Caity"})
    turn = answer.json()
    assert turn["turn"]["percept"]["text"] == BODY["text"]
    assert turn["turn"]["percept"]["name"] == "Caity"
    assert turn["turn"]["response"]
    assert turn == (await site.get("/api/agents/servnak/turns/1")).json()
    assert turn == (await site.get("/api/agents/servnak/why")).json() | {"back": 0}


async def test_the_same_key_is_perceived_once(site: Site):
    first = await site.post(PATH, BODY, headers={"Idempotency-Key": "one"})
    again = await site.post(PATH, BODY | {"idempotency_key": "one"})
    assert again.json() == first.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert perceived(site) == 1
    await site.post(PATH, BODY, headers={"Idempotency-Key": "two"})
    await site.post(PATH, BODY)
    assert perceived(site) == 3


async def test_the_same_key_at_the_same_time(site: Site):
    answers = await asyncio.gather(*(site.post(PATH, BODY | {"idempotency_key": "k"}) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert perceived(site) == 1


async def test_a_key_that_was_used_for_something_else(site: Site):
    await site.post(PATH, BODY | {"idempotency_key": "k"})
    assert (await site.post(PATH, BODY | {"idempotency_key": "k", "text": "other"})).status_code == 422
    two = await site.post(PATH, BODY | {"idempotency_key": "k"}, headers={"Idempotency-Key": "z"})
    assert two.status_code == 400
    assert "idempotency_key and the header Idempotency-Key differ" in two.text
    theirs = await site.post(PATH, BODY | {"idempotency_key": "k", "user_id": "user_toad", "text": "mine"})
    assert theirs.status_code == 200
    elsewhere = await site.post("/api/agents/phi/perceive", BODY | {"idempotency_key": "k"})
    assert elsewhere.status_code == 200
    assert perceived(site) == 2


async def test_a_key_is_known_after_a_start_anew(make_site: MakeSite):
    store = MemoryStore()
    before = make_site(store=store)
    first = await before.post(PATH, BODY | {"idempotency_key": "k"})
    await before.tell("something else")
    after = make_site(store=store)
    again = await after.post(PATH, BODY | {"idempotency_key": "k"})
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["turn"]["percept"]["id"] == first.json()["turn"]["percept"]["id"]
    assert perceived(after) == 2


async def test_a_key_is_known_although_the_store_was_away_when_it_was_looked_for(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
):
    store = MemoryStore()
    await make_site(store=store).post(PATH, BODY | {"idempotency_key": "k"})
    after = make_site(store=store)
    assert perceived(after) == 1

    def away(agent_id: str) -> None:
        raise StoreError("the database cannot be reached")

    with monkeypatch.context() as patch:
        patch.setattr(store, "load", away)
        refused = await after.post(PATH, BODY | {"idempotency_key": "k"})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    again = await after.post(PATH, BODY | {"idempotency_key": "k"})
    assert again.headers["idempotency-replayed"] == "true"
    assert perceived(after) == 1


async def test_a_retry_of_a_turn_whose_answer_could_not_be_kept_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    commit = site.society.store.commit

    def without_answers(changes):
        if changes.trace is not None:
            raise StoreError("there is no room left")
        commit(changes)

    with monkeypatch.context() as full:
        full.setattr(site.society.store, "commit", without_answers)
        assert (await site.post(PATH, BODY | {"idempotency_key": "k"})).status_code == 503
    again = await site.post(PATH, BODY | {"idempotency_key": "k"})
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.json()["turn"]["decision"], again.json()["turn"]["response"]) == ("cut off", None)
    assert "send it again with another key" in again.json()["turn"]["degraded"][0]
    assert perceived(site) == 1
    assert (await site.post(PATH, BODY | {"idempotency_key": "l"})).json()["turn"]["response"]
    assert perceived(site) == 2


async def test_a_line_that_nobody_sees_is_refused(site: Site):
    for unseen in ("\u200b\u200d", "\U000e0068\U000e0069", "\u0301" * 50, "\u3164"):
        assert (await site.post(PATH, BODY | {"text": unseen})).status_code == 400
    assert perceived(site) == 0


async def test_events_have_keys_as_well(site: Site):
    event = {"event": "health_critical", "data": {"hp": 3}, "idempotency_key": "k"}
    for _ in range(2):
        answer = await site.post("/api/agents/servnak/events", event)
        assert answer.status_code == 200
        assert answer.json()["turn"]["percept"]["kind"] == "event"
    assert perceived(site) == 1
    assert (await site.get("/api/agents/servnak/mood")).json()["named"] == "nervous"


async def test_what_was_forgotten_is_not_told_again(site: Site):
    entry = await site.tell("the zebrafinch", idempotency_key="k")
    await site.ask("DELETE", f"/api/agents/servnak/memory/entries/{entry}")
    again = await site.post(PATH, {"user_id": "user_caity", "text": "the zebrafinch", "idempotency_key": "k"})
    assert again.status_code == 404
    assert "zebrafinch" not in again.text


async def test_only_so_many_keys_are_held(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(turns, "KNOWN_KEYS", 3)
    for number in range(5):
        await site.tell("hm", idempotency_key=f"k{number}")
    assert len(site.parts.turns._known) == 3


async def test_an_agent_that_is_far_behind_takes_no_more(site: Site, monkeypatch: pytest.MonkeyPatch):
    begun, go_on = slowed(site, monkeypatch)
    monkeypatch.setattr(turns, "UNFINISHED", 2)
    waiting = [asyncio.create_task(site.post(PATH, BODY)) for _ in range(2)]
    for _ in waiting:
        await begun.acquire()
    refused = await site.post(PATH, BODY)
    assert refused.status_code == 429
    assert refused.headers["retry-after"]
    go_on.set()
    assert [one.status_code for one in await asyncio.gather(*waiting)] == [200, 200]


@pytest.mark.slow
@pytest.mark.parametrize("who", ["caity", "world"])
async def test_nobody_keeps_a_character_from_everybody_else(
    guarded: Site, monkeypatch: pytest.MonkeyPatch, who: str
):
    """Neither a player, nor a world that speaks for more users than a character has room for."""
    begun, go_on = slowed(guarded, monkeypatch)
    most = {"caity": turns.SHARE, "world": turns.TOKEN_SHARE}[who]

    def post(number: int):
        user = "user_caity" if who == "caity" else f"user_{number}"
        return guarded.post(PATH, BODY | {"user_id": user}, who)

    waiting = [asyncio.create_task(post(number)) for number in range(most)]
    for _ in waiting:
        await begun.acquire()
    refused = await asyncio.gather(*(post(number) for number in range(most, turns.UNFINISHED + 6)))
    assert {one.status_code for one in refused} == {429}
    assert f"for this {'user' if who == 'caity' else 'token'}" in refused[0].json()["detail"]
    waiting.append(asyncio.create_task(guarded.post(PATH, BODY | {"user_id": "user_toad"}, "toad")))
    await begun.acquire()
    go_on.set()
    assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}
    assert (await post(most)).status_code == 200


@pytest.mark.slow
async def test_long_lines_of_a_user_count_as_several(guarded: Site, monkeypatch: pytest.MonkeyPatch):
    begun, go_on = slowed(guarded, monkeypatch)
    long = BODY | {"text": "geese " * 600}
    waiting = [asyncio.create_task(guarded.post(PATH, long, "caity")) for _ in range(2)]
    for _ in waiting:
        await begun.acquire()
    refused = await guarded.post(PATH, BODY, "caity")
    assert refused.status_code == 429
    assert "a long line counts as several" in refused.json()["detail"]
    others = BODY | {"user_id": "user_toad"}
    waiting.append(asyncio.create_task(guarded.post(PATH, others, "toad")))
    await begun.acquire()
    go_on.set()
    assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}
    monkeypatch.setattr(turns, "LINE", 100)
    assert (await guarded.post(PATH, long, "caity")).status_code == 200  # alone it fits in, however long


async def test_events_of_a_game_are_not_one_users(guarded: Site, monkeypatch: pytest.MonkeyPatch):
    begun, go_on = slowed(guarded, monkeypatch)
    path, event = "/api/agents/servnak/events", {"event": "health_critical", "data": {"hp": 3}}
    waiting = [asyncio.create_task(guarded.post(path, event, "world")) for _ in range(turns.SHARE + 1)]
    for _ in waiting:
        await begun.acquire()
    go_on.set()
    assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}


async def test_whoever_stops_waiting_does_not_stop_the_turn(site: Site, monkeypatch: pytest.MonkeyPatch):
    begun, go_on = slowed(site, monkeypatch)
    waiting = asyncio.create_task(site.post(PATH, BODY))
    await begun.acquire()
    waiting.cancel()
    go_on.set()
    await site.parts.turns.close()
    assert perceived(site) == 1
    why = (await site.get("/api/agents/servnak/why")).json()
    assert why["turn"]["response"]
    assert (await site.post(PATH, BODY)).status_code == 503


async def test_a_turn_that_never_ends_does_not_keep_the_server_from_ending(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(turns, "FINISH_SECONDS", 0.01)
    begun, _ = slowed(site, monkeypatch)
    waiting = asyncio.create_task(site.post(PATH, BODY))
    await begun.acquire()
    await site.parts.turns.close()
    await asyncio.wait([waiting])
    assert site.parts.turns.unfinished == 0
    assert "turn of servnak did not finish within 0.01 s" in caplog.text


async def test_confidences_stay_out_of_hearing(site: Site):
    await site.tell("I am afraid of the dark", kind="whisper", agent="phi")
    await site.tell("hm", agent="phi", user="user_toad")
    told = await site.post(
        "/api/agents/phi/perceive",
        {"user_id": "user_caity", "text": "what did I whisper to you?", "present": ["user_toad"]},
    )
    recalled = {one["id"] for one in told.json()["recalled"]}
    assert 1 not in recalled
    alone = await site.post(
        "/api/agents/phi/perceive", {"user_id": "user_caity", "text": "what did I whisper to you?"}
    )
    assert 1 in {one["id"] for one in alone.json()["recalled"]}


@pytest.mark.parametrize("kind", ["say", "emote", "whisper", "arrive", "leave"])
async def test_every_kind(site: Site, kind: str):
    answer = await site.post(PATH, BODY | {"kind": kind})
    assert answer.json()["turn"]["percept"]["kind"] == kind


async def test_how_many_replies_led_to_it_ends_an_echo_between_characters(site: Site):
    """A world with characters in rooms of its own says how far a talk has gone round."""
    body = {"user_id": "phi", "text": "mew, servnak?", "addressed": True}

    async def decided(**more: object) -> str:
        site.clock.advance(60.0)
        answer = await site.post("/api/agents/servnak/perceive", body | more)
        assert answer.status_code == 200, answer.text
        return answer.json()["turn"]["decision"]

    assert await decided(depth=1) == "addressed"
    assert await decided(depth=1, addressed=False) == "not its talk"
    assert await decided(depth=50) == "this conversation has gone back and forth enough"
    keyed = {**body, "idempotency_key": "one"}
    assert (await site.post("/api/agents/servnak/perceive", keyed)).status_code == 200
    assert (await site.post("/api/agents/servnak/perceive", keyed | {"depth": 1})).status_code == 422
    for wrong in (-1, 101, 0.5, "1"):
        assert (await site.post("/api/agents/servnak/perceive", body | {"depth": wrong})).status_code == 422
