"""The gateway against a real server: what it asks, what it costs, and when it asks again."""

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from noodlings.errors import LLMError
from noodlings.llm.call import ModelAnswer, ModelCall, Task
from noodlings.llm.circuit_breaker import FAILURES
from noodlings.llm.gateway import PAUSES
from noodlings.ports import Allowance
from tests.llm.bench import APPRAISE, REPLY, bench
from tests.llm.server import Answer as Sent
from tests.llm.server import chat, serving, stream


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Loading the library takes as long as the machine is busy; these deadlines are about the model."""
    import_module("openai")


def scripted(*answers: Sent) -> Callable[[dict[str, Any]], Sent]:
    """One answer after the other, the last one ever after."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


async def test_each_task_has_its_model_and_its_limit() -> None:
    models, limits = {"appraise": "small"}, {"appraise": 30, "reply": 150}
    async with serving(chat("{}")) as server, bench(server, models=models, max_tokens=limits) as at:
        await at.ask(REPLY)
        await at.ask(ModelCall(Task.REPLY, REPLY.prompt, 0.8, tokens=60, seed=7))
        await at.ask(ModelCall(Task.REPLY, REPLY.prompt, 0.8, tokens=900))
        await at.ask(APPRAISE)
        assert [at.gateway.model(task) for task in (Task.APPRAISE, Task.SYMBOL)] == ["small", "m"]
    asked = [(body["model"], body["max_tokens"], body.get("seed"), "stream" in body) for body in server.asked]
    assert asked == [
        ("m", 150, None, True),
        ("m", 60, 7, True),
        ("m", 150, None, True),
        ("small", 30, None, False),
    ]


@pytest.mark.slow
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
    def useless(_: ModelAnswer) -> str:
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
        assert "500, an error on its side" in await at.fails()
        assert len(server.asked) == 1 + len(PAUSES)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 307])
async def test_what_will_not_pass_is_not_tried_again(status: int) -> None:
    answer = Sent(b"{}", status, headers="location: http://127.0.0.1:9/elsewhere\r\n")
    async with serving(answer) as server, bench(server) as at:
        assert f"it answered {status}" in await at.fails()
        assert len(server.asked) == 1


async def test_a_parameter_that_a_model_refuses_by_name_is_left_out_from_then_on() -> None:
    def picky(asked: dict[str, Any]) -> Sent:
        for name in ("max_tokens", "temperature"):
            if asked["model"] == "m" and name in asked:
                error = {"message": f"Unsupported: {name}", "param": name, "code": "unsupported_parameter"}
                return Sent(json.dumps({"error": error}).encode(), 400)
        return chat("mew.")

    spent = Allowance()
    async with serving(picky) as server, bench(server, models={"appraise": "other"}) as at:
        assert await at.ask(REPLY, spent) == "mew."
        assert spent.calls == 3
        assert await at.ask() == await at.ask(APPRAISE) == "mew."
    *_, told, other = server.asked
    assert len(server.asked) == 5
    assert told["max_completion_tokens"] == 200
    assert {"max_tokens", "temperature"} & set(told) == set()
    assert {"max_tokens", "temperature"} < set(other)


@pytest.mark.parametrize("param", ["model", "messages", 7, None, ["seed"], {"seed": 1}])
async def test_what_a_call_cannot_do_without_is_not_left_out(param: object) -> None:
    error = Sent(json.dumps({"error": {"message": "no", "param": param}}).encode(), 400)
    async with serving(error) as server, bench(server) as at:
        assert "it answered 400" in await at.fails()
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
        assert "no time left" in await at.fails(REPLY, Allowance(until=0.0))
        assert len(server.asked) == 1


async def test_nobody_there_is_tried_again_and_told() -> None:
    async with serving(chat("mew.")) as server:
        pass
    spent = Allowance()
    async with bench(server) as at:
        assert "it cannot be reached" in await at.fails(REPLY, spent)
        assert at.pauses == list(PAUSES)
    assert (spent.calls, spent.tokens) == (3, 0)
