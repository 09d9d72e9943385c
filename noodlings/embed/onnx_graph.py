"""A part of a model in ONNX form, as a model of its own.

A session computes all of its graph, whatever is asked of it. Who needs only the lower layers, or has what the
upper ones begin with, saves the rest. The package `onnx` can cut, too, but weighs more than all that is cut
here, so this reads what it needs of the form itself: a message is a list of fields, each with its number and
its bytes (https://protobuf.dev/programming-guides/encoding/); the numbers are those of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

_GRAPH = 7
"""The field of a model."""
_NODE, _INITIALIZER, _INPUT, _OUTPUT = 1, 5, 11, 12
"""Fields of a graph."""
_NODE_INPUT, _NODE_OUTPUT = 1, 2
_NAME = {_INITIALIZER: 8, _INPUT: 1}
"""The field with the name of a tensor, and of an input."""
_FLOAT = b"\x12\x04\x0a\x02\x08\x01"
"""The type of an input or output: `type { tensor_type { elem_type: 1 } }`."""

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
"""How a field is written."""


class _Field(NamedTuple):
    number: int
    value: bytes
    """Empty for a number."""
    whole: bytes


def cut(model: bytes, *, inputs: Collection[str] = (), outputs: Collection[str]) -> bytes:
    """The part of a model that makes `outputs`, beginning with `inputs` and what else the model is given.

    Args:
        inputs: names of float tensors within the graph that will be given instead of being computed.
        outputs: names of float tensors within the graph.
    """
    cut_graph = (
        _written(_GRAPH, _part_of_graph(field.value, inputs, outputs))
        if field.number == _GRAPH
        else field.whole
        for field in _fields(model)
    )
    return b"".join(cut_graph)


def _part_of_graph(graph: bytes, inputs: Collection[str], outputs: Collection[str]) -> bytes:
    fields = list(_fields(graph))
    needed, nodes = set(outputs), []
    for field in reversed(
        [field for field in fields if field.number == _NODE]
    ):  # each makes what later ones take
        made = set(_names(field.value, _NODE_OUTPUT)).difference(inputs)
        if made & needed:
            needed.update(_names(field.value, _NODE_INPUT))
            nodes.append(field.whole)
    kept = [
        field.whole
        for field in fields
        if field.number not in (_NODE, _OUTPUT)
        and (field.number not in _NAME or needed.issuperset(_names(field.value, _NAME[field.number])))
    ]
    ends = [(_INPUT, name) for name in inputs] + [(_OUTPUT, name) for name in outputs]
    kept += [_written(number, _written(1, name.encode()) + _FLOAT) for number, name in ends]
    return b"".join([*reversed(nodes), *kept])


def _names(message: bytes, number: int) -> Iterator[str]:
    return (field.value.decode() for field in _fields(message) if field.number == number)


def _fields(message: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(message):
        start, length = at, 0
        key, at = _varint(message, at)
        match key & 7:
            case kind if kind == _BYTES:
                length, at = _varint(message, at)
            case kind if kind == _VARINT:
                _, at = _varint(message, at)
            case kind:
                at += {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}[kind]
        yield _Field(key >> 3, message[at : at + length], message[start : at + length])
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and where it ends."""
    number = shift = 0
    while message[at] & 0x80:
        number |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return number | message[at] << shift, at + 1


def _written(number: int, value: bytes) -> bytes:
    length, written = len(value), bytearray([number << 3 | _BYTES])
    while length > 0x7F:
        written.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*written, length]) + value
