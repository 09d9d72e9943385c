"""What the whole is for, through the whole program: what matters is remembered, and survives."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.store.sql import SqlStore
from tests.program import Program, ran, started
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("KILL_ROUNDS", "3"))
"""Rounds of start, talk and kill; 50 before a release."""
MANY = 500 if THOROUGH else 250
"""Trivial lines, more than are in mind: 20 in working and 200 in episodic memory."""


def _noodlings(data, *arguments, lines=(), **environment):
    input = "".join(f"{line}\n" for line in lines).encode()
    done = ran(*arguments, "--data", data, environment=os.environ | environment, input=input)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 0, err
    assert "Traceback" not in out + err
    return out


def _started(data, *arguments, **environment):
    """As `_noodlings`, in a process that was started from nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "noodlings", *arguments, "--data", str(data)],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def trivia(tmp_path):
    rng = random.Random(5)
    path = tmp_path / "trivia.jsonl"
    # No greeting: it may bring the dog to mind too early, and nothing is said twice in a row.
    lines = ("ok", "brb", "nice weather", "I had toast", "the bus was late", "see you", "lol")
    rows = (
        {"user": "user_traveller", "text": f"{rng.choice(lines)} {number % 50}"} for number in range(MANY)
    )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize(("hierarchical", "lines"), [(True, MANY), (False, 60)])
def test_the_day_the_dog_died_outlives_hundreds_of_trivial_lines(tmp_path, trivia, hierarchical, lines):
    trivia.write_text("".join(trivia.read_text().splitlines(keepends=True)[:lines]))
    flag = {"NOODLINGS_MEMORY__USE_HIERARCHICAL": str(hierarchical).lower()}
    data = tmp_path / "data"
    _noodlings(data, "play", lines=["say servnak, My dog died yesterday"], **flag)
    report = _noodlings(data, "replay", str(trivia), "--agent", "servnak", "--json", **flag)
    assert json.loads(report)["perceived"] == lines
    mentioned = "say servnak, my dog would have liked this"
    asked = [mentioned, "say servnak, what did I say about my dog?", "@memories servnak --flow"]
    talk, _, flow = _noodlings(data, "play", lines=asked, **flag).partition("SERVNAK · flow")
    # The screen may break a line anywhere between words.
    assert ("YOUR DOG DIED" in " ".join(talk.split())) is hierarchical
    assert ("My dog died yesterday" in flow) is hierarchical
    assert ("switched off" in flow) is not hierarchical


def test_same_file_and_seed_give_the_same_result_byte_for_byte(tmp_path, trivia):
    trivia.write_text("".join(trivia.read_text().splitlines(keepends=True)[:20]))
    reports = [
        _started(tmp_path / name, "replay", str(trivia), "--json", PYTHONHASHSEED=str(seed))
        for seed, name in enumerate(("one", "two"))
    ]
    assert reports[0] == reports[1]
    assert reports[0].count("\n") == 1


def test_what_was_answered_survives_a_kill_at_any_moment(tmp_path):
    rng = random.Random(11)
    acknowledged: list[str] = []
    for round_ in range(ROUNDS):
        game = Program(["play", "--data", str(tmp_path)], dict(os.environ))
        with game:
            for number in range(rng.randrange(1, 4)):
                text = f"line {number} of round {round_}"
                game.write(f"say servnak, {text}\nwho\n".encode())
                seen = _until(game.said.buffer, b"(you)")  # `who` is answered when everybody has answered
                assert seen.rstrip().endswith(b"(you)"), seen.decode()
                acknowledged.append(text)
            # More is under way when the end comes, at whatever point that is.
            unheard = "".join(f"say servnak, unheard {number}\n" for number in range(rng.randrange(0, 40)))
            game.write(unheard.encode())
            game.kill()
            assert game.wait(30) == -signal.SIGKILL
    store = SqlStore(tmp_path, read_only=True)
    kept = {entry.user_text for entry in store.archive("servnak", limit=10_000)}
    store.close()
    assert {f"servnak, {text}" for text in acknowledged} <= kept


def _until(output, end):
    """What a program wrote, up to and including the first line that ends so; all of it if none does."""
    seen = b""
    for line in output:
        seen += line
        if line.rstrip().endswith(end):
            break
    return seen


def test_a_second_process_says_so_and_a_look_inside_works_beside_it(tmp_path):
    play = ["play", "--data", str(tmp_path)]
    with Program(play, os.environ) as game:
        game.write(b"say servnak, My dog died yesterday\nwho\n")
        assert any(line.rstrip().endswith("(you)") for line in game.said)  # everybody has answered by then
        second = started(*play, environment=os.environ)
        assert second.returncode == 3
        assert f"already in use by process {game.pid}" in second.stderr.decode()
        assert "My dog died" in _noodlings(tmp_path, "memories", "servnak", "--working")
        assert game.ended().returncode == 0


def test_settings_are_read_where_the_parts_are_put_together(tmp_path):
    from noodlings.app import build

    settings = load_settings(store={"path": str(tmp_path)}, memory_windows={"working": 3})
    society = build(settings, clock=ManualClock(0.0))
    assert society.agents["servnak"].memory.stats().working_capacity == 3
    society.close()
