"""How far a line answers a question, and with which of its words."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from noodlings.embed.minilm import LINE_TOKENS, MiniLM
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import NoodlingsError
from noodlings.ports import Answer

SOLD = "sold the old barrow to the miller at last, nine crowns, and my feet are killing me"
ASKED = ("Wim", "how much did she get for the barrow?")


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def told(answer: Answer, text: str) -> str:
    """The word that most likely is told."""
    first, last, _ = max(answer.words, key=lambda word: word[2])
    return text[first:last]


def test_the_line_that_answers_comes_before_those_on_the_same_matter(minilm: MiniLM) -> None:
    lines = [
        ("Greet", SOLD),
        ("Greet", "that barrow was my grandfather's, he painted it green"),
        ("Greet", "how much do they ask for a barrow these days?"),
        ("Wim", "morning all"),
    ]
    sold, *others = minilm.answers(ASKED, lines)
    assert sold.likely > 2 * max(other.likely for other in others)
    assert told(sold, SOLD) in {"nine", "crowns"}


def test_other_words_of_the_same_line_answer_another_question(minilm: MiniLM) -> None:
    (who,) = minilm.answers(("Wim", "who bought the barrow?"), [("Greet", SOLD)])
    (colour,) = minilm.answers(("Wim", "what colour was the barrow?"), [("Greet", SOLD)])
    assert told(who, SOLD) in {"the", "miller"}
    assert colour.likely < who.likely < 1.0


def test_a_line_is_read_alike_whatever_it_is_read_with(minilm: MiniLM) -> None:
    alone = minilm.answers(ASKED, [("Greet", SOLD)])
    together = minilm.answers(ASKED, [("Wim", "no"), ("Greet", SOLD), ("Wim", "sea " * 300)])
    assert together[1].likely == pytest.approx(alone[0].likely, abs=1e-5)


def test_a_line_is_read_once_for_many_questions_and_nothing_of_it_stays_when_it_is_let_go() -> None:
    minilm = MiniLM()
    passes: list[list[str]] = []
    states = minilm.states
    minilm.states = lambda texts, *more: passes.append(list(texts)) or states(texts, *more)  # type: ignore[method-assign, func-returns-value]
    queue = EmbeddingQueue(minilm)
    for question in ("who bought the barrow?", "what was paid for it?"):
        asyncio.run(queue.answers(("Wim", question), [("Greet", SOLD)]))
    assert passes.count([f"Greet: {SOLD}"]) == 1
    queue.let_go()
    asyncio.run(queue.answers(("Wim", "who bought the barrow?"), [("Greet", SOLD)]))
    assert passes.count([f"Greet: {SOLD}"]) == 2


def test_of_a_long_line_only_the_beginning_is_read(minilm: MiniLM) -> None:
    endless = "sea " * 10_000
    (answer,) = minilm.answers(("Wim", "what is out there? " * 1_000), [("Greet", endless)])
    assert 0.0 <= answer.likely <= 1.0
    assert 0 < len(answer.words) <= LINE_TOKENS
    assert all(endless[first:last] == "sea" for first, last, _ in answer.words)


@pytest.mark.parametrize("text", ["", "…", "\u202e", "🦆" * 50, "漢字"])
def test_anything_can_be_read(minilm: MiniLM, text: str) -> None:
    for question, line in ((text, SOLD), (ASKED[1], text)):
        (answer,) = minilm.answers(("", question), [("", line)])
        assert 0.0 <= answer.likely <= 1.0


class Plain:
    """An embedder that cannot tell what answers."""

    name, dimensions = "plain", 2

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (len(texts), 1))


class Broken(Plain):
    def let_go(self) -> None:
        pass

    def answers(
        self, asked: tuple[str, str], lines: Sequence[tuple[str, str]], asks: bool = True
    ) -> list[Answer]:
        raise NoodlingsError("the model is gone")


def test_without_a_model_that_can_tell_nobody_waits(minilm: MiniLM) -> None:
    lines = [("Greet", SOLD)]
    for embedder in (None, Plain()):
        assert asyncio.run(EmbeddingQueue(embedder).answers(ASKED, lines)) is None
    assert asyncio.run(EmbeddingQueue(minilm).answers(ASKED, [])) is None
    read = asyncio.run(EmbeddingQueue(minilm).answers(ASKED, lines))
    assert read == minilm.answers(ASKED, lines)


def test_lines_are_read_for_one_who_asks_at_a_time_and_for_nobody_after_the_end() -> None:
    class Counting(Broken):
        def __init__(self) -> None:
            self.reading, self.together = threading.Lock(), threading.Event()

        def answers(
            self, asked: tuple[str, str], lines: Sequence[tuple[str, str]], asks: bool = True
        ) -> list[Answer]:
            if not self.reading.acquire(blocking=False):
                self.together.set()
                return []
            self.together.wait(0.02)  # so long another one may come in
            self.reading.release()
            return [Answer(0.5)] * len(lines)

    async def many() -> list[list[Answer] | None]:
        return await asyncio.gather(*(queue.answers(ASKED, [("Greet", SOLD)]) for _ in range(6)))

    embedder = Counting()
    queue = EmbeddingQueue(embedder)
    assert asyncio.run(many()) == [[Answer(0.5)]] * 6
    assert not embedder.together.is_set()
    queue.close()
    assert asyncio.run(queue.answers(ASKED, [("Greet", SOLD)])) is None


class Gated(Broken):
    """Reads when a test opens its gate; keeps what it was asked."""

    def __init__(self) -> None:
        self.gate, self.begun, self.asked = threading.Event(), threading.Event(), list[str]()

    def answers(
        self, asked: tuple[str, str], lines: Sequence[tuple[str, str]], asks: bool = True
    ) -> list[Answer]:
        self.asked.append(asked[1])
        self.begun.set()
        assert self.gate.wait(10)
        return [Answer(0.5)] * len(lines)


async def test_whoever_asks_many_at_once_lets_others_ask_in_between() -> None:
    embedder = Gated()
    queue = EmbeddingQueue(embedder)
    questions = [("bob", f"question {number}") for number in range(6)] + [("ann", "my dog?")]
    reading = list[asyncio.Task[list[Answer] | None]]()
    for by, text in questions:
        reading.append(asyncio.create_task(queue.answers((by, text), [("Greet", SOLD)], by=by)))
        assert await asyncio.to_thread(embedder.begun.wait, 10)
    await asyncio.sleep(0)
    reading[3].cancel()  # whoever stops waiting is passed over
    await asyncio.wait([reading[3]])
    embedder.gate.set()
    done = await asyncio.gather(*reading, return_exceptions=True)
    assert embedder.asked == ["question 0", "question 1", "my dog?", "question 2", "question 4", "question 5"]
    assert [one for one in done if not isinstance(one, asyncio.CancelledError)] == [[Answer(0.5)]] * 6
    queue.close()


def test_a_model_that_fails_is_no_error_for_who_asks() -> None:
    queue = EmbeddingQueue(Broken())
    assert asyncio.run(queue.answers(ASKED, [("Greet", SOLD)])) is None
    assert queue.failed == "the model is gone"
    assert asyncio.run(queue.answers(ASKED, [("Greet", SOLD)])) is None
