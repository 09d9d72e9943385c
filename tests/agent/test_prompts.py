"""The prompts of a turn: kept word for word in memory, for a while, and nowhere else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from noodlings.agent.society import Society
from noodlings.agent.state import PROMPTS_KEPT
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.errors import Forbidden, NotFound
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.why import GONE, UNASKED, PromptView
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept
from noodlings.values.sent_prompt import TokenCounts
from tests.llm.server import KEY, Answer, chat, serving
from tests.store.records import in_traces

pytestmark = pytest.mark.slow

ADMIN = Caller("user_me", "me", Role.ADMIN)
CAITY = Caller("user_caity", "caity")
USAGE = {
    "total_tokens": 900,
    "prompt_tokens": 870,
    "completion_tokens": 30,
    "prompt_tokens_details": {"cached_tokens": 512},
}


def a_society(folder: Path, llm: LLMSettings) -> Society:
    settings = Settings(
        llm=llm,
        store={"path": str(folder)},
        embedding={"model": "none"},
        thought={"ruminate": False},
        log={"level": "debug"},
    )
    return build(settings, clock=ManualClock(1_000_000.0))


async def tell(society: Society, text: str, user: str = "user_caity") -> int:
    """Say something to Phi. Returns the entry."""
    percept = Percept(user, text, society.clock.now(), addressed=True)
    return (await society.perceive("phi", percept)).entry_id


def shown(society: Society, entry: int) -> PromptView:
    return Inspector(society).prompt(ADMIN, "phi", entry)


def sent(server: Any) -> list[list[tuple[str, str]]]:
    """The messages of each call that the server got."""
    return [[(one["role"], one["content"]) for one in asked["messages"]] for asked in server.asked]


def kept_in(folder: Path) -> str:
    """All that is in any file of a data folder."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return "\n".join([in_traces(folder), *(file.read_bytes().decode(errors="ignore") for file in files)])


async def test_what_the_server_got_is_shown_word_for_word_and_is_nowhere_on_disk(tmp_path: Path) -> None:
    async with serving(chat("mew, says the model.", usage=USAGE)) as server:
        society = a_society(tmp_path, server.settings(read_facts=False))
        entry = await tell(society, "hello Phi")
        view = shown(society, entry)
        await society.rest(1.0)
        society.close()
        (asked,) = sent(server)
    (prompt,) = view.prompts
    assert [(one.role, one.content) for one in prompt.messages] == asked
    assert (prompt.task, prompt.model, prompt.failure, view.note) == ("reply", "m", "", "")
    assert prompt.tokens == TokenCounts(900, 870, 30, 512)
    assert prompt.cost == "870 tokens sent (512 cached by the server), 30 answered"
    system = asked[0][1]
    telling = [line for line in system.split("\n") if len(line) > 40]
    assert telling
    assert "hello Phi" in kept_in(tmp_path)
    assert [line for line in [*telling, KEY] if line in kept_in(tmp_path)] == []
    society = a_society(tmp_path, LLMSettings())
    assert (shown(society, entry).prompts, shown(society, entry).note) == ((), GONE)
    society.close()


async def test_the_attempt_that_was_refused_and_the_next_one_are_both_there(tmp_path: Path) -> None:
    answers = [chat("As an AI language model, I cannot do that."), chat("mew, says the model.")]
    async with serving(lambda _: answers.pop(0)) as server:
        society = a_society(tmp_path, server.settings())
        view = shown(society, await tell(society, "hello Phi"))
        await society.rest(1.0)
        society.close()
    first, second = view.prompts
    assert first.failure
    assert second.failure == ""
    assert second.messages[:-1] == first.messages[:-1]
    assert second.messages[-1].content.startswith(first.messages[-1].content)
    assert len(second.messages[-1].content) > len(first.messages[-1].content)


async def test_estimates_are_said_to_be_such_and_failures_are_told(tmp_path: Path) -> None:
    answers = [chat("mew, says the model."), Answer(b"", 401)]
    async with serving(lambda _: answers.pop(0)) as server:
        society = a_society(tmp_path, server.settings())
        guessed, refused = [shown(society, await tell(society, text)).prompts[0] for text in ("hi", "you?")]
        await society.rest(1.0)
        society.close()
        length = sum(len(content) for _, content in sent(server)[0])
    assert guessed.tokens is not None
    assert guessed.tokens.estimated
    assert abs(guessed.tokens.prompt - length / 4) < 1
    assert "estimated" in guessed.cost
    assert (refused.tokens, refused.cost) == (None, "it never reached a model")
    assert "it answered 401" in refused.failure
    assert KEY not in refused.failure


async def test_what_is_forgotten_takes_all_prompts_of_the_agent_with_it(tmp_path: Path) -> None:
    async with serving(chat("mew, says the model.")) as server:
        society = a_society(tmp_path, server.settings())
        secret = await tell(society, "the key is under the blue stone")
        other = await tell(society, "what is new?", "user_bram")
        assert shown(society, other).prompts
        society.corrections.forget(ADMIN, "phi", [secret])
        assert society.agents["phi"].prompts == {}
        assert shown(society, other).note == GONE
        with pytest.raises(NotFound):
            shown(society, secret)
        await society.rest(1.0)
        society.close()


async def test_a_prompt_that_was_on_its_way_when_something_was_forgotten_is_not_kept(tmp_path: Path) -> None:
    gate, arrived = asyncio.Event(), asyncio.Event()
    answers = [chat("mew, says the model."), chat("As an AI language model, I cannot.")]

    def answer(asked: dict[str, Any]) -> Answer:
        if not answers:
            return chat("mew, says the model.")
        if answers[0].gate:
            arrived.set()
        return answers.pop(0)

    async with serving(answer) as server:
        society = a_society(tmp_path, server.settings(read_facts=False))
        secret = await tell(society, "the key is under the blue stone")
        answers[0].gate = gate
        telling = asyncio.create_task(tell(society, "hello again"))
        await arrived.wait()
        *_, (on_its_way,) = society.agents["phi"].prompts.values()
        assert "blue stone" in str(on_its_way.messages)
        society.corrections.forget(ADMIN, "phi", [secret])
        gate.set()
        entry = await telling
        kept = society.agents["phi"].prompts
        assert set(kept) == {entry}
        assert "blue stone" not in str(kept)
        await society.rest(1.0)
        society.close()
        *_, again, last = sent(server)
        assert "blue stone" in str(again)  # it went out all the same, and then the answer was made anew
        assert [[(one.role, one.content) for one in prompt.messages] for prompt in kept[entry]] == [last]


async def test_only_the_last_turns_are_kept_and_one_without_a_model_says_so(tmp_path: Path) -> None:
    async with serving(chat("mew, says the model.")) as server:
        society = a_society(tmp_path, server.settings())
        entries = [await tell(society, f"line {number}") for number in range(PROMPTS_KEPT + 1)]
        assert list(society.agents["phi"].prompts) == entries[1:]
        assert shown(society, entries[0]).note == GONE
        await society.rest(1.0)
        society.close()
    society = a_society(tmp_path / "offline", LLMSettings())
    assert shown(society, await tell(society, "hello")).note == UNASKED
    society.close()


async def test_nobody_else_sees_one(tmp_path: Path) -> None:
    async with serving(chat("mew, says the model.")) as server:
        society = a_society(tmp_path, server.settings())
        entry = await tell(society, "hello Phi")
        for role in (Role.PLAYER, Role.WORLD):
            with pytest.raises(Forbidden, match="prompt also holds what others said"):
                Inspector(society).prompt(Caller("user_caity", "caity", role), "phi", entry)
        with pytest.raises(Forbidden):
            Inspector(society).prompt(CAITY, "phi", 10**9)
        await society.rest(1.0)
        society.close()
