"""`@forget`, `@correct`, `@pin`, `@unpin`, `@importance` and `@undo` as they are typed."""

import json
import sqlite3
from dataclasses import replace

import pytest

import commands  # noqa: F401 -- declares them
from commands.registry import CommandContext, registry
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.record import SourceProblem, SourceRecord
from noodlings.inspect.inspector import Inspector
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept

pytestmark = pytest.mark.slow

ADMIN = Caller("user_root", "root", Role.ADMIN)
CAITY = Caller("user_caity", "caity")
BOB = Caller("user_bob", "bob")

TOLD = (
    ("user_caity", "My dog died yesterday"),
    ("user_bob", "[bold]hello[/bold] \x1b[31mthere"),
    ("user_caity", "nice weather"),
)


@pytest.fixture(params=["sql", "memory"])
async def society(request, tmp_path, monkeypatch):
    monkeypatch.setattr("noodlings.store.database.BUSY_SECONDS", 0.05)
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    store = SqlStore(tmp_path) if request.param == "sql" else MemoryStore()
    made = build(settings, clock=ManualClock(1_000_000.0), store=store)
    for user, text in TOLD:
        made.clock.advance(60)
        await made.perceive("phi", Percept(user, text, made.clock.now(), depth=1))
    yield made
    made.close()


@pytest.fixture
def typed(society):
    """Type a line as somebody: the reply, whose view fits 80 columns and whose data is JSON."""

    async def typed(line, caller=ADMIN):
        reply = await registry.dispatch(line, CommandContext(caller, society, Inspector(society)))
        shown = reply.render(80)
        assert all(len(row) <= 80 for row in shown.split("\n"))
        assert "\x1b" not in shown
        json.dumps(reply.data, allow_nan=False)
        return reply

    return typed


def texts(society):
    return [entry.user_text for entry in society.store.archive("phi")]


async def test_forgetting_asks_first_and_then_does_it(society, typed):
    asked = await typed("@forget phi --id 1", CAITY)
    assert asked.error
    assert 'memory 1, "My dog died yesterday", for good' in asked.data["error"]
    assert "--yes" in asked.data["error"]
    assert len(texts(society)) == 3
    done = await typed("@forget phi --id 1 --yes", CAITY)
    assert done.data == {"agent": "phi", "forgotten": 1, "answers": 0, "erased": True}
    assert done.render() == "Phi has forgotten 1 memory."
    assert len(texts(society)) == 2
    assert "dog" not in (await typed("@memories phi --working")).render()


@pytest.mark.parametrize(
    ("caller", "who", "gone"),
    [(CAITY, "me", 2), (CAITY, "caity", 2), (CAITY, "user_caity", 2), (ADMIN, "bob", 1), (ADMIN, "BOB", 1)],
)
async def test_all_from_one_user(society, typed, caller, who, gone):
    asked = await typed(f"@forget phi --user {who}", caller)
    assert "would forget" in asked.data["error"]
    done = await typed(f"@forget phi --user {who} --yes", caller)
    assert done.data["forgotten"] == gone
    assert len(texts(society)) == 3 - gone
    again = await typed("@forget phi --user me --yes", CAITY)
    assert ("remembers nothing from you" in again.render()) is (caller is CAITY)


async def test_somebody_who_is_in_mind_no_more_is_named_by_id(society, typed):
    await society.perceive("phi", Percept("user_zoe", "I was here once", society.clock.now(), depth=1))
    for number in range(25):
        await society.perceive("phi", Percept("user_bob", f"remark {number}", society.clock.now(), depth=1))
    assert "anybody called zoe" in (await typed("@forget phi --user zoe --yes")).data["error"]
    assert (await typed("@forget phi --user user_zoe --yes")).data["forgotten"] == 1


async def test_what_waits_to_be_taken_in_is_forgotten_with_the_rest_and_counted(society, typed):
    waits = SourceProblem(1, "it is newer", "talk:log", "1", "Bob", {"user": "Bob", "text": "quaggaword"})
    pipeline = Pipeline(society.agents["phi"], society.store, society.introduce_all, undated=0.0)
    pipeline.run([SourceRecord("talk:log", "2", "my dog is called Wexford", who="Bob", timestamp=1.0), waits])
    asked = await typed("@forget phi --user past:bob")
    assert "would forget 2 memories from past:bob" in asked.data["error"]
    assert (await typed("@forget phi --user past:bob --yes")).data["forgotten"] == 2
    assert society.store.parked("phi") == []
    pipeline.run([replace(waits, id="3")])
    assert (await typed("@forget phi --user past:bob --yes")).data["forgotten"] == 1
    assert society.store.parked("phi") == []
    again = await typed("@forget phi --user past:bob --yes")
    assert again.error
    assert "remembers nothing from past:bob" in again.data["error"]


async def test_pin_unpin_importance_and_undo(society, typed):
    pinned = await typed("@pin phi --id 2")
    assert pinned.data == {
        "agent": "phi",
        "id": 2,
        "pinned": True,
        "importance": pinned.data["encoded_importance"],
        "encoded_importance": pinned.data["importance"],
        "override_by": "",
    }
    assert '"[bold]hello[/bold] there"' in pinned.render()
    assert not (await typed("@unpin phi --id 2")).data["pinned"]
    weighed = await typed("@importance phi --id 2 --to 0.9")
    assert (weighed.data["importance"], weighed.data["override_by"]) == (0.9, "hand")
    assert "has importance 0.90 now (at first 0." in weighed.render()
    reset = await typed("@importance phi --id 2 --reset")
    assert reset.data["importance"] == reset.data["encoded_importance"]
    for what, importance, pin in (
        ("given an importance", 0.9, False),
        ("given an importance", pinned.data["importance"], False),
        ("unpinned", pinned.data["importance"], True),
        ("pinned", pinned.data["importance"], False),
    ):
        undone = await typed("@undo phi")
        assert f"before it was {what}" in " ".join(undone.render().split())
        assert (undone.data["importance"], undone.data["pinned"]) == (importance, pin)
    assert "nothing to take back" in (await typed("@undo phi")).render()


async def test_what_somebody_asked_to_remember_stays_without_a_pin(society, typed):
    society.agents["phi"].memory.add(society.clock.now(), 4, "user_bob", "my code", None, remember=True)
    society.agents["phi"].keep()
    await typed("@pin phi --id 4")
    assert "keeps it anyway" in (await typed("@unpin phi --id 4")).render()


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("@forget", "Which character? Type it like this: @forget NAME"),
        ("@forget phi", "One memory by its number, or all from one user"),
        ("@forget phi --id 1 --user me", "One memory by its number, or all from one user"),
        ("@forget phi --id", "--id needs a whole number"),
        ("@forget phi --id dog", "not 'dog'"),
        ("@forget phi --id 0", "at least 1"),
        ("@forget phi --id 99", "no memory 99"),
        ("@forget phi --id 99999999999999999999999999 --yes", "no memory 99999999999999999999999999"),
        ("@forget phi --user", "--user needs a value"),
        ("@forget phi --user cait --yes", "did you mean caity?"),
        ("@forget phi --user 'x; DROP TABLE entries' --yes", "one word too many"),
        ('@forget phi --user "x\'; DROP TABLE entries" --yes', "does not know anybody called"),
        ("@forget phu --id 1", "did you mean Phi?"),
        ("@forget phi --id 1 --yse", "did you mean --yes?"),
        ("@pin", "Which character?"),
        ("@pin phi", "Which memory?"),
        ("@pin phi --id 99", "no memory 99"),
        ("@unpin phi", "Which memory?"),
        ("@importance phi", "Which memory?"),
        ("@importance phi --id 1", "How important?"),
        ("@importance phi --id 1 --to 0.5 --reset", "How important?"),
        ("@importance phi --id 1 --to 2", "a number from 0 to 1"),
        ("@importance phi --id 1 --to nan", "a number from 0 to 1"),
        ("@undo", "Which character?"),
        ("@undo phi", "nothing to take back"),
        ("@undo phi --id 1", "There is no flag --id"),
    ],
)
async def test_every_mistake_is_answered_in_words(society, typed, line, hint):
    reply = await typed(line)
    assert reply.error
    assert hint in reply.data["error"]
    assert len(texts(society)) == 3


@pytest.mark.parametrize("number", [1, 99])
async def test_a_number_tells_a_player_nothing(typed, number):
    for line in (f"@forget phi --id {number}", f"@forget phi --id {number} --yes"):
        reply = await typed(line, BOB)
        assert reply.data["error"] == f"Phi has no memory {number} that you may change."


async def test_who_may_not_is_told_so_for_this_and_not_for_reading(society, typed):
    assert "only delete what you told" in (await typed("@forget phi --user caity --yes", BOB)).data["error"]
    assert "only delete what you told" in (await typed("@forget phi --user nobody --yes", BOB)).data["error"]
    for role in (Role.VIEWER, Role.WORLD):
        caller = Caller("user_caity", "caity", role)
        for line in ("@forget phi --id 1 --yes", "@forget phi --user me --yes", "@forget phi --id 99"):
            assert "Only a player or an admin" in (await typed(line, caller)).data["error"]
    for caller in (BOB, Caller("user_root", "root", Role.VIEWER), Caller("mush", "mush", Role.WORLD)):
        for line in ("@pin phi --id 1", "@unpin phi --id 1", "@importance phi --id 1 --to 1", "@undo phi"):
            assert "Only an admin" in (await typed(line, caller)).data["error"]
    assert len(texts(society)) == 3


async def test_words_are_corrected(society, typed):
    reply = await typed("@correct phi --id 1 = My cat [b]died[/b] yesterday")
    assert reply.data["replaces"] == 1
    assert "in place of 1" in " ".join(reply.render().split())
    assert texts(society)[-1] == "My cat [b]died[/b] yesterday"
    assert "What was really said?" in (await typed("@correct phi --id 2 =")).data["error"]
    assert "replaced by 4" in (await typed("@correct phi --id 1 = My fish died")).data["error"]
    assert "Only an admin" in (await typed("@correct phi --id 2 = hello", BOB)).data["error"]
    assert len(texts(society)) == 4


@pytest.mark.parametrize("name", ["@forget", "@correct", "@pin", "@unpin", "@importance", "@undo"])
async def test_help_shows_how(typed, name):
    shown = (await typed(f"help {name}")).render()
    assert "Examples:" in shown
    assert (await typed(f"{name} --help")).render() == shown


@pytest.mark.parametrize("society", ["sql"], indirect=True)
async def test_bytes_that_somebody_still_reads_go_later_and_that_is_said(society, typed):
    reader = sqlite3.connect(society.settings.data_dir / "noodlings.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    done = await typed("@forget phi --id 1 --yes")
    reader.close()
    assert done.data["erased"] is False
    assert "at the next start" in " ".join(done.render().split())
