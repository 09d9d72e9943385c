"""The pairs of what is said with a line that a model of answers learns from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from examples import Example, all_texts, under_name_of
from noodlings.embed.answers import QUESTION, REMARK
from noodlings.embed.minilm import MiniLM

OTHERS, SHORT = 2, 5
"""Any other lines that a question is shown with, for each line that answers it; and the words, with the
name of whoever asks, up to which a question is shown with one only, as others may answer it, too."""
FROM_EXAMPLES = 0.6
"""The share of them that are lines of other examples; the rest is idle."""
SAME_TELLER = 0.5
"""The share of other lines that are told by the same person: where none is known, others under that name."""
HELD_BACK, REMARKS_HELD_BACK, TELLERS_HELD_BACK = 200, 100, 100
UNRELATED = 3
"""Any other remarks (idle, or what somebody else told) that a line is shown with."""
NEAREST = 8
"""Lines nearest to a question, one of which it is shown with where a teacher says whether it answers."""

Pair = tuple[str, str]


@dataclass
class Row:
    """What is said, read as a `QUESTION` or a `REMARK`, with a line: whether that belongs (None where only a
    teacher can tell), and the answer."""

    pair: Pair
    as_what: int
    belongs: bool | None
    span: tuple[int, int] | None = None


class Examples:
    """What is learnt from, and what is held back.

    Args:
        examples, remarked: lines with questions, and with remarks.
        tellers: lines with both, and with others of the same person.
        idle: lines that tell nothing, with who says them.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        remarked: Sequence[Example],
        tellers: Sequence[Example],
        idle: Sequence[str],
        seed: int,
    ) -> None:
        self.random = np.random.default_rng(seed)
        self.held_back, self.examples = parted(examples, HELD_BACK)
        self.remarks_held_back, self.remarked = parted(remarked, REMARKS_HELD_BACK)
        self.tellers_held_back, self.tellers = parted(tellers, TELLERS_HELD_BACK)
        self.examples += self.tellers
        self.remarked += self.tellers
        self.idle = idle
        for one in (*self.examples, *self.remarked, *self.remarks_held_back):
            if not one.others:
                lines = self.others(self.examples, one, max(len(one.answered), len(one.touched), 1))
                one.others = [under_name_of(one, line.split(": ", 1)[1]) for line in lines]
        everything = (*examples, *remarked, *tellers)
        self.texts = sorted({text for one in everything for text in all_texts(one)} | {*idle})

    def rows(self) -> list[Row]:
        return [*self.questions(), *self.remarks()]

    def questions(self) -> list[Row]:
        made: list[Row] = []
        for one in self.examples:
            made += [Row((question, one.line), QUESTION, True, span) for question, span in one.answered]
            made += [Row((question, one.line), QUESTION, False) for question in one.not_answered]
            for question, _ in one.answered:
                lines = self.beside(self.examples, one, 1 if len(question.split()) <= SHORT else OTHERS)
                made += [Row((question, line), QUESTION, False) for line in lines]
        for one in self.tellers:
            made += [Row((said, self.one_of(one.others)), QUESTION, False) for said in one.not_answered]
        return made

    def remarks(self) -> list[Row]:
        made: list[Row] = []
        for one in self.remarked:
            made += [Row((remark, one.line), REMARK, True) for remark in one.touched]
            made += [Row((remark, one.line), REMARK, False) for remark in one.not_touched]
            for remark in one.touched:
                made += [Row((remark, line), REMARK, False) for line in self.beside(self.remarked, one)]
            for _ in range(UNRELATED):
                (remark,) = self.others((*self.examples, *self.remarked), one, 1)
                made.append(Row((remark, one.line), REMARK, False))
        return made

    def with_nearest(self) -> dict[str, list[str]]:
        """Each question with the lines nearest to it that were not written for it."""
        own: dict[str, set[str]] = {}
        for one in self.examples:
            for question in (*(question for question, _ in one.answered), *one.not_answered):
                own.setdefault(question, set()).update((one.line, *one.others))
        lines = sorted({line for one in self.examples for line in (one.line, *one.others)})
        vectors = vectors_of(lines)
        found = {}
        for question, vector in zip(own, vectors_of(own), strict=True):
            near = np.argsort(-(vectors @ vector), kind="stable")
            found[question] = [lines[at] for at in near[: 3 * NEAREST] if lines[at] not in own[question]][
                :NEAREST
            ]
        return found

    def beside(self, examples: Sequence[Example], one: Example, count: int = OTHERS) -> list[str]:
        """Lines that do not belong to what is said to an example, some of them of the same person."""
        same = int(self.random.binomial(count, SAME_TELLER))
        return [*(self.one_of(one.others) for _ in range(same)), *self.others(examples, one, count - same)]

    def others(self, examples: Sequence[Example], one: Example, count: int) -> list[str]:
        """Lines of other examples, or idle ones."""
        found: list[str] = []
        while len(found) < count:
            other = examples[self.random.integers(len(examples))]
            known = self.random.random() < FROM_EXAMPLES
            if other is not one:
                found.append(other.line if known else self.one_of(self.idle))
        return found

    def one_of(self, lines: Sequence[str]) -> str:
        return lines[self.random.integers(len(lines))]


def vectors_of(texts: Iterable[str]) -> np.ndarray:
    """What the texts mean, without who says them: (texts, 384), each of length 1."""
    return MiniLM().embed([text.split(": ", 1)[1] for text in texts])


def parted(examples: Sequence[Example], held_back: int) -> tuple[list[Example], list[Example]]:
    """Some of them by chance, and the rest."""
    order = np.random.default_rng(0).permutation(len(examples))
    return [examples[i] for i in order[:held_back]], [examples[i] for i in order[held_back:]]
