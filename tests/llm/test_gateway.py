"""The gateway against a real server, on clocks set by hand: what it asks, waits, refuses and counts."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import pytest

from noodlings.clock import ManualClock
from noodlings.errors import LLMError
from noodlings.llm.call import Answer, Call, Task
from noodlings.llm.circuit import FAILURES, FIRST_PAUSE
from noodlings.llm.gateway import PAUSES, Gateway
from noodlings.ports import Allowance
from noodlings.store.memory import MemoryStore
from tests.llm.server import Answer as Sent
from tests.llm.server import Server, chat, serving, sse, stream

REPLY = Call(Task.REPLY, ("be a cat", "hello there"), 0.8)
APPRAISE = Call(Task.APPRAISE, ("judge", "hello"), 0.0)
NOON = 20_000.5 * 86_400


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Loading the library takes as long as the machine is busy; these deadlines are about the model."""
    import_module("openai")


@dataclass
class Bench:
    """A gateway whose clocks are set by hand, and what it waited."""

    gateway: Gateway
    clock: ManualClock
    pauses: list[float] = field(default_factory=list)

    async def ask(self, call: Call = REPLY, allowance: Allowance | None = None) -> str:
        return await self.gateway.ask(call, lambda answer: answer.text, allowance or Allowance())

    async def fails(self, call: Call = REPLY, allowance: Allowance | None = None) -> str:
        with pytest.raises(LLMError) as failed:
            await self.ask(call, allowance)
        return str(failed.value)


@asynccontextmanager
async def bench(server: Server, shelf: MemoryStore | None = None, **changes: Any) -> AsyncIterator[Bench]:
    clock, pauses = ManualClock(), []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    gateway = Gateway(
        server.settings(**changes), shelf, lambda: NOON + clock.now(), monotonic=clock.now, sleep=sleep
    )
    try:
        yield Bench(gateway, clock, pauses)
    finally:
        await gateway.close()


def scripted(*answers: Sent) -> Callable[[dict[str, Any]], Sent]:
    """One answer after the other, the last one ever after."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


async def test_each_task_has_its_model_and_its_limit() -> None:
    models, limits = {"appraise": "small"}, {"appraise": 30, "reply": 150}
    async with serving(chat("{}")) as server, bench(server, models=models, max_tokens=limits) as at:
        await at.ask(REPLY)
        await at.ask(Call(Task.REPLY, REPLY.prompt, 0.8, tokens=60, seed=7))
        await at.ask(Call(Task.REPLY, REPLY.prompt, 0.8, tokens=900))
        await at.ask(APPRAISE)
        assert [at.gateway.model(task) for task in (Task.APPRAISE, Task.SYMBOL)] == ["small", "m"]
    asked = [(body["model"], body["max_tokens"], body.get("seed"), "stream" in body) for body in server.asked]
    assert asked == [
        ("m", 150, None, True),
        ("m", 60, 7, True),
        ("m", 150, None, True),
        ("small", 30, None, False),
    ]


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [
        (chat("one two"), 42),
        (chat("one two", usage=None), 7),
        (chat("one two", usage={"total_tokens": -5}), 7),
        (chat("one two", usage={"total_tokens": 10**30}), 7),
        (chat("one two", usage={"total_tokens": "many"}), 7),
        (Sent(b"{}"), 5),
        (stream('{"choices": [{"delta": {"content": "12345"}}]}'), 6),
        (Sent(b"", 401), 0),
    ],
)
async def test_tokens_are_what_the_server_says_or_a_quarter_of_the_characters(
    answer: Sent, tokens: int
) -> None:
    spent = Allowance()
    async with serving(answer) as server, bench(server) as at:
        try:
            await at.ask(REPLY, spent)
        except LLMError:
            assert tokens in (0, 5, 6)
    assert (spent.calls, spent.tokens) == (1, tokens)


async def test_an_answer_of_no_use_is_told_with_the_address_and_counted() -> None:
    def useless(_: Answer) -> str:
        raise LLMError("its answer is no use")

    spent = Allowance(calls=1, tokens=1)
    async with serving(chat("hm")) as server, bench(server) as at:
        with pytest.raises(LLMError, match=rf"127\.0\.0\.1:{server.port}/v1: its answer is no use$"):
            await at.gateway.ask(REPLY, useless, spent)
        assert (spent.calls, spent.tokens) == (2, 43)
        for _ in range(FAILURES):
            with pytest.raises(LLMError):
                await at.gateway.ask(REPLY, useless, spent)
        assert await at.ask() == "hm"  # the endpoint is well, only its model is not


async def test_what_may_pass_is_tried_again_with_growing_pauses() -> None:
    spent = Allowance()
    async with serving(scripted(Sent(b"", 503), Sent(b"", 429), chat("mew."))) as server, bench(server) as at:
        assert await at.ask(REPLY, spent) == "mew."
        assert at.pauses == list(PAUSES)
    assert (spent.calls, spent.tokens) == (3, 42)


async def test_in_the_end_it_is_given_up() -> None:
    async with serving(Sent(b"", 500)) as server, bench(server) as at:
        assert "500, an error of its own" in await at.fails()
        assert len(server.asked) == 1 + len(PAUSES)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 307])
async def test_what_will_not_pass_is_not_tried_again(status: int) -> None:
    answer = Sent(b"{}", status, headers="location: http://127.0.0.1:9/elsewhere\r\n")
    async with serving(answer) as server, bench(server) as at:
        assert f"it answered {status}" in await at.fails()
        assert len(server.asked) == 1


async def test_the_server_may_ask_for_a_longer_pause_but_not_for_one_past_the_deadline() -> None:
    later = scripted(Sent(b"", 429, headers="retry-after: 3\r\n"), chat("mew."))
    async with serving(later) as server, bench(server) as at:
        assert await at.ask() == "mew."
        assert at.pauses == [3.0]
    async with serving(Sent(b"", 429, headers="retry-after: 30\r\n")) as server, bench(server) as at:
        assert "too many requests" in await at.fails()
        assert at.pauses == []


async def test_no_attempt_is_made_past_the_end_of_the_turn() -> None:
    async with serving(Sent(b"", 500)) as server, bench(server) as at:
        assert "500" in await at.fails(REPLY, Allowance(until=PAUSES[0]))
        assert at.pauses == []
        assert "no time is left" in await at.fails(REPLY, Allowance(until=0.0))
        assert len(server.asked) == 1


async def test_nobody_there_is_tried_again_and_told() -> None:
    async with serving(chat("mew.")) as server:
        pass
    spent = Allowance()
    async with bench(server) as at:
        assert "it cannot be reached" in await at.fails(REPLY, spent)
        assert at.pauses == list(PAUSES)
    assert (spent.calls, spent.tokens) == (3, 0)


async def test_the_circuit_opens_is_tried_and_closes_by_itself() -> None:
    answers = [Sent(b"", 401)]
    async with serving(lambda _: answers[0]) as server, bench(server) as at:
        for _ in range(FAILURES):
            assert "the key is refused" in await at.fails()
        at.clock.advance(1.0)
        refused = await at.fails()
        assert f"after {FAILURES} failures in a row (it answered 401, the key is refused)" in refused
        assert refused.endswith("it is tried again at 12:00:05 UTC")
        assert len(server.asked) == FAILURES
        at.clock.advance(FIRST_PAUSE)
        assert "the key is refused" in await at.fails()
        assert "12:00:16 UTC" in await at.fails()
        answers[0] = chat("mew.")
        at.clock.advance(2 * FIRST_PAUSE)
        assert await at.ask() == await at.ask() == "mew."


async def test_a_task_that_is_refused_does_not_take_the_others_with_it() -> None:
    def only_replies(asked: dict[str, Any]) -> Sent:
        return chat("mew.") if "stream" in asked else Sent(b"{}", 400)

    async with serving(only_replies) as server, bench(server) as at:
        for _ in range(2 * FAILURES):
            assert "it answered 400" in await at.fails(APPRAISE)
        assert await at.ask() == "mew."


async def test_the_end_of_a_turn_is_not_held_against_the_endpoint() -> None:
    answers = [Sent(hold=True)]
    async with serving(lambda _: answers[0]) as server, bench(server) as at:
        for _ in range(2 * FAILURES):
            assert "no answer in 0.01 s" in await at.fails(REPLY, Allowance(until=at.clock.now() + 0.01))
        answers[0] = chat("mew.")
        assert await at.ask() == "mew."


async def test_a_budget_refuses_before_anything_is_asked_and_survives_a_restart() -> None:
    shelf, limits = MemoryStore(), {"calls_per_player_hour": 1}
    async with serving(chat("mew.")) as server:
        async with bench(server, shelf, budget=limits) as at:
            await at.ask(REPLY, Allowance("user_caity"))
        async with bench(server, shelf, budget=limits) as at:
            spent = Allowance("user_caity")
            assert (
                "1 calls per hour and player is used up; it renews at 2024-10-04 13:00 UTC"
                in await at.fails(REPLY, spent)
            )
            assert (spent.calls, len(server.asked)) == (0, 1)
            assert await at.ask(REPLY, Allowance("user_bob")) == "mew."
            at.clock.advance(3_600)
            assert await at.ask(REPLY, Allowance("user_caity")) == "mew."


async def test_every_attempt_counts() -> None:
    async with serving(Sent(b"", 500)) as server, bench(server, budget={"calls_per_day": 2}) as at:
        assert "2 calls per day is used up" in await at.fails()
        assert len(server.asked) == 2


async def test_no_more_calls_run_at_once_than_are_allowed() -> None:
    two = asyncio.Event()

    def counted(_: dict[str, Any]) -> Sent:
        if server.running == 2:
            two.set()
        return Sent(chat("mew.").body, gate=two)

    async with serving(counted) as server, bench(server, concurrency=2) as at:
        assert await asyncio.gather(*(at.ask() for _ in range(6))) == ["mew."] * 6
    assert server.most == 2


async def test_waiting_for_its_turn_counts_against_the_deadline() -> None:
    asked = asyncio.Event()

    def held(_: dict[str, Any]) -> Sent:
        asked.set()
        return Sent(hold=True)

    async with serving(held) as server, bench(server, concurrency=1) as at:
        first = asyncio.create_task(at.ask())
        await asked.wait()
        spent = Allowance(until=0.05)
        assert "its turn did not come in 0.05 s (llm.concurrency)" in await at.fails(REPLY, spent)
        assert (spent.calls, len(server.asked)) == (0, 1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_cancelled_call_leaves_its_place_and_is_counted() -> None:
    asked, answers = asyncio.Event(), [Sent(hold=True)]

    def told(_: dict[str, Any]) -> Sent:
        asked.set()
        return answers[0]

    spent = Allowance()
    async with serving(told) as server, bench(server, concurrency=1) as at:
        call = asyncio.create_task(at.ask(REPLY, spent))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (spent.calls, spent.tokens) == (1, 5)
        answers[0] = chat("mew.")
        assert await at.ask() == "mew."


async def test_a_late_first_word_is_told_once_and_still_waited_for() -> None:
    gate, late = asyncio.Event(), 0

    def noticed() -> None:
        nonlocal late
        late += 1
        gate.set()

    answer = chat("mew. you came.")
    answer.gate = gate
    async with serving(answer) as server, bench(server, first_token_seconds=0.05) as at:
        assert await at.ask(REPLY, Allowance(late=noticed)) == "mew. you came."
    assert late == 1


async def test_a_first_word_in_time_is_not_late_however_long_the_rest_takes() -> None:
    first = sse(json.dumps({"choices": [{"delta": {"content": "mew"}}]}))
    answer = Sent(first, kind="text/event-stream", unended=True)
    late: list[bool] = []
    async with serving(answer) as server, bench(server, first_token_seconds=0.3, timeout_seconds=0.6) as at:
        assert "no answer in 0.6 s" in await at.fails(REPLY, Allowance(late=lambda: late.append(True)))
    assert late == []


async def test_nobody_waits_for_the_first_word_of_what_is_not_streamed() -> None:
    late: list[bool] = []
    held = Sent(hold=True)
    async with serving(held) as server, bench(server, first_token_seconds=0.05, timeout_seconds=0.4) as at:
        assert "no answer in 0.2 s" in await at.fails(APPRAISE, Allowance(late=lambda: late.append(True)))
    assert late == []


async def test_closing_twice_is_closing_once_and_it_can_be_asked_again() -> None:
    async with serving(chat("mew.")) as server, bench(server) as at:
        await at.gateway.close()
        assert await at.ask() == "mew."
        await at.gateway.close()
        await at.gateway.close()
