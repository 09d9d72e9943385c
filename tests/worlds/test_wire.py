import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.worlds.wire import LONGEST, LineAssembler


@pytest.mark.parametrize("end", [b"\r\n", b"\r\x00", b"\n", b"\r"])
def test_every_line_end_ends_a_line(end):
    assert LineAssembler().feed(b"one" + end + b"two" + end) == ["one", "two"]


def test_a_line_end_in_two_pieces_is_one():
    typed = LineAssembler()
    assert typed.feed(b"one\r") == ["one"]
    assert typed.feed(b"") == []
    assert typed.feed(b"\ntwo\r") == ["two"]
    assert typed.feed(b"\x00\r\n") == [""]


def test_characters_may_come_in_pieces_and_what_is_none_is_replaced():
    typed = LineAssembler()
    assert [typed.feed(bytes([byte])) for byte in "🐕".encode()] == [[], [], [], []]
    assert typed.feed(b"\xff\n") == ["🐕\ufffd"]


def test_keys_that_erase_take_whole_characters():
    assert LineAssembler().feed("ax🐕\x7f\x08b\n".encode()) == ["ab"]
    assert LineAssembler().feed(b"\x7fwrong\x15right\n") == ["right"]


def test_of_a_line_without_end_not_everything_is_kept():
    typed = LineAssembler()
    for _ in range(100):
        assert typed.feed(b"x" * 10_000) == []
    assert typed.feed(b"\nnext\n") == ["x" * LONGEST, "next"]


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\x00", b"a", b"\x7f", "ü".encode()]), max_size=40))
def test_pieces_make_no_difference(pieces):
    apart = LineAssembler()
    assert [line for piece in pieces for line in apart.feed(piece)] == LineAssembler().feed(b"".join(pieces))
