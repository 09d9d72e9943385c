"""The whole program in this process: all of it from `main` on, without the seconds that a start takes.

What only a process of its own has is tested with one: signals, a kill, pipes, an encoding, the seed of its
hashes, the folder that it is started in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper

import pytest

from noodlings.cli.main import main


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
