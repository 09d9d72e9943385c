"""Files of hosts that are not as they should be: refused and left alone, or read as far as they can be."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from noodlings.bridge.list_wrapper import MemoryListWrapper
from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from tests.bridge.hosts import KINDS, rich_memory
from tests.memory.entries import texts
from tests.thorough import THOROUGH


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"servnak{request.param}"


def test_other_endings_are_refused(tmp_path: Path) -> None:
    for name in ("memory.txt", "memory", "memory.pickle"):
        with pytest.raises(UserError, match=r"must end in \.json, or in \.db"):
            rich_memory().save(tmp_path / name)
        with pytest.raises(UserError, match="must end in"):
            rich_memory().load(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", [0, 1, 40, 0.5, -4])
def test_a_torn_file_is_refused_and_left_alone(path: Path, left: float) -> None:
    rich_memory().save(path)
    whole = path.read_bytes()
    torn = whole[: int(len(whole) * left) if 0 < left < 1 else int(left)]
    path.write_bytes(torn)
    memory = HierarchicalMemory()
    memory.add(1, 1, "caity", "here", [])
    with pytest.raises(UserError, match=path.name):
        memory.load(path)
    assert texts(memory.retrieve_working()) == ["here"]
    with pytest.raises(UserError, match="exists and is not a complete memory file"):
        memory.save(path)
    assert path.read_bytes() == torn
    assert list(path.parent.iterdir()) == [path]


FOREIGN = {
    "list": b"[]",
    "text": b"dear diary",
    "other": b'{"format": "somebody", "version": 1, "entries": []}',
    "later": b'{"format": "noodlings-memory", "version": 2, "entries": []}',
    "true": b'{"format": "noodlings-memory", "version": true, "entries": []}',
    "counts": b'{"format": "noodlings-memory", "version": 1, "perceived": -1, "entries": []}',
    "entries": b'{"format": "noodlings-memory", "version": 1, "entries": {}}',
    "deep": b"[" * 100_000,
    "latin": b'{"format": "\xe4"}',
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError, match=path.name):
        HierarchicalMemory().load(path)
    with pytest.raises(UserError, match="exists and is not a complete memory file"):
        rich_memory().save(path)
    assert path.read_bytes() == content


def test_another_database_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "orders.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE orders (id INTEGER)")
    before = path.read_bytes()
    for action in (HierarchicalMemory().load, rich_memory().save):
        with pytest.raises(UserError, match=r"orders\.db"):
            action(path)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_said_to_be(path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written: No such file"):
        rich_memory().save(path.parent / "nowhere" / path.name)
    path.mkdir()
    with pytest.raises(UserError, match=path.name):
        rich_memory().save(path)
    with pytest.raises(UserError, match=path.name):
        HierarchicalMemory().load(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_said_to_be(path: Path) -> None:
    rich_memory().save(path)
    path.chmod(0)
    with pytest.raises(UserError, match=path.name):
        HierarchicalMemory().load(path)


SPOILT: dict[str, Any] = {
    "id": [-1, 1.5, None, 2**70],
    "timestamp": ["noon", None],
    "user_text": [5, None],
    "affect": [[1, 2], "sad"],
    "surprise": [1.5, "much"],
    "parts": [{"surprise": 2}, {"unknown": 0.5}, [], None],
    "override_by": ["me", None],
    "phenomenal_state": [[0.0] * 39, "?"],
    "kind": ["shout", None],
    "audience": [[5], None],
    "pinned": [1, None],
    "stability": [0, -5, None],
    "recall_count": [-1],
    "extra": [5, "ab"],
    "tells": [5, "ab", [0.5], [0.5, 2], [0.5, "x"]],
    "working": ["yes"],
    "row": [[1], "row"],
}


@pytest.mark.parametrize("name", SPOILT)
def test_one_bad_record_costs_no_other(path: Path, name: str) -> None:
    for value in SPOILT[name]:
        rich_memory().save(path)
        spoil(path, {name: value})
        spoilt = path.read_bytes()
        again = HierarchicalMemory(working_capacity=3)
        assert again.load(path) == 6
        assert again.find(1) is None
        assert again.find(2) is not None
        (beside,) = path.parent.glob("*.damaged-*")
        assert beside.read_bytes() == spoilt
        again.save(path)  # which is whole again; the rest stays beside it
        assert HierarchicalMemory().load(path) == 6
        beside.unlink()


def test_records_that_are_none_at_all_are_passed_over(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for junk in (None, 5, "junk", [], {}):
        rich_memory().save(path)
        spoil(path, junk)
        assert HierarchicalMemory().load(path) == 6
    assert "record 1 is skipped" in caplog.text
    assert "the file is kept as servnak" in caplog.text


def test_an_entry_that_is_there_twice_counts_once(path: Path) -> None:
    rich_memory().save(path)
    spoil(path, {"id": 2, "working": False})
    assert HierarchicalMemory().load(path) == 6


def spoil(path: Path, change: Any) -> None:
    """Change the first record; a dict is put into it, anything else in its place."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        first = content["entries"][0]
        content["entries"][0] = first | change if isinstance(change, dict) and change else change
        path.write_text(json.dumps(content))
        return
    with closing(sqlite3.connect(path)) as database, database:
        (record,) = database.execute("SELECT record FROM entries WHERE place = 0").fetchone()
        new = json.loads(record) | change if isinstance(change, dict) and change else change
        written = "{torn" if new == "junk" else json.dumps(new)
        database.execute("UPDATE entries SET record = ? WHERE place = 0", (written,))


# -- killed in the middle

_WRITER = """
import sys
from noodlings import MemoryListWrapper

context = MemoryListWrapper()
for number in range(100_000):
    context.append({"text": f"line {number}", "surprise": 1.0, "padding": "x" * 2_000})
    context.save(sys.argv[1])
    print(number, flush=True)
"""


@pytest.mark.slow
def test_a_host_that_is_killed_leaves_a_whole_file(path: Path) -> None:
    last = -1
    for wait in (1, 4, 9) if THOROUGH else (1, 6):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITER, path],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout is not None
            for _ in range(wait):
                last = int(writer.stdout.readline())
            writer.kill()
        context = MemoryListWrapper()
        assert context.load(path) > 0
        assert int(context[-1]["text"].removeprefix("line ")) >= last
        context.save(path)  # whatever lay about of the one that was killed is no hindrance
        assert list(path.parent.iterdir()) == [path]
        path.unlink()
