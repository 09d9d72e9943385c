"""The whole program, all of it from `main` on, without the seconds that a start takes.

- `ran` runs it in this process.
- `Program` is a process of its own, forked off one that has imported everything, has read every table (see
  `tests.warmed`) and has done nothing else: of the seconds of a start all but some tenths are that. Signals,
  a kill, pipes and the way to its end are those of any process.
- What only a start from nothing has is tested with one: the seed of hashes, what is imported, what variables
  of Python do, the folder that it is started in.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self

import pytest

from noodlings.cli.main import main

ROOT = Path(__file__).parents[1]
_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        "tests.program",
        "api.server",
        "noodlings.host.server",
        "noodlings.host.visit",
        "noodlings.ingest.sources.registry",
        "noodlings.worlds.demo",
        "noodlings.worlds.terminal",
        "numpy.random",
        "onnxruntime",
        "openai",
        "rich.progress",
        "snowballstemmer",
        "tokenizers",
        "typer._adapters",
        "uvicorn.lifespan.on",
        "vaderSentiment.vaderSentiment",
        "api.run",
        "tests.warmed",
    ]
)


@dataclass(frozen=True)
class Ended:
    """How it ended and what it wrote, in the words of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: bytes
    stderr: bytes


def ran(*words: object, environment: Mapping[str, str], input: bytes = b"") -> Ended:
    """The program, run to its end with this command line, this environment and no other, and this input."""
    read, out, err = BytesIO(input), BytesIO(), BytesIO()
    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["noodlings", *map(str, words)])
        for name, stream in (("stdin", read), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, TextIOWrapper(stream, encoding="utf-8", write_through=True))
        _set(environment)
        try:
            code = main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            _set(before)
        return Ended(code, out.getvalue(), err.getvalue())


def _set(environment: Mapping[str, str]) -> None:
    """It may be changed by the program itself, so all of it is put back."""
    os.environ.clear()
    os.environ.update(environment)


class Program:
    """A running program, in the words of `subprocess.Popen`.

    Args:
        apart: what it writes as errors is not among the rest.
        folder: where it is started.

    Attributes:
        said: what it writes, as text.
        complained: what it writes as errors; the same as `said`, unless they are apart.
        typed: what it reads.
    """

    def __init__(
        self, words: list[str], environment: Mapping[str, str], apart: bool = False, folder: Path = ROOT
    ) -> None:
        typed, self.typed = _PROCESSES.Pipe(duplex=False)
        pipes = [_PROCESSES.Pipe(duplex=False) for _ in range(1 + apart)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", str(ROOT))
            for name in [name for name in os.environ if name.startswith("NOODLINGS_")]:
                patch.delenv(name)
            forkserver.ensure_running()
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)
        theirs = [typed, *(write for _, write in pipes)]
        ours = (words, dict(environment), folder, descriptors, theirs)
        self._process: BaseProcess = _PROCESSES.Process(target=_run, args=ours, daemon=True)
        self._process.start()
        for end in theirs:
            end.close()
        self.said = self.complained = _read_as_text(pipes[0][0])
        if apart:
            self.complained = _read_as_text(pipes[1][0])

    @property
    def pid(self) -> int:
        """Its number, which it has from the start."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float) -> int:
        """How it ended, once it has. Raises `subprocess.TimeoutExpired`."""
        self._process.join(seconds)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("noodlings", seconds)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send it, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def write(self, words: bytes) -> None:
        """Type this."""
        while words:
            words = words[os.write(self.typed.fileno(), words) :]

    def ended(self, input: bytes = b"") -> Ended:
        """How it ends and what it still writes, if errors are apart, once it has read this and no more."""
        with ThreadPoolExecutor(2) as reading:
            out, err = (reading.submit(_rest_of, pipe) for pipe in (self.said, self.complained))
            with suppress(BrokenPipeError):  # it need not read to the end
                self.write(input)
            self.typed.close()
            return Ended(self.wait(120), out.result(), err.result())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self.wait(30)
        for end in (self.said, self.complained, self.typed):
            end.close()


def started(*words: object, environment: Mapping[str, str], input: bytes = b"") -> Ended:
    """As `ran`, in a process of its own."""
    with Program([*map(str, words)], environment, apart=True) as program:
        return program.ended(input)


def _read_as_text(pipe: Connection) -> TextIOWrapper:
    with pipe:
        read = os.fdopen(os.dup(pipe.fileno()), "rb")
        return TextIOWrapper(read, encoding="utf-8", errors="surrogateescape", newline="")


def _rest_of(pipe: TextIOWrapper) -> bytes:
    return pipe.read().encode("utf-8", "surrogateescape")


def _run(
    words: list[str],
    environment: dict[str, str],
    folder: Path,
    descriptors: tuple[int, int],
    ends: list[Connection],
) -> None:
    """The whole program from `main` on, in the process that was forked for it."""
    resource.setrlimit(resource.RLIMIT_NOFILE, descriptors)
    os.chdir(folder)
    _set(environment)
    for number, end in enumerate((*ends, ends[-1])[:3]):
        os.dup2(end.fileno(), number)
    for end in ends:
        end.close()
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, encoding="utf-8") for number in (1, 2))
    sys.argv = ["noodlings", *words]
    sys.exit(main())
