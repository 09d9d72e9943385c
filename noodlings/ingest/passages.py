"""A document cut into passages, each of a size that is one thing to remember, and what it says in short.

A passage is known by its section and its opening words. What changes after them is the same passage with new
words; what is put in before them moves no other passage.
"""

from __future__ import annotations

import hashlib
import math
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from noodlings.recall.lexical import stems

MOST = 600
"""Characters of a passage without its heading; about 130 tokens, half of what the embedding model reads."""
LEAST = 240
"""Characters from which paragraphs of one section are a passage of their own."""
OPENING = 4
"""Words by which a passage is known within its section."""
LONG = 12
"""Passages from which a document is long enough to be summed up …"""
SENTENCES, SUMMARY = 5, 700
"""… in so many sentences and characters at most."""
ALIKE = 0.5
"""Likeness (cosine) from which a sentence says what another has said."""

_WHOLE = re.compile(r"(?=(?:\S+ ){4})[^a-z].{0,238}[.!?…]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """What stands together in a document: a paragraph, an item of a list, a heading.

    Attributes:
        text: clean.
        line: where it begins, from 1; 0 where lines mean nothing.
        level: of a heading 1…6, else 0.
    """

    text: str
    line: int = 0
    level: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """Some sentences of one section.

    Attributes:
        id: the same as long as it opens with the same words in the same section.
        text: its words, the heading of its section before them.
        section: the headings above it, the outermost first: "Tides › Spring tides"; "" for none.
        line: as in `Block`.
    """

    id: str
    text: str
    section: str
    line: int


def passages(blocks: Iterable[Block]) -> Iterator[Passage]:
    """The passages of a document in their order; a heading with nothing below it is none."""
    known: Counter[str] = Counter()
    headings: list[Block] = []
    gathered: list[Block] = []

    def gathered_up() -> Iterator[Passage]:
        if gathered:
            *others, last = (part.text for part in gathered)
            body = " ".join((*map(_ended, others), last))
            heading = headings[-1].text if headings else ""
            section = " › ".join(above.text for above in headings)
            opening = f"{section}\n{' '.join(body.casefold().split()[:OPENING])}"
            known[opening] += 1
            yield Passage(
                _id(opening, known[opening]),
                f"{_ended(heading)} {body}" if heading else body,
                section,
                gathered[0].line,
            )
            gathered.clear()

    for block in blocks:
        if block.level:
            yield from gathered_up()
            headings = [*(above for above in headings if above.level < block.level), block]
            continue
        for part in _parts(block):
            length = sum(len(one.text) + 1 for one in gathered)
            if length >= LEAST or length + len(part.text) > MOST:
                yield from gathered_up()
            gathered.append(part)
    yield from gathered_up()


def summary(of: Sequence[Passage]) -> str:
    """The sentences that have most in common with all the others, in their order; "" for a short document.

    A sentence counts by the words it shares with the whole, each the more the fewer passages hold it.
    """
    if len(of) < LONG:
        return ""
    spread = Counter(stem for passage in of for stem in set(stems(passage.text)))
    sentences = dict.fromkeys(
        said for passage in of for said in sentences_of(passage.text) if _WHOLE.fullmatch(said)
    )
    vectors = {said: _unit(Counter(stems(said)), spread, len(of)) for said in sentences}
    whole: dict[str, float] = defaultdict(float)
    for vector in vectors.values():
        for word, weight in vector.items():
            whole[word] += weight
    chosen: list[str] = []
    for said in sorted(vectors, key=lambda said: -_product(vectors[said], whole)):
        if len(chosen) == SENTENCES:
            break
        new = all(_product(vectors[said], vectors[other]) < ALIKE for other in chosen)
        if new and len(" ".join((*chosen, said))) <= SUMMARY:
            chosen.append(said)
    return " ".join(said for said in sentences if said in chosen)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, none longer than a passage may be."""
    return [part for said in _SENTENCE_END.split(text) for part in textwrap.wrap(said, MOST)]


def _parts(block: Block) -> Iterator[Block]:
    """A block, or where it is longer than a passage as many sentences at a time as one holds."""
    if len(block.text) <= MOST:
        yield block
        return
    part = ""
    for said in sentences_of(block.text):
        if part and len(part) + len(said) >= MOST:
            yield Block(part, block.line)
            part = ""
        part = f"{part} {said}".strip()
    yield Block(part, block.line)


def _id(opening: str, count: int) -> str:
    digest = hashlib.blake2b(opening.encode(), digest_size=8).hexdigest()
    return digest if count == 1 else f"{digest}-{count}"


def _ended(text: str) -> str:
    return text if text[-1] in '.!?…:;,”"’' else f"{text}."


def _unit(words: Counter[str], spread: Counter[str], passages: int) -> dict[str, float]:
    weights = {word: count * math.log((1 + passages) / spread[word]) for word, count in words.items()}
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()} if length else {}


def _product(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(weight * other.get(word, 0.0) for word, weight in one.items())
