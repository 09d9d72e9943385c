"""Memories that are felt again, and the tone of a turn.

A remark that touches on a memory is felt together with it, weighed by importance: "my dog would have loved
this" is a glad line, but not to somebody who was told that the dog died. A question is felt with what answers
it, and with nothing else. A sorrow told a moment ago still affects what is said after it. Strong words about
trifles set no tone, and news is felt by itself, whatever it brings to mind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from noodlings.agent.memory_question import only_asks
from noodlings.recall.lexical import stems
from noodlings.values.affect import Affect
from noodlings.values.memory import NEWS, TOUCHED, MemoryEntry, Recalled, Why, in_same_talk
from noodlings.values.percept import NOT_LIVED
from noodlings.values.reading import LineReading, likeliest
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.topic import ToldTopic
from noodlings.values.wording import DialogueAct

ALIKE = 0.33
"""Semantic score from which a line touches on a memory where no model can tell."""
ALIKE_WITH_WORDS = 0.2
"""The same where they share a word."""
LEAST_WORDS = 2
"""Meaningful words of a line that can touch on a memory."""
MATTERS = 0.4
"""Importance from which a memory is felt again."""
FELT = 0.2
"""Valence, positive or negative, from which a line felt with a memory is glad or grave."""
SETS_TONE = 0.3
"""Valence times importance from which a line sets the tone."""
ANSWERS = 0.2
"""How likely, by the model that reads both, a memory answers a question that is felt with it."""
COME_RIGHT = frozenset({ToldTopic.FOUND, ToldTopic.BETTER, ToldTopic.MADE_UP, ToldTopic.SUCCESS})
"""What is told of where something has come right: the loss that it ends is not felt again."""
SORROW_SECONDS = 600.0
"""World time for which a sorrow affects what is said after it."""
SORROW_LINES = 2
"""Lines that it affects."""


def touched(
    text: str, said: MemoryEntry, recalled: Iterable[Recalled], reading: LineReading | None
) -> MemoryEntry | None:
    """The memory that is felt again: of those that a line touches on, the strongest.

    Args:
        text: the line without its vocative.
        said: its entry.
        reading: the line as a model reads it; None where none did.
    """
    words, asks = frozenset(stems(text)), only_asks(text)
    worth = said.importance  # where no model tells it better
    if reading is not None:
        asks = asks or likeliest(reading.acts)[0] is DialogueAct.QUESTION
        worth = reading.significance
    if len(words) < LEAST_WORDS or (worth >= NEWS and not asks):
        return None
    near = _answers if asks else _touches
    come_right = reading is not None and reading.topics.told in COME_RIGHT
    found = [
        one.entry
        for one in recalled
        if one.entry.kind not in NOT_LIVED
        and near(said, words, one)
        and _moved(one.entry) > 0.0
        and not (come_right and one.entry.affect is not None and one.entry.affect.valence < 0.0)
        and one.entry.importance >= MATTERS
    ]
    return max(found, key=lambda entry: (_moved(entry), entry.id), default=None)


def _answers(said: MemoryEntry, words: frozenset[str], recalled: Recalled) -> bool:
    answers = recalled.scores.get(Why.ANSWER)
    return _touches(said, words, recalled) if answers is None else answers >= ANSWERS


def _touches(said: MemoryEntry, words: frozenset[str], recalled: Recalled) -> bool:
    meaning, likely = recalled.scores.get(Why.SEMANTIC), recalled.scores.get(Why.TOUCHED)
    near = Why.LEXICAL in recalled.scores and not words.isdisjoint(stems(recalled.entry.user_text))
    if meaning is not None and not (near and meaning >= ALIKE_WITH_WORDS):
        near = meaning >= ALIKE if likely is None else likely >= TOUCHED
        return near and not in_same_talk(recalled.entry, said.id, said.timestamp)
    return near


def _moved(entry: MemoryEntry) -> float:
    return 0.0 if entry.affect is None else entry.importance * abs(entry.affect.valence)


def felt_with(affect: Affect, importance: float, memory: MemoryEntry) -> Affect:
    """The mean of what is felt about a line and a memory, weighed by their importance (0…1)."""
    if memory.affect is None:
        return affect
    weights = importance, memory.importance
    return Affect.of(np.average([affect.array(), memory.affect.array()], axis=0, weights=weights))


def tone_of(
    affect: Affect, importance: float, again: MemoryEntry | None, earlier: Sequence[MemoryEntry]
) -> Tone:
    """The tone of a turn.

    Args:
        affect, importance: of what is answered, by itself; importance 0…1.
        again: the memory that it touches on.
        earlier: what the same person said within `SORROW_SECONDS` before, oldest first.
    """
    if again is not None:
        name = _name(felt_with(affect, importance, again).valence, FELT)
        if name is not ToneName.PLAIN:
            return Tone(name, ToneSource.RECALLED, again.id)
    if (name := _name(importance * affect.valence, SETS_TONE)) is not ToneName.PLAIN:
        return Tone(name, ToneSource.SAID)
    if affect.valence >= FELT:
        return Tone()
    for entry in reversed(earlier[-SORROW_LINES:]):
        valence = entry.affect.valence if entry.affect else 0.0
        if (name := _name(entry.importance * valence, SETS_TONE)) is not ToneName.PLAIN:
            return Tone(name, ToneSource.BEFORE, entry.id) if name is ToneName.GRAVE else Tone()
    return Tone()


def _name(valence: float, least: float) -> ToneName:
    if abs(valence) < least:
        return ToneName.PLAIN
    return ToneName.GLAD if valence > 0 else ToneName.GRAVE
