"""One real terminal: what a person at a prompt sees, through a pseudo-terminal and a real process."""

import os
import re
import select
import subprocess
import sys
import time

import pytest

from tests.cli.test_main import ROOT, command, environment

pytestmark = pytest.mark.slow

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b.")
AT_PROMPT = "\x1b[?2004h"
"""What is sent when a prompt begins: from now on keys are keys, and Ctrl-C is no signal."""
PROMPT = "\x00prompt\x00"
PATIENCE = 60.0
QUIET = 0.5


class Terminal:
    """A window of 80×24 with `noodlings play` in it."""

    def __init__(self, folder):
        self.screen, inside = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        # Without CPR prompt_toolkit does not ask where the cursor is, which nobody here would answer.
        changes = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "NOODLINGS_WORLD__IDLE_SECONDS": "0"}
        self.process = subprocess.Popen(
            command("play", "--data", folder),
            stdin=inside,
            stdout=inside,
            stderr=inside,
            cwd=ROOT,
            env=environment(**changes),
            start_new_session=True,
        )
        os.close(inside)
        self.raw, self.seen = "", 0

    def until(self, words):
        """Read until these words appear behind what was seen before, and return what came up to them."""
        deadline = time.monotonic() + PATIENCE
        while (found := self._text().find(words, self.seen)) < 0:
            assert self._read(deadline - time.monotonic()), f"{words!r} did not appear: {self._text()}"
        before, self.seen = self.seen, found + len(words)
        return self._text()[before : self.seen]

    def keys(self, keys):
        """Press keys once everybody has finished speaking: while a line is written above the prompt, the
        terminal echoes keys itself."""
        while self._read(QUIET):
            pass
        os.write(self.screen, keys.encode())

    def _read(self, patience):
        """Read what is there; False when nothing came in time, or nobody is at the other end any more."""
        ready, _, _ = select.select([self.screen], [], [], max(patience, 0))
        try:
            read = os.read(self.screen, 65536) if ready else b""
        except OSError:  # how Linux says that the other end is closed
            return False
        self.raw += read.decode("utf-8", "replace")
        return bool(read)

    def _text(self):
        return ESCAPES.sub("", self.raw.replace(AT_PROMPT, PROMPT))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.screen)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
def test_a_person_at_a_prompt(tmp_path):
    with Terminal(tmp_path) as terminal:
        assert "No language model is connected" in terminal.until("Exits: ")
        terminal.until(PROMPT)
        terminal.keys("look ser\t")
        terminal.until("vnak")
        terminal.keys("\r")
        terminal.until("SERVNAK seems")
        terminal.keys("say servnak, hello\r")
        terminal.until('You say, "servnak, hello"')
        terminal.until("SERVNAK")
        terminal.keys("\x1b[A")
        terminal.until("say servnak, hello")
        terminal.keys(" and half a line\x03")
        terminal.until("(Press Ctrl-C again to leave)")
        terminal.keys("help @memories\r")
        assert "--flow" in terminal.until("-- more")
        terminal.keys("q")
        terminal.keys("quit\r")
        assert "Traceback" not in terminal.until("They will remember")
        assert terminal.process.wait(PATIENCE) == 0
    assert not (tmp_path / "history").exists()  # a line may be in confidence, or refused because it is secret
