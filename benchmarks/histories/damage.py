"""Damage to the files of a SQLite database whose process is dead, and what may be left of it.

What a crash can tear, SQLite repairs. Each frame of its log (the WAL) has a checksum, so a torn log is one
that ends sooner: everything up to there has to be kept, and nothing behind it. A page of the database is
written while the log still has it, so a page that is torn then has to be whole again. What no crash does is
tearing a page that is in the database alone. Its pages have no checksums, so there is no promise that this
is repaired, or even noticed where half a page is exchanged for an older version of itself; but whatever is
served of such a database must be right, or be refused, or be missed in words.
"""

from __future__ import annotations

import random
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.histories.checker import Fault, Kept, check
from benchmarks.histories.history import Operation

DATABASE = "noodlings.db"
LOG = f"{DATABASE}-wal"
INDEX = f"{DATABASE}-shm"
_LOG_HEADER, _FRAME_HEADER = 32, 24
_MOVED_AT = 96
"""Where the index of the log says how many of its frames are in the database too."""


def committed_frames(log: Path) -> tuple[int, int]:
    """How many frames a log has up to its last commit, and how long each is, in bytes."""
    data = log.read_bytes() if log.exists() else b""
    if len(data) < _LOG_HEADER:
        return 0, 0
    size = struct.unpack_from(">I", data, 8)[0] + _FRAME_HEADER
    count = 0
    for number, at in enumerate(range(_LOG_HEADER, len(data) - size + 1, size), 1):
        if data[at + 8 : at + 16] != data[16:24]:  # of an earlier round of the log
            break
        if any(data[at + 4 : at + 8]):
            count = number
    return count, size


def empty_log(folder: Path) -> None:
    """Move the log into the database, as SQLite does from time to time."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def cut_log(folder: Path, chance: random.Random) -> str:
    """Cut the log off in its middle, or overwrite a part of it; "" where there is nothing to cut.

    It is not cut where the database has it too: before that, it was brought to the disk.
    """
    log = folder / LOG
    count, size = committed_frames(log)
    (moved,) = struct.unpack_from("=I", (folder / INDEX).read_bytes(), _MOVED_AT) if count else (0,)
    if moved >= count:
        return ""
    at = _LOG_HEADER + chance.randrange(moved * size, count * size)
    if chance.random() < 0.5:
        with log.open("r+b") as file:
            file.truncate(at)
        return f"the log is cut off at byte {at}, in frame {(at - _LOG_HEADER) // size + 1} of {count}"
    with log.open("r+b") as file:
        file.seek(at)
        file.write(chance.randbytes(min(512, _LOG_HEADER + count * size - at)))
    return f"the log has other bytes from {at} on, in frame {(at - _LOG_HEADER) // size + 1} of {count}"


def tear_logged_page(folder: Path, chance: random.Random) -> str:
    """Tear a page that is in the log too; "" where there is none."""
    log, pages = (folder / name for name in (LOG, DATABASE))
    count, size = committed_frames(log)
    data = log.read_bytes()
    numbers = {
        struct.unpack_from(">I", data, _LOG_HEADER + frame * size)[0] - 1 for frame in range(count)
    } & set(range(pages.stat().st_size // max(size - _FRAME_HEADER, 1)))
    return _tear(pages, chance.choice(sorted(numbers)), chance) if numbers else ""


def tear_page(folder: Path, chance: random.Random) -> str:
    """Tear any page of a database; "" where it is no other then."""
    database = folder / DATABASE
    return _tear(database, chance.randrange(database.stat().st_size // _page_size(database)), chance)


def _page_size(database: Path) -> int:
    with database.open("rb") as file:
        size: int = struct.unpack(">H", file.read(18)[16:])[0]
    return 65_536 if size == 1 else size


def _tear(database: Path, page: int, chance: random.Random) -> str:
    """Let the second half of a page be zeros, or what another page has there."""
    size, data = _page_size(database), bytearray(database.read_bytes())
    other, half = chance.randrange(len(data) // size), size // 2
    there = bytes(half) if chance.random() < 0.5 else bytes(data[other * size + half : (other + 1) * size])
    if data[page * size + half : (page + 1) * size] == there:
        return ""
    data[page * size + half : (page + 1) * size] = there
    database.write_bytes(data)
    instead = f"as in page {other + 1}" if any(there) else "zeros"
    return f"the second half of page {page + 1} of {len(data) // size} is {instead}"


def differences(whole: str, damaged: str) -> Iterator[Fault]:
    """What an export of a damaged database says otherwise than that of the whole one, or leaves out."""
    before, after = whole.splitlines(), damaged.splitlines()
    if before != after:
        first = next(
            (f"{one:.80}" for one, other in zip(before, after, strict=False) if one != other), "its end"
        )
        yield Fault("damaged", "", f"nothing was told, and the export is another from here on: {first}")


SOUND, DAMAGED = "its pages are sound", " is damaged: "
"""What the log says at the start after a kill."""


def wrongly_served(
    whole: Mapping[str, Kept], seen: Mapping[str, Mapping[int, str] | None], words: str
) -> Iterator[Fault]:
    """What is served of a damaged database and is not so, or is left out and nothing says so.

    Args:
        seen: agent → id → text as served; None where that was refused.
        words: what the server wrote into its log.
    """
    for agent, entries in seen.items():
        if entries is None:
            continue
        texts = {entry["id"]: entry["user_text"] for entry in whole.get(agent, Kept()).entries}
        for number, text in entries.items():
            if text != texts.get(number):
                yield Fault("damaged", agent, f"entry {number} is served as {text!r:.60}")
        for number in sorted(texts.keys() - entries.keys()):
            if f"entry {number} of {agent}" not in words and DAMAGED not in words:
                yield Fault("damaged", agent, f"entry {number} is left out, and nothing says so")


def gaps(history: Sequence[Operation], kept: Mapping[str, Kept]) -> list[Fault]:
    """What is wrong with a store that ends sooner than the history, beside that."""
    said = {(agent, entry["user_text"]) for agent, one in kept.items() for entry in one.entries}
    faults = [fault for fault in check(history, kept) if fault.kind != "lost"]
    sent, missing = set[str](), dict[str, Operation]()
    for one in history:
        if one.type == "invoke" and one.percept not in sent:
            sent.add(one.percept)
            if missing and (one.agent, one.text) in said:
                lost = next(iter(missing.values()))
                what = f"{lost.percept}, entry {lost.entry} of {lost.agent}"
                return [*faults, Fault("lost", one.agent, f"{what}, is missing, and {one.percept} is there")]
        elif one.type == "ok" and (one.agent, one.text) not in said:
            missing[one.percept] = one
    return faults
