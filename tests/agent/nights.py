"""A process that lets Phi go over its days: `python -m tests.agent.nights FOLDER [MOMENTS]`.

With moments, 0…1 of the time that a night takes, it does so in a copy of the folder for each of them, in a
child that is killed at that moment, and once more to the end. It prints a hash of what is exported each time:
after one night, after two in a row, and after each that was killed; and in the end how many were.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.portable.export import export
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption

_clock = iter(range(10**9, 2 * 10**9, 100_000))


def night(folder: Path, kill_after: float = 0.0) -> float:
    """A night in a child, at another time each; the seconds of a processor it took, 0 if it was killed."""
    clock, (reading, writing) = ManualClock(float(next(_clock))), os.pipe()
    if not (child := os.fork()):
        given = {"store": {"path": str(folder)}, "embedding": {"model": "none"}}
        society = build(Settings.model_validate(given), clock=clock)
        phi, began = society.agents["phi"], time.process_time()
        signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_PROF, kill_after)  # not the time that others hold up
        asyncio.run(phi.reflect())
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        os.write(writing, str(time.process_time() - began).encode())
        society.close()
        os._exit(0)
    os.close(writing)
    took = os.read(reading, 100)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) if not took else os.waitstatus_to_exitcode(status) == 0
    return float(took or 0.0)


def exported(folder: Path) -> str:
    whole = hashlib.sha256()
    with snapshot(folder, Encryption()) as kept:
        export(kept, kept.agents(), lambda line: whole.update(line.encode()))
    return whole.hexdigest()


def main(folder: Path, moments: list[float]) -> None:
    def copied(name: str) -> Path:
        return Path(shutil.copytree(folder, folder.parent / name))

    once = copied("once")
    before = exported(once)
    took = night(once)
    after = exported(once)
    assert after != before, "a night that changes nothing shows nothing"
    print(after)
    night(once)
    print(exported(once))
    cut = 0
    for number, moment in enumerate(moments):
        copy = copied(f"killed-{number}")
        cut += not night(copy, moment * took)
        night(copy)
        print(exported(copy))
        shutil.rmtree(copy)
    print(cut)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [float(moment) for moment in sys.argv[2:]])
