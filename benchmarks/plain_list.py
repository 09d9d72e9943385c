"""The yardstick of the benchmark of memory: the same entries as objects in lists, and loops over them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

ME = "user_caity"
WORDS = ("the", "a", "my", "your", "dog", "garden", "rain", "yesterday", "walked", "broke", "laughed", "lamp")


@dataclass(slots=True)
class Plain:
    """An entry of the yardstick."""

    timestamp: float
    user_id: str
    user_text: str
    affect: np.ndarray
    importance: float
    response: str | None = None
    state: np.ndarray | None = None


class PlainList:
    """The yardstick: two lists of objects, and loops over them."""

    def __init__(self, working: int, episodic: int) -> None:
        self.capacity, self.working_capacity = episodic, working
        self.working: list[Plain] = []
        self.episodic: list[Plain] = []

    def add(self, entry: Plain) -> None:
        """As the first version did it: everything fades a little, the least important leaves."""
        self.working = [*self.working, entry][-self.working_capacity :]
        for kept in self.episodic:
            kept.importance *= 0.95
        if entry.importance > 0.3:
            self.episodic.append(entry)
            if len(self.episodic) > self.capacity:
                self.episodic.remove(min(self.episodic, key=lambda kept: kept.importance))

    def recall(self, affect: np.ndarray, top: int = 5, least: float = 0.7) -> list[Plain]:
        """The most alike by cosine."""
        found = []
        for entry in self.episodic:
            lengths = np.linalg.norm(affect) * np.linalg.norm(entry.affect)
            similarity = float(np.dot(affect, entry.affect) / lengths)
            if similarity >= least:
                found.append((similarity, entry))
        found.sort(key=lambda pair: pair[0], reverse=True)
        return [entry for _, entry in found[:top]]

    def context(self, user_id: str, affect: np.ndarray) -> list[Plain]:
        """5 recent, 3 important, 2 alike, each once, oldest first."""
        own = [entry for entry in self.episodic if entry.user_id == user_id]
        own.sort(key=lambda entry: entry.importance, reverse=True)
        chosen = {id(entry): entry for entry in (*self.working[-5:], *own[:3], *self.recall(affect, 2))}
        return sorted(chosen.values(), key=lambda entry: entry.timestamp)


def lines(count: int) -> Iterator[dict[str, Any]]:
    """Lines of eighty characters, half of them answered, felt in all sorts of ways, by seven people."""
    rng, numbers = random.Random(0), np.random.default_rng(0)
    for number in range(count):
        yield {
            "timestamp": 1.7e9 + 60.0 * number,
            "step": number,
            "user_id": ME if number % 2 else f"user_{number % 7}",
            "user_text": a_text(rng),
            "affect": [rng.uniform(-1, 1), *(rng.random() for _ in range(4))],
            "phenomenal_state": numbers.normal(size=40).astype(np.float32),
            "surprise": rng.random(),
            "response": a_text(rng) if number % 2 else None,
        }


def a_text(rng: random.Random) -> str:
    """Eighty characters of words."""
    return " ".join(rng.choices(WORDS, k=24))[:80]


def a_list(entries: int) -> PlainList:
    """The same in the yardstick."""
    plain = PlainList(20, entries)
    plain.episodic = [as_plain(line) for line in lines(entries)]
    plain.working = plain.episodic[-20:]
    return plain


def as_plain(line: dict[str, Any]) -> Plain:
    """A line as an object."""
    affect = np.array(line["affect"])
    return Plain(
        line["timestamp"], line["user_id"], line["user_text"], affect, 0.31 + 0.6 * line["surprise"],
        line["response"], line["phenomenal_state"],
    )  # fmt: skip
