"""Command lines of users who are somewhere else: they come in, are heard, hear, and leave."""

from __future__ import annotations

import asyncio

import pytest
from argon2.profiles import CHEAPEST

from api import command_lines
from commands import registry
from commands.registry import Reply
from noodlings.errors import StoreError
from noodlings.worlds.accounts import Accounts
from tests.api.conftest import Site


async def type_(site: Site, line: str, user: str = "user_caity", **more):
    answer = await site.post("/api/commands", {"user_id": user, "line": line} | more)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_line_is_answered_and_what_follows_is_heard(site: Site):
    said = await type_(site, "say hello, servnak", wait=10)
    assert said["text"] == 'You say, "hello, servnak"'
    assert said["data"]["kind"] == "say"
    await site.parts.people.world.settle()
    heard = said["heard"] + (await type_(site, ""))["heard"]
    assert any("SERVNAK" in line for line in heard)
    assert (await type_(site, ""))["heard"] == []


async def test_bare_text_is_said_in_the_rooms_and_nowhere_else(site: Site):
    await type_(site, "look", "user_toad")
    assert (await type_(site, "servnak, hello"))["text"] == 'You say, "servnak, hello"'
    assert (await type_(site, "whispr servnak = secret"))["error"] is True
    heard = (await type_(site, "", "user_toad"))["heard"]
    assert sum("servnak, hello" in line for line in heard) == 1
    assert not any("secret" in line for line in heard)
    assert "no command" in (await type_(site, "hello", rooms=False))["text"]


async def test_users_hear_one_another(site: Site):
    await type_(site, "look", "user_toad")
    await type_(site, "say good evening", name="Caity")
    heard = (await type_(site, "", "user_toad"))["heard"]
    assert 'Caity says, "good evening"' in heard


async def test_a_refusal_is_an_answer(site: Site):
    refused = await type_(site, "go nowhere")
    assert refused["error"] is True
    assert refused["data"]["error"]
    assert refused["text"]


async def test_who_cannot_be_introduced_stands_in_nobodys_way(site: Site, monkeypatch: pytest.MonkeyPatch):
    def introduce(user_id: str, name: str) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(site.society, "introduce", introduce)
        for _ in range(2):
            refused = await site.post("/api/commands", {"user_id": "user_caity", "line": "look"})
            assert refused.status_code == 503
            assert not site.parts.people.world.has("user_caity")
    assert "Workshop" in (await type_(site, "look"))["text"]
    assert site.society.names()["user_caity"] == "caity"


async def test_who_leaves_is_gone(site: Site):
    await type_(site, "look")
    assert "user_caity" in {being.id for being, _ in site.parts.people.world.who()}
    assert (await type_(site, "quit"))["leave"] is True
    assert "user_caity" not in {being.id for being, _ in site.parts.people.world.who()}
    await type_(site, "look")


async def test_whoever_has_rooms_of_its_own_asks_from_outside(guarded: Site):
    """A game that asks for its players: no character sees anybody come, and rights are those of the user."""
    await guarded.tell("My dog died yesterday")
    before = [being.id for being, _ in guarded.parts.people.world.who()]

    async def ask(line: str):
        body = {"user_id": "user_caity", "name": "Caity", "line": line, "rooms": False, "wait": 5}
        answer = await guarded.post("/api/commands", body, "world")
        assert answer.status_code == 200, answer.text
        return answer.json()

    asked = await ask("@memories servnak --working")
    assert asked["data"]["entries"][0]["text"] == "My dog died yesterday"
    for line in ("say hello", "look", "go north"):
        refused = await ask(line)
        assert refused["error"] is True
        assert "no rooms" in refused["text"]
    assert (await ask("quit"))["heard"] == []
    assert [being.id for being, _ in guarded.parts.people.world.who()] == before
    assert len(guarded.society.agents["servnak"].memory.retrieve_working()) == 1


async def test_who_is_in_the_rooms_may_ask_from_outside_and_stays(site: Site):
    await type_(site, "look")
    assert "SERVNAK" in (await type_(site, "@agents", rooms=False))["text"]
    assert "user_caity" in {being.id for being, _ in site.parts.people.world.who()}


async def test_who_is_silent_for_long_has_left(site: Site, monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    monkeypatch.setattr(site.parts.people, "_now", lambda: now[0])
    await type_(site, "look")
    now[0] = command_lines.SILENT_SECONDS + 1.0
    await type_(site, "look", "user_toad")
    assert "user_caity" not in {being.id for being, _ in site.parts.people.world.who()}


async def test_who_is_silent_for_long_leaves_though_nobody_comes_in(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    now, left, world = [0.0], asyncio.Event(), site.parts.people.world
    monkeypatch.setattr(site.parts.people, "_now", lambda: now[0])
    monkeypatch.setattr(command_lines, "LOOK_SECONDS", 0.01)
    leave = world.leave

    def leaving(user_id: str) -> None:
        leave(user_id)
        left.set()

    monkeypatch.setattr(world, "leave", leaving)
    await type_(site, "look")
    now[0] = command_lines.SILENT_SECONDS + 1.0
    await asyncio.wait_for(left.wait(), 10)
    assert not world.has("user_caity")


async def test_rooms_may_be_full(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command_lines, "MOST", 1)
    await type_(site, "look")
    body = {"user_id": "user_toad", "line": "look"}
    assert (await site.post("/api/commands", body)).status_code == 400


@pytest.mark.slow
async def test_of_too_much_the_oldest_is_lost_and_it_is_told(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command_lines, "HEARD", 3)
    await type_(site, "look", "user_toad")
    for number in range(6):
        await type_(site, f"emote waves {number}")
    await site.parts.people.world.settle()
    heard = await type_(site, "", "user_toad")
    assert len(heard["heard"]) == 3
    assert heard["lost"] >= 3


async def test_two_may_not_have_one_name(site: Site):
    await type_(site, "look", name="Caity")
    body = {"user_id": "user_toad", "line": "look", "name": "Caity"}
    assert (await site.post("/api/commands", body)).status_code == 400


@pytest.mark.parametrize("name", ['Cid says, "yes!" Ann', "You", "C\u0430ity"])
async def test_a_name_that_is_a_line_or_looks_like_another_is_refused(site: Site, name: str):
    body = {"user_id": "w1", "name": name, "line": "emote nods"}
    refused = await site.post("/api/commands", body)
    assert refused.status_code == 400
    assert "name" in refused.json()["detail"]


@pytest.mark.parametrize("joined", [False, True])
async def test_an_owner_comes_in_where_somebody_had_the_same_name(guarded: Site, tmp_path, joined: bool):
    """Without an end nobody would leave whose world is silent, and the owner would be sent away each time."""
    body = {"user_id": "w1", "name": "Dora", "line": "look"}
    assert (await guarded.post("/api/commands", body, "world")).status_code == 200
    accounts, world, seen = Accounts(tmp_path, CHEAPEST), guarded.parts.people.world, []
    accounts.create("Dora", "correct horse")
    dora = (accounts.join("Dora", "w1") if joined else accounts.find("Dora")).caller
    world.enter(dora.user_id, dora.name, seen.append)
    for line in ("say I am Dora", "quit"):
        answer = await guarded.post("/api/commands", body | {"line": line}, "world")
        assert answer.status_code == (400 if joined else 403)
    await guarded.post("/api/commands", {"line": "say hello"}, "caity")
    assert [(being.id, being.name) for being, _ in world.who() if being.persona is None] == [
        (dora.user_id, "Dora"),
        ("user_caity", "caity"),
    ]
    assert [line.text for line in seen if line.name == "caity"][:2] == ["arrives", "hello"]


async def test_whoever_had_to_give_way_during_a_line_takes_nobody_along(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    world, dispatch = site.parts.people.world, registry.dispatch

    async def meanwhile(line, context):
        reply = await dispatch(line, context)
        world.enter("user_caity", "Caity", lambda line: None)
        return reply

    monkeypatch.setattr(registry, "dispatch", meanwhile)
    await type_(site, "quit", name="Caity")
    assert "user_caity" in {being.id for being, _ in world.who()}


@pytest.mark.parametrize("rooms", [True, False])
async def test_a_command_takes_a_turn_before_it_is_run_and_before_its_answer_is_drawn(
    site: Site, monkeypatch: pytest.MonkeyPatch, rooms: bool
):
    turn, dispatch, render, done = site.society.readers.turn, registry.dispatch, Reply.render, []

    async def waiting(caller=""):
        await turn(caller)
        done.append("turn")

    async def running(line, context):
        done.append("run")
        return await dispatch(line, context)

    def drawing(reply, width=80, colour=False):
        done.append("draw")
        return render(reply, width, colour)

    monkeypatch.setattr(site.society.readers, "turn", waiting)
    monkeypatch.setattr(registry, "dispatch", running)
    monkeypatch.setattr(Reply, "render", drawing)
    await type_(site, "@why servnak", rooms=rooms)
    assert done == ["turn", "run", "turn", "draw"]


async def test_the_width_is_kept(site: Site):
    wide = (await type_(site, "help", width=200))["text"]
    narrow = (await type_(site, "help", width=40))["text"]
    assert max(map(len, narrow.split("\n"))) <= 40 < max(map(len, wide.split("\n")))


async def test_a_command_is_one_line(site: Site):
    answer = await type_(site, "say hello\nquit")
    assert answer["leave"] is False
    assert answer["data"]["text"] == "hello quit"
