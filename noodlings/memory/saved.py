"""The file in which a host keeps its memory: JSON or SQLite, depending on its suffix.

Both hold a header with the name of the format and its version, and one JSON record for each entry.

- The file is always whole, in its old form or its new one, even if the machine stops during a write.
- A file that is not one of our memories, is damaged, or was written by a later version is never replaced.
- A file may come from anywhere and may have been edited by hand, so records are read field by field. If one
  cannot be read, the others are, and a copy of the file is kept.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from threading import Lock
from typing import Any

from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.files import atomic_write
from noodlings.memory.encode import finite, read_affect, read_state, unit, whole
from noodlings.text import CleanText, clean
from noodlings.values.audience import Audience, Tier
from noodlings.values.fact import Tells
from noodlings.values.memory import Hindsight, ImportanceParts, MemoryEntry
from noodlings.values.percept import Kind, kept_audience

MARK_KEY = "noodlings"
"""Where a host's row carries what a memory knows of it (`noodlings.bridge.row_marks`)."""
DEEPEST = 50
"""Levels of what a host put into a row; what lies deeper is not kept."""

_LARGEST = 2**63
_OVERRIDES = ("", "response", "hand")


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """An entry, the streams it is in, and the row as which a host shows it, if it does."""

    entry: MemoryEntry
    working: bool
    episodic: bool
    row: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """A memory; entries in working memory are in the order in which they are shown."""

    entries: tuple[SavedEntry, ...] = ()
    perceived: int = 0
    consolidated: int = 0
    last_id: int = 0


def record_of(saved: SavedEntry) -> dict[str, Any]:
    entry = saved.entry
    record = {field.name: getattr(entry, field.name) for field in fields(entry)} | {
        "affect": None if entry.affect is None else entry.affect.as_list(),
        "parts": asdict(entry.parts),
        "kind": entry.kind.value,
        "audience": sorted(entry.audience.witnesses),
        "confined": entry.audience.confined,
        "tier": int(entry.tier),
        "working": saved.working,
        "episodic": saved.episodic,
    }
    kept: dict[str, Any] = plain(record if saved.row is None else record | {"row": saved.row})
    return kept


def read_record(record: Any) -> SavedEntry:
    """The entry of a record. Raises a `UserError` that says what is wrong with it."""
    if not isinstance(record, Mapping):
        raise UserError(f"a record must be an object, not {record!r:.40}")
    try:
        row = record.get("row")
        if not isinstance(row, dict | None):
            raise UserError(f"row must be an object, not {row!r:.40}")
        return SavedEntry(_entry(record), _flag(record["working"]), _flag(record["episodic"]), row)
    except KeyError as error:
        raise UserError(f"{error.args[0]} is missing") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(str(error)) from None


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it.

    Arrays (numpy, mlx) and sets become lists, numbers that are not finite become None, and all else becomes
    text. Of that, what UTF-8 cannot hold is replaced, as where it is cleaned.
    """
    if depth > DEEPEST:
        return None
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and abs(value) < _LARGEST:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        named = ((str(name), inner) for name, inner in value.items() if name != MARK_KEY)
        return {plain(name): plain(inner, depth + 1) for name, inner in named}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner, depth + 1) for inner in value]
    return plain(value.tolist(), depth + 1) if hasattr(value, "tolist") else str(value)


def _entry(record: Mapping[str, Any]) -> MemoryEntry:
    parts = record["parts"]
    override_by = record["override_by"]
    if override_by not in _OVERRIDES:
        raise UserError(f"override_by is {override_by!r:.40}; it must be response, hand or empty")
    stability = finite(record["stability"], "stability")
    if stability <= 0.0:
        raise UserError(f"stability is {stability}: it must be above 0")
    return MemoryEntry(
        id=count(record["id"], "id"),
        timestamp=moment(record["timestamp"], "timestamp"),
        step=whole(record["step"], "step"),
        user_id=_words(record["user_id"], "user_id"),
        user_text=_words(record["user_text"], "user_text"),
        affect=read_affect(record["affect"]),
        surprise=unit(record["surprise"], "surprise"),
        encoded_importance=unit(record["encoded_importance"], "encoded_importance"),
        parts=ImportanceParts(**{name: unit(value, name) for name, value in parts.items()}),
        override=_maybe(unit, record, "override"),
        override_by=override_by,
        response=_maybe(_words, record, "response"),
        identity_salience=unit(record["identity_salience"], "identity_salience"),
        phenomenal_state=read_state(record["phenomenal_state"]),
        kind=Kind(record["kind"]),
        audience=_audience(record),
        place=_words(record["place"], "place"),
        pinned=_flag(record["pinned"]),
        recall_count=count(record["recall_count"], "recall_count"),
        last_recalled=_maybe(finite, record, "last_recalled"),
        stability=stability,
        extra=dict(record["extra"]),
        source=_words(record.get("source", ""), "source"),
        hindsight={
            Hindsight(reason): finite(shift, "hindsight")
            for reason, shift in record.get("hindsight", {}).items()
        },
        tells=None if record.get("tells") is None else _tells(record["tells"]),
    )


def _tells(numbers: Any) -> Tells:
    of_speaker, of_other = numbers
    return Tells(unit(of_speaker, "tells"), unit(of_other, "tells"))


def _audience(record: Mapping[str, Any]) -> Audience:
    witnesses = [_words(user_id, "audience") for user_id in record["audience"]]
    confined = _flag(record["confined"]) if "confined" in record else None
    tier = Tier(whole(record.get("tier", 0), "tier"))
    return kept_audience(Kind(record["kind"]), record["user_id"], witnesses, confined, tier)


def count(value: Any, name: str) -> int:
    """A whole number ≥ 0, or a `UserError` that names it."""
    number = whole(value, name)
    if number < 0:
        raise UserError(f"{name} is {number}: it must be at least 0")
    return number


def _maybe(read: Callable[[Any, str], Any], record: Mapping[str, Any], name: str) -> Any:
    return None if record[name] is None else read(record[name], name)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UserError(f"there is {value!r:.40} where it should be true or false")
    return value


def _words(value: Any, name: str) -> CleanText:
    if not isinstance(value, str):
        raise UserError(f"{name} must be text, not {value!r:.40}")
    return clean(value)


log = logging.getLogger(__name__)

FORMAT = "noodlings-memory"
VERSION = 1
SQLITE = (".db", ".sqlite", ".sqlite3")

_COUNTS = ("perceived", "consolidated", "last_id")

# Two threads that save at once would write into one another's file.
_writing = Lock()


def write(saved: Saved, path: Path) -> None:
    """Write a memory to a file, in place of the one before.

    Raises:
        UserError: the suffix is neither .json nor one of SQLite's, the file exists and is no whole memory of
            this version, or it cannot be written. Then it is as it was.
    """
    put = _write_sqlite if _is_sqlite(path) else _write_json
    try:
        with _writing:
            if path.exists():
                _require_ours(path)
            with atomic_write(path) as aside:
                put(saved, aside)
    except (OSError, sqlite3.Error) as error:
        raise UserError(f"{path} cannot be written: {_why(error)}") from None


def read(path: Path) -> Saved | None:
    """The memory in a file, or None where there is no file yet.

    Raises:
        UserError: it cannot be read, is no memory, is torn, or of another version.
    """
    sqlite = _is_sqlite(path)
    if not path.exists():
        return None
    try:
        saved, bad = _saved(*_contents(path, sqlite))
        if bad:
            _keep_beside(path, bad)
    except UserError as error:
        raise UserError(f"{path} cannot be read as a memory: {error}") from None
    except (OSError, sqlite3.Error, ValueError, RecursionError) as error:
        raise UserError(f"{path} is not a complete memory file: {_why(error)}") from None
    return saved


def _saved(head: Mapping[str, Any], records: list[Any]) -> tuple[Saved, int]:
    """The memory, and how many records could not be read."""
    entries: dict[int, SavedEntry] = {}
    for number, record in enumerate(records, 1):
        try:
            found = read_record(record)
            if found.entry.id in entries:
                raise UserError(f"entry {found.entry.id} is already there")
            entries[found.entry.id] = found
        except UserError as error:
            log.warning("record %d is skipped: %s", number, clean(str(error)))
    counts = {name: head[name] for name in _COUNTS}
    counts["last_id"] = max(counts["last_id"], *entries, 0)
    return Saved(tuple(entries.values()), **counts), len(records) - len(entries)


def _keep_beside(path: Path, bad: int) -> None:
    """Copy a file with unreadable records, which the next save would lose."""
    mark = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    beside = path.with_name(f"{path.name}.damaged-{mark}")
    shutil.copy2(path, beside)
    log.warning("%s: %d records could not be read; a copy of the file is kept as %s", path, bad, beside.name)


def _require_ours(path: Path) -> None:
    """Raise `UserError` for a file that must not be replaced."""
    try:
        _contents(path, _is_sqlite(path))
    except (UserError, sqlite3.Error, ValueError, RecursionError) as error:
        raise UserError(
            f"{path} exists and is not a complete memory file of version {VERSION} ({_why(error)}); move"
            " it away, or save under another name"
        ) from None


def _contents(path: Path, sqlite: bool) -> tuple[dict[str, Any], list[Any]]:
    """The head and the records of a file, with the head checked."""
    head, records = _read_sqlite(path) if sqlite else _read_json(path)
    if head.get("format") != FORMAT:
        raise UserError("it holds something other than a memory")
    version = head.get("version")
    if version != VERSION or isinstance(version, bool):
        raise UserError(f"it has version {version!r:.20}; this noodlings reads version {VERSION}")
    for name in _COUNTS:
        count(head.get(name), name)
    return head, records


def _head(saved: Saved) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION} | {name: getattr(saved, name) for name in _COUNTS}


def _is_sqlite(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix not in (*SQLITE, ".json"):
        raise UserError(f"{path} must end in .json, or in {', '.join(SQLITE)} for SQLite")
    return suffix != ".json"


def _why(error: Exception) -> str:
    return clean(str(getattr(error, "strerror", None) or error))


# -- JSON: a head, and one line for each entry


def _write_json(saved: Saved, path: Path) -> None:
    head = json.dumps(_head(saved)).removesuffix("}")
    lines = ",\n".join(map(_json, saved.entries))
    path.write_text(f'{head}, "entries": [\n{lines}\n]}}\n', "ascii")


def _read_json(path: Path) -> tuple[dict[str, Any], list[Any]]:
    content = json.loads(path.read_bytes())
    if not isinstance(content, dict):
        raise UserError("it should be an object, not a list or a single value")
    records = content.get("entries")
    if not isinstance(records, list):
        raise UserError("it has no list of entries")
    return content, records


def _json(entry: SavedEntry) -> str:
    return json.dumps(record_of(entry), allow_nan=False)


# -- SQLite: the head as one row, and one row for each entry


def _write_sqlite(saved: Saved, path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA synchronous = OFF")  # it is synced before it takes its place, and until
        database.execute("PRAGMA journal_mode = OFF")  # then nobody misses it: no journal is left lying about
        database.execute("CREATE TABLE head (name TEXT PRIMARY KEY, value NOT NULL)")
        database.execute("CREATE TABLE entries (place INTEGER PRIMARY KEY, record TEXT NOT NULL)")
        database.executemany("INSERT INTO head VALUES (?, ?)", _head(saved).items())
        records = ((place, _json(entry)) for place, entry in enumerate(saved.entries))
        database.executemany("INSERT INTO entries VALUES (?, ?)", records)


def _read_sqlite(path: Path) -> tuple[dict[str, Any], list[Any]]:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        (length,) = database.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchone()
        if length != path.stat().st_size:  # SQLite reads zeros where a file has ended
            raise UserError("it is torn")
        head = dict(database.execute("SELECT name, value FROM head").fetchall())
        rows = database.execute("SELECT record FROM entries ORDER BY place").fetchall()
    return head, [_object(record) for (record,) in rows]


def _object(record: Any) -> Any:
    """The JSON of one row; text that is not JSON stays text, and is refused as a record."""
    try:
        return json.loads(record)
    except (TypeError, ValueError, RecursionError):
        return record
