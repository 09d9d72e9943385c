"""`@people` as it is typed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import LinkType
from noodlings.values.percept import Percept
from tests.commands.conftest import Player

pytestmark = pytest.mark.slow


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


async def test_what_was_said_alone_is_told_apart_from_what_was_confided(player):
    await player.type("go east")
    for line in ("I am allergic to nuts", "I'll tell you something nobody else knows: I was in prison once"):
        await player.type(f"say maren, {line}")
    await player.type("whisper maren = I live in Leeds")
    shown = "\n".join(await player.read("@people maren me", width=120))
    assert "(alone) I am allergic" in shown
    assert "(in confidence) I'll tell you" in shown
    assert "(in confidence) I live in Leeds" in shown


async def test_troubles_are_told_in_trust_and_count_against_nobody(player):
    for line in (
        "good evening! I'm Oda, I keep a little mush called Saltmarsh",
        "my co-wizard Teun left and took the backups with him",
        "I'm so angry at Teun, he betrayed all of us",
        "the landlord is a crook and he raised the rent again",
        "my husband lost his job last week",
    ):
        await player.type(f"say servnak, {line}")
    (card,) = (await player.type("@people servnak me")).data["people"]
    made = card["acquaintance"]["relationship"]
    assert made["unpleasant"] == 0 < made["pleasant"]
    await player.type("say servnak, you are a stupid liar, I hate you")
    (card,) = (await player.type("@people servnak me")).data["people"]
    assert card["acquaintance"]["relationship"]["unpleasant"] == 1


async def test_what_is_ahead_comes_first_with_its_day(told):
    await told.type("say servnak, I have my driving test tomorrow")
    lines = await told.read("@people servnak me", width=80)
    assert lines[1].strip().startswith("first met on 1970-01-")
    (row,) = [line for line in lines if "driving test" in line]
    assert row.strip().startswith("ahead")
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


@pytest.mark.parametrize("who", ["Bob", "caity", "me", "nobody"])
async def test_only_an_admin_may_write_what_a_character_knows(quiet_society, who):
    guest = Player(*quiet_society, Role.PLAYER, inside=False)
    shown = await guest.read(f"@know servnak {who} = likes fish")
    assert shown == ["Only an admin may write what a character knows of somebody"]


async def test_reflecting_links_what_contradicts_and_quotes_it(player):
    await player.type("say servnak, I have a goat called Bill")
    await player.type("say servnak, I don't have a goat any more", after=3_600.0)
    servnak = player.society.find("servnak")
    reply = await player.type("@reflect servnak")
    assert reply.data["new"] == servnak.memory.last_id
    assert "is going over" in reply.render(80)
    await servnak.settle()
    assert (servnak.night.progress.contradictions, servnak.night.new) == (1, 0)
    assert "going over 0 new memories" in "\n".join(await player.read("@reflect servnak"))
    (link,) = [
        one
        for one in player.society.store.links_of("servnak", list(range(20)))
        if one.type is LinkType.CONTRADICTS
    ]
    shown = " ".join(" ".join(await player.read(f"@links servnak --id {link.source}", width=120)).split())
    assert "contradicts 1.00" in shown
    assert f'{link.source} contradicts {link.target}: "' in shown
    assert "any more" in shown.partition("contradicts")[2]
    gone = await player.type(f"@unlink servnak --from {link.target} --to {link.source}")
    assert gone.data["removed"] == ["contradicts"]
    again = (await player.type(f"@unlink servnak --from {link.target} --to {link.source}")).render(120)
    assert "have no link that can be removed" in again
    assert "@unlink NAME --from A --to B" in (await player.type("@unlink servnak --from 1")).render(120)


async def test_what_a_memory_weighs_in_hindsight_is_told_to_whoever_reads_everything(player):
    await player.type("say servnak, I have a goat called Bill")
    await player.type("say servnak, I don't have a goat any more", after=3_600.0)
    servnak = player.society.find("servnak")
    await servnak.reflect()
    (goat,) = [one for one in servnak.memory.retrieve_working() if one.user_text.endswith("called Bill")]
    path = "@memories servnak --user me --limit 20"
    (seen,) = [one for one in (await player.type(path)).data["entries"] if one["id"] == goat.id]
    assert seen["hindsight"]["superseded"] == -0.15
    assert seen["weight"] < seen["importance"]
    await player.type("say servnak, what about my goat?", after=3_600.0)
    shown = " ".join(" ".join(await player.read("@why servnak", width=120)).split())
    assert re.search(r"weighs 0\.\d\d in hindsight: .*superseded -0\.15", shown)
    player.context = replace(player.context, caller=Caller("user_caity", "caity"))
    (seen,) = [one for one in (await player.type(path)).data["entries"] if one["id"] == goat.id]
    assert (seen["hindsight"], seen["weight"]) == ({}, seen["importance"])


async def test_reflecting_is_for_admins(player):
    player.context = replace(player.context, caller=Caller("user_caity", "caity"))
    assert "Only an admin may let a character reflect" in "\n".join(await player.read("@reflect servnak"))


@pytest.fixture
async def insulted(player):
    """Servnak, whom Caity insulted for a week, and Bob thanked in its presence."""
    for _ in range(7):
        for line in ("you are a stupid tin can", "shut up, idiot"):
            await player.type(f"say servnak, {line}", after=10.0)
            await perceived(player, "thank you so much, you are wonderful", "user_bob")
        player.clock.advance(86_400.0)
    return player


async def perceived(player, text: str, user: str):
    here = frozenset({"user_bob", "user_caity"})
    heard = Percept(user, text, player.clock.now(), addressed=True, present=here)
    return await player.society.perceive("servnak", heard)


async def test_a_card_says_what_it_makes_of_somebody(insulted):
    reply = await insulted.type("@people servnak me")
    (card,) = reply.data["people"]
    made = card["acquaintance"]["relationship"]
    assert (made["words"], made["pleasant"], made["unpleasant"]) == ("wary of them", 0, 14)
    shown = " ".join("\n".join(await insulted.read("@people servnak me")).split())
    evidence = " ".join(map(str, made["evidence"]))
    assert f"it is wary of them: 0 lines for, 14 against, most of all {evidence}" in shown


async def test_why_tells_of_the_reserve_and_its_evidence(insulted):
    await insulted.type("say hello servnak")
    reply = await insulted.type("@why servnak")
    kept = insulted.society.store.traces("servnak", 1)[0].regard
    evidence = " ".join(f"#{number}" for number in kept.evidence)
    assert reply.data["regard"] == f"reserved, less glad to see them, because of {evidence}"
    shown = " ".join("\n".join(await insulted.read("@why servnak")).split())
    assert f"regard {reply.data['regard']}" in shown


async def test_a_profile_lists_relationships_and_a_player_sees_only_its_own(insulted):
    reply = await insulted.type("@profile servnak")
    listed = {one["of"]: one["words"] for one in reply.data["relationships"]}
    assert listed == {"user_bob": "fond of them", "user_caity": "wary of them"}
    lines = await insulted.read("@profile servnak")
    assert lines[0] == "SERVNAK · profile"
    assert any("Bob" in line or "bob" in line for line in lines)
    assert "1 more with --limit 1 --page 2" in "\n".join(await insulted.read("@profile servnak --limit 1"))
    caller = insulted.context.caller
    insulted.context = replace(insulted.context, caller=replace(caller, role=Role.PLAYER))
    own = await insulted.type("@profile servnak")
    assert [one["of"] for one in own.data["relationships"]] == ["user_caity"]
    assert "bob" not in str(own.data)
    shown = await insulted.read("@profile maren")
    assert "It makes nothing of anybody yet." in "\n".join(shown)


async def test_a_profile_is_whole_on_a_narrow_screen(insulted):
    await perceived(insulted, "thank you, you are wonderful", "user_toad")
    shown = await insulted.read("@profile servnak")
    assert any("hardly acquainted with them  one line for, 0 against" in line for line in shown)


async def test_who_reads_a_turn_with_others_sees_no_ids_of_theirs(insulted):
    trace = await perceived(insulted, "hello servnak", "user_bob")
    society, inspector = insulted.society, insulted.context.inspector
    stored = society.store.traces("servnak", 1)[0]
    both = replace(stored.regard, evidence=(1, *trace.regard.evidence), feeling=0.04)
    society.store.commit(Changes("servnak", trace=replace(stored, regard=both)))
    bob = inspector.turn(Caller("user_bob", "bob"), "servnak", trace.entry_id)
    assert bob.regard.split("because of ")[1] == " ".join(f"#{one}" for one in trace.regard.evidence)
    assert "because of #1 #" in inspector.turn(insulted.context.caller, "servnak", trace.entry_id).regard


async def test_where_nothing_is_made_of_people_nothing_is_shown(tmp_path):
    settings = Settings(
        store={"path": str(tmp_path)}, embedding={"model": "none"}, reflection={"relationships": False}
    )  # type: ignore[arg-type]
    clock = ManualClock(1_000_000.0)
    player = Player(build(settings, clock=clock, store=MemoryStore()), clock)
    for _ in range(5):
        await player.type("say servnak, you are a stupid tin can, and I am afraid of geese")
    reply = await player.type("@people servnak me")
    assert reply.data["people"][0]["acquaintance"]["relationship"] is None
    assert (await player.type("@profile servnak")).data["relationships"] == []
    await player.world.close()
