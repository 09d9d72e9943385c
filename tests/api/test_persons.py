"""The right to know and to go over REST, while the world runs."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from noodlings.portable import person
from noodlings.store.sql import SqlStore
from tests.api.conftest import MakeSite

pytestmark = pytest.mark.slow

PERSON = "/api/persons/user_caity"
FACTS = "/api/agents/servnak/memory/facts"


async def test_an_admin_sees_exports_and_deletes_a_person_while_the_world_runs(
    make_site: MakeSite, tmp_path: Path
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(tokens=True, store=store)
    await site.tell("I hid the zarnok in the mill", user="user_caity")
    await site.tell("The mill is for sale", user="user_toad")
    walked = await site.post(
        "/api/commands", {"user_id": "user_caity", "name": "Caity", "line": "look"}, "world"
    )
    assert walked.status_code == 200, walked.text
    await site.parts.people.world.settle()
    for who in ("caity", "viewer", "world"):
        headers = {"Noodlings-User": "user_caity"} if who == "world" else {}
        refused = [
            await site.ask(method, path, who, headers)
            for method, path in (
                ("GET", PERSON),
                ("GET", f"{PERSON}/export"),
                ("DELETE", f"{PERSON}?yes=true"),
            )
        ]
        assert {answer.status_code for answer in refused} == {403}
    kept = (await site.get(PERSON, "admin")).json()
    assert "zarnok" not in json.dumps(kept)
    assert kept["characters"]["servnak"]["memories"] == 2  # the words and the arrival
    assert kept["tokens"] == 1
    exported = await site.get(f"{PERSON}/export", "admin")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    assert "zarnok" in exported.text
    assert "for sale" not in exported.text
    preview = (await site.ask("DELETE", PERSON, "admin")).json()
    assert preview["done"] is None
    assert preview["report"] == (await site.get(PERSON, "admin")).json()
    done = (await site.ask("DELETE", f"{PERSON}?yes=true", "admin")).json()["done"]
    assert done["memories"] >= 1
    assert done["remains"]["found"] == {}
    assert not site.parts.people.world.has_been("user_caity")
    assert (await site.get("/api/agents/servnak/memory/working", "admin")).text.count("zarnok") == 0
    left = (await site.get(PERSON, "admin")).json()
    assert left["characters"] == {}


async def test_nobody_hears_afterwards_what_waited_for_them(make_site: MakeSite, tmp_path: Path) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)

    async def typed(user: str, line: str) -> list[str]:
        answer = await site.post("/api/commands", {"user_id": user, "name": user[5:].title(), "line": line})
        await site.parts.people.world.settle()
        heard: list[str] = answer.json()["heard"]
        return heard

    await typed("user_bob", "look")
    await typed("user_caity", "whisper bob = the zarnok is in the mill")
    assert (await site.ask("DELETE", f"{PERSON}?yes=true")).json()["done"]["memories"]
    assert await typed("user_bob", "") == []
    await typed("user_toad", "say a fine day")
    assert any("a fine day" in line for line in await typed("user_bob", ""))


async def test_whoever_nothing_is_kept_of_is_not_found(make_site: MakeSite, tmp_path: Path) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    assert (await site.get("/api/persons/user_nobody")).status_code == 404
    await site.tell("The mill is sold", user="user_")
    assert (await site.get("/api/persons/%00")).status_code == 404


@pytest.mark.parametrize("written", ["mud/caity", "mud%2Fcaity"])
async def test_an_id_with_a_slash_is_reached(
    make_site: MakeSite, tmp_path: Path, written: str, caplog: pytest.LogCaptureFixture
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(tokens=True, store=store)
    await site.tell("I hid the zarnok in the mill", user="mud/caity")
    path = f"/api/persons/{written}"
    kept = (await site.get(path, "admin")).json()
    assert kept["ids"] == ["mud/caity"]
    assert "zarnok" in (await site.get(f"{path}/export", "admin")).text
    assert (await site.ask("DELETE", f"{path}?yes=true", "admin")).json()["done"]["memories"] == 1
    deleted = [line for line in caplog.messages if '"method": "DELETE"' in line]
    assert ['"path": "/api/persons/{person}"' in line for line in deleted] == [True]
    assert (await site.get(path, "admin")).status_code == 404


async def test_without_an_id_nobody_is_meant(make_site: MakeSite, tmp_path: Path) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    for method in ("GET", "DELETE"):
        assert (await site.ask(method, "/api/persons/")).status_code == 422


@pytest.mark.parametrize("slow", ["_read", "strike_out", "remains"])
async def test_others_are_answered_while_a_person_is_forgotten(
    make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    await site.tell("I hid the zarnok in the mill")
    begun, answered = threading.Event(), threading.Event()
    do = getattr(person, slow)

    def wait_for_the_others(*given: Any) -> Any:
        begun.set()
        assert answered.wait(20), "nobody else was answered meanwhile"
        return do(*given)

    monkeypatch.setattr(person, slow, wait_for_the_others)
    forgetting = asyncio.create_task(site.ask("DELETE", f"{PERSON}?yes=true"))
    assert await asyncio.to_thread(begun.wait, 20)
    await site.tell("The mill is for sale", user="user_toad")
    again = {"user_id": "user_caity", "text": "the zarnok is in the well"}
    refused = await site.post("/api/agents/servnak/perceive", again)
    if slow == "_read":  # it is only being counted yet
        assert refused.status_code == 200
    else:
        assert refused.status_code == 400
        assert "is being forgotten" in refused.json()["detail"]
        typed = {"user_id": "user_caity", "name": "Caity", "line": "look"}
        fact = {"about": "user_caity", "text": "hid the zarnok"}
        for path, body in (("/api/commands", typed), (FACTS, fact)):
            refused = await site.post(path, body)
            assert refused.status_code == 400
            assert "is being forgotten" in refused.json()["detail"]
    answered.set()
    answer = await forgetting
    assert answer.status_code == 200, answer.text
    assert answer.json()["done"]["remains"]["found"] == {}
    left = (await site.get("/api/agents/servnak/memory/working")).text
    assert "for sale" in left
    assert "zarnok" not in left
    assert "well" not in left
    await site.tell("who am I?", user="user_caity")  # somebody new by now


async def test_no_character_is_handed_over_while_a_person_is_forgotten(
    make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    await site.tell("I hid the zarnok in the mill")
    begun, waited = threading.Event(), threading.Event()
    strike_out = person.strike_out

    def wait(*given: Any) -> Any:
        begun.set()
        assert waited.wait(20)
        return strike_out(*given)

    monkeypatch.setattr(person, "strike_out", wait)
    forgetting = asyncio.create_task(site.ask("DELETE", f"{PERSON}?yes=true"))
    assert await asyncio.to_thread(begun.wait, 20)
    resting = asyncio.create_task(site.society.at_rest("servnak"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(resting), 0.3)
    waited.set()
    assert (await forgetting).status_code == 200
    await resting


async def test_what_somebody_else_forgot_meanwhile_does_not_stop_it(
    make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    first = await site.tell("I hid the zarnok in the mill")
    await site.tell("The zarnok hums at night")
    strike_out = person.strike_out

    def forgotten_by_hand(*given: Any) -> Any:
        path = f"/api/agents/servnak/memory/entries/{first}"
        asyncio.run_coroutine_threadsafe(site.ask("DELETE", path), loop).result(20)
        return strike_out(*given)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(person, "strike_out", forgotten_by_hand)
    done = (await site.ask("DELETE", f"{PERSON}?yes=true")).json()["done"]
    assert done["memories"] == 1
    assert done["remains"]["found"] == {}


@pytest.mark.parametrize("fact", [False, True])
async def test_a_line_that_is_being_embedded_when_its_speaker_goes_is_not_kept(
    make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fact: bool
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    begun, done = asyncio.Event(), asyncio.Event()

    async def embedded(text: str, *, by: str) -> None:
        begun.set()
        await done.wait()

    await site.tell("good evening")
    monkeypatch.setattr(site.society.agents["servnak"]._services.heard, "understood", embedded)
    about = {"about": "user_caity", "text": "hid the zarnok in the mill"}
    telling = asyncio.create_task(site.post(FACTS, about) if fact else site.tell("I hid the zarnok"))
    await begun.wait()
    forgetting = asyncio.create_task(site.ask("DELETE", f"{PERSON}?yes=true"))
    await asyncio.wait([forgetting], timeout=0.5)  # time enough to be done too early
    done.set()
    forgotten = (await forgetting).json()["done"]
    await asyncio.gather(telling, return_exceptions=True)
    assert forgotten["memories"] == 2
    assert forgotten["remains"]["found"] == {}
    assert store.archive("servnak") == []


async def test_a_key_that_is_read_back_while_its_sender_is_forgotten_is_forgotten_too(
    make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    await site.tell("I hid the zarnok in the mill", idempotency_key="one")
    site.parts.turns._read_back.clear()  # as if it had been told before the server began
    strike_out = person.strike_out

    def another_is_told(*given: Any) -> Any:
        told = site.tell("The mill is for sale", user="user_toad", idempotency_key="two")
        asyncio.run_coroutine_threadsafe(told, loop).result(20)
        return strike_out(*given)

    loop = asyncio.get_running_loop()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(person, "strike_out", another_is_told)
        assert (await site.ask("DELETE", f"{PERSON}?yes=true")).status_code == 200
    await site.tell("I hid the zarnok in the mill", idempotency_key="one")
