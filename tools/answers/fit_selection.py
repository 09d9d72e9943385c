"""Make `noodlings/voice/answer_selection.yaml`: the weights by which a memory is chosen as the answer.

    python tools/answers/fit_selection.py

Characters hear the talks of `talks.tsv`: those of some writers as they were written, those of others with
`BETWEEN` lines of other talks and some days before the first question. Of each marked question the features
of what was in mind are kept; which memory answers, or that none does, is learnt by a softmax of their
weighted sums. What is printed was measured on each writer with the weights learnt from the others. That
takes ten minutes.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from talks import Talk, read_talks

from noodlings.config import load_settings
from noodlings.host.visit import opened
from noodlings.ports import Speech, Utterance
from noodlings.values.percept import Kind, Percept
from noodlings.voice.answer_selection import (
    WEIGHTS,
    features_of_memories,
    features_of_question,
)
from noodlings.voice.offline import OfflineVoice
from noodlings.voice.question import QuestionKind
from noodlings.voice.reply_content import self_topic, understood_line
from noodlings.voice.selection import in_force, was_told

TARGET = Path(__file__).parents[2] / "noodlings" / "voice" / WEIGHTS
CHARACTERS = ("maren", "phi", "servnak")
BETWEEN = 30
WRITERS = {"as written": ("1", "4", "9", "14"), "later": ("3", "7", "9", "12", "14")}
"""Whose talks are heard as they were written, and whose with others and days between."""
BEGINS = 1_790_000_000.0
DAY = 86_400.0
STEPS, RATE, DECAY = 400, 0.05, 0.002

Floats = np.ndarray


@dataclass
class Asked:
    """A question as an agent heard it.

    Attributes:
        memories: what is in mind, (memories, features).
        question: (features,).
        answers: of each memory whether it answers, (memories,).
        mark: "told" where a line of the talk answers, "-" where none does, "you" where none could.
    """

    writer: str
    memories: Floats
    question: Floats
    answers: Floats
    mark: str


KINDS = [kind.name.lower() for kind in QuestionKind]


class Hearer:
    """Lets a character hear a talk, and keeps what it had in mind for each marked question."""

    def __init__(self) -> None:
        self.heard: Utterance | None = None
        self.names: dict[str, list[str]] = {"memory": [], "none": []}
        spoken = OfflineVoice.draft

        def draft(voice: OfflineVoice, utterance: Utterance) -> Speech:
            self.heard = utterance
            return spoken(voice, utterance)

        OfflineVoice.draft = draft  # type: ignore[method-assign]

    def hear(self, talk: Talk, character: str, between: Sequence[str], chance: random.Random) -> list[Asked]:
        with (
            tempfile.TemporaryDirectory() as folder,
            opened(load_settings(store={"path": folder})) as society,
        ):
            return asyncio.run(self._hear(society.find(character), society, talk, between, chance))

    async def _hear(self, agent, society, talk, between, chance) -> list[Asked]:  # type: ignore[no-untyped-def]
        people = {line.who: f"user_{''.join(filter(str.isalnum, line.who)).lower()}" for line in talk.lines}
        for name, user in people.items():
            society.introduce(user, name)
        here, now = frozenset(people.values()), BEGINS
        first = next((at for at, line in enumerate(talk.lines) if line.answers), 0)
        numbers: list[int] = []
        found = []
        for at, line in enumerate(talk.lines):
            if at == first and between:
                for text in between:
                    now += chance.choice((60.0, 300.0, 1_500.0))
                    others = frozenset({*here, "user_stranger"})
                    addressed = chance.random() < 0.5
                    await agent.perceive(
                        Percept("user_stranger", text, now, Kind.SAY, addressed=addressed, present=others)
                    )
                now += chance.choice((0.0, DAY, 3 * DAY))
            now += chance.choice((15.0, 40.0, 90.0))
            self.heard = None
            said = Percept(people[line.who], line.text, now, Kind.SAY, addressed=True, present=here)
            await agent.perceive(said)
            numbers.append(agent.memory.retrieve_working()[-1].id)
            if line.answers is not None and self.heard is not None:
                found.append(self._asked(self.heard, talk, at, {numbers[i] for i in line.answers}))
        return found

    def _asked(self, heard: Utterance, talk: Talk, at: int, answering: set[int]) -> Asked:
        understood = understood_line(heard)
        told = [one for one in in_force(heard) if was_told(one.entry, heard)]
        question = features_of_question(understood, heard, self_topic(understood, heard) is not None)
        kinds = [float(understood.question.name.lower() == kind) for kind in KINDS]
        features = features_of_memories(told, heard)
        self.names = {
            "memory": list(features[0]) if features else self.names["memory"],
            "none": list(question),
        }
        line = talk.lines[at]
        return Asked(
            talk.writer,
            np.array([list(map(float, one.values())) for one in features]),
            np.array([*map(float, question.values()), *kinds]),
            np.array([bool(answering & {one.entry.id, *one.sources}) for one in told], dtype=bool),
            "told" if line.answers else "you" if line.of_itself else "-",
        )


def fit(asked: Sequence[Asked]) -> tuple[Floats, Floats]:
    """The weights of memories and of questions by which what was marked is most likely, found by Adam."""
    memories = np.concatenate([one.memories for one in asked if len(one.memories)])
    scale = memories.std(0) + 1e-3
    weights = np.zeros(memories.shape[1] + len(asked[0].question))
    size = memories.shape[1]
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = DECAY * weights
        for one in asked:
            inputs = one.memories.reshape(-1, size) / scale
            scores = np.append(inputs @ weights[:size], one.question @ weights[size:])
            wanted = np.append(one.answers, not one.answers.any())
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            error = likely - likely * wanted / max(float((likely * wanted).sum()), 1e-12)
            slope[:size] += inputs.T @ error[:-1] / len(asked)
            slope[size:] += one.question * error[-1] / len(asked)
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        rate = RATE * (1.0 - step / (STEPS + 1))
        weights -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
    return weights[:size] / scale, weights[size:]


def measure(asked: Sequence[Asked], of_memories: Floats, of_questions: Floats, counts: Counter[str]) -> None:
    for one in asked:
        scores = one.memories.reshape(-1, len(of_memories)) @ of_memories
        tells = len(scores) > 0 and scores.max() >= one.question @ of_questions
        right = bool(one.answers[int(scores.argmax())]) if tells else False
        counts[one.mark] += 1
        counts[f"{one.mark} told"] += tells
        counts[f"{one.mark} right"] += right
        counts[f"{one.mark} in mind"] += one.answers.any()


def main() -> None:
    talks = read_talks()
    idle = [line.text for talk in talks for line in talk.lines if line.answers is None]
    hearer, asked = Hearer(), []
    for way, writers in WRITERS.items():
        for number, talk in enumerate(talk for talk in talks if talk.writer in writers):
            chance = random.Random(number)
            between = chance.sample(idle, BETWEEN) if way == "later" else []
            asked += hearer.hear(talk, CHARACTERS[number % len(CHARACTERS)], between, chance)
            print(f"{way}: talk {number + 1}", end="\r", flush=True)
    counts: Counter[str] = Counter()
    for writer in sorted({one.writer for one in asked}):
        others = [one for one in asked if one.writer != writer]
        measure([one for one in asked if one.writer == writer], *fit(others), counts)
    told, right = counts["told"], counts["told right"]
    print(f"of {told} questions about what was told, in mind {counts['told in mind'] / told:.3f},")
    print(f"answered {right / told:.3f}, with something else {(counts['told told'] - right) / told:.3f}")
    for mark, what in (("-", "about what nobody told"), ("you", "about something else")):
        print(f"{counts[mark]} {what}: nothing told {1.0 - counts[f'{mark} told'] / counts[mark]:.3f}")
    of_memories, of_questions = fit(asked)
    tables = {
        "memory": rounded(hearer.names["memory"], of_memories),
        "none": rounded(hearer.names["none"], of_questions),
        "kinds": {
            kind: weight for kind, weight in rounded(KINDS, of_questions[-len(KINDS) :]).items() if weight
        },
    }
    head = f"# Made by tools/answers/{Path(__file__).name}: what counts for a memory, and for none of them.\n"
    TARGET.write_text(head + yaml.safe_dump(tables, sort_keys=False), "utf-8")


def rounded(names: Sequence[str], weights: Floats) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=False)}


if __name__ == "__main__":
    main()
