"""`@focus NAME LEVEL "…"` as it is typed."""

import json
import re

import pytest

import commands  # noqa: F401 -- declares them
from commands.registry import CommandContext, registry
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.inspect.inspector import Inspector
from noodlings.recall.focus import LEVELS
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept

ADMIN = Caller("user_root", "root", Role.ADMIN)
CAITY = Caller("user_caity", "caity")

TOLD = (
    ("user_caity", "my boat is red"),
    ("user_caity", "[bold]she leaks[/bold] \x1b[31mbadly"),
    ("user_bob", "the mill runs"),
)


@pytest.fixture
async def society(tmp_path):
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    made = build(settings, clock=ManualClock(1_000_000.0), store=MemoryStore())
    for user, text in TOLD:
        made.clock.advance(150)
        await made.perceive("phi", Percept(user, text, made.clock.now(), depth=1, place="garden"))
    made.clock.advance(4_000)
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


async def test_the_context_with_its_counts_and_what_came_from_where(typed):
    reply = await typed('@focus phi 2 "red boat"')
    rows = [re.sub(r" {2,}", "  ", row.strip()) for row in reply.render(80).split("\n")]
    assert rows[:2] == [
        'Phi · focus 2  "red boat"',
        f"{reply.data['searched']} of 8 by the search, 12 h back  {reply.data['linked']} by links, 1 step  "
        f"{reply.data['tokens']} tokens",
    ]
    assert rows[3].startswith("#  score  from")
    assert rows[4].startswith("1  ")
    assert rows[4].endswith("my boat is red")
    first = rows.index("")
    assert first == 2
    block = rows[rows.index("", first + 1) + 1 :]
    assert block[0].startswith('- 1 h ago (garden) caity said to Phi: "my boat is red"')
    assert any("[bold]she leaks[/bold] badly" in row for row in block)
    assert len(reply.data["context"]) == len(reply.data["memories"])


async def test_a_linked_memory_says_through_which_it_came(society, typed):
    society.clock.advance(4_000)
    late = await society.perceive("phi", Percept("user_caity", "sunny", society.clock.now(), depth=1))
    await typed(f"@link phi --from {late.entry_id} --to 1")
    shown = (await typed("@focus phi 5 boat")).render(80)
    assert re.search(rf"{late.entry_id}  .* via 1, by hand  .*sunny", shown)


async def test_quotes_may_be_left_out_and_names_may_be_long(typed):
    for line in ("@focus phi 3 red boat", '@focus "phi" 3 "red boat"', "@focus phi 3 red 1 boat"):
        assert (await typed(line)).data["memories"][0]["entry"]["id"] == 1


@pytest.mark.slow
async def test_a_player_is_told_what_is_theirs(typed):
    assert (await typed("@focus phi 5 mill")).data["searched"] > 0
    reply = await typed("@focus phi 5 mill", CAITY)
    assert reply.data["memories"] == []
    assert "It remembers nothing about this from that time" in reply.render()
    assert {one["entry"]["user"] for one in (await typed("@focus phi 5 boat", CAITY)).data["memories"]} == {
        "user_caity"
    }


async def test_links_that_are_not_followed(typed):
    assert "links are not followed" in (await typed("@focus phi 0 boat")).render()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("@focus", "Which character"),
        ("@focus phi", "How far back"),
        ("@focus phi boat", "How far back"),
        ("@focus phi 3", "How far back"),
        ("@focus 3 boat", "How far back"),
        ("@focus phi 6 boat", "use 0 to 5"),
        ("@focus phi -1 boat", "use 0 to 5"),
        ('@focus phi 3 ""', "for what"),
        ("@focus nobody 3 boat", "no character nobody"),
    ],
)
async def test_what_cannot_be_is_refused_in_words(typed, line, words):
    reply = await typed(line)
    assert reply.error
    assert words in reply.data["error"]


async def test_the_help_says_what_the_levels_are(typed):
    shown = (await typed("@focus phi --help")).render()
    told = re.findall(
        r"^ +(\d)   (\d+) .*last (?:(\d+) )?(hour|day|week)s?, (?:(\d) steps?|no links)", shown, re.M
    )
    hours = {"hour": 1, "day": 24, "week": 168}
    assert [
        (int(limit), int(count or 1) * hours[unit], int(depth or 0)) for _, limit, count, unit, depth in told
    ] == [(level.limit, level.hours, level.depth) for level in LEVELS]
