"""Calls are recorded and answered again in order, failures too; what was not recorded is not made up."""

import json

import pytest

from noodlings.config import LLMSettings
from noodlings.errors import LLMError, UserError
from noodlings.llm.call import CallRecorder, CallReplay, ModelAnswer, ModelCall, Spent, Task, prompt_hash
from noodlings.llm.gateway import Gateway
from noodlings.llm.openai import OpenAIVoice
from noodlings.ports import Allowance
from tests.llm.server import KEY, asking, chat, serving
from tests.llm.server import Answer as Sent
from tests.voice.utterances import utterance

SECRET = "the code of the safe is 4711"
ASKED, OTHER = (ModelCall(Task.REPLY, asking("s", said), 0.8) for said in (SECRET, "v"))


def test_answers_come_back_in_order_for_each_prompt(tmp_path):
    recorder = CallRecorder(tmp_path / "deep" / "calls.jsonl")
    recorder.keep(ASKED, Spent(1, 10), ModelAnswer("one"))
    recorder.keep(OTHER, Spent(1, 5), ModelAnswer("other\n\u2028", whole=False))
    recorder.keep(ASKED, Spent(3, 0), LLMError("it answered 500"))
    replay, spent = CallReplay(tmp_path / "deep" / "calls.jsonl"), Spent()
    assert replay.take(OTHER, spent) == ModelAnswer("other\n\u2028", whole=False)
    assert replay.take(ASKED, spent) == ModelAnswer("one")
    with pytest.raises(LLMError, match=r"^it answered 500$"):
        replay.take(ASKED, spent)
    assert spent == Spent(5, 15)
    with pytest.raises(LLMError, match="has no answer for this call"):
        replay.take(ASKED, spent)


def test_the_same_words_for_another_task_are_another_call(tmp_path):
    CallRecorder(tmp_path / "calls").keep(ASKED, Spent(), ModelAnswer("one"))
    with pytest.raises(LLMError, match=r"no answer for this call \(symbol\)"):
        CallReplay(tmp_path / "calls").take(ModelCall(Task.SYMBOL, ASKED.prompt, 0.8), Spent())


def test_a_recording_holds_no_prompt(tmp_path):
    CallRecorder(tmp_path / "calls").keep(ASKED, Spent(1, 10), ModelAnswer("one"))
    (line,) = (tmp_path / "calls").read_text().splitlines()
    assert SECRET not in line
    assert json.loads(line)["prompt"] == prompt_hash(ASKED)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"task": "reply"}', '{"task": "reply", "prompt": "x", "more": 1}']
)
def test_a_line_that_is_no_call_is_named(tmp_path, text):
    CallRecorder(tmp_path / "calls").keep(ASKED, Spent(1, 10), ModelAnswer("one"))
    with (tmp_path / "calls").open("a") as file:
        file.write(text + "\n")
    with pytest.raises(UserError, match=r"line 2 of .*calls .* is not a recorded call"):
        CallReplay(tmp_path / "calls")


def test_a_file_that_cannot_be_had_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere .llm.replay. cannot be read"):
        CallReplay(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"\(llm\.record\) cannot be written"):
        CallRecorder(tmp_path)


def test_recording_a_replay_is_refused():
    with pytest.raises(UserError, match="both set"):
        Gateway(LLMSettings(base_url="http://localhost/v1", record="a", replay="b"))


async def test_a_replay_says_and_costs_the_same_without_a_server(tmp_path):
    path = str(tmp_path / "calls")
    answers = iter([chat("mew."), Sent(b"no", 401), Sent(b"", 500), chat("mrrp."), chat("…"), chat("…")])
    lines = [utterance(line, who="phi") for line in ("hello", SECRET, "hello", "bye")]

    async def play(gateway: Gateway) -> list[object]:
        voice, told = OpenAIVoice(gateway), []
        for line in lines:
            spent = Allowance()
            try:
                text = (await voice.speak(line, spent)).text
            except LLMError as error:
                text = str(error)
            told.append((text, spent.calls, spent.tokens))
        return told

    async with serving(lambda _: next(answers)) as server:
        async with server.gateway(record=path) as gateway:
            first = await play(gateway)
        settings = server.settings(replay=path)
    again = Gateway(settings)
    assert await play(again) == first
    assert [calls for _, calls, _ in first] == [1, 1, 2, 2]
    recording = (tmp_path / "calls").read_text()
    assert KEY not in recording
    assert SECRET not in recording
    await again.close()
