from hypothesis import given
from hypothesis import strategies as st

from noodlings.worlds.telnet import (
    BACKSPACE,
    DO,
    DONT,
    ECHO,
    IAC,
    KILL_LINE,
    LONGEST_DETAIL,
    SB,
    SE,
    TERMINAL_TYPE,
    TIMING_MARK,
    WILL,
    WINDOW_SIZE,
    WONT,
    TelnetCodec,
)

TALK = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([bytes([IAC]), bytes([IAC, SB]), bytes([IAC, SE]), bytes([IAC, DO]), bytes([IAC, WILL])]),
)


def told(*details: int) -> bytes:
    return bytes([IAC, SB, *details, IAC, SE])


def test_text_passes_as_it_is():
    assert TelnetCodec().feed("grüße 🐕\r\n".encode()) == "grüße 🐕\r\n".encode()


def test_a_client_that_has_a_terminal_is_asked_which_and_says_it():
    codec = TelnetCodec()
    assert codec.feed(bytes([IAC, WILL, TERMINAL_TYPE])) == b""
    assert bytes(codec.answers) == told(TERMINAL_TYPE, 1)
    assert not codec.colour
    codec.feed(told(TERMINAL_TYPE, 0, *b"XTERM-256COLOR"))
    assert (codec.terminal, codec.colour) == ("xterm-256color", True)


def test_a_dumb_terminal_has_no_colours():
    codec = TelnetCodec()
    codec.feed(told(TERMINAL_TYPE, 0, *b"DUMB"))
    assert not codec.colour


def test_the_width_of_the_window_is_told_also_when_it_holds_the_command_byte():
    codec = TelnetCodec()
    codec.feed(told(WINDOW_SIZE, 0, 132, 0, 40))
    assert codec.columns == 132
    codec.feed(told(WINDOW_SIZE, 0, IAC, IAC, 0, 40))
    assert codec.columns == 255


def test_options_that_nobody_needs_are_refused_once():
    codec = TelnetCodec()
    for _ in range(1_000):
        codec.feed(bytes([IAC, DO, 3, IAC, WILL, 70, IAC, DONT, 3, IAC, WONT, 70]))
    assert bytes(codec.answers) == bytes([IAC, WONT, 3, IAC, DONT, 70])


def test_a_timing_mark_is_answered_each_time():
    codec = TelnetCodec()
    codec.feed(bytes([IAC, DO, TIMING_MARK]) * 2)
    assert bytes(codec.answers) == bytes([IAC, WONT, TIMING_MARK]) * 2


def test_a_password_is_hidden_and_shown_again_and_the_client_may_agree():
    codec = TelnetCodec()
    assert codec.echo(False) == b""
    assert codec.echo(True) == bytes([IAC, WILL, ECHO])
    assert codec.feed(bytes([IAC, DO, ECHO])) == b""
    assert codec.echo(False) == bytes([IAC, WONT, ECHO])
    assert codec.feed(bytes([IAC, DONT, ECHO])) == b""
    assert not codec.answers


def test_erasing_keys_of_the_protocol_reach_the_line():
    codec = TelnetCodec()
    assert codec.feed(bytes([*b"ab", IAC, 247, *b"c", IAC, 248])) == b"ab" + BACKSPACE + b"c" + KILL_LINE


def test_what_is_told_without_end_is_not_kept():
    codec = TelnetCodec()
    assert codec.feed(bytes([IAC, SB, TERMINAL_TYPE, 0]) + b"x" * 1_000_000) == b""
    codec.feed(bytes([IAC, SE]))
    assert len(codec.terminal) < LONGEST_DETAIL
    assert codec.feed(b"look") == b"look"


def test_what_is_no_command_is_not_gone_through_byte_by_byte(monkeypatch):
    steps = []
    step = TelnetCodec._step
    monkeypatch.setattr(TelnetCodec, "_step", lambda *given: steps.append(given) or step(*given))
    codec = TelnetCodec()
    assert codec.feed(b"look" + told(*b"x" * 100_000) + b"look" * 1_000) == b"look" * 1_001
    assert len(steps) == 4


@given(st.lists(TALK, max_size=30))
def test_no_bytes_break_it_and_pieces_make_no_difference(pieces):
    whole, apart = TelnetCodec(), TelnetCodec()
    text = whole.feed(b"".join(pieces))
    assert b"".join(apart.feed(piece) for piece in pieces) == text
    assert (apart.answers, apart.columns, apart.terminal) == (whole.answers, whole.columns, whole.terminal)
    assert len(whole.answers) <= 6 + sum(map(len, pieces))
