"""`noodlings ingest` as it is typed: what it reports, what it refuses, and what a kill costs."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from unicodedata import normalize

import pytest

from noodlings.store.database import DATABASE_NAME
from noodlings.store.sql import SqlStore
from tests.cli.test_main import ROOT, environment
from tests.program import Ended, Program, ran
from tests.thorough import examples

LINES, KILLS = 1_500, 3
LOG = """\
--- Thursday, May 1, 2003 ---
[21:14] Caity says, "My sister Ada drowned in the harbour last winter."
[21:15] Bob grins at Caity.
[25:99] Bob: never
[23:59] Caity says, "The blue key opens the boathouse."
"""


@pytest.fixture
def quiet(tmp_path: Path) -> dict[str, str]:
    return {
        **environment(),
        "NOODLINGS_DATA": str(tmp_path / "data"),
        "NOODLINGS_EMBEDDING__MODEL": "none",
    }


def ingested(quiet: dict[str, str], *words: object) -> Ended:
    return ran("ingest", *words, "--agent", "Phi", environment=quiet)


@pytest.mark.slow
def test_a_log_is_taken_in_once_and_its_problems_are_named(tmp_path: Path, quiet: dict[str, str]) -> None:
    log = tmp_path / "harbour.log"
    log.write_text(LOG, encoding="cp1252")
    dry = ingested(quiet, "mush", log, "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, b"")
    assert dry.stdout.startswith(b"Phi would get 3 new memories\n")
    assert not (tmp_path / "data" / "noodlings.db").exists()
    done = ingested(quiet, "mush", log)
    assert done.stdout.decode().splitlines()[:3] == [
        "Phi has 3 new memories",
        "1 problem:",
        "  line 4: it begins with an impossible time: '[25:99] Bob: never'",
    ]
    again = json.loads(ingested(quiet, "mush", log, "--json", "--retry").stdout)
    assert (again["new"], again["unchanged"], again["problem_count"]) == (0, 3, 1)
    memories = json.loads(ran("memories", "phi", "--user", "caity", "--json", environment=quiet).stdout)
    assert [(one["name"], one["when"][:10], one["source"]) for one in memories["entries"]] == [
        ("Caity", "2003-05-01", "mush:harbour.log")
    ]


def test_a_file_with_one_id_twice_adds_nothing_when_taken_in_again(
    tmp_path: Path, quiet: dict[str, str]
) -> None:
    (tmp_path / "mapping.yaml").write_text("columns: {text: text, who: user, id: id}\n")
    (tmp_path / "log.csv").write_text("id,user,text\n7,bob,first words\n7,ann,other words\n")
    words = ("mapped", tmp_path / "log.csv", "--mapping", tmp_path / "mapping.yaml")
    assert ingested(quiet, *words).stdout.startswith(b"Phi has 1 new memories\n        1 in place of")
    assert ingested(quiet, *words).stdout.decode().splitlines() == [
        "Phi has 0 new memories",
        "        1 were there before",
        "        1 have the id of a later one, which counts",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "narrower"),
    [({}, {"tier": 2}), ({}, {"confined": True}), ({"confined": True}, {"tier": 2})],
)
def test_what_fewer_may_know_than_before_has_no_note_or_page(
    tmp_path: Path, quiet: dict[str, str], first: dict[str, object], narrower: dict[str, object]
) -> None:
    key, log, notes = tmp_path / "key", tmp_path / "talk.jsonl", tmp_path / "data" / "notes"
    assert ran("key", "new", key, environment=quiet).returncode == 0
    quiet["NOODLINGS_STORE__KEY_FILE"] = str(key)
    texts = ("my sister died of vexilium yesterday, I am so sad", "my brother adores zarnok, I am so glad")
    rows = [{"id": str(at), "user": "bob", "text": text, "timestamp": 1.7e9} for at, text in enumerate(texts)]

    def telling(word: str) -> int:
        return sum(word in path.read_text("utf-8") for path in notes.rglob("*.md"))

    log.write_text("\n".join(map(json.dumps, [rows[0] | first, rows[1]])), encoding="utf-8")
    assert ingested(quiet, "talk", log).returncode == 0
    assert ran("notes", "rebuild", environment=quiet).returncode == 0
    assert telling("vexilium") == (1 if first else 4)
    log.write_text("\n".join(map(json.dumps, [rows[0] | narrower, rows[1]])), encoding="utf-8")
    assert json.loads(ingested(quiet, "talk", log, "--json").stdout)["changed"] == 1
    assert telling("vexilium") == 0
    assert telling("zarnok") >= 1
    assert not [*notes.glob(".forgetting-*")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["सीता", "กิ่งแก้ว", "Nguye\u0302\u0303n", "مُحَمَّد"])
def test_whoever_is_named_with_marks_is_found_and_forgotten(
    tmp_path: Path, quiet: dict[str, str], name: str
) -> None:
    plain, talk = tmp_path / "harbour.log", tmp_path / "talk.jsonl"
    plain.write_text(f"Bob: Ahoy\n{name}: The zarnok lies here\n", encoding="utf-8")
    rows = ({"user": name, "text": "I saw a vexilium"}, {"user": "Bob", "text": "no"})
    talk.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for source, file in (("mush", plain), ("talk", talk)):
        assert ingested(quiet, source, file).returncode == 0
    typed = normalize("NFC", name)
    told = ran("person", typed, "--export", "-", environment=quiet).stdout.decode().splitlines()[1:]
    assert [json.loads(line)["user_text"] for line in told] == ["The zarnok lies here", "I saw a vexilium"]
    assert ran("person", typed, "--forget", "--yes", environment=quiet).returncode == 0
    left = [path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not [
        word for word in (b"zarnok", b"vexilium", typed.encode(), name.encode()) if word in b"".join(left)
    ]
    assert b"Ahoy" in b"".join(left)


@pytest.mark.slow
def test_the_page_tells_what_happens(tmp_path: Path, quiet: dict[str, str]) -> None:
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    shown = page.split("```console\n")[1].split("```")[0]
    log, report, talk = (part.partition("\n")[2] for part in shown.split("$ ")[1:])
    (tmp_path / "harbour.log").write_text(log, encoding="utf-8")
    done = ran("ingest", "mush", tmp_path / "harbour.log", "--agent", "Servnak", environment=quiet)
    assert done.stdout.decode() == report
    asked, answer = (line.partition("> ")[2] or line for line in talk.splitlines())
    said = " ".join(ran("play", environment=quiet, input=f"{asked}\n".encode()).stdout.decode().split())
    assert answer.partition("YEARS AGO ")[2].rstrip('. …"') in said  # how it ends is a matter of mood


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("mosh", "log.txt"), b"there is no source 'mosh'; did you mean mush?"),
        (("mush", "nowhere.log"), b"cannot be read"),
        (("mapped", "log.csv"), b"needs --mapping FILE"),
    ],
)
def test_what_cannot_be_done_says_what_would_be_right(
    quiet: dict[str, str], words: tuple[str, str], why: bytes
) -> None:
    refused = ingested(quiet, *words)
    assert refused.returncode == 2
    assert why in refused.stderr


def test_while_somebody_plays_it_waits_for_another_time(tmp_path: Path, quiet: dict[str, str]) -> None:
    store = SqlStore(tmp_path / "data")
    log = tmp_path / "harbour.log"
    log.write_text(LOG)
    refused = ingested(quiet, "mush", log)
    store.close()
    assert refused.returncode == 3


def records(folder: Path) -> int:
    """How many records a data folder holds by now."""
    try:
        address = f"file:{folder / DATABASE_NAME}?mode=ro"  # else there would be an empty one
        with closing(sqlite3.connect(address, uri=True)) as database:
            (count,) = database.execute("SELECT count(*) FROM source_records").fetchone()
            return int(count)
    except sqlite3.OperationalError:  # there is no such folder or table yet
        return 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_kills_at_any_moment_leave_every_record_once(tmp_path: Path, quiet: dict[str, str]) -> None:
    log, folder, chance, kills = tmp_path / "long.log", tmp_path / "data", random.Random(7), 0
    log.write_text("".join(f"[2003-05-01 21:{n % 60:02}] Bob: line {n}\n" for n in range(LINES)))
    for _ in range(examples(KILLS)):
        with Program(["ingest", "mush", str(log), "--agent", "Phi"], quiet) as process:
            wanted = records(folder) + chance.randrange(LINES // (2 * KILLS))
            while records(folder) < wanted and process.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.1))  # somewhere within a transaction
            process.kill()
            kills += process.wait(30) == -signal.SIGKILL
    assert kills
    assert records(folder)
    assert ingested(quiet, "mush", log).returncode == 0
    store = SqlStore(folder)
    texts = [entry.user_text for entry in store.archive("phi", limit=2 * LINES)]
    store.close()
    assert sorted(texts) == sorted(f"line {n}" for n in range(LINES))


@pytest.mark.slow
def test_lore_goes_to_everybody_it_is_meant_for_and_a_document_to_one(
    tmp_path: Path, quiet: dict[str, str]
) -> None:
    lore, book = tmp_path / "realm.yaml", tmp_path / "harbour.md"
    lore.write_text(
        "- {id: bell, text: The bell is rung at the turn of the tide., audience: world}\n"
        '- {id: key, text: The key hangs behind the stove., audience: "profession: librarian"}\n'
        "- {id: torn, text: [\n"
    )
    book.write_text("# The Harbour Book\n\nThe sluice is opened two hours after high water.\n")
    told = ran("ingest", "lore", lore, environment=quiet).stdout.decode().splitlines()
    assert [line for line in told if " has " in line] == [
        "Maren has 2 new memories",
        "Phi has 1 new memories",
        "SERVNAK has 1 new memories",
    ]
    assert sum(line.startswith("  line 4: it is not YAML") for line in told) == 3
    assert ran("ingest", "document", book, environment=quiet).returncode == 2
    assert ingested(quiet, "document", book).stdout.startswith(b"Phi has 1 new memories\n")
    asked = b"say phi, when is the sluice opened?\nsay phi, where does the key hang?\n"
    played = ran("play", environment=quiet, input=asked).stdout.decode()
    said = " ".join(played.split())
    assert "i read in “the harbour book”: “the sluice is opened two hours after high water”" in said
    assert "behind the stove" not in said
