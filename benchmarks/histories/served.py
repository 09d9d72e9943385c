"""One `noodlings serve` in a process of its own, which is killed, stopped and misled from outside."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import BinaryIO

from httpx2 import AsyncClient, HTTPError

ROOT = Path(__file__).parents[2]
READY_SECONDS, STOP_SECONDS = 60.0, 90.0
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
"""The library that lies about the time (package `faketime` of Debian), where it is installed."""


def environment(**changes: str) -> dict[str, str]:
    """Ours, without settings of whoever runs it; words alone, nothing of a character's own accord."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
    ours = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "NOODLINGS_EMBEDDING__MODEL": "none",
        "NOODLINGS_THOUGHT__RUMINATE": "false",
        "NOODLINGS_WORLD__IDLE_SECONDS": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }
    return kept | ours | changes


def run(*words: str | Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """`noodlings` with these words, to its end."""
    command = [sys.executable, "-m", "noodlings", *map(str, words)]
    return subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)


class Refused(Exception):
    """It ended instead of serving; says with which code and in which words."""


class Served:
    """A server that can be started again and again at one address.

    Args:
        data: its data folder.
        port: where it listens.
        log: where what it says is added.
        environment: all of it.
        clock: a file that says by how much its clock is wrong; None where nobody moves that.
        more: options of `serve`.
    """

    def __init__(
        self,
        data: Path,
        port: int,
        log: Path,
        environment: Mapping[str, str],
        clock: Path | None = None,
        more: tuple[str, ...] = (),
    ) -> None:
        self.url = f"http://127.0.0.1:{port}"
        where = ("--port", str(port), "--data", str(data))
        self._command = [sys.executable, "-m", "noodlings", "serve", *where, *more]
        self._log, self._environment, self._clock = log, dict(environment), clock
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: Thread | None = None
        self._ready = False
        if clock is not None:
            clock.write_text("+0", encoding="ascii")
            self._environment |= {
                "LD_PRELOAD": str(FAKETIME),
                "FAKETIME_TIMESTAMP_FILE": str(clock),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "NO_FAKE_STAT": "1",
            }

    @property
    def pid(self) -> int:
        """The number of the process. Raises `ProcessLookupError` where there is none."""
        if self._process is None or self._process.poll() is not None:
            raise ProcessLookupError(f"{self.url} is not served")
        return self._process.pid

    async def start(self) -> None:
        """Start it, and wait until it can be spoken to.

        Raises:
            Refused: it ended instead.
            RuntimeError: it had ended by itself meanwhile, after it was served.
        """
        # SIGBUS: the kernel ends whoever writes to a mapped file that was made immutable, as SQLite must.
        killed = (None, -signal.SIGKILL, -signal.SIGBUS)
        if self._ready and self._process is not None and self._process.poll() not in killed:
            raise RuntimeError(f"{self.url} ended by itself, with {self._process.returncode}")
        self._ready = False
        begin = self._log.stat().st_size if self._log.exists() else 0
        self._process = subprocess.Popen(  # noqa: ASYNC220 -- killed and waited for where nothing is awaited
            self._command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        # Through a pipe: where the process may write no more files, it may still speak.
        assert self._process.stdout is not None
        self._reader = Thread(target=_copy, args=(self._process.stdout, self._log), daemon=True)
        self._reader.start()
        latest = time.monotonic() + READY_SECONDS
        async with AsyncClient(timeout=2.0) as client:
            while time.monotonic() < latest:
                if (code := self._process.poll()) is not None:
                    self._reader.join()
                    said = self._log.read_bytes()[begin:].decode(errors="replace")
                    raise Refused(f"it ended with {code} and said: {said.strip()}")
                with suppress(HTTPError):
                    if (await client.get(f"{self.url}/ready")).status_code == 200:
                        self._ready = True
                        return
                await asyncio.sleep(0.05)
        raise Refused(f"it was not ready within {READY_SECONDS:g} s")

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self._signal(signal.SIGKILL)
        self._join()

    async def stop(self) -> int:
        """Let it end in order. Returns its exit code."""
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)
        await asyncio.to_thread(self._join)
        return 0 if self._process is None else self._process.returncode

    def pause(self) -> None:
        """Let it stand still as it is."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on, as if no time had passed."""
        self._signal(signal.SIGCONT)

    def jump(self, seconds: float) -> None:
        """From now on its clock is wrong by so many seconds."""
        assert self._clock is not None
        aside = self._clock.with_suffix(".new")
        aside.write_text(f"{seconds:+.3f}", encoding="ascii")
        aside.replace(self._clock)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def _join(self) -> None:
        if self._process is not None:
            self._process.wait(STOP_SECONDS)
        if self._reader is not None:
            self._reader.join()


def workers_of(pid: int) -> list[int]:
    """The processes that serve for a supervisor, oldest first; none of its other children (Linux)."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return sorted(child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes())


def _copy(source: BinaryIO, log: Path) -> None:
    with source, log.open("ab", buffering=0) as target:
        shutil.copyfileobj(source, target, 1)
