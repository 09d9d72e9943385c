"""What reads a whole memory leaves room for everybody else, however often one caller asks for it at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from threading import Event
from typing import Any

import pytest

from api.authentication import AccessToken
from api.live import _snapshot
from api.mcp.access import Access, Asker
from api.mcp.tools import call
from commands import registry
from commands.registry import CommandContext
from noodlings import scheduling
from noodlings.agent import corrections
from noodlings.inspect import turns, viewpoint
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.viewpoint import Viewpoint
from noodlings.inspect.views import AgentView
from noodlings.scheduling import BETWEEN
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import MemoryEntry
from tests.api.conftest import Site

PEOPLE = "/api/agents/servnak/people"
CAITY = Caller("user_caity", "caity")


@contextmanager
def blocked(site: Site) -> Iterator[None]:
    """No card is made meanwhile."""
    free = Event()
    seen = Viewpoint(site.society, site.society.find("servnak"), CAITY)
    work = asyncio.create_task(seen.aside(free.wait))
    try:
        yield
    finally:
        free.set()
        work.add_done_callback(asyncio.Task.result)


@pytest.mark.parametrize("path", [PEOPLE, "/api/agents/servnak/memory/browse?everything=true"])
async def test_one_caller_waits_for_a_few_long_answers_at_once(guarded: Site, path: str) -> None:
    await guarded.tell("my sister Ruth lives in Leeds")
    with blocked(guarded):
        asked = {asyncio.create_task(guarded.get(path, "caity")) for _ in range(scheduling.AT_ONCE + 2)}
        others = asyncio.create_task(guarded.get(path, "toad"))
        waiting = asked
        while len(waiting) > scheduling.AT_ONCE:
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    own = await asyncio.gather(*asked)
    assert sorted(answer.status_code for answer in own) == [200] * scheduling.AT_ONCE + [429] * 2
    assert (await others).status_code == 200
    refused = next(answer for answer in own if answer.status_code == 429)
    assert refused.headers["Retry-After"] == "1"
    assert refused.json()["detail"] == (
        f"You are waiting for {scheduling.AT_ONCE} answers that take long; ask again when one has come."
    )
    assert (await guarded.get(path, "caity")).status_code == 200


@pytest.mark.parametrize("line", ["@people servnak", "@forget servnak --user me"])
async def test_the_world_says_so_in_words(site: Site, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections, "READ_AT_ONCE", 1)  # else the first answer would come at once
    for told in ("my sister Ruth lives in Leeds", "my brother Tom does not"):
        await site.tell(told)
    context = CommandContext(CAITY, site.society, site.parts.inspector)
    asked = (registry.dispatch(line, context) for _ in range(scheduling.AT_ONCE + 1))
    replies = [reply.render() for reply in await asyncio.gather(*asked)]
    assert sum("ask again when one has come" in reply for reply in replies) == 1


async def test_nothing_is_worked_out_for_a_client_that_has_left(site: Site) -> None:
    await site.tell("my sister Ruth lives in Leeds")
    sent: list[Any] = []

    async def leave() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": PEOPLE, "raw_path": PEOPLE.encode(), "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        "scheme": "http", "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"},
    }  # fmt: skip
    with blocked(site):
        transport: Any = site.client._transport
        await asyncio.wait_for(transport.app(scope, leave, send), 30)
    assert sent[0]["status"] == 408
    answers = await asyncio.gather(*(site.get(PEOPLE) for _ in range(scheduling.AT_ONCE)))
    assert {answer.status_code for answer in answers} == {200}  # nothing of it is still under way


async def test_what_would_be_forgotten_is_counted_in_steps(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corrections, "READ_AT_ONCE", 2)
    for number in range(6):
        await site.tell(f"I saw {number} geese")
    read, steps, entries = set[int](), list[int](), site.society.store.entries

    def reading(agent_id: str, ids: Sequence[int]) -> dict[int, MemoryEntry]:
        read.update(ids)
        return entries(agent_id, ids)

    async def look() -> None:
        while True:
            steps.append(len(read))
            await asyncio.sleep(0)

    monkeypatch.setattr(site.society.store, "entries", reading)
    looking = asyncio.create_task(look())
    assert await site.society.corrections.count_of(CAITY, "servnak", CAITY.user_id) == 6
    looking.cancel()
    assert {*steps} >= {2, 4}


@pytest.mark.slow
@pytest.mark.parametrize("by", ["DELETE", "@forget", "forget_memory"])
async def test_whoever_forgets_much_lets_others_go_on(
    site: Site, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(corrections, "FORGOTTEN_AT_ONCE", 2)
    for number in range(6):
        await site.tell(f"I saw {number} geese")
    left: list[int] = []

    async def look() -> None:
        while True:
            left.append(len(site.society.store.told_by("servnak", CAITY.user_id)))
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    if by == "DELETE":
        path = f"/api/agents/servnak/memory/entries?user_id={CAITY.user_id}"
        answer = (await site.ask("DELETE", path)).json()
    elif by == "@forget":
        context = CommandContext(CAITY, site.society, site.parts.inspector)
        answer = (await registry.dispatch("@forget servnak --user me --yes", context)).data
    else:
        held = Asker(AccessToken(Role.PLAYER, CAITY.user_id))
        access = Access(held, lambda: nullcontext(site.society), site.parts.turns)
        answer = (await call(by, access, {"agent": "servnak", "user_id": "me"})).structured_content
    looking.cancel()
    assert answer["forgotten"] == 6
    assert {6, 4, 2} <= {*left}


async def test_two_who_read_much_do_not_read_in_the_same_pass(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        await site.tell(f"I saw {number} geese")
    monkeypatch.setattr(viewpoint, "PATIENCE", 0.0)  # each memory takes too long
    passes = 0
    read: list[int] = []

    async def count() -> None:
        nonlocal passes
        while True:
            passes += 1
            await asyncio.sleep(0)  # one pass

    async def reader() -> None:
        seen = Viewpoint(site.society, site.society.find("servnak"), CAITY)
        await seen.pause()
        read.extend([passes async for _ in seen.read()])

    counting = asyncio.create_task(count())
    await asyncio.gather(reader(), reader())
    counting.cancel()
    assert len(read) >= 12
    assert len(set(read)) == len(read)


@pytest.mark.slow
async def test_a_players_own_turn_is_found_however_many_others_talked_since(
    guarded: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "LOOKED_BACK", turns.AT_ONCE)
    own = await guarded.tell("my sister Ruth lives in Leeds", user="user_caity")
    for number in range(turns.AT_ONCE + 1):
        await guarded.tell(f"I saw {number} geese", user="user_toad")
    why = (await guarded.get("/api/agents/servnak/why", "caity")).json()
    assert why["turn"]["percept"]["id"] == own


async def test_questions_that_come_together_are_answered_one_after_another(site: Site) -> None:
    await site.society.readers.turn()  # somebody else's, until some passes later
    passes = 0

    async def count() -> None:
        nonlocal passes
        while True:
            passes += 1
            await asyncio.sleep(0)  # one pass

    counting = asyncio.create_task(count())
    found: list[int] = []

    async def ask() -> None:
        assert (await site.get("/api/agents/servnak/why")).status_code == 200
        found.append(passes)

    await asyncio.gather(*(ask() for _ in range(5)))
    counting.cancel()
    assert all(later - former > BETWEEN for former, later in pairwise(found))


async def test_searches_of_one_caller_are_few_at_once(guarded: Site) -> None:
    await guarded.tell("my sister Ruth lives in Leeds")
    with blocked(guarded):
        people = {asyncio.create_task(guarded.get(PEOPLE, "caity")) for _ in range(scheduling.AT_ONCE + 1)}
        (refused,), waiting = await asyncio.wait(people, return_when=asyncio.FIRST_COMPLETED)
        assert refused.result().status_code == 429
        for path in ("recall", "focus", "chronicle"):
            asked = guarded.get(f"/api/agents/servnak/{path}", "caity", params={"query": "where is Ruth?"})
            assert (await asked).status_code == 429
    assert {(await answer).status_code for answer in waiting} == {200}


@pytest.mark.parametrize("where", ["/api/agents", "@agents", "/api/live"])
async def test_no_two_characters_of_a_list_are_looked_at_in_the_same_pass(
    site: Site, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    look, passes, looked = Inspector.agent, 0, list[int]()

    async def count() -> None:
        nonlocal passes
        while True:
            passes += 1
            await asyncio.sleep(0)  # one pass

    def looking(asked: Inspector, caller: Caller, name: str) -> AgentView:
        looked.append(passes)
        return look(asked, caller, name)

    async def ask() -> None:
        if where == "/api/live":
            await _snapshot(site.parts, CAITY, "")
        elif where == "@agents":
            await registry.dispatch(where, CommandContext(CAITY, site.society, site.parts.inspector))
        else:
            assert (await site.get(where)).status_code == 200

    monkeypatch.setattr(Inspector, "agent", looking)
    counting = asyncio.create_task(count())
    await asyncio.gather(ask(), ask())
    counting.cancel()
    assert len(looked) == len(set(looked)) == 2 * len(site.society.personas)


async def test_calls_of_tools_are_few_at_once_and_take_turns(guarded: Site) -> None:
    await guarded.tell("my sister Ruth lives in Leeds")
    held = AccessToken(Role.PLAYER, CAITY.user_id)
    access = Access(Asker(held), lambda: nullcontext(guarded.society), agent="servnak")
    with blocked(guarded):
        people = {asyncio.create_task(call("get_people", access, {})) for _ in range(scheduling.AT_ONCE + 1)}
        some, waiting = await asyncio.wait(people, timeout=30, return_when=asyncio.FIRST_COMPLETED)
        (refused,) = some  # in the end, where none is
        assert "You are waiting for 8 answers" in str(refused.result().content)
    assert not any([(await answer).is_error for answer in waiting])

    await guarded.society.readers.turn()  # somebody else's, until some passes later
    mood = asyncio.create_task(call("get_mood", access, {}))
    await asyncio.sleep(0)  # one pass
    assert not mood.done()
    assert not (await mood).is_error
