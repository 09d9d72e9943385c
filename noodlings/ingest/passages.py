"""Cuts a document into passages that are each one thing to remember, and summarises long documents.

A passage is identified by its section and opening words. If the text after them changes, it is the same
passage with new words; inserting text elsewhere does not change its id.
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
"""Most characters of a passage without its heading: about 130 tokens, half of what MiniLM reads."""
LEAST = 240
"""Paragraphs of one section are joined until they have this many characters."""
OPENING = 4
"""How many opening words identify a passage within its section."""
LONG = 12
"""A document with this many passages gets a summary …"""
SENTENCES, SUMMARY = 5, 700
"""… of at most so many sentences and characters."""
ALIKE = 0.5
"""Sentences with a cosine from here on are taken to say the same."""

_WHOLE = re.compile(r"(?=(?:\S+ ){4})[^a-z].{0,238}[.!?…]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """A unit of a document: a paragraph, a list item or a heading.

    Attributes:
        text: cleaned.
        line: its first line, from 1; 0 if there are no lines.
        level: 1…6 for a heading, else 0.
    """

    text: str
    line: int = 0
    level: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences of one section.

    Attributes:
        id: depends on the section and the opening words.
        text: the heading of its section and its own text.
        section: the headings above it, outermost first: "Tides › Spring tides"; "" for none.
        line: as in `Block`.
    """

    id: str
    text: str
    section: str
    line: int


def passages(blocks: Iterable[Block]) -> Iterator[Passage]:
    """The passages of a document in order; a heading without text below it makes none."""
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
    """The sentences that have most in common with all others, in document order; "" for a short document.

    Sentences are ranked by their TF-IDF cosine with the sum of all sentences.
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
    """The sentences of a text; one that is longer than a passage is split."""
    return [part for said in _SENTENCE_END.split(text) for part in textwrap.wrap(said, MOST)]


def _parts(block: Block) -> Iterator[Block]:
    """The block, split at sentence ends if it is longer than a passage."""
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
