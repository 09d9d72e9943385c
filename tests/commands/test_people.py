"""`@people` as it is typed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.values.caller import Caller


@pytest.fixture
async def told(player):
    """Servnak, who was told this and that."""
    for line in (
        "my sister Ruth is a nurse",
        "I am allergic to nuts",
        "I live in Leeds",
        "I love marzipan",
        "I am afraid of geese, /red/",
        "we moved to Porto",
    ):
        await player.type(f"say servnak, {line}")
    return player


async def test_everybody_of_whom_something_is_known(told):
    lines = await told.read("@people servnak", width=100)
    assert lines[0] == "SERVNAK · people"
    shown = "\n".join(lines)
    assert "Caity" in shown
    assert "2 more" in shown
    assert "Ruth" in shown
    assert "how it was told" in lines[2]


async def test_a_card_with_what_was_superseded_below(told):
    shown = "\n".join(await told.read("@people servnak me", width=120))
    assert "what it knows of Caity" in shown
    for words in (
        "allergic to nuts",
        "love marzipan",
        "geese, /red/",
        "we moved to Porto",
        "I live in Leeds",
    ):
        assert words in shown
    assert shown.index("we moved to Porto") < shown.index("I live in Leeds")
    reply = await told.type('@people servnak "ruth"')
    (card,) = reply.data["people"]
    assert (card["name"], card["also"]) == ("Ruth", ["Caity's sister"])


async def test_two_people_stand_to_each_other(told):
    shown = "\n".join(await told.read('@people servnak "me and Ruth"', width=120))
    assert "what it knows of Caity and Ruth" in shown
    assert "my sister Ruth is a nurse" in shown
    assert "marzipan" not in shown
    nothing = "\n".join(await told.read('@people servnak "me and Zeno"', width=120))
    assert "knows nothing about Zeno" in nothing


async def test_pages_follow_one_another_to_the_end(told):
    assert "1 more with --limit 1 --page 2" in "\n".join(await told.read("@people servnak --limit 1"))
    assert "Ruth" in "\n".join(await told.read("@people servnak --limit 1 --page 2"))
    assert (await told.read("@people servnak --page 9"))[
        -1
    ].strip() == "There is nothing on this page; there are only 2."


async def test_the_evidence_is_shown_on_eighty_columns(told):
    reply = await told.type("@people servnak me")
    (health,) = [fact for fact in reply.data["people"][0]["facts"] if fact["kind"] == "health"]
    lines = await told.read("@people servnak me", width=80)
    assert any("allergic to nuts" in line and str(health["evidence"][0]) in line for line in lines)


async def test_nobody_and_nothing(player):
    assert "knows nothing about anybody" in "\n".join(await player.read("@people phi"))
    assert "nobody has told it anything" in "\n".join(await player.read("@people phi Zeno"))


async def test_a_narrow_terminal_keeps_the_words(told):
    assert "allergic to nuts" in "\n".join(await told.read("@people servnak me", width=40))


async def test_what_is_ahead_comes_first_with_its_day(told):
    await told.type("say servnak, I have my driving test tomorrow")
    lines = await told.read("@people servnak me", width=80)
    assert lines[1].strip().startswith("first met on 1970-01-")
    (row,) = [line for line in lines if line.strip().startswith("ahead")]
    assert "driving test" in row
    assert "1970-01-" in row


async def test_what_is_written_by_hand_is_known_and_never_replaced(told):
    before = told.society.agents["servnak"].mood
    reply = await told.type("@know servnak caity = is allergic to nuts, = and to bees", after=0.0)
    assert reply.data["about"] == "user_caity"
    assert told.society.agents["servnak"].mood == before
    await told.type("say servnak, actually I am not allergic to nuts or bees any more")
    lines = await told.read("@people servnak me", width=100)
    (row,) = [line for line in lines if line.strip().startswith("known")]
    assert "is allergic to nuts, = and to bees" in row
    entry = told.society.agents["servnak"].entry(reply.data["id"])
    assert (entry.pinned, entry.importance, entry.kind.value) == (True, 1.0, "event")
    await told.type(f"@forget servnak --id {reply.data['id']} --yes")
    assert "bees" not in "\n".join(await told.read("@people servnak me", width=100)).replace("or bees", "")


@pytest.mark.parametrize("line", ["@know servnak caity", "@know servnak = is old", "@know servnak caity ="])
async def test_a_fact_needs_somebody_and_words(player, line):
    assert "@know NAME WHO = WHAT" in "\n".join(await player.read(line))


async def test_a_fact_that_is_too_long_is_refused(player):
    shown = await player.read(f"@know servnak caity = {'x' * 161}")
    assert "1 to 160 characters" in " ".join(" ".join(shown).split())


async def test_reflecting_needs_a_model(player):
    assert "no model to read with" in "\n".join(await player.read("@reflect servnak"))


async def test_reflecting_is_for_admins(player):
    player.context = replace(player.context, caller=Caller("user_caity", "caity"))
    assert "Only an admin may let a character reflect" in "\n".join(await player.read("@reflect servnak"))
