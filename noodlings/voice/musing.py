"""What a character without a model thinks by itself: one of its memories, and how that sits with it.

How the memory felt goes before the mood, so that nobody likes to think of a death because it is a good day.
"""

from __future__ import annotations

import random
from functools import lru_cache

from noodlings.ports import Speech, Utterance
from noodlings.text import clean
from noodlings.values.percept import Kind
from noodlings.values.wording import Feeling
from noodlings.voice.feelings import feeling
from noodlings.voice.lexicon import load_yaml
from noodlings.voice.reported import told
from noodlings.voice.sought import goes_on


def muse(utterance: Utterance) -> Speech:
    """The thought, and the one memory it is about. The same for the same utterance in every process."""
    chance = random.Random(utterance.seed)  # noqa: S311 -- words, not secrets
    lines = _lines()
    tellable = [
        memory
        for found in utterance.recalled
        if (memory := told(found.entry, utterance, frozenset())) is not None
        and not memory.quoted
        # Who "she" is in "she laughs" nobody would know.
        and (found.entry.kind is Kind.EMOTE or not goes_on(found.entry.user_text))
    ]
    if not tellable:
        return Speech(chance.choice(lines["nothing"]))
    memory = chance.choice(tellable)
    then = memory.entry.affect
    felt = feeling(then) if then else Feeling.CALM
    if felt is Feeling.CALM:
        felt = feeling(utterance.mood)
    line = chance.choice(lines.get(felt.value, lines[Feeling.CALM.value]))
    clause = memory.clause
    if line.startswith("{memory}"):
        clause = clause[:1].upper() + clause[1:]
    return Speech(clean(line.replace("{memory}", clause)), (memory.entry.id,))


@lru_cache(maxsize=1)
def _lines() -> dict[str, list[str]]:
    lines: dict[str, list[str]] = load_yaml("musings.yaml")
    return lines
