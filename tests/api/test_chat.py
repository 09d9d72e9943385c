"""The door for chat clients: what it answers, what is remembered of it, and what is not."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from api import chat, client_talk
from api.server import make_app
from noodlings import app
from noodlings.errors import StoreError
from noodlings.llm.gateway import Gateway
from noodlings.ports import PersonalDatum
from noodlings.store.cipher import UserKey
from noodlings.store.keys import UserKeys
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.store.vault import Encryption
from noodlings.text import MAX_LINE, clean, unaccented
from noodlings.values.affect import NEUTRAL
from noodlings.values.audience import Tier
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind, Percept
from tests.api.conftest import MakeSite, Site
from tests.llm.server import chat as said_by_model
from tests.llm.server import serving
from tests.test_audience import WORD, Evening, answered, repeating
from tests.test_reach import recording

PATH = "/v1/chat/completions"
CAITY, TOAD = "user_caity", "user_toad"
TURNS = int(os.environ.get("TEST_TURNS", "250")) // 2


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def body(*messages: Any, model: str = "servnak", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": list(messages)} | more


async def say(site: Site, *messages: Any, who: str = "", **more: Any) -> str:
    """One request, and the words of its answer."""
    answer = await site.post(PATH, body(*messages, **more), who)
    assert answer.status_code == 200, answer.text
    content: str = answer.json()["choices"][0]["message"]["content"]
    return content


def remembered(site: Site, who: str = CAITY, agent: str = "servnak") -> list[tuple[str, str | None]]:
    """What a character holds of somebody: each line and its answer."""
    store = site.society.store
    entries = store.entries(agent, store.told_by(agent, who))
    return [(entries[number].user_text, entries[number].response) for number in sorted(entries)]


def events(text: str) -> Iterator[dict[str, Any]]:
    """The data of a whole stream but its last line."""
    *some, last, end = text.split("\n\n")
    assert (last, end) == ("data: [DONE]", "")
    return (json.loads(one.removeprefix("data: ")) for one in some if not one.startswith(":"))


# -- what it looks like


async def test_characters_are_models(guarded: Site):
    listed = (await guarded.get("/v1/models", "viewer")).json()
    assert listed["object"] == "list"
    assert {one["id"] for one in listed["data"]} == set(guarded.society.personas)
    for name in ("servnak", "SERVNAK"):
        one = (await guarded.get(f"/v1/models/{name}", "toad")).json()
        assert one in listed["data"]
        assert one == {"id": "servnak", "object": "model", "created": 0, "owned_by": "noodlings"}


@pytest.mark.parametrize("model", ["gpt-4o", "servank", "\x00", "a/b", "x" * 80])
async def test_a_model_that_is_none(site: Site, model: str):
    answer = await site.post(PATH, body(user("hi"), model=model))
    assert answer.status_code == 404
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == (
        "invalid_request_error", "model", "model_not_found",
    )  # fmt: skip
    assert (await site.get("/v1/models/gpt-4o")).json()["error"]["code"] == "model_not_found"


async def test_an_answer_whole_and_in_pieces(site: Site):
    whole = (await site.post(PATH, body(user("hello there")))).json()
    assert whole["object"] == "chat.completion"
    assert whole["id"].startswith("chatcmpl-")
    assert whole["model"] == "servnak"
    [choice] = whole["choices"]
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["content"]
    assert choice["finish_reason"] == "stop"
    usage = whole["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    more = {"stream": True, "stream_options": {"include_usage": True}}
    answer = await site.post(PATH, body(user("who are you?"), **more))
    assert answer.headers["content-type"].startswith("text/event-stream")
    first, *parts, end, cost = events(answer.text)
    assert {one["object"] for one in (first, *parts, end, cost)} == {"chat.completion.chunk"}
    assert len({one["id"] for one in (first, *parts, end, cost)}) == 1
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    content = "".join(one["choices"][0]["delta"]["content"] for one in parts)
    assert content == remembered(site, "user_traveller")[1][1]
    assert (end["choices"][0]["delta"], end["choices"][0]["finish_reason"]) == ({}, "stop")
    assert cost["choices"] == []
    assert cost["usage"]["total_tokens"] > 0
    assert len(list(events((await site.post(PATH, body(user("and?"), stream=True))).text))) == 3


def by_parts(site: Site, monkeypatch: pytest.MonkeyPatch, gate: asyncio.Event | None = None) -> None:
    """Characters that say each answer word by word, once the gate is open."""
    perceive = site.society.perceive

    async def slowly(agent_id, percept, said=lambda text: None, earlier=()):
        trace = await perceive(agent_id, percept, lambda text: None, earlier)
        if gate is not None:
            await gate.wait()
        for word in (trace.response or "").split():
            said(word)
        return trace

    monkeypatch.setattr(site.society, "perceive", slowly)


async def test_each_part_comes_as_it_is_said(site: Site, monkeypatch: pytest.MonkeyPatch):
    by_parts(site, monkeypatch)
    _, *parts, _ = events((await site.post(PATH, body(user("hello there"), stream=True))).text)
    words = [one["choices"][0]["delta"]["content"] for one in parts]
    [(_, response)] = remembered(site, "user_traveller")
    assert len(words) == len(response.split()) > 1
    assert "".join(words) == response


class Wire:
    """One request to the application itself: what it sends is seen at once, and the client can go away."""

    def __init__(self, site: Site, sent: dict[str, Any]) -> None:
        self._body = json.dumps(sent).encode()
        self._asked = False
        self.text, self.status = "", 0
        self.thinks, self.gone = asyncio.Event(), asyncio.Event()
        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": PATH, "query_string": b"", "headers": headers}
        self.done = asyncio.ensure_future(make_app(site.parts)(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.text += message.get("body", b"").decode()
        if ": thinking\n\n" in self.text:
            self.thinks.set()


async def test_a_slow_answer_shows_that_it_is_alive(site: Site, monkeypatch: pytest.MonkeyPatch):
    gate = asyncio.Event()
    by_parts(site, monkeypatch, gate)
    monkeypatch.setattr(chat, "ALIVE_SECONDS", 0.01)
    wire = Wire(site, body(user("hello"), stream=True))
    await wire.thinks.wait()
    gate.set()
    await wire.done
    assert wire.text.index(": thinking") < wire.text.index("data: [DONE]")
    assert "".join(one["choices"][0]["delta"].get("content", "") for one in events(wire.text))


async def test_whoever_goes_away_does_not_stop_the_turn(site: Site, monkeypatch: pytest.MonkeyPatch):
    gate = asyncio.Event()
    by_parts(site, monkeypatch, gate)
    monkeypatch.setattr(chat, "ALIVE_SECONDS", 0.01)
    wire = Wire(site, body(user("hello"), stream=True))
    await wire.thinks.wait()
    wire.gone.set()
    await wire.done
    assert site.parts.turns.unfinished == 1
    gate.set()
    await site.parts.turns.close()
    [(text, response)] = remembered(site, "user_traveller")
    assert text == "hello"
    assert response


async def test_a_store_that_fails_is_told_in_either_form(site: Site, monkeypatch: pytest.MonkeyPatch):
    def fails(changes):
        raise StoreError("disk full at /somewhere")

    monkeypatch.setattr(site.society.store, "commit", fails)
    for stream in (False, True):
        answer = await site.post(PATH, body(user("hello"), stream=stream))
        assert answer.status_code == 503
        assert answer.json()["error"]["type"] == "server_error"
        assert "/somewhere" not in answer.text
    gate = asyncio.Event()

    async def fails_late(agent_id, percept, said, earlier):
        said("I was")
        await gate.wait()
        raise StoreError("disk full at /somewhere")

    monkeypatch.setattr(site.society, "perceive", fails_late)
    monkeypatch.setattr(chat, "ALIVE_SECONDS", 0.01)
    wire = Wire(site, body(user("hello"), stream=True))
    await wire.thinks.wait()
    gate.set()
    await wire.done
    last = json.loads(wire.text.strip().split("\n\n")[-1].removeprefix("data: "))
    assert last["error"]["type"] == "server_error"
    assert "/somewhere" not in wire.text


async def test_silence_is_an_empty_answer(site: Site):
    spoken = await say(site, user("hello"), user="servnak")  # as itself: it does not answer itself
    assert spoken == ""
    answer = await site.post(PATH, body(user("hello"), user="servnak", stream=True))
    assert [one["choices"][0]["finish_reason"] for one in events(answer.text)] == [None, "stop"]


async def test_a_key_is_heard_once(site: Site):
    asked = body(user("hello"), assistant("x"), user("My dog died"), stream=False)
    headers = {"Idempotency-Key": "k"}
    first, again = [await site.post(PATH, asked, headers=headers) for _ in range(2)]
    assert again.json()["choices"] == first.json()["choices"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    streamed = await site.post(PATH, asked | {"stream": True}, headers=headers)
    content = "".join(one["choices"][0]["delta"].get("content", "") for one in events(streamed.text))
    assert content == first.json()["choices"][0]["message"]["content"]
    assert (await site.post(PATH, body(user("else")), headers=headers)).status_code == 422
    assert len(remembered(site, "user_traveller")) == 1


async def test_the_history_is_looked_through_in_a_thread(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
):
    """It may be long, and everybody else would wait."""
    where = dict[str, bool]()

    def find(text: str) -> tuple[PersonalDatum, ...]:
        where[text] = threading.current_thread() is not threading.main_thread()
        return ()

    monkeypatch.setattr(app, "personal_finder", lambda: find)
    site = make_site(sections={"privacy": {"personal": "mask"}})
    await say(site, user("My dog died"), assistant("Oh."), user("and now?"))
    assert where["My dog died"]
    assert where["Oh."]


# -- who speaks


async def test_who_speaks_is_who_the_key_names(guarded: Site):
    await say(guarded, user("hello one"), who="caity")
    await say(guarded, user("hello two"), who="caity", user=CAITY)
    await say(guarded, user("hello three"), who="world", user=CAITY)
    await say(guarded, user("hello four"), who="admin", user=CAITY)
    headers = {"Noodlings-User": CAITY}
    assert (await guarded.post(PATH, body(user("hello five")), "world", headers=headers)).status_code == 200
    assert [text.split()[1] for text, _ in remembered(guarded)] == ["one", "two", "three", "four", "five"]
    await say(guarded, user("hello"), who="admin")
    assert len(remembered(guarded, "user_traveller")) == 1
    for who, status, more in (
        ("caity", 403, {"user": TOAD}),
        ("viewer", 403, {"user": TOAD}),
        ("viewer", 403, {}),
        ("world", 400, {}),
        ("world", 403, {"user": "user_traveller"}),
        ("world", 400, {"user": "a\nb"}),
        ("", 401, {"user": TOAD}),
    ):
        answer = await guarded.post(PATH, body(user("no"), **more), who)
        assert answer.status_code == status, (who, more, answer.text)
        assert answer.json()["error"]["message"]
    two = await guarded.post(PATH, body(user("no"), user=TOAD), "world", headers=headers)
    assert two.status_code == 400
    assert "user and the header Noodlings-User differ" in two.text
    assert remembered(guarded, TOAD) == []


async def test_it_is_confined_as_any_talk_alone(site: Site):
    await say(site, user("I stole the zarn"), user=CAITY)
    assert "ZARN" not in await say(site, user("what do you know of a theft?"), user=TOAD)
    entry = site.society.agents["servnak"].entry(1)
    assert entry.audience.confined
    assert entry.audience.witnesses == {CAITY, "servnak"}


# -- what will not do


BAD = [
    {},
    {"model": "servnak"},
    {"messages": [user("hi")]},
    body(),
    body(user("hi"), n=2),
    body(user("hi"), n=0),
    body(user("hi"), n="1"),
    body(user("hi"), n=True),
    body(user("hi"), stream="yes"),
    body(user("hi"), user=7),
    body(user("hi"), user="x" * 81),
    body(user("hi"), model=7),
    body(user("hi"), model=""),
    body(user("hi"), model="x" * 81),
    body(user("hi"), stream_options=[]),
    body("hi"),
    body({"role": "tool", "content": "hi"}),
    body({"role": "function", "name": "f", "content": "hi"}),
    body({"content": "hi"}),
    body(user("")),
    body(user(" \x1b[31m\n\u200b ")),
    body({"role": "user"}),
    body({"role": "user", "content": None}),
    body({"role": "user", "content": 7}),
    body({"role": "user", "content": {"type": "text", "text": "hi"}}),
    body({"role": "user", "content": []}),
    body({"role": "user", "content": ["hi"]}),
    body({"role": "user", "content": [{"type": "text"}]}),
    body({"role": "user", "content": [{"type": "text", "text": 7}]}),
    body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}),
    body(assistant("hi")),
    body(system("")),
    body(user("hi"), user("")),
    body(user("x" * 4_001)),
    [],
    "hi",
    None,
]  # fmt: skip


@pytest.mark.parametrize("sent", BAD, ids=lambda sent: json.dumps(sent)[:60])
async def test_what_will_not_do_is_refused_in_words(site: Site, sent: Any):
    answer = await site.post(PATH, sent)
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert error["message"].isprintable()
    assert remembered(site, "user_traveller") == []


async def test_what_it_does_not_know_and_parts_of_text_do_no_harm(site: Site):
    parts = [{"type": "text", "text": "My dog"}, {"type": "text", "text": "died\x1b[31m", "x": 1}]
    unknown = {"temperature": float("1e300"), "tools": [], "seed": None, "logit_bias": {}, "stop": ["x"]}
    sent = body({"role": "user", "content": parts, "name": "caity"}, n=1, stream=None, **unknown)
    assert (await site.post(PATH, sent)).status_code == 200
    assert [text for text, _ in remembered(site, "user_traveller")] == ["My dog died"]


async def test_refusals_of_the_gate_have_the_shape_too(make_site: MakeSite):
    site = make_site(tokens=True, max_body_bytes=1_000)
    for method, path, status, sent in (
        ("POST", PATH, 413, body(user("x" * 2_000))),
        ("POST", PATH, 401, body(user("hi"))),
        ("GET", "/v1/nothing", 404, None),
        ("GET", PATH, 405, None),
    ):
        answer = await site.ask(method, path, json=sent)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}, answer.text
    fast = make_site(requests_per_second=0.001)
    for _ in range(2):
        answer = await fast.get("/v1/models")
    assert answer.status_code == 429
    assert answer.json()["error"]["code"] == "rate_limit_exceeded"
    assert answer.headers["retry-after"]
    assert "title" in (await fast.get("/api/agents")).json()  # and those of the other doors theirs


# -- the last turn once more


A, B, C = "My dog died yesterday", "do you remember my dog?", "what else do you know?"


async def test_asked_again_the_answer_takes_the_place_of_the_last(site: Site):
    first = await say(site, user(A), user=CAITY)
    talk = [system("You are SERVNAK."), user(A), assistant(first), user(B)]
    answers = [await say(site, *talk, user=CAITY) for _ in range(3)]
    assert len(set(answers)) > 1
    assert remembered(site) == [(A, first), (B, answers[-1])]
    gone_on = await say(
        site, *talk, assistant("Yes, I"), user=CAITY
    )  # continue, or a beginning of the answer
    assert remembered(site) == [(A, first), (B, gone_on)]
    streamed = await site.post(PATH, body(*talk, user=CAITY, stream=True))
    content = "".join(one["choices"][0]["delta"].get("content", "") for one in events(streamed.text))
    assert remembered(site) == [(A, first), (B, content)]
    other = await say(site, *talk, assistant(answers[0]), user(C), user=CAITY)  # an earlier one was chosen
    assert remembered(site) == [(A, first), (B, content), (C, other)]


async def test_a_changed_message_takes_the_place_of_the_last(site: Site):
    first = await say(site, user(A), user=CAITY)
    await say(site, user(A), assistant(first), user("I hid the zarn"), user=CAITY)
    changed = await say(site, user(A), assistant(first), user(B), user=CAITY)
    assert remembered(site) == [(A, first), (B, changed)]
    assert "zarn" not in str(site.society.store.traces("servnak", 9))
    assert "zarn" not in str(site.society.store.load("servnak"))


async def test_it_is_recognised_after_a_start_anew(make_site: MakeSite):
    store = MemoryStore()
    site = make_site(store=store)
    first = await say(site, user(A), user=CAITY)
    await say(site, user(A), assistant(first), user(B), user=CAITY)
    later = make_site(store=store)
    again = await say(later, user(A), assistant(first), user(B), user=CAITY)
    assert remembered(later) == [(A, first), (B, again)]
    changed = await say(later, user(A), assistant(first), user(C), user=CAITY)
    assert remembered(later) == [(A, first), (C, changed)]


async def test_the_same_words_are_something_new_where_the_talk_went_on(site: Site):
    one = await say(site, user("yes"), user=CAITY)
    two = await say(site, user("yes"), assistant(one), user("yes"), user=CAITY)
    await say(site, user("yes"), assistant(one), user("yes"), assistant(two), user("yes"), user=CAITY)
    assert [text for text, _ in remembered(site)] == ["yes"] * 3


async def test_the_first_line_once_more(site: Site):
    await say(site, user(A), user=CAITY)
    again = await say(site, user(A), user=CAITY)
    assert remembered(site) == [(A, again)]
    site.clock.advance(2 * 3_600.0)  # by now it is said anew
    await say(site, user(A), user=CAITY)
    assert [text for text, _ in remembered(site)] == [A, A]
    await say(site, user(B), user=CAITY)  # another talk, and not the first line changed
    assert [text for text, _ in remembered(site)] == [A, A, B]


@pytest.mark.slow
async def test_nothing_but_the_last_turn_of_that_very_user_is_replaced(site: Site):
    first = await say(site, user(A), user=CAITY)
    await say(site, user("another talk"), user=CAITY)
    await say(site, user(A), assistant(first), user(B), user=CAITY)
    await say(site, user("another talk"), assistant("x"), user("of something else"), user=CAITY)
    await say(
        site, user(A), assistant(first), user(C), user=CAITY
    )  # that was changed there, and is not the last
    texts = [A, "another talk", B, "of something else", C]
    assert [text for text, _ in remembered(site)] == texts
    await say(site, user(A), assistant(first), user(C), user=TOAD)
    await say(site, user(A), assistant(first), user(C), user=CAITY, model="phi")
    assert [text for text, _ in remembered(site)] == texts
    await site.tell("in a room", CAITY)
    await say(site, user(A), assistant(first), user(C), user=CAITY)
    assert [text for text, _ in remembered(site)] == [*texts, "in a room", C]
    assert [text for text, _ in remembered(site, TOAD)] == [C]


@pytest.mark.slow
async def test_others_in_between_change_nothing(site: Site):
    first = await say(site, user(A), user=CAITY)
    await say(site, user(A), assistant(first), user(B), user=CAITY)
    for number in range(25):  # more than is in working memory
        await site.tell(f"line {number}", TOAD)
    again = await say(site, user(A), assistant(first), user(B), user=CAITY)
    assert remembered(site) == [(A, first), (B, again)]
    assert len(remembered(site, TOAD)) == 25


@pytest.mark.slow
async def test_what_was_understood_or_written_about_somebody_is_no_line_of_theirs(site: Site):
    first = await say(site, user(A), user=CAITY)
    await say(site, user(A), assistant(first), user("I hid the zarn"), user=CAITY)
    agent = site.society.agents["servnak"]
    agent.remember_told(Percept(CAITY, "Caity hides things.", 0.0, Kind.FACT), "understood", NEUTRAL, 0.5)
    agent.keep()
    await agent.know(CAITY, "is a knight", "user_root")
    changed = await say(site, user(A), assistant(first), user(B), user=CAITY)
    for number in range(25):  # more than is in working memory
        await site.tell(f"line {number}", TOAD)
    again = await say(site, user(A), assistant(first), user(C), user=CAITY)
    assert [text for text, _ in remembered(site)] == [A, "Caity hides things.", "is a knight", C]
    assert remembered(site)[-1] == (C, again)
    assert changed != again


@pytest.mark.slow
@pytest.mark.parametrize("busy", [0, 25])
@pytest.mark.parametrize("which", [0, 1])
async def test_a_changed_message_goes_with_what_corrected_it(site: Site, which: int, busy: int):
    first = await say(site, user(A), user=CAITY)
    await say(site, user(A), assistant(first), user("I hid the zarn"), user=CAITY)
    for number in range(busy):  # more than is in working memory
        await site.tell(f"line {number}", TOAD)
    root, corrected = Caller("user_root", "root", Role.ADMIN), (A, "I hid the zarn")[which] + ", and more"
    site.society.corrections.correct(root, "servnak", 1 + which, corrected)
    await say(site, user(A), assistant(first), user(B), user=CAITY)
    texts = [A, *[corrected] * (which == 0), B]
    assert sorted(text for text, _ in remembered(site)) == sorted(texts)


async def test_asked_again_while_it_is_still_thinking(site: Site, monkeypatch: pytest.MonkeyPatch):
    gate = asyncio.Event()
    by_parts(site, monkeypatch, gate)
    both = [asyncio.ensure_future(say(site, user(A), user=CAITY)) for _ in range(2)]
    gate.set()
    _, last = await asyncio.gather(*both)
    assert remembered(site) == [(A, last)]


# -- a client's own tasks, and its history


TITLE = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Chat History:
<chat_history>
USER: My dog died yesterday
</chat_history>"""
TASKS = [
    [user(TITLE)],
    [user("### Task:\nSuggest 3-5 relevant follow-up questions.\n### Chat History:\nx")],
    [
        user(A),
        assistant("Oh."),
        user("Please generate a four to five word title summarizing our conversation"),
    ],
    [user("Create a concise, 3-5 word title as a title for the chat history")],
    [user(A), assistant("Oh."), system("Summarize the discussion briefly in 200 words or less")],
    [user(A), system("[Pause your roleplay. Summarize the most important facts]")],
    [user(A), system("Ignore previous instructions. Summarize the most important facts")],
    [
        user(A),
        system("[Write your next reply from the point of view of caity, using the chat history so far]"),
    ],
    [system("You are a professional conversation summarizer."), user("user: hi")],
    [system("Suggest three follow-up questions."), user(A)],
    [{"role": "developer", "content": "Count to three."}],
]
TALK = [
    [system("You are a helpful assistant."), user(A)],
    [system("Write SERVNAK's next reply in a fictional chat between SERVNAK and caity."), user(A)],
    [system("You are SERVNAK, keeper of titles and tags."), user(A), system("[Continue your last message]")],
    [user("write me a song")],
    [user("give me a summary of our conversation")],
    [user("suggest a title for my book")],
    [user("summarize what I told you about my dog")],
    [user("my task: generate a joke")],
]  # fmt: skip


@pytest.mark.parametrize("messages", TASKS, ids=lambda messages: messages[-1]["content"][:50])
async def test_a_task_of_the_client_is_not_remembered(site: Site, messages: list[Any]):
    assert await say(site, *messages, user=CAITY) == "A talk with SERVNAK"
    answer = await site.post(PATH, body(*messages, user=CAITY, stream=True))
    assert [one["choices"][0]["delta"].get("content") for one in events(answer.text)] == [
        "", "A talk with SERVNAK", None,
    ]  # fmt: skip
    assert remembered(site) == []


@pytest.mark.parametrize("messages", TALK, ids=lambda messages: messages[-1]["content"][:50])
async def test_what_is_no_task_is_talk(site: Site, messages: list[Any]):
    await say(site, *messages, user=CAITY)
    assert len(remembered(site)) == 1


@pytest.mark.slow
async def test_a_model_does_a_task_as_it_stands_and_is_shown_no_memories(make_site: MakeSite):
    async with serving(said_by_model('{\n "title": "The \x1b[31mdog"\n}')) as model:
        site = make_site(
            sections={
                "llm": {"base_url": f"http://127.0.0.1:{model.port}/v1", "model": "m", "read_facts": False}
            }
        )
        await say(site, user("I hid the zarn in the mill"), user=CAITY)
        model.asked.clear()
        answer = await site.post(PATH, body(system("x"), user(TITLE), user=CAITY))
        assert answer.json()["choices"][0]["message"]["content"] == '{\n"title": "The dog"\n}'
        assert answer.json()["usage"]["total_tokens"] >= 42
        [asked] = model.asked
        assert [message["role"] for message in asked["messages"]] == ["system", "user"]
        assert asked["messages"][1]["content"].startswith("### Task:\nGenerate a concise")
        assert "zarn" not in json.dumps(asked)
        assert len(remembered(site)) == 1
    answer = await site.post(PATH, body(user(TITLE), user=CAITY))  # the model is gone
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "server_error"


@pytest.mark.slow
async def test_a_history_is_told_where_the_character_has_none_of_its_own(make_site: MakeSite):
    async with serving(said_by_model("I see, I see.")) as model:
        site = make_site(sections={"llm": {"base_url": f"http://127.0.0.1:{model.port}/v1", "model": "m"}})

        def shown() -> str:
            return json.dumps(model.asked[-1]["messages"])

        talk = [system("secret card"), user("I hid the zarn"), assistant("Where?"), user("In the mill")]
        await say(site, *talk, user=CAITY)
        assert "I hid the zarn" in shown()
        assert "Where?" in shown()
        assert "secret card" not in shown()
        await say(site, *talk, user=CAITY)  # once more: it still has nothing of its own
        assert "I hid the zarn" in shown()
        usage = (await site.post(PATH, body(*talk, assistant("I see."), user("so?"), user=CAITY))).json()[
            "usage"
        ]
        assert "I hid the zarn" not in shown()
        assert usage["total_tokens"] == 42  # as the endpoint counts
        assert [text for text, _ in remembered(site)] == ["In the mill", "so?"]
        await say(site, user("what do you know?"), user=TOAD)
        assert "zarn" not in shown()
        assert "mill" not in shown()


@pytest.mark.skipif(sys.platform == "darwin", reason="there 127.0.0.2 is no address of the loopback")
@pytest.mark.parametrize(
    ("tier", "address"),
    [(Tier.SECRET, "127.0.0.2"), (Tier.SEALED, "127.0.0.2"), (Tier.SEALED, "127.0.0.1")],
)
async def test_a_secret_goes_to_no_other_machine_in_a_history_or_a_task(
    make_site: MakeSite, tmp_path: Path, tier: Tier, address: str
):
    """What is sealed goes to no model at all."""
    async with serving(said_by_model("I see.")) as model, recording(model.port, address) as recorder:
        key = UserKey(bytes(32))
        site = make_site(
            store=SqlStore(tmp_path, encryption=Encryption(Tier.OPEN, UserKeys(key.text))),
            sections={"llm": {"base_url": recorder.url, "model": "m"}},
        )
        secret, told = "the zarn is in the mill", "You told me of the zarnok."
        said = Percept(CAITY, secret, site.clock.now(), addressed=True, tier=tier)
        await site.society.perceive("servnak", said)
        talk = [user(f"remember: {secret}"), assistant(told), user("and the harbour?")]
        await site.post(PATH, body(*talk, user=CAITY, model="phi"))
        assert b"harbour" in recorder.sent
        assert b"zarn" not in recorder.sent
        task = user(f"### Task: Generate a title.\nUSER: {secret}\nASSISTANT: {told}")
        assert await say(site, task, user=CAITY) == "A talk with SERVNAK"
        assert b"zarn" not in recorder.sent
        await say(site, user("### Task: Generate a title.\nUSER: the harbour is cold"), user=CAITY)
        assert b"harbour is cold" in recorder.sent
        for part, told in (("我怀孕了", "我怀孕了怎么办"), ("鍵は花瓶の下", "鍵は花瓶の下です")):
            await site.society.perceive("servnak", replace(said, text=part))
            await say(site, user(f"### Task: Generate a title.\nUSER: {told}"), user=CAITY)
            assert part.encode() not in recorder.sent
            assert json.dumps(part).strip('"').encode() not in recorder.sent


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="there 127.0.0.2 is no address of the loopback")
@pytest.mark.parametrize("tier", [Tier.SECRET, Tier.SEALED])
async def test_what_circumstances_tell_of_a_secret_goes_to_no_other_machine(
    make_site: MakeSite, tmp_path: Path, tier: Tier
):
    given = {
        "when": {"begins": 896745600.0, "words": "the night when zarnok burned"},
        "where": "behind the third stone of the zarnok chapel",
        "emotions": [{"who": TOAD, "emotion": "guilt", "evidence": "he trembled when zarnok was named"}],
        "inferences": ["he murdered his uncle zarnok"],
        "goals": ["poison the old bailiff zarnok"],
        "task": "smuggling the zarnok ledger to Calais",
    }
    texts = (given["when"]["words"], given["where"], given["emotions"][0]["evidence"], given["inferences"][0])
    async with serving(said_by_model("I see.")) as model, recording(model.port, "127.0.0.2") as recorder:
        site = make_site(
            store=SqlStore(tmp_path, encryption=Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))),
            sections={"llm": {"base_url": recorder.url, "model": "m"}},
        )
        said = Percept(
            CAITY,
            "My grandfather hid the crown there.",
            site.clock.now(),
            addressed=True,
            tier=tier,
            data={"circumstances": given},
        )
        await site.society.perceive("servnak", said)
        for text in (*texts, *given["goals"], given["task"]):
            talk = [user(f"I told you it was {text}"), assistant("yes"), user("and the harbour?")]
            await site.post(PATH, body(*talk, user=CAITY, model="phi"))
            task = user(f"### Task: Generate a title.\nUSER: the chat says: {text}.")
            assert await say(site, task, user=CAITY) == "A talk with SERVNAK", text
        assert b"harbour" in recorder.sent
        assert b"zarnok" not in recorder.sent


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="there 127.0.0.2 is no address of the loopback")
async def test_a_part_or_a_retelling_of_a_secret_goes_to_no_other_machine(
    make_site: MakeSite, tmp_path: Path
):
    secret = "The treasure is buried under the zarnoak tree behind the mill"
    retold = "YOU TOLD ME YOUR TREASURE IS BURIED UNDER THE ZARNOAK TREE"
    forms = [secret[:50], secret[12:], secret.upper(), secret.replace(" tree", "\ntree"), retold]
    forms += [
        secret.replace(" ", "_"),
        secret.title().replace(" ", ""),
        json.dumps(secret.replace(" ", "\n")),
    ]
    forms += [f"https://example.org/?q={secret.replace(' ', '%20')}"]
    forms += ["".join(f"\\u{ord(letter):04x}" for letter in secret)]
    forms += ["".join(f"&#{ord(letter)};" for letter in secret)]
    async with serving(said_by_model("I see.")) as model, recording(model.port, "127.0.0.2") as recorder:
        site = make_site(
            store=SqlStore(tmp_path, encryption=Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))),
            sections={"llm": {"base_url": recorder.url, "model": "m"}},
        )
        now, both = site.clock.now(), frozenset({CAITY, TOAD})
        said = Percept(CAITY, secret, now, addressed=True, tier=Tier.SECRET, present=both)
        await site.society.perceive("servnak", said)
        for form in forms:
            await site.post(PATH, body(user("hm"), assistant(form), user("well"), user=CAITY, model="phi"))
            await say(site, system("Summarize the talk so far"), user(form), user=CAITY)
        asked = replace(said, user_id=TOAD, text="where is the treasure buried?")
        told = (await site.society.perceive("servnak", asked)).response
        assert told is not None
        assert "zarnoak" in told.lower()  # Toad was there, so it is his secret, too
        await say(site, system("Summarize the talk so far"), assistant(told), user=TOAD)
        await say(site, system("Summarize the talk so far"), assistant("Caity's zarnoak tree!"), user=TOAD)
        assert b"zarnoak" not in recorder.sent.lower()
        await say(site, system("Summarize the talk so far"), user("the treasure of good company"), user=CAITY)
        assert b"good company" in recorder.sent


@pytest.mark.skipif(sys.platform == "darwin", reason="there 127.0.0.2 is no address of the loopback")
@pytest.mark.parametrize(
    "secret",
    ["내 동생이 은행에서 돈을 훔쳐서 오래된 다리 밑에 숨겼다", "Đứa bé không phải con của chồng tôi."],
)
async def test_a_secret_is_known_in_every_form_of_its_letters_and_to_whoever_stood_by(
    make_site: MakeSite, tmp_path: Path, secret: str
):
    async with serving(said_by_model("I see.")) as model, recording(model.port, "127.0.0.2") as recorder:
        site = make_site(
            store=SqlStore(tmp_path, encryption=Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))),
            sections={"llm": {"base_url": recorder.url, "model": "m"}},
        )
        both = frozenset({CAITY, TOAD})
        said = Percept(CAITY, secret, site.clock.now(), addressed=True, tier=Tier.SECRET, present=both)
        await site.society.perceive("servnak", said)
        as_json = json.dumps([{"role": "user", "content": secret}])
        for form in (secret, normalize("NFD", secret), unaccented(secret), as_json):
            for who in (CAITY, TOAD):
                told = user(f"### Task: Generate a title.\nUSER: {form}")
                assert await say(site, told, user=who) == "A talk with SERVNAK"


async def test_nobody_can_try_out_what_another_told_in_secret(make_site: MakeSite, tmp_path: Path):
    secret = "the zarnoak treasure lies behind the old mill"
    async with serving(said_by_model("I see.")) as model, recording(model.port, "127.0.0.2") as recorder:
        site = make_site(
            store=SqlStore(tmp_path, encryption=Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))),
            sections={"llm": {"base_url": recorder.url, "model": "m"}},
        )
        agent, now = site.society.agents["servnak"], site.clock.now()
        for text in (secret, "where is the zarnoak treasure?"):
            here = frozenset({CAITY, "phi"})
            said = Percept(CAITY, text, now, addressed=True, tier=Tier.SECRET, present=here)
            await site.society.perceive("servnak", said)
        own = Percept(TOAD, "my own little secret about shoes", now, tier=Tier.SECRET)
        agent.remember_told(own, "chat", NEUTRAL, None)  # a source's line has no turn of its own
        agent.keep_told((), ())
        await say(site, user(f"### Task: Generate a title.\nUSER: {secret}"), user=TOAD)
        assert b"zarnoak" in recorder.sent  # what Toad wrote by himself tells nothing, unless it is held
        # Phi was there, and is told nothing by it: whoever speaks as Phi was not.
        guess = user(f"### Task: Generate a title.\nUSER: {secret}")
        assert await say(site, guess, user="phi") != "A talk with SERVNAK"
        assert await say(site, guess, user=CAITY) == "A talk with SERVNAK"


# -- nobody learns what was told to others


@pytest.mark.timeout(600)
@pytest.mark.slow
async def test_an_evening_of_secrets_through_the_door(make_site: MakeSite, monkeypatch: pytest.MonkeyPatch):
    evening, chance = Evening(), random.Random(13)
    monkeypatch.setattr(Gateway, "ask", repeating(evening))
    site = make_site(
        tokens=True,
        requests_per_second=1e6,
        sections={"llm": {"base_url": "http://127.0.0.1:9/v1", "model": "m", "appraise": False}},
    )
    talks: dict[tuple[str, str], list[dict[str, str]]] = {}
    while min(evening.prompts, evening.answers) < TURNS:
        site.clock.advance(chance.choice([5.0, 40.0, 400.0]))
        name, agent = chance.choice(["caity", "toad"]), chance.choice(["servnak", "phi"])
        who, talk = f"user_{name}", talks.setdefault((name, agent), [])
        word = evening.word(frozenset({who}))
        text = chance.choice(
            ["I stole the {}", "my {} died, I cannot stop crying", "do you remember the {}?"]
        )
        answered.set(Percept(who, "x", 1.0))
        kind = chance.random()
        if kind < 0.1:
            sent = [*talk, system("Summarize the talk")]
        elif kind < 0.3 and talk:
            sent = talk if chance.random() < 0.5 else [*talk[:-1], user(text.format(word))]
        elif kind < 0.35:
            sent, agent = [user(text.format(word))], f"nobody{word}"
        else:
            talk += [user(text.format(word))]
            sent = talk
        stream = chance.random() < 0.5
        answer = await site.post(PATH, body(*sent, model=agent, stream=stream), name)
        told = answer.text
        if answer.status_code == 200 and stream:
            told = "".join(one["choices"][0]["delta"].get("content", "") for one in events(told))
        evening.look(f"{told} {answer.text} {answer.headers}", [who], "an answer")
        evening.answers += bool(WORD.search(told))
        listed = await site.get("/v1/models", name)
        evening.look(listed.text, [who], "the models")
        if answer.status_code == 200 and sent is talk and kind >= 0.1:
            talk += [assistant("something")]
        if talk and talk[-1]["role"] == "assistant" and chance.random() < 0.2:
            talk.clear()
    await site.society.rest(10.0)
    assert evening.leaks == []
    assert evening.images > 0


async def test_long_messages_are_cleaned_beside_the_event_loop(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, cleaned_by = threading.get_ident(), set[int]()

    def cleaning(text: str) -> str:
        if len(text) > MAX_LINE:
            cleaned_by.add(threading.get_ident())
        return clean(text)

    monkeypatch.setattr(chat, "clean", cleaning)
    monkeypatch.setattr(client_talk, "clean", cleaning)
    long = "\u05d0" * (MAX_LINE + 1)
    refused = await site.post(PATH, body(user(long)))
    assert refused.json()["error"]["message"].startswith("a message may have up to 4,000")
    await say(site, user(long), assistant(long), user("hello"))
    assert cleaned_by
    assert here not in cleaned_by
