"""Export, import and backup on the command line: what a person and a script get to see."""

import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass

import pytest
from argon2.profiles import CHEAPEST

from noodlings.cli.main import main
from noodlings.ports import AgentState, Changes
from noodlings.store.sql import SqlStore
from noodlings.worlds.accounts import Accounts
from tests.cli.test_main import ROOT, Visit, command, environment, played, started
from tests.store.records import an_entry, in_traces

pytestmark = pytest.mark.slow


@dataclass
class Done:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder somebody has played in."""
    made = tmp_path_factory.mktemp("played")
    played(made, "say servnak, my dog died yesterday", "@pin servnak --id 1")
    return made


@pytest.fixture
def noodlings(monkeypatch, capfdbinary):
    """Runs a command line in this process."""
    for name in [name for name in os.environ if name.startswith("NOODLINGS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NOODLINGS_CONFIG", str(ROOT / "config.yaml"))

    def noodlings(*words):
        monkeypatch.setattr(sys, "argv", ["noodlings", *map(str, words)])
        try:
            code = main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return noodlings


@pytest.fixture
def refused(noodlings):
    """Runs a command line that must end with one line of words; returns them."""

    def refused(*words, code=2):
        done = noodlings(*words)
        assert (done.code, done.out) == (code, "")
        assert done.err.count("\n") == 1
        assert done.err.startswith("noodlings: ")
        return done.err

    return refused


def lines_of(content):
    return [json.loads(line) for line in content.splitlines()]


def test_what_is_exported_and_imported_is_the_same(noodlings, folder, tmp_path):
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    shown = noodlings("export", "--data", folder)
    assert shown.code == 0
    assert shown.err.startswith("exported ")
    written = noodlings("export", file, "--data", folder)
    assert (written.code, written.err) == (0, "")
    assert file.read_text() == shown.out
    done = noodlings("import", file, "--data", other)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("imported ")
    assert noodlings("export", "--data", other).out == shown.out
    assert (other / "noodlings.db").stat().st_mode & 0o077 == 0
    look = json.loads(noodlings("memories", "servnak", "--working", "--json", "--data", other).out)
    assert "servnak, my dog died yesterday" in [entry["text"] for entry in look["entries"]]
    assert [entry["id"] for entry in look["entries"] if entry["pinned"]] == [1]


def test_json_is_one_line_of_the_same_figures(noodlings, folder, tmp_path):
    file, copy = tmp_path / "all.jsonl", tmp_path / "copy"
    done = noodlings("export", file, "--json", "--data", folder)
    exported = json.loads(done.out)
    assert (done.out.count("\n"), exported["file"], exported["left_out"]) == (1, str(file), 0)
    end = lines_of(file.read_text())[-1]
    counts = {name: exported[name] for name in ("entries", "traces", "links", "symbols")}
    assert counts == {name: end[name] for name in counts}
    done = noodlings("import", file, "--json", "--data", tmp_path / "other")
    assert json.loads(done.out) == counts | {"agents": exported["agents"], "records": 0}
    done = noodlings("backup", copy, "--json", "--data", folder)
    assert json.loads(done.out) == {"backup": str(copy), "bytes": (copy / "noodlings.db").stat().st_size}


def test_one_character_alone_by_any_case_of_its_name(noodlings, refused, folder):
    lines = lines_of(noodlings("export", "--agent", "SERVNAK", "--data", folder).out)
    assert [line["id"] for line in lines if line.get("type") == "agent"] == ["servnak"]
    assert "did you mean servnak?" in refused("export", "--agent", "servnack", "--data", folder)


def test_a_folder_is_compacted_and_nothing_is_lost(noodlings, refused, folder, tmp_path):
    copy = tmp_path / "copy"
    assert noodlings("backup", copy, "--data", folder).code == 0
    kept = noodlings("export", "--data", copy).out
    done = noodlings("compact", "--data", copy)
    assert (done.code, done.err) == (0, "")
    told = r"compacted .*: [\d,]+ bytes before, [\d,]+ now; 0 records were rewritten\n"
    assert re.fullmatch(told, done.out)
    found = json.loads(noodlings("compact", "SERVNAK", "--json", "--data", copy).out)
    size = (copy / "noodlings.db").stat().st_size
    assert found == {"data": str(copy), "before": size, "after": size, "written": 0, "left": 0}
    assert noodlings("export", "--data", copy).out == kept
    with closing(sqlite3.connect(copy / "noodlings.db")) as database, database:
        database.execute("UPDATE traces SET document = 'x' WHERE entry_id = 3")
    done = noodlings("compact", "--data", copy)
    assert re.search(r"; 0 records were rewritten; 2 could not be rewritten and stay as they are\n", done.out)
    assert "did you mean servnak?" in refused("compact", "servnack", "--data", copy)


def test_all_of_it_works_while_somebody_plays(noodlings, refused, tmp_path):
    folder, file = tmp_path / "data", tmp_path / "all.jsonl"
    with Visit(folder) as visit:
        visit.type("say servnak, my dog died yesterday", "You say")
        visit.type("who", "(you)")
        assert noodlings("export", file, "--data", folder).code == 0
        assert "my dog died yesterday" in file.read_text()
        assert noodlings("backup", tmp_path / "copy", "--data", folder).code == 0
        assert "already in use" in refused("import", file, "--data", folder, code=3)
        assert "already in use" in refused("compact", "--data", folder, code=3)
    assert "my dog died yesterday" in played(tmp_path / "copy", "@memories servnak --working")


def test_recipes_of_ones_own_and_accounts_go_with_a_backup(noodlings, folder, tmp_path):
    recipe = folder / "recipes" / "zoe.yaml"
    recipe.parent.mkdir()
    recipe.write_text("name: Zoe\nspecies: fox\ndescription: A fox.\nidentity: You are Zoe.\n")
    Accounts(folder).create("Caity", "correct horse")
    noodlings("backup", tmp_path / "copy", "--data", folder)
    assert (tmp_path / "copy" / "recipes" / "zoe.yaml").read_text() == recipe.read_text()
    assert Accounts(tmp_path / "copy").check("Caity", "correct horse") is not None
    assert stat.S_IMODE((tmp_path / "copy" / "accounts.json").stat().st_mode) == 0o600


def test_nothing_is_written_over_without_force(noodlings, refused, folder, tmp_path):
    file, copy = tmp_path / "file.jsonl", tmp_path / "copy"
    file.write_text("precious")
    assert "--force" in refused("export", file, "--data", folder)
    assert file.read_text() == "precious"
    assert noodlings("export", file, "--force", "--data", folder).code == 0
    assert lines_of(file.read_text())[-1]["type"] == "end"
    assert noodlings("backup", copy, "--data", folder).code == 0
    assert "--force" in refused("backup", copy, "--data", folder)
    assert noodlings("backup", copy, "--force", "--data", folder).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "file.jsonl"]


def test_an_export_never_takes_the_place_of_what_it_is_made_of(noodlings, refused, folder, tmp_path):
    Accounts(folder, CHEAPEST).create("Ann", "correct horse")
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    for name in ("noodlings.db", "accounts.json"):
        before = (folder / name).read_bytes()
        for way in (folder / name, tmp_path / "link" / name):
            assert "name another file" in refused("export", way, "--force", "--data", folder)
        assert (folder / name).read_bytes() == before
    assert noodlings("export", folder / "mine.jsonl", "--force", "--data", folder).code == 0


def test_an_export_that_fails_leaves_no_half_of_a_file(refused, folder, tmp_path):
    assert "cannot be written" in refused("export", tmp_path / "no" / "file.jsonl", "--data", folder)
    assert "it is not a file" in refused("export", tmp_path, "--force", "--data", folder)
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_a_bad_line_changes_nothing(noodlings, refused, folder, tmp_path):
    content, bad = noodlings("export", "--data", folder).out, tmp_path / "bad.jsonl"
    lines = content.splitlines(keepends=True)
    lines[3] = lines[3].replace('"surprise": ', '"surprise": 7', 1)
    bad.write_text("".join(lines))
    words = refused("import", bad, "--data", tmp_path / "other")
    assert "nothing was imported" in words
    assert "line 4: surprise: " in words
    bad.write_text(content[:-20])
    assert f"line {len(lines)}: it is not JSON" in refused("import", bad, "--data", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_nobody_is_a_person_and_a_character(noodlings, refused, folder, tmp_path):
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    noodlings("export", file, "--data", folder)
    Accounts(other, CHEAPEST).create("caity", "correct horse battery")
    Accounts(other, CHEAPEST).join("caity", "phi")
    assert "phi is the id of a person" in refused("import", file, "--data", other)
    Accounts(other, CHEAPEST).join("caity", "Phi")
    assert "phi is the id of a person" in refused("import", file, "--data", other)
    Accounts(tmp_path / "named", CHEAPEST).create("Phi", "correct horse battery")
    assert "already somebody called phi" in refused("import", file, "--data", tmp_path / "named")
    renamed = tmp_path / "renamed.jsonl"
    renamed.write_text(file.read_text().replace('"phi"', '"user_ann"'))
    assert "user_ann: ids that begin with user_" in refused("import", renamed, "--data", tmp_path / "third")
    renamed.write_text(file.read_text().replace('"phi"', '"agent_servnak"'))
    assert "agent_servnak stands for servnak" in refused("import", renamed, "--data", tmp_path / "third")


@pytest.mark.parametrize("name", ["me", "You", "north", "all", "nobody"])
def test_no_character_is_imported_whose_id_commands_would_misunderstand(
    noodlings, refused, folder, tmp_path, name
):
    file = tmp_path / "all.jsonl"
    noodlings("export", file, "--data", folder)
    file.write_text(file.read_text().replace('"phi"', f'"{name}"'))
    words = refused("import", file, "--data", tmp_path / "other")
    assert f"nothing was imported from {file}: {name} has another meaning here" in words


def test_who_is_there_already_is_not_replaced(noodlings, refused, folder, tmp_path):
    file = tmp_path / "all.jsonl"
    noodlings("export", file, "--data", folder)
    words = refused("import", file, "--data", folder)
    assert "already there" in words
    assert "--data DIR" in words
    assert noodlings("export", "--data", folder).out == file.read_text()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("export",), "there is no noodlings.db in"),
        (("export", "--json"), "--json needs a file"),
        (("export", "--agent", "phi"), "there is no noodlings.db in"),
        (("backup", "copy"), "there is no noodlings.db in"),
        (("compact",), "there is no noodlings.db in"),
        (("compact", "phi"), "there is no noodlings.db in"),
        (("import", "missing.jsonl"), "cannot be read: No such file"),
        (("import", "/"), "cannot be read: Is a directory"),
        (("import", "/dev/zero"), "cannot be read: it is not a regular file"),
    ],
)
def test_a_mistake_is_one_helpful_line(refused, tmp_path, words, hint):
    assert hint in refused(*words, "--data", tmp_path / "empty")
    assert not (tmp_path / "empty").exists()


def test_a_pipe_cannot_be_imported_because_it_is_read_twice_and_may_not_end(refused, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "it is not a regular file" in refused("import", tmp_path / "pipe", "--data", tmp_path / "other")


def test_a_reader_that_goes_away_is_no_error(folder):
    script = f"{' '.join(command('export', '--data', folder))} | head -c 10"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, timeout=60, env=environment(), check=False
    )
    assert done.stdout == b'{"format":'
    assert b"Traceback" not in done.stderr


def test_an_export_does_not_depend_on_what_a_terminal_can_show(tmp_path):
    played(tmp_path, "say servnak, ünïcödé 漢字")
    plain = started("export", "--data", tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C").stdout
    assert "ünïcödé 漢字" in plain.decode()


def test_nothing_of_what_was_forgotten_is_left_in_the_folder(tmp_path):
    """Also not in notes, vectors or the log, when that is told to be quiet."""
    quiet = {"NOODLINGS_LOG__LEVEL": "warning"}
    shown = played(
        tmp_path,
        "whisper servnak = I am terrified, my dog Zanzibar drowned",
        "whisper servnak = Do you remember my dog?",
        "whisper servnak = What happened to it?",
        **quiet,
    )
    assert "zanzibar" in shown.split("Do you remember my dog?", 1)[1].lower()
    assert holding(tmp_path, b"zanzibar")
    assert "zanzibar" in in_traces(tmp_path).lower()
    shown = played(tmp_path, "@forget servnak --user me --yes", **quiet)
    assert "SERVNAK has forgotten" in shown
    assert holding(tmp_path, b"zanzibar") == []
    assert "zanzibar" not in in_traces(tmp_path).lower()
    assert "noodlings.db" in holding(tmp_path, b"servnak")  # what stays is looked for in the right place


def holding(folder, word):
    """The files in which a word stands, whatever its case."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in files if word in path.read_bytes().lower()]


def test_a_check_reads_everything_and_names_what_is_damaged(noodlings, refused, folder, tmp_path):
    copy = tmp_path / "copy"
    assert noodlings("backup", copy, "--data", folder).code == 0
    done = noodlings("check", "--data", copy)
    assert (done.code, done.err) == (0, "")
    assert f"{copy} is sound: " in done.out
    sound = json.loads(noodlings("check", "--json", "--data", copy).out)
    end = lines_of(noodlings("export", "--data", copy).out)[-1]
    assert {name: sound[name] for name in end if name != "type"} == {
        n: c for n, c in end.items() if n != "type"
    }
    assert sound["damaged"] == []
    with closing(sqlite3.connect(copy / "noodlings.db")) as database, database:
        database.execute("UPDATE entries SET affect = x'00' WHERE id = 1 AND agent_id = 'servnak'")
        database.execute("UPDATE vectors SET vector = x'0200' WHERE entry_id = 2")
        database.execute("DELETE FROM entries WHERE id = 3 AND agent_id = 'phi'")
    done = noodlings("check", "--data", copy)
    assert done.code == 1
    assert "entry 1 of servnak is damaged" in done.out
    assert "the vector of entry 2" in done.out
    assert "a record of traces belongs to nothing in entries" in done.out
    assert "dog" not in done.out
    found = json.loads(noodlings("check", "--json", "--data", copy).out)
    assert found["entries"] == sound["entries"] - 2
    (copy / "noodlings.db").write_bytes((copy / "noodlings.db").read_bytes()[:5_000])
    assert "damaged" in refused("check", "--data", copy)
    assert "no noodlings.db" in refused("check", "--data", tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("names", ["a"]),
        ("names", {"user_oda": 5}),
        ("places", [1]),
        ("places", {"rooms": [1]}),
        ("places", {"rooms": {"phi": {"a": 1}}}),
        ("places", {"rooms": {}, "resting": [{}]}),
    ],
)
def test_a_damaged_world_is_named_wherever_it_is_read(noodlings, refused, folder, tmp_path, key, value):
    copy = tmp_path / "copy"
    assert noodlings("backup", copy, "--data", folder).code == 0
    with closing(sqlite3.connect(copy / "noodlings.db")) as database, database:
        row = (json.dumps({"v": 1, "data": value}), key)
        assert database.execute("UPDATE world SET value = ? WHERE key = ?", row).rowcount == 1
    said = {
        "names": "the names of people are damaged",
        "places": "the rooms that everybody was in are damaged",
    }[key]
    done = noodlings("check", "--data", copy)
    assert (done.code, said in done.out) == (1, True)
    assert said in refused("person", "user_you", "--data", copy)
    if key == "names":
        assert said in refused("memories", "phi", "--data", copy)
        assert said in refused("notes", "rebuild", "--data", copy)


@pytest.mark.parametrize("agent_id", ["../../etc/x", "\x1b]0;evil\x07<b>", "Mr. Toad", "agent_ann"])
def test_a_character_of_any_id_is_gone_over_and_forgets(noodlings, tmp_path, agent_id):
    with closing(SqlStore(tmp_path)) as store:
        store.commit(Changes(agent_id, added=(an_entry(1, "my dog died"),), state=AgentState(agent_id)))
    done = noodlings("reflect", "--data", tmp_path)
    assert (done.code, done.err) == (0, "")
    done = noodlings("person", "user_caity", "--forget", "--yes", "--data", tmp_path)
    assert (done.code, done.err) == (0, "")
    with closing(SqlStore(tmp_path)) as store:
        assert store.archive(agent_id) == []
