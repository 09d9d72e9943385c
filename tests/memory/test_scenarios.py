"""What memory is for, on `HierarchicalMemory` alone: a grief outlives everything, a fear recalls a fear."""

from __future__ import annotations

import copy
import random
import timeit
import tracemalloc
from collections.abc import Iterator

import pytest

from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import PlainMemory
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.memory import MemoryEntry
from tests.memory.entries import ANXIOUS, JOYFUL, SORROWFUL, WORRIED, ids, texts

ME = "user_caity"
DOG = "My dog died yesterday"
GRIEF = Affect(-0.8, 0.55, 0.05, 0.8, 0.0)
MINUTE = 60.0

Line = tuple[str, Affect, float]
"""What was said, how it felt, and how surprising it was."""


def trivia(count: int, seed: int = 1) -> Iterator[Line]:
    """Lines that nobody needs to keep."""
    rng = random.Random(seed)
    for _ in range(count):
        text = rng.choice(["hello", "ok", "brb", "nice weather today", "lol", "I had toast", "see you"])
        felt = Affect(rng.uniform(-0.15, 0.25), rng.uniform(0.35, 0.6), rng.uniform(0, 0.05))
        yield text, felt, rng.uniform(0.0, 0.4)


def effusions(count: int, seed: int = 1) -> Iterator[Line]:
    """Lines of somebody to whom everything is enormous; no longer surprising after a while."""
    rng = random.Random(seed)
    feelings = {
        "simply adore": Affect(0.85, 0.85),
        "cannot bear": Affect(-0.75, 0.8, 0.1, 0.3),
        "am terrified of": Affect(-0.6, 0.9, 0.7),
        "could weep over": Affect(-0.5, 0.5, 0.0, 0.6),
        "am wild with rage about": Affect(-0.8, 0.95),
    }
    things = ["this sunset", "the soup", "your hat", "that dreadful song", "the rain", "every goodbye"]
    for _ in range(count):
        verb, felt = rng.choice(list(feelings.items()))
        felt = Affect.of([number * rng.uniform(0.85, 1.0) for number in felt.as_list()])
        yield f"I {verb} {rng.choice(things)}!!!", felt, rng.uniform(0.2, 0.5)


def tell(memory: HierarchicalMemory, lines: Iterator[Line], pace: float = MINUTE) -> None:
    for number, (text, felt, surprise) in enumerate(lines):
        memory.add(max(memory.now, 0.0) + pace, number, ME, text, felt, None, surprise)


def told_of_the_dog(memory: HierarchicalMemory) -> MemoryEntry:
    tell(memory, trivia(10))
    return memory.add(memory.now + MINUTE, 11, ME, DOG, GRIEF, None, 0.9)


@pytest.mark.parametrize("noise", [trivia, effusions])
@pytest.mark.parametrize("pace", [MINUTE, 86_400.0])
def test_the_day_the_dog_died_outlives_five_hundred_lines(noise, pace: float) -> None:
    memory = HierarchicalMemory()
    dog = told_of_the_dog(memory)
    assert dog.importance > 0.5
    tell(memory, noise(500), pace)
    assert DOG not in texts(memory.retrieve_working())
    assert memory.is_episodic(dog.id)
    assert memory.find(dog.id) == dog
    assert DOG in texts(memory.get_context_for_response(ME, GRIEF, total_size=10))


def test_among_effusions_memory_is_full_and_the_dog_is_still_there() -> None:
    memory = HierarchicalMemory()
    dog = told_of_the_dog(memory)
    tell(memory, effusions(500))
    episodic = memory.retrieve_episodic(limit=None)
    assert len(episodic) == 200
    assert ids(episodic).index(dog.id) < 20


def test_a_plain_list_forgets_the_dog() -> None:
    memory = PlainMemory()
    dog = told_of_the_dog(memory)
    tell(memory, trivia(500))
    assert memory.find(dog.id) is None


def test_trivial_lines_do_not_fill_episodic_memory() -> None:
    memory = HierarchicalMemory()
    tell(memory, trivia(500))
    assert memory.stats().consolidation_rate < 0.02


def test_an_anxious_moment_recalls_an_anxious_one() -> None:
    memory = HierarchicalMemory()
    for text, felt in (
        ("I won the race", JOYFUL),
        ("I'm worried about the presentation", WORRIED),
        ("Grandmother is gone", SORROWFUL),
    ):
        memory.add(max(memory.now, 0.0) + MINUTE, 1, ME, text, felt, None, 0.5)
    tell(memory, trivia(60))
    moment = memory.add(memory.now + MINUTE, 2, ME, "What if I fail the exam?", ANXIOUS, None, 0.5)
    similar = memory.recall_by_affect(ANXIOUS)
    assert [found.entry.user_text for found in similar if found.entry.id != moment.id] == [
        "I'm worried about the presentation"
    ]
    context = memory.context("user_micha", ANXIOUS, without=(moment.id,))
    by_feeling = [found.entry.user_text for found in context if found.why == ("affect",)]
    assert by_feeling == ["I'm worried about the presentation"]
    for other in (JOYFUL, SORROWFUL):
        assert "I'm worried about the presentation" not in texts(memory.retrieve_by_affect_similarity(other))


@pytest.mark.slow
def test_tens_of_thousands_of_events_leave_size_speed_and_pins_as_they_were() -> None:
    memory = HierarchicalMemory()
    dog = told_of_the_dog(memory)
    pins = [memory.pin(memory.add(memory.now + 1, 0, ME, f"keep {n}", NEUTRAL)) for n in range(5)]
    asked = memory.add(memory.now + 1, 0, ME, "remember the lamp", NEUTRAL, remember=True)
    tell(memory, effusions(500, seed=2))
    before, size_before = copy.deepcopy(memory), size(memory)
    tell(memory, trivia(10_000))
    assert memory.is_episodic(dog.id)
    for seed in range(10):
        tell(memory, trivia(1_800, seed))
        tell(memory, effusions(200, seed))
    stats = memory.stats()
    assert (stats.perceived, stats.working, stats.episodic) == (10 + 1 + 6 + 500 + 30_000, 20, 200)
    assert sorted(entry.id for entry in memory.retrieve_episodic(limit=None) if entry.pinned) == ids(pins)
    assert memory.is_episodic(asked.id)
    assert size(memory) < 1.1 * size_before
    # Turn by turn, so that whatever else the machine does falls on both.
    turns = [(recall_time(before), recall_time(memory)) for _ in range(40)]
    early, late = (min(times) for times in zip(*turns, strict=True))
    assert late < 2 * early


def recall_time(memory: HierarchicalMemory) -> float:
    return timeit.timeit(lambda: memory.retrieve_by_affect_similarity(GRIEF), number=20)


def size(memory: HierarchicalMemory) -> int:
    """Bytes that a copy of all of it takes."""
    tracemalloc.start()
    try:
        twin = copy.deepcopy(memory)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert twin.stats() == memory.stats()
    return taken
