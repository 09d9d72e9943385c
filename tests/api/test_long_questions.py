"""What reads a whole memory leaves room for everybody else, however often one caller asks for it at once."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import Any

import pytest

from commands import registry
from commands.registry import CommandContext
from noodlings.inspect import inspector, viewpoint
from noodlings.inspect.viewpoint import Viewpoint
from noodlings.values.caller import Caller
from tests.api.conftest import Site

PEOPLE = "/api/agents/servnak/people"
CAITY = Caller("user_caity", "caity")


async def test_one_caller_waits_for_a_few_long_answers_at_once(guarded: Site) -> None:
    await guarded.tell("my sister Ruth lives in Leeds")
    asked = (guarded.get(PEOPLE, "caity") for _ in range(inspector.AT_ONCE + 2))
    *own, others = await asyncio.gather(*asked, guarded.get(PEOPLE, "toad"))
    assert sorted(answer.status_code for answer in own) == [200] * inspector.AT_ONCE + [429] * 2
    assert others.status_code == 200
    refused = next(answer for answer in own if answer.status_code == 429)
    assert refused.headers["Retry-After"] == "1"
    assert refused.json()["detail"] == (
        f"You are waiting for {inspector.AT_ONCE} answers that take long; ask again when one has come."
    )
    assert (await guarded.get(PEOPLE, "caity")).status_code == 200


async def test_the_world_says_so_in_words(site: Site) -> None:
    await site.tell("my sister Ruth lives in Leeds")
    context = CommandContext(CAITY, site.society, site.parts.inspector)
    asked = (registry.dispatch("@people servnak", context) for _ in range(inspector.AT_ONCE + 1))
    replies = [reply.render() for reply in await asyncio.gather(*asked)]
    assert sum("ask again when one has come" in reply for reply in replies) == 1


async def test_nothing_is_worked_out_for_a_client_that_has_left(site: Site) -> None:
    await site.tell("my sister Ruth lives in Leeds")
    sent: list[Any] = []
    free = Event()
    seen = Viewpoint(site.society, site.society.find("servnak"), CAITY)
    blocked = asyncio.create_task(seen.aside(free.wait))  # no card can be made until then

    async def leave() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": PEOPLE, "raw_path": PEOPLE.encode(), "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        "scheme": "http", "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"},
    }  # fmt: skip
    try:
        transport: Any = site.client._transport
        await asyncio.wait_for(transport.app(scope, leave, send), 30)
    finally:
        free.set()
        await blocked
    assert sent[0]["status"] == 408
    answers = await asyncio.gather(*(site.get(PEOPLE) for _ in range(inspector.AT_ONCE)))
    assert {answer.status_code for answer in answers} == {200}  # nothing of it is still under way


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
