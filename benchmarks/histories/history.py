"""What was done to a world and what it answered, in order: one JSON object a line.

The words are Jepsen's. A process (a client, or the nemesis) writes `invoke` when it sends something. Then it
writes how that ended: `ok` (acknowledged), `fail` (surely not done), or `info` (unknown: the connection was
cut, nobody answered in time, or the store could not tell). One program writes the whole history, so its lines
are in real time: what was acknowledged above a line was acknowledged before that line was sent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal

Type = Literal["invoke", "ok", "fail", "info"]
NEMESIS = "nemesis"


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of a history.

    Attributes:
        time: seconds since the run began.
        process: the client, or `NEMESIS`.
        type: see above.
        percept: which percept of which client, such as "c3-17"; it is in the text too. "" for the nemesis.
        send: which sending of it, from 1 on; each is invoked and ended by itself.
        agent, user, text: of the percept, as sent.
        keyed: whether it has an Idempotency-Key, the same in all its sends.
        node: to which process of the cluster it was sent, or what was done to which.
        entry: of an acknowledged percept, the id that was answered.
        response: of an acknowledged percept, what the character said, None for silence.
        cut_off: whether the answer said that the turn was cut off.
        status: of the answer over HTTP, 0 where there was none.
        what: what the nemesis did, or what went wrong.
    """

    time: float
    process: str
    type: Type
    percept: str = ""
    send: int = 1
    agent: str = ""
    user: str = ""
    text: str = ""
    keyed: bool = False
    node: int = 0
    entry: int = 0
    response: str | None = None
    cut_off: bool = False
    status: int = 0
    what: str = ""


class History:
    """A history that is written down while it happens.

    Attributes:
        operations: all of them so far.
    """

    def __init__(self, file: Path) -> None:
        self.operations: list[Operation] = []
        self._file: IO[str] = file.open("w", encoding="utf-8")
        self._began = time.monotonic()

    def note(self, process: str, type: Type, **facts: Any) -> None:
        """Write down one operation, as of now."""
        operation = Operation(round(time.monotonic() - self._began, 6), process, type, **facts)
        self.operations.append(operation)
        self._file.write(json.dumps(asdict(operation), ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Nothing more happens."""
        self._file.close()


def read_history(lines: Iterable[str]) -> list[Operation]:
    """The operations of a file that `History` wrote."""
    return [Operation(**json.loads(line)) for line in lines]
