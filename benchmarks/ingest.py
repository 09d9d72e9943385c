"""How long a past takes to be taken in, and in how much memory: a log of so many lines, embedding off.

The log is made here, of a few people who talk for years. It is taken in by a process of its own, so that what
is measured is what `noodlings ingest` takes; then a second time, when nothing is new. The peak of memory is
shown beside that of a tenth of the lines: it must not grow with the log. Seconds on a processor say what it
takes where the machine has other things to do.

Run it: OPENBLAS_NUM_THREADS=1 python benchmarks/ingest.py [--lines N]
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

NAMES = ("Caity", "Bob", "Maren", "Old Tom", "Phi")
THINGS = ("the lighthouse", "my dog", "the storm", "your promise", "the blue key", "a letter", "supper")
FEELINGS = ("glad", "afraid", "sad", "bored", "sure")


def write_log(path: Path, lines: int) -> None:
    """So many lines, over as many years as that takes."""
    chance, at = random.Random(3), datetime(2003, 5, 1, 12, tzinfo=UTC)
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            at += timedelta(seconds=chance.choice((5, 20, 60, 600)))
            who, one, other, how = map(chance.choice, (NAMES, THINGS, THINGS, FEELINGS))
            words = f"I think {one} number {number} has to do with {other}, and I am {how} of it."
            file.write(f'[{at:%Y-%m-%d %H:%M:%S}] {who} says, "{words}"\n')


def taken_in(log: Path, folder: Path) -> tuple[float, float, float, str]:
    """Seconds, those on a processor, peak of memory in MB, and the first line of the report."""
    command = [sys.executable, "-m", "noodlings", "ingest", "mush", str(log), "--agent", "Phi"]
    environment = {**os.environ, "NOODLINGS_DATA": str(folder), "NOODLINGS_EMBEDDING__MODEL": "none"}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    report = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"noodlings ingest ended with {os.waitstatus_to_exitcode(status)}")
    spent = used.ru_utime + used.ru_stime
    return time.perf_counter() - began, spent, _megabytes(used), report.splitlines()[0]


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / (1_000_000 if sys.platform == "darwin" else 1_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000, help="of the log")
    most = parser.parse_args().lines
    print(f"{'lines':>9} {'seconds':>9} {'of CPU':>9} {'peak MB':>9}")
    with tempfile.TemporaryDirectory() as place:
        for lines in (most // 10, most, most):
            log, folder = Path(place) / f"{lines}.log", Path(place) / str(lines)
            if not log.exists():
                write_log(log, lines)
            seconds, spent, peak, report = taken_in(log, folder)
            print(f"{lines:9,} {seconds:9.1f} {spent:9.1f} {peak:9.0f}  {report}", flush=True)


if __name__ == "__main__":
    main()
