"""What is known of the model: from asking once, and from what replies meet afterwards."""

from __future__ import annotations

import asyncio
import json

import pytest

from noodlings.clock import ManualClock
from noodlings.config import LLMSettings
from noodlings.errors import LLMError
from noodlings.llm.call import ModelAnswer
from noodlings.llm.circuit_breaker import FAILURES
from noodlings.llm.gateway import Gateway
from noodlings.ports import Allowance
from noodlings.values.model_status import NO_MODEL, ModelState, ModelStatus
from tests.llm.bench import APPRAISE, REPLY, bench
from tests.llm.server import KEY, Answer, Server, chat, listing, serving

KEYED = Answer(json.dumps({"error": {"message": f"bad key {KEY}"}}).encode(), 401)


async def met(server: Server, **changes: object) -> ModelStatus:
    """How things stand once the server was asked."""
    async with server.gateway(**changes) as gateway:
        assert gateway.status.state is ModelState.ASKED
        await gateway.meet()
        return gateway.status


@pytest.mark.parametrize(
    ("models", "state", "words"),
    [
        (listing("other", "m"), ModelState.ANSWERS, "answers."),
        (listing("m:latest"), ModelState.ANSWERS, "answers."),
        (listing("models/m"), ModelState.ANSWERS, "answers."),
        (
            listing("a", "b"),
            ModelState.UNKNOWN,
            "is not listed by its endpoint (it lists a, b): the offline voice speaks unless",
        ),
        (listing(*"abcdefgh"), ModelState.UNKNOWN, "it lists a, b, c, d, e, …"),
        (listing(), ModelState.UNKNOWN, "it lists no models"),
        (listing("\x1b[31m[bold]red", "m "), ModelState.UNKNOWN, "it lists [bold]red, m)"),
        (listing(f"x{KEY}"), ModelState.UNKNOWN, "it lists x…)"),
        (
            KEYED,
            ModelState.REFUSES,
            "refuses requests (it answered 401: the API key was refused; check api_key): the offline voice",
        ),
        (Answer(b"", 502), ModelState.REFUSES, "it answered 502, an error on its side"),
        (Answer(b"", 302, headers="location: http://x/\r\n"), ModelState.REFUSES, "a redirect"),
        (Answer(cut=True, body=b"{" * 99), ModelState.SILENT, "its answer broke off"),
        (
            Answer(b"{}", 404),
            ModelState.ASKED,
            "it does not list its models; its first answer will show whether it works.",
        ),
        (Answer(b"{}", 403), ModelState.ASKED, "does not list"),  # a key may do the one and not the other
        (Answer(b"boo"), ModelState.ASKED, "does not list"),
        (Answer(b'{"data": [7]}'), ModelState.ASKED, "does not list"),
        (Answer(b'{"data": [{"id": NaN}]}'), ModelState.ASKED, "does not list"),
        (Answer(b" " * 5_000_000), ModelState.ASKED, "does not list"),
    ],
)
async def test_it_is_asked_once_and_what_it_says_is_told_in_words(
    models: Answer, state: ModelState, words: str
) -> None:
    async with serving(chat("mew.")) as server:
        server.models = models
        status = await met(server)
        assert (server.listings, server.asked) == (1, [])
        assert f"authorization: bearer {KEY}" in server.headers[0].lower()
    assert status.state is state
    assert words in status.sentence
    assert f"The model m at http://127.0.0.1:{server.port}/v1" in status.sentence
    assert KEY not in f"{status}{status.sentence}{status.plain}"
    assert "127.0.0.1" not in status.plain
    assert "(" not in status.plain
    assert status.sentence.isprintable()


async def test_a_silent_endpoint_is_not_waited_for() -> None:
    async with serving(chat("mew.")) as server:
        server.models = Answer(hold=True)
        status = await met(server, timeout_seconds=0.1)
    assert status.state is ModelState.SILENT
    assert "does not answer (nothing arrived within 0.1 s): the offline voice speaks" in status.sentence


async def test_a_closed_port_refuses_the_connection() -> None:
    async with serving(chat("mew.")) as server:
        pass
    status = await met(server)
    assert status.state is ModelState.SILENT
    assert "(it cannot be reached: connection refused)" in status.sentence


async def test_who_dies_in_the_midst_and_comes_back_is_told_of_once_each() -> None:
    seen: list[tuple[ModelState, ModelState]] = []
    async with serving(chat("mew.")) as server, bench(server) as at:
        at.gateway.watchers.append(lambda before, now: seen.append((before.state, now.state)))
        await at.gateway.meet()
        begun = at.gateway.status.since
        for _ in range(2):
            assert await at.ask() == "mew."
        at.clock.advance(7.0)
        assert at.gateway.status.since == begun
        server.answer = lambda _: Answer(cut=True, body=chat("mew.").body)
        for _ in range(2 * FAILURES):  # by then it is left alone, and no longer asked
            await at.fails()
        assert at.gateway.status.since >= begun + 7.0
        assert at.gateway.status.away
        server.answer = lambda _: chat("mew.")
        at.clock.advance(600.0)
        for _ in range(2):
            assert await at.ask() == "mew."
    assert seen == [
        (ModelState.ASKED, ModelState.ANSWERS),
        (ModelState.ANSWERS, ModelState.SILENT),
        (ModelState.SILENT, ModelState.ANSWERS),
    ]


async def test_the_very_process_may_die_and_another_take_its_place() -> None:
    async with serving(chat("mew.")) as server, bench(server) as at:
        await at.ask()
        async with serving(chat("mew.")) as other:
            pass
        port, server.port = server.port, other.port
    async with bench(server) as at:
        assert "connection refused" in await at.fails()
        assert at.gateway.status.state is ModelState.SILENT
        listener = await asyncio.start_server(server.serve, "127.0.0.1", server.port)
        async with listener:
            assert await at.ask() == "mew."
        assert at.gateway.status.state is ModelState.ANSWERS
    assert port != server.port


async def test_what_says_nothing_of_the_endpoint_leaves_it_as_it_was() -> None:
    answers = [chat("mew.")]
    async with serving(lambda _: answers[0]) as server, bench(server) as at:
        await at.ask()
        no = "the guard refuses it"

        def refused(answer: ModelAnswer) -> str:
            raise LLMError(no)

        with pytest.raises(LLMError, match=no):
            await at.gateway.ask(REPLY, refused, Allowance())
        answers[0] = Answer(b"", 401)
        await at.fails(APPRAISE)  # replies are what it is about
        assert at.gateway.status.state is ModelState.ANSWERS
        await at.fails(REPLY, Allowance(until=0.0))
        assert at.gateway.status.state is ModelState.ANSWERS


async def test_where_other_calls_met_it_the_reply_that_is_not_sent_tells() -> None:
    async with serving(Answer(b"", 401)) as server, bench(server) as at:
        for _ in range(FAILURES):
            await at.fails(APPRAISE)
        await at.fails()
        assert at.gateway.status.words == "it answered 401: the API key was refused; check api_key"
        assert at.gateway.status.away


async def test_a_reply_that_was_there_first_knows_better_than_the_list() -> None:
    async with serving(chat("mew.")) as server, bench(server) as at:
        server.models = listing("other")
        await at.ask()
        await at.gateway.meet()
        assert at.gateway.status.state is ModelState.ANSWERS


async def test_a_watcher_that_fails_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    def broken(before: ModelStatus, now: ModelStatus) -> None:
        raise RuntimeError("broken on purpose")

    async with serving(chat("mew.")) as server, bench(server) as at:
        at.gateway.watchers.append(broken)
        assert await at.ask() == "mew."
    assert "broken on purpose" in caplog.text


def test_a_password_in_the_address_is_not_told() -> None:
    llm = LLMSettings(base_url=f"http://me:{KEY}@localhost:9/v1?key={KEY}", model=f"m{KEY}", api_key=KEY)
    status = Gateway(llm, now=ManualClock(5.0).now).status
    assert status == ModelStatus(ModelState.ASKED, "m…", "http://localhost:9/v1", since=5.0)


def test_without_a_model_that_is_told() -> None:
    assert (
        NO_MODEL.sentence == NO_MODEL.plain == ("No language model is connected: the offline voice speaks.")
    )
