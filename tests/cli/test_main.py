"""The command line: what a person and a script get to see.

What is about processes has them: forked for signals and kills, and started from nothing for the folder that
one stands in, the encoding, and the pipes of a shell.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from argon2.profiles import CHEAPEST

from noodlings import __version__
from noodlings.worlds.accounts import Accounts
from tests import program
from tests.program import Program, ran

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def environment(**changes):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
    return kept | {"PYTHONPATH": str(ROOT), "NOODLINGS_CONFIG": str(ROOT / "config.yaml")} | changes


def command(*words):
    return [sys.executable, "-m", "noodlings", *map(str, words)]


def run(*words, input=b"", **changes):
    """Run the program to its end, in this process. Input and output are bytes."""
    input = input.encode() if isinstance(input, str) else input
    return ran(*words, environment=environment(**changes), input=input)


def started(*words, input=b"", cwd=None, **changes):
    """The same in a process that was started from nothing."""
    return subprocess.run(
        command(*words),
        input=input.encode() if isinstance(input, str) else input,
        capture_output=True,
        timeout=120,
        cwd=cwd or ROOT,
        env=environment(**changes),
        check=False,
    )


def forked(*words, input=b"", **changes):
    """The same in a process that was forked for it."""
    return program.started(*words, environment=environment(**changes), input=input)


def played(folder, *lines, run=run, **changes):
    """The output of a scripted visit, which must end well."""
    done = run("play", "--data", folder, input="\n".join(lines), **changes)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode()


def test_help_and_version_need_nothing():
    shown = started("--help").stdout.decode()
    assert all(word in shown for word in ("play", "demo", "memories"))
    assert started("--version").stdout.decode() == f"noodlings {__version__}\n"


def test_what_is_no_recorded_talk_is_refused(tmp_path):
    file = tmp_path / "passwd"
    file.write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:1:1::/:/bin/false\n")
    for flags in ((), ("--json",)):
        done = run("replay", file, *flags)
        assert (done.returncode, done.stdout) == (2, b"")
        assert f"{file} is not recorded talk; line 1: it is not JSON" in done.stderr.decode()
    file.write_text('nothing\n{"user": "caity", "text": "hi"}\n{"id": 3}\n')
    done = run("replay", file)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "3 lines, " in done.stdout.decode()
    assert done.stdout.decode().count("was skipped") == 2


def test_a_secret_line_of_a_recording_is_named_and_left_out_where_there_is_no_key(tmp_path):
    rows = [{"user": "caity", "text": f"the gold {number}", "tier": 2 * (number == 1)} for number in range(3)]
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("replay", file, "--agent", "phi", "--data", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "3 lines, 2 percepts" in done.stdout.decode()
    assert "line 2 was skipped: What is secret can only be kept encrypted" in done.stdout.decode()
    file.write_text(json.dumps(rows[1]))
    assert "1 lines, 0 percepts" in run("replay", file, "--data", tmp_path).stdout.decode()


def test_a_recording_makes_no_character_of_a_person_or_of_a_word_for_one(tmp_path):
    file, data = tmp_path / "talk.jsonl", tmp_path / "data"
    Accounts(data, CHEAPEST).create("Gustav", "correct horse battery")
    Accounts(data, CHEAPEST).join("Gustav", "Gustav")
    Accounts(data, CHEAPEST).create("Zia", "correct horse battery")
    agents = ("gustav", "phi", "new", "zia", "user_gustav", "api_world", "me")
    rows = [{"user": "caity", "text": "hi", "agent": who} for who in agents]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("replay", file, "--data", data)
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode()
    assert "line 1 was skipped: gustav is the id of a person" in shown
    assert "line 4 was skipped: there is already somebody called zia" in shown
    assert "line 5 was skipped: gustav is the id of a person" in shown
    assert "line 6 was skipped: api_world: ids that begin with user_ or api_ belong to" in shown
    assert "line 7 was skipped: me has another meaning here" in shown
    assert "7 lines, 2 percepts" in shown


def test_a_scripted_visit(tmp_path):
    shown = played(
        tmp_path,
        "say hello, servnak",
        ":waves",
        "look servnak",
        "who",
        "go north",
        "help",
        "quit",
        "say not reached",
        run=started,
    )
    assert "No language model is connected" in shown
    assert "The Workshop" in shown
    assert 'You say, "hello, servnak"' in shown
    assert "SERVNAK" in shown.split("hello, servnak", 1)[1]
    assert "traveller waves." in shown
    assert "The Walled Garden" in shown
    assert "whisper NAME = TEXT" in shown
    assert "You leave." in shown
    assert "not reached" not in shown
    assert "\x1b" not in shown


def test_whoever_comes_back_is_where_they_were_and_is_remembered(tmp_path):
    played(tmp_path, "servnak", "say servnak, my dog died yesterday", "go north")
    shown = played(tmp_path, "go south", "@memories servnak --working")
    assert shown.index("The Walled Garden") < shown.index("The Workshop")
    assert "my dog died yesterday" in shown


HOSTILE = [
    b"say " + b"x" * 100_000,
    b"say \x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J",
    b"say [bold]not bold[/bold] [/] [red",
    "say 👍🏽 ünïcödé 漢字 \u202eesrever".encode(),
    b"say nul\x00byte",
    b"    ",
    b"",
    b"say \xff\xfe\xfa invalid",
    b"\xff",
    b"look \x1b[31m",
    b"whisper = ",
    b"whisper [bold] = [/bold]",
    b"go [/]",
    b"@memories \x00\x1b[31m --user [bold]",
    b'@memories "',
    b"--help",
    b"@",
    b"help [bold]",
]


def test_hostile_lines_break_nothing(tmp_path):
    done = forked(
        "play", "--data", tmp_path, input=b"\n".join([*HOSTILE, b"@memories servnak --working", b"say fine"])
    )
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert done.stderr == b""
    assert "Traceback" not in shown
    assert "Something went wrong" not in shown
    assert "100,004 characters" in shown
    assert "[bold]not bold[/bold]" in shown
    assert not {character for character in shown if not character.isprintable()} - {"\n", "\u200d"}
    assert 'You say, "fine"' in shown
    assert "Traceback" not in (tmp_path / "noodlings.log").read_text()


def test_memories_from_a_shell(tmp_path):
    played(tmp_path, "say servnak, my dog died yesterday")
    shown = run("memories", "servnak", "--working", "--data", tmp_path)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert "my dog died yesterday" in shown.stdout.decode()
    line = run("memories", "servnak", "--data", tmp_path, "--json").stdout.decode()
    assert line.count("\n") == 1
    assert json.loads(line)["working"] >= 1


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("servnack",), "did you mean SERVNAK?"),
        (("servnak", "--flwo"), "did you mean --flow?"),
        (("servnak", "--limit", "none"), "whole number"),
        (("--flow",), "Which character?"),
    ],
)
def test_a_wrong_look_is_one_helpful_line(tmp_path, words, hint):
    played(tmp_path)
    done = run("memories", *words, "--data", tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().count("\n") == 1
    assert hint in done.stderr.decode()


@pytest.mark.parametrize("words", [("play",), ("demo",), ("memories", "servnak")])
def test_wrong_settings_are_one_line(tmp_path, words):
    (tmp_path / "config.yaml").write_text("memory: {use_hierarchicall: false}\n")
    done = run(*words, "--data", tmp_path, "--config", tmp_path / "config.yaml")
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert "did you mean use_hierarchical?" in done.stderr.decode()


def test_a_data_folder_that_is_a_file_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("play", "--data", tmp_path / "file")
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1


class Visit:
    """A visit in a process of its own that goes on until somebody ends it; no model is loaded."""

    def __init__(self, folder):
        words = ["play", "--data", str(folder)]
        self.process = Program(words, environment(NOODLINGS_EMBEDDING__MODEL="none"), apart=True)

    def type(self, line, until):
        """Type a line and read until some words appear."""
        self.process.write(f"{line}\n".encode())
        shown = ""
        while until not in shown:
            read = self.process.said.readline()
            assert read, f"the visit ended before {until!r}: {shown}"
            shown += read
        return shown

    def __enter__(self):
        self.process.__enter__()
        return self

    def __exit__(self, *error):
        self.process.__exit__(*error)


def test_a_second_player_is_turned_away_and_a_look_is_allowed(tmp_path):
    with Visit(tmp_path) as visit:
        visit.type("say servnak, my dog died yesterday", "You say")
        visit.type("who", "(you)")
        second = forked("play", "--data", tmp_path)
        assert second.returncode == 3
        assert second.stderr.decode().count("\n") == 1
        look = run("memories", "servnak", "--working", "--data", tmp_path)
        assert look.returncode == 0
        assert "my dog died yesterday" in look.stdout.decode()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_visit_in_order(tmp_path, number):
    with Visit(tmp_path) as visit:
        visit.type("say servnak, my dog died yesterday", "You say")
        visit.type("who", "(you)")
        visit.process.send_signal(number)
        ended = visit.process.ended()
        assert ended.returncode != 0
        assert b"Traceback" not in ended.stderr
    shown = played(tmp_path, "@memories servnak --working")
    assert "my dog died yesterday" in shown
    assert "leaves" in shown


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    script = f"{' '.join(command('play', '--data', tmp_path))} | head -1"
    done = subprocess.run(
        ["bash", "-c", script],
        input=b"help\n" * 200,
        capture_output=True,
        timeout=60,
        env=environment(),
        check=False,
    )
    assert done.stderr == b""


def test_another_commands_package_in_the_folder_does_no_harm(tmp_path):
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "__init__.py").write_text("raise RuntimeError('the wrong commands')")
    done = started("play", "--data", tmp_path / "data", input="who", cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_demo_remembers_the_dog(tmp_path):
    began = time.monotonic()
    done = run("demo")
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert time.monotonic() - began < 60
    assert "500/500" in done.stderr.decode()
    asked = shown.index("I keep thinking about my dog.")
    answer, flow = shown[asked:].split("@memories", 1)
    assert "dog" in answer.split("says,", 1)[1].lower()
    assert "My dog died yesterday" in flow
