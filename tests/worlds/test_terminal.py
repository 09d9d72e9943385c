import asyncio
import io
import os
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output
from rich.text import Text

from noodlings.drawing import screen as screen_module
from noodlings.drawing.screen import Screen
from noodlings.worlds.script import LONGEST_LINE, follow, read_lines
from noodlings.worlds.terminal import TerminalSession, above_prompt


@dataclass
class Answer:
    view: object = ""
    leave: bool = False


class Listener:
    """A dispatch function that keeps its lines and leaves at "quit"."""

    def __init__(self, answers=()):
        self.lines = []
        self.answers = dict(answers)
        self.settled = []
        self.written = io.StringIO()

    async def dispatch(self, line):
        self.lines.append(line)
        return Answer(self.answers.get(line, ""), leave=line == "quit")

    async def settle(self):
        self.settled.append(len(self.lines))


def test_lines_are_read_as_they_come_and_never_fail():
    stream = io.BytesIO(b"plain\r\n\xff\xfe bad\nnul\x00\n\nlast")
    assert list(read_lines(stream)) == ["plain", "\ufffd\ufffd bad", "nul\x00", "", "last"]


def test_a_line_without_end_is_cut_and_the_next_one_is_whole():
    stream = io.BytesIO(b"x" * (3 * LONGEST_LINE + 7) + b"\nnext\n")
    first, second = read_lines(stream)
    assert len(first) == LONGEST_LINE
    assert second == "next"


def test_a_line_that_just_fits_is_not_taken_for_too_long():
    stream = io.BytesIO(b"x" * (LONGEST_LINE - 1) + b"\nnext\n" + b"y" * LONGEST_LINE)
    assert [len(line) for line in read_lines(stream)] == [LONGEST_LINE - 1, 4, LONGEST_LINE]


async def test_a_script_settles_after_each_line_and_echoes_nothing(capsys):
    listener = Listener({"b": Text("answer")})
    await follow(["a", "b", "c"], listener.dispatch, listener.settle, Screen(False))
    assert listener.lines == ["a", "b", "c"]
    assert listener.settled == [1, 2, 3]
    assert capsys.readouterr().out == "answer\n"


async def test_a_script_ends_where_it_leaves():
    listener = Listener()
    await follow(["a", "quit", "b"], listener.dispatch, listener.settle, Screen(False))
    assert listener.lines == ["a", "quit"]


@asynccontextmanager
async def typing(keys, listener, live=None, idle_seconds=0.0, complete=lambda line: []):
    """A conversation with these keys typed into it; what it writes is kept in `listener.written`."""
    output = Vt100_Output(listener.written, lambda: Size(rows=11, columns=80))
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=output):
        conversation = TerminalSession(
            listener.dispatch,
            complete,
            live,
            idle_seconds,
            Screen(True, {}, above_prompt),
        )
        pipe.send_text(keys)
        yield conversation, pipe


async def typed(keys, answers=(), **options):
    listener = Listener(answers)
    async with typing(keys, listener, **options) as (conversation, _):
        await asyncio.wait_for(conversation.run(), 10)
    return listener


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        ("say hi\rquit\r", ["say hi", "quit"]),
        ("say hi\r\x04", ["say hi"]),
        ("half a line\x03\x04", []),
        ("\x03\x03", []),
        ("\x03say hi\r\x03quit\r", ["say hi", "quit"]),
        ("say \x1b[31mred\x1b[0m\x1b[<1;2;3M\rquit\r", ["say red", "quit"]),
    ],
    ids=["quit", "ctrl-d", "ctrl-c clears", "ctrl-c twice", "ctrl-c once", "pasted escapes"],
)
async def test_keys_become_lines(keys, lines):
    assert (await typed(keys)).lines == lines


async def test_a_long_answer_is_shown_in_pages_until_one_has_enough(monkeypatch):
    monkeypatch.setattr(screen_module.shutil, "get_terminal_size", lambda: os.terminal_size((80, 11)))
    long = Text("\n".join(f"row {number}" for number in range(30)))
    for keys, last in (("long\r  \rquit\r", 29), ("long\r q\x04", 19), ("long\rq\x04", 9)):
        written = (await typed(keys, {"long": long})).written.getvalue()
        assert re.findall(r"row \d+", written) == [f"row {number}" for number in range(last + 1)]


async def test_what_is_typed_while_one_reads_is_the_next_line(monkeypatch):
    monkeypatch.setattr(screen_module.shutil, "get_terminal_size", lambda: os.terminal_size((80, 11)))
    long = Text("\n".join(f"row {number}" for number in range(30)))
    done = await typed("long\rhelp @why\rlong\r x\x03quit\r", {"long": long})
    assert done.lines == ["long", "help @why", "long", "quit"]


async def test_life_goes_on_while_one_types_and_survives_what_goes_wrong(caplog):
    alive = asyncio.Event()
    times = 0

    async def live():
        nonlocal times
        times += 1
        if times == 1:
            raise ZeroDivisionError
        alive.set()

    listener = Listener()
    async with typing("", listener, live=live, idle_seconds=0.001) as (conversation, pipe):
        running = asyncio.create_task(conversation.run())
        await asyncio.wait_for(alive.wait(), 10)
        pipe.send_text("quit\r")
        await asyncio.wait_for(running, 10)
    assert "nobody could do anything of their own accord" in caplog.text
