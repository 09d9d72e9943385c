"""`@links` and `@link` as they are typed."""

import json

import pytest

import commands  # noqa: F401 -- declares them
from commands.registry import CommandContext, registry
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.inspect.inspector import Inspector
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import NEUTRAL
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept
from tests.fakes import ALL_CIRCUMSTANCES

ADMIN = Caller("user_root", "root", Role.ADMIN)
CAITY = Caller("user_caity", "caity")

TOLD = (
    ("user_caity", "My dog died yesterday"),
    ("user_caity", "[bold]he was 14[/bold] \x1b[31mold"),
    ("user_bob", "the mill runs"),
    ("user_bob", "and runs"),
)


@pytest.fixture
async def society(tmp_path):
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    made = build(settings, clock=ManualClock(1_000_000.0), store=MemoryStore())
    for user, text in TOLD:
        made.clock.advance(150)
        await made.perceive("phi", Percept(user, text, made.clock.now(), depth=1))
    yield made
    made.close()


@pytest.fixture
def typed(society):
    """Type a line as somebody: the reply, whose view fits any width and whose data is JSON."""

    async def typed(line, caller=ADMIN):
        reply = await registry.dispatch(line, CommandContext(caller, society, Inspector(society)))
        for width in (40, 80, 132):
            shown = reply.render(width)
            assert all(len(row) <= width for row in shown.split("\n"))
            assert "\x1b" not in shown
        json.dumps(reply.data, allow_nan=False)
        return reply

    return typed


async def test_a_tree_of_what_belongs_together(typed):
    await typed("@link phi --from 1 --to 3")
    shown = (await typed("@links phi --id 1")).render(80).split("\n")
    assert shown[0] == "Phi · links of memory 1   3 linked"
    assert [row.split("  ")[1].strip() for row in shown[3:]] == ["1", "├─ 3", "│", "└─ 2"]
    assert "→ by hand 1.00" in shown[4]
    assert "← followed 0.75" in shown[5]
    assert "[bold]he was 14[/bold] old" in shown[6]


async def test_a_player_sees_what_is_theirs(typed):
    await typed("@link phi --from 1 --to 3")
    reply = await typed("@links phi --id 1", CAITY)
    assert [one["entry"]["id"] for one in reply.data["linked"]] == [2]
    assert reply.data["hidden"] == 0
    assert "not yours to read" not in reply.render()
    assert (await typed("@links phi --id 3", CAITY)).data == {
        "error": "Phi has no memory 3 that you could read."
    }


async def test_what_is_linked_with_nothing_says_so(society, typed):
    society.clock.advance(4_000)
    await society.perceive("phi", Percept("user_bob", "good night", society.clock.now(), depth=1))
    assert "There are no links to show yet." in (await typed("@links phi --id 5")).render()


async def test_what_a_source_told_names_the_source(society, typed):
    phi = society.agents["phi"]
    entry = phi.remember_told(Percept("user_bob", "the dam broke", 9e5), "talk:harbour.log", NEUTRAL, 0.9)
    phi.keep_told([], [])
    for line in (f"@why phi --id {entry.id}",):
        assert "source: talk:harbour.log" in (await typed(line)).render()
    assert "source:" not in (await typed("@links phi --id 1")).render()


async def test_when_and_where_it_happened_is_told(society, typed):
    percept = Percept("user_bob", "the dam broke", 9e5, data={"circumstances": ALL_CIRCUMSTANCES})
    entry = society.agents["phi"].remember_told(percept, "", NEUTRAL, 0.9)
    society.agents["phi"].keep_told([], [])
    shown = " ".join((await typed(f"@why phi --id {entry.id}")).render().split())
    assert "it happened “that summer”, around 2 June 1998, in the mill · 300 m away · user_bob felt" in shown


async def test_linking_by_hand(society, typed):
    made = await typed("@link phi --from 4 --to 1")
    assert made.data == {"agent": "phi", "source": 4, "target": 1, "strength": 1.0}
    assert made.render() == "Memories 4 and 1 of Phi are now linked."
    assert [(link.source, link.target) for link in society.store.links_of("phi", [1])] == [(2, 1), (4, 1)]


@pytest.mark.parametrize(
    ("line", "caller", "words"),
    [
        ("@links phi", ADMIN, "Which memory?"),
        ("@links phi --id 0", ADMIN, "at least 1"),
        ("@links phi --id 77", ADMIN, "no memory 77"),
        ("@links nobody --id 1", ADMIN, "no character nobody"),
        ("@link phi --from 1", ADMIN, "Which two memories?"),
        ("@link phi --from 1 --to 1", ADMIN, "linked to itself"),
        ("@link phi --from 1 --to 77", ADMIN, "no memory 77"),
        ("@link phi --from 1 --to 2", CAITY, "Only an admin may link memories"),
    ],
)
async def test_what_cannot_be_is_refused_in_words(society, typed, line, caller, words):
    reply = await typed(line, caller)
    assert reply.error
    assert words in reply.data["error"]
    assert len(society.store.links_of("phi", [1, 2, 3, 4])) == 2


async def test_what_was_linked_is_unlinked(typed):
    await typed("@link phi --from 1 --to 3")
    reply = await typed("@unlink phi --from 3 --to 1")
    assert "by_hand" in reply.data["removed"]
    assert "no longer linked" in reply.render()
    assert "not linked" in (await typed("@unlink phi --from 3 --to 1")).data["error"]
    assert "Which two memories?" in (await typed("@unlink phi --from 3")).data["error"]
