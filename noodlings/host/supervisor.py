"""Several workers on one machine behind one socket: started, replaced when they die, stopped together."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from ctypes import c_bool
from multiprocessing.sharedctypes import Synchronized
from types import FrameType
from typing import TypeAlias

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds until a worker that died is replaced; twice as long each time, until one has lived for a minute."""
LIVED = 60.0
STARTED = 30.0
"""Within so many seconds a worker that cannot start has said why, and ended."""
REFUSED = (2, 3)
"""Exit codes of a worker that could not start, which the next one could not either."""
GRACE_SECONDS = 75.0
"""How long workers may take to stop; what is left is killed."""

Told: TypeAlias = "Synchronized[bool]"
"""Whether one of the workers has told why it cannot start; the others would tell the same."""
Work = Callable[[int, socket.socket, Told], int]
"""What one worker does, given its number and the socket, → its exit code; it must be picklable."""

log = logging.getLogger(__name__)


def supervise(work: Work, bound: socket.socket, count: int) -> int:
    """Run workers until SIGTERM or SIGINT. Returns an exit code: 0, or that of a worker that could not start.

    Args:
        work: called in each worker with its number, 1…count.
        bound: all of them accept from this socket.
    """
    context = multiprocessing.get_context("spawn")
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop)

    told = context.Value(c_bool, False)

    def begun(number: int) -> multiprocessing.context.SpawnProcess:
        process = context.Process(target=_work, args=(work, number, bound, told), name=f"worker {number}")
        process.start()
        return process

    workers = {number: begun(number) for number in range(1, count + 1)}
    first, code = set(workers), 0
    pauses, since = dict.fromkeys(workers, FIRST_PAUSE / 2), dict.fromkeys(workers, time.monotonic())
    due: dict[int, float] = {}
    while not stopping.wait(0.2):
        for number, process in list(workers.items()):
            now = time.monotonic()
            if process.is_alive() or now < due.get(number, 0.0):
                continue
            if number in due:
                workers[number], since[number] = begun(number), now
                del due[number]
                continue
            lived = now - since[number]
            if number in first and process.exitcode in REFUSED and lived < STARTED:
                code = process.exitcode
                stopping.set()
                break
            first.discard(number)
            log.error("worker %d ended with %s; another one follows", number, process.exitcode)
            pauses[number] = FIRST_PAUSE if lived > LIVED else min(pauses[number] * 2, LONGEST_PAUSE)
            due[number] = now + pauses[number]
    for process in workers.values():
        process.terminate()
    until = time.monotonic() + GRACE_SECONDS
    for process in workers.values():
        process.join(max(until - time.monotonic(), 0.0))
        if process.is_alive():
            process.kill()
            process.join()
    return code


def _work(work: Work, number: int, bound: socket.socket, told: Told) -> None:
    def follow() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, name="following the parent", daemon=True).start()
    sys.exit(work(number, bound, told))
