"""A stream of events comes in any portions; the same events are read from it."""

from collections.abc import AsyncIterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from noodlings.llm.transport import events

STREAM = (
    'data: {"a": 1}\n\n: ping\n\ndata:two\r\ndata: lines\r\n\r\nevent: x\nid: 7\n\ndata: grüße\n\ndata: cut'
).encode()
FOUND = ['{"a": 1}', "two\nlines", "grüße"]


async def portions(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
async def test_portions_do_not_matter(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert [data async for data in events(portions(*pieces))] == FOUND


async def test_byte_by_byte() -> None:
    pieces = [bytes([byte]) for byte in STREAM]
    assert [data async for data in events(portions(*pieces))] == FOUND


@given(st.binary())
async def test_any_bytes_are_events_or_none(noise: bytes) -> None:
    assert all([isinstance(data, str) async for data in events(portions(noise))])


async def test_no_utf8_is_replaced() -> None:
    assert [data async for data in events(portions(b"data: \xff\n\n"))] == ["�"]
