"""What keeps calls to a model in bounds: circuit, budget, turns, deadlines and the first word."""

import asyncio
import json
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest

from noodlings.errors import LLMError
from noodlings.llm.circuit_breaker import FAILURES, FIRST_PAUSE
from noodlings.ports import Allowance
from noodlings.store.memory import MemoryStore
from tests.llm.bench import APPRAISE, REPLY, bench
from tests.llm.server import Answer as Sent
from tests.llm.server import chat, serving, sse


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Loading the library takes as long as the machine is busy; these deadlines are about the model."""
    import_module("openai")


async def test_the_circuit_opens_is_tried_and_closes_by_itself() -> None:
    answers = [Sent(b"", 401)]
    async with serving(lambda _: answers[0]) as server, bench(server) as at:
        for _ in range(FAILURES):
            assert "the API key was refused" in await at.fails()
        at.clock.advance(1.0)
        refused = await at.fails()
        assert (
            f"after {FAILURES} failures in a row (it answered 401: the API key was refused; check api_key)"
            in refused
        )
        assert refused.endswith("it will be tried again at 12:00:05 UTC")
        assert len(server.asked) == FAILURES
        at.clock.advance(FIRST_PAUSE)
        assert "the API key was refused" in await at.fails()
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
            assert "not answer within 0.01 s" in await at.fails(REPLY, Allowance(until=at.clock.now() + 0.01))
        answers[0] = chat("mew.")
        assert await at.ask() == "mew."


async def test_a_budget_refuses_before_anything_is_asked_and_survives_a_restart() -> None:
    world_store, limits = MemoryStore(), {"calls_per_player_hour": 1}
    async with serving(chat("mew.")) as server:
        async with bench(server, world_store, budget=limits) as at:
            await at.ask(REPLY, Allowance("user_caity"))
        async with bench(server, world_store, budget=limits) as at:
            spent = Allowance("user_caity")
            assert "1 calls per hour and player is used up until 2024-10-04 13:00 UTC" in await at.fails(
                REPLY, spent
            )
            assert (spent.calls, len(server.asked)) == (0, 1)
            assert await at.ask(REPLY, Allowance("user_bob")) == "mew."
            at.clock.advance(3_600)
            assert await at.ask(REPLY, Allowance("user_caity")) == "mew."


async def test_every_attempt_counts() -> None:
    async with serving(Sent(b"", 500)) as server, bench(server, budget={"calls_per_day": 2}) as at:
        assert "2 calls per day is used up" in await at.fails()
        assert len(server.asked) == 2


@pytest.mark.parametrize("limit", ["tokens_per_hour", "tokens_per_day", "tokens_per_player_hour"])
@pytest.mark.parametrize(("answer", "tokens"), [(chat("mew."), 42), (Sent(b"{}"), 5)])
async def test_the_tokens_of_an_answer_count_whether_it_is_of_use_or_not(
    limit: str, answer: Sent, tokens: int
) -> None:
    async with serving(answer) as server, bench(server, budget={limit: 2 * tokens}) as at:
        for _ in range(2):
            with suppress(LLMError):
                await at.ask(REPLY, Allowance("user_caity"))
        assert f"the budget of {2 * tokens} tokens" in await at.fails(REPLY, Allowance("user_caity"))
        assert len(server.asked) == 2


@pytest.mark.slow
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
        assert "kept it waiting for 0.05 s (llm.concurrency)" in await at.fails(REPLY, spent)
        assert (spent.calls, len(server.asked)) == (0, 1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_cancelled_call_leaves_its_place_and_is_counted() -> None:
    asked, answers = asyncio.Event(), [Sent(hold=True)]

    def told(_: dict[str, Any]) -> Sent:
        asked.set()
        return answers[0]

    spent, limits = Allowance("user_caity"), {"tokens_per_player_hour": 5}
    async with serving(told) as server, bench(server, concurrency=1, budget=limits) as at:
        call = asyncio.create_task(at.ask(REPLY, spent))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (spent.calls, spent.tokens) == (1, 5)
        assert "5 tokens per hour and player is used up" in await at.fails(REPLY, spent)
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


@pytest.mark.slow
async def test_a_first_word_in_time_is_not_late_however_long_the_rest_takes() -> None:
    first = sse(json.dumps({"choices": [{"delta": {"content": "mew"}}]}))
    answer = Sent(first, kind="text/event-stream", unended=True)
    late: list[bool] = []
    async with serving(answer) as server, bench(server, first_token_seconds=2.0, timeout_seconds=2.4) as at:
        assert "too slow to finish even one sentence" in await at.fails(
            REPLY, Allowance(late=lambda: late.append(True))
        )
    assert late == []


async def test_nobody_waits_for_the_first_word_of_what_is_not_streamed() -> None:
    late: list[bool] = []
    held = Sent(hold=True)
    async with serving(held) as server, bench(server, first_token_seconds=0.05, timeout_seconds=0.4) as at:
        assert "not answer within 0.2 s" in await at.fails(
            APPRAISE, Allowance(late=lambda: late.append(True))
        )
    assert late == []


async def test_closing_twice_is_closing_once_and_it_can_be_asked_again() -> None:
    async with serving(chat("mew.")) as server, bench(server) as at:
        await at.gateway.close()
        assert await at.ask() == "mew."
        await at.gateway.close()
        await at.gateway.close()
