"""Every example runs as it is, or for a shorter time, and does what its first lines say.

A new one is to be added here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from noodlings.affect.game_rules import shipped_rules
from tests.api.serving import served

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SESSION = EXAMPLES / "companion" / "session.jsonl"


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
    return kept | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}


def started(example: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """An example that was run to its end."""
    return subprocess.run(
        [sys.executable, EXAMPLES / example, *words],
        env=environment(),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def run(example: str, *words: str, folder: Path) -> list[str]:
    """The lines it prints; nothing goes wrong, and nothing is left but in the folder."""
    done = started(example, *words, folder=folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout.splitlines()


def test_each_example_is_run_by_a_test() -> None:
    ours = {path.name for path in EXAMPLES.rglob("*.py")}
    assert ours >= {"old_bridge.py", "ten_lines.py", "simulation.py", "bot.py"}
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert [name for name in sorted(ours) if f'"{name}' not in tests and f"/{name}" not in tests] == []


def test_a_simulation_in_ten_lines(capsys: pytest.CaptureFixture[str]) -> None:
    source = (EXAMPLES / "ten_lines.py").read_text("utf-8")
    code = source[source.index("from noodlings") :]
    assert len([line for line in code.splitlines() if line.strip()]) <= 11
    exec(source.replace("ticks=96", "ticks=24"), {"__file__": str(EXAMPLES / "ten_lines.py")})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[::2]] == ["without nothing", "without streams"]
    assert re.fullmatch(r"  mara feels \w+ and holds [1-9]\d*", lines[1])
    assert lines[3].endswith("and holds 0")


def test_the_ten_lines_of_the_documentation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "simulation.md").read_text("utf-8")
    code = text.split("```python\n", 1)[1].split("```")[0]
    assert len(code.strip().splitlines()) <= 10
    monkeypatch.chdir(ROOT)
    exec(code.replace("ticks=96", "ticks=3"), {})
    said = capsys.readouterr().out
    assert " answers " in said
    assert said.splitlines()[-1].startswith("Affect(valence=")


def test_the_comparison_and_its_picture(tmp_path: Path) -> None:
    words = ("--seeds", "2", "--ticks", "12", "--jobs", "1", "--out", "picture.svg")
    lines = run("simulation.py", *words, folder=tmp_path)
    assert lines[0] == "reminded of the same kind, 2 seeds of 12 ticks (95 % interval)"
    assert [line.strip() for line in lines[1:19:6]] == ["whole", "without feeling", "a plain list"]
    assert lines[-1] == "drawn in picture.svg"
    drawn = ElementTree.parse(tmp_path / "picture.svg").getroot()
    words_drawn = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"grief", "fright", "joy", "all", "whole", "without feeling", "a plain list"} <= set(words_drawn)


def test_what_the_comparison_counts() -> None:
    module: dict[str, object] = {"__name__": "example", "__file__": str(EXAMPLES / "simulation.py")}
    exec((EXAMPLES / "simulation.py").read_text("utf-8"), module)

    def turn(agent: str, about: str, recalled: str = "", response: str = "Oh.") -> dict[str, str]:
        return {"agent": agent, "about": about, "recalled_about": recalled, "response": response}

    rows = [
        turn("mara", "grief", ""),  # nothing to recall yet
        turn("jon", "grief", "joy"),
        turn("mara", "", "grief"),
        turn("mara", "grief", ";grief;fright;"),
        turn("mara", "grief", ";"),
        turn("mara", "grief", "", response=""),  # kept silent
        turn("jon", "joy", "grief"),
    ]
    assert module["reminded"](rows) == {"grief": 0.5, "all": 0.5, "of its kind": 0.5}  # type: ignore[operator]
    mean, low, high = module["mean_of"]([0.0, 1.0, 1.0, 1.0])  # type: ignore[operator]
    assert (mean, 0.0 <= low < mean < high <= 1.0) == (0.75, True)


# -- the companion


def test_the_session_is_one_that_the_rules_know() -> None:
    rows = [json.loads(line) for line in SESSION.read_text("utf-8").splitlines()]
    assert 60 <= len(rows) <= 120
    assert [row["t"] for row in rows] == sorted(row["t"] for row in rows)
    assert sum("chat" in row for row in rows) > 20
    assert {row["event"] for row in rows if "event" in row} >= set(shipped_rules().events)


def test_the_companion_in_one_process(tmp_path: Path) -> None:
    lines = run("companion/bot.py", folder=tmp_path)
    moods = [line.split()[1] for line in lines if line.startswith("        mood: ")]
    assert {"chill", "hyped", "nervous", "frustrated"} == set(moods)
    blocks = [line.removeprefix("        | ") for line in lines if line.startswith("        | ")]
    assert sum(line.startswith("[GAME STATE] Mood:") for line in blocks) == 26
    assert "- just now: died to skeleton" in blocks
    assert "- 7 min ago: survived the night" in blocks
    assert len([line for line in lines if line.startswith("        <Pip> ")]) > 26
    remembered = next(n for n, line in enumerate(lines) if line.endswith("the creeper at the window?"))
    answer = next(line for line in lines[remembered:] if "<Pip>" in line)
    assert "creeper" in answer
    assert list(tmp_path.iterdir()) == []


def test_the_companion_through_a_server(tmp_path: Path) -> None:
    session = tmp_path / "short.jsonl"
    rows = SESSION.read_text("utf-8").splitlines(keepends=True)[20:28]
    session.write_text("".join(rows), "utf-8")
    with served(tmp_path / "data") as server:
        for _ in range(2):  # the second time there is a Pip already
            lines = run("companion/bot.py", str(session), "--server", server.url, folder=tmp_path)
            assert "        mood: nervous" in [line.split(" (")[0] for line in lines]
            assert any(line.startswith("        | [GAME STATE] Mood:nervous | HP:") for line in lines)
            assert any("<Pip>" in line for line in lines)
            told = lines[-1].split()
            assert told[:5] == ["the", "live", "stream", "told", "of"]
            assert int(told[5]) == len(rows)


def test_what_cannot_be_done_is_one_line(tmp_path: Path) -> None:
    done = started("companion/bot.py", "--server", "http://127.0.0.1:9", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"bot\.py: .*refused\n", done.stderr)
    done = started("companion/bot.py", "nowhere.jsonl", folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_server_that_wants_a_token_is_told_of_in_words(tmp_path: Path) -> None:
    tokens = json.dumps([{"role": "admin", "token": "a-long-secret-of-ours"}])
    with served(tmp_path / "data", NOODLINGS_API__TOKENS=tokens) as server:
        done = started("companion/bot.py", "--server", server.url, "--token", "wrong", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert " answered 401 " in done.stderr
    assert done.stderr.endswith("an admin's token goes behind --token\n")


def test_whoever_reads_only_the_beginning_ends_it_quietly(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-u", EXAMPLES / "companion/bot.py"],
        env=environment(),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as bot:
        assert bot.stdout is not None
        assert bot.stderr is not None
        bot.stdout.readline()
        bot.stdout.close()
        assert bot.stderr.read() == ""
        assert bot.wait(120) == 0
