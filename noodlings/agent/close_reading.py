"""Reads what was found together with what was said: how far it answers, or a remark touches on it."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from noodlings.agent.memory_question import TALK, may_ask
from noodlings.embed.queue import EmbeddingQueue
from noodlings.ports import Answer
from noodlings.text import phrases
from noodlings.values.memory import Recalled, Why
from noodlings.values.percept import Percept

MOST_READ, LONGEST_READ = 2_400, 800
"""Characters of the lines that are read for one answer, and of each, so that nobody keeps others waiting."""
CLAUSE_WORDS = 10
"""Words of a clause that is told whole as an answer, or as many of them around the one that answers."""
WEIGHTY, FEW_TOUCHED, BRIEF = 0.4, 4, 5
"""Importance from which a line is worth reading for whether a remark touches on it, how many of the best are,
and the words below which a remark touches on nothing."""
LONG, READ_CLOSELY, PHRASES = 90, 3, 12
"""Of so long a line each phrase is compared with what was said. So many of the best are, and so many phrases
of each, so that nobody keeps others waiting by what they once told."""

ALONE = 0.15
"""How likely a line by itself answers, for what went before it to count."""

_CLAUSE = re.compile(r".+?(?:(?<![,;:.!?…])[,;:.!?…]++(?=\s|$)|$)", re.DOTALL)


async def read_closely(
    found: Sequence[Recalled],
    percept: Percept,
    asked: str,
    names: Mapping[str, str],
    embedding: EmbeddingQueue,
    before: Mapping[int, str],
) -> list[Recalled]:
    """The same, where lines know how far they answer a question, and the long ones which of their phrases do;
    and what matters, how far a remark touches on it.

    Where nothing is asked, or no model can tell, phrases are compared with the question by their meaning.

    Args:
        before: by the ids of lines that go on with another ("he was a piano tuner"), the text of that, which
            is read with them where something may be asked.
    """
    talk = _within(MOST_READ, (one for one in found if one.entry.kind in TALK))

    async def read(lines: Sequence[Recalled], asks: bool) -> dict[int, Answer] | None:
        said = ((percept.user_id, percept.text), *((one.entry.user_id, one.entry.user_text) for one in lines))
        first, *others = ((names.get(user, user), text) for user, text in said)
        leaning = [one.entry for one in lines if asks and one.entry.id in before]
        for entry in leaning:
            name = names.get(entry.user_id, entry.user_id)
            others.append((name, f"{before[entry.id]} {entry.user_text}"))
        answers = await embedding.answers(first, others, asks, by=percept.user_id)
        if answers is None:
            return None
        alone = {one.entry.id: answer for one, answer in zip(lines, answers, strict=False)}
        together = zip(leaning, answers[len(lines) :], strict=True)
        return alone | {
            entry.id: _likelier(alone[entry.id], answer, len(before[entry.id]) + 1)
            for entry, answer in together
        }

    if len(percept.text.split()) >= BRIEF and not percept.text.rstrip().endswith("?"):
        weighty = [one for one in talk if one.entry.importance >= WEIGHTY or one.entry.pinned]
        touched = await read(weighty[:FEW_TOUCHED], asks=False) or {}
        found = [_read_as_touched(one, touched.get(one.entry.id)) for one in found]
    if may_ask(percept.text) and (answers := await read(talk, asks=True)) is not None:
        return [_read_as_answer(one, answers.get(one.entry.id)) for one in found]
    long = [one for one in found if one.entry.kind in TALK and len(one.entry.user_text) > LONG]
    wanted = await embedding.question(asked, by=percept.user_id) if long else None
    if wanted is None:
        return list(found)
    alike: dict[int, Recalled] = {}
    for one in long[:READ_CLOSELY]:
        parts = [part.strip() for part in phrases(one.entry.user_text)[:PHRASES]]
        vectors = await asyncio.gather(*(embedding.question(part, by=percept.user_id) for part in parts))
        weights = ((part, float(v @ wanted)) for part, v in zip(parts, vectors, strict=True) if v is not None)
        alike[one.entry.id] = replace(one, phrases=tuple(weights))
    return [alike.get(one.entry.id, one) for one in found]


def _likelier(alone: Answer, together: Answer, start: int) -> Answer:
    """What a line answers, read alone and after the line that it goes on with; it begins at `start` there.

    If the likeliest word is in the line before, that one answers, and nothing is learnt of this one. What
    answers nothing by itself does not do so by what went before.
    """
    own = tuple((first - start, last - start, p) for first, last, p in together.words if first >= start)
    most = max((p for _, _, p in together.words), default=0.0)
    here = max((p for _, _, p in own), default=0.0) == most
    return Answer(together.likely, own) if here and ALONE <= alone.likely < together.likely else alone


def _within(characters: int, found: Iterable[Recalled]) -> list[Recalled]:
    """The first of them, as long as there is room; of a long one only the beginning counts (and is read)."""
    kept, left = [], characters
    for one in found:
        length = min(len(one.entry.user_text), LONGEST_READ)
        if length <= left:
            kept.append(one)
            left -= length
    return kept


def _read_as_touched(one: Recalled, touched: Answer | None) -> Recalled:
    return one if touched is None else replace(one, scores={**one.scores, Why.TOUCHED: touched.likely})


def _read_as_answer(one: Recalled, answer: Answer | None) -> Recalled:
    """The same with how far it answers; a phrase does as far as that word of it which most likely is told.

    Of its probability the root is taken, so that what belongs to a phrase is as near to it as by likeness.
    """
    if answer is None:
        return one
    text, weights, end = one.entry.user_text, [], 0
    for part in phrases(text) if len(text) > LONG else ():
        start = text.index(part, end)
        end = start + len(part)
        inside = [likely for first, last, likely in answer.words if first < end and last > start]
        weights.append((part.strip(), math.sqrt(max(inside, default=0.0))))
    scores = {**one.scores, Why.ANSWER: answer.likely}
    return replace(one, scores=scores, phrases=tuple(weights), answer=_answering_words(text, answer))


def _answering_words(text: str, answer: Answer) -> str:
    """The clause of a line with the word that is most likely told as the answer; of a long one the words
    around that word."""
    if not answer.words:
        return ""
    at, _, _ = max(answer.words, key=lambda word: word[2])
    clause = next(part for part in _CLAUSE.finditer(text) if part.end() > at)
    words, before = clause[0].split(), len(text[clause.start() : at + 1].split()) - 1
    first = max(min(before - CLAUSE_WORDS // 2, len(words) - CLAUSE_WORDS), 0)
    some = words[first : first + CLAUSE_WORDS]
    return f"{'… ' * (first > 0)}{' '.join(some)}{' …' * (first + len(some) < len(words))}"
