"""`@recall NAME "…"` as it is typed."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noodlings.values.caller import Role
from noodlings.values.memory import tags_of
from noodlings.values.percept import Kind, Percept
from tests.commands.conftest import Player
from tests.thorough import examples

DAY = 86_400.0

TOLD = (
    ("user_caity", "my dog is called Biscuit", Kind.SAY, 20),
    ("user_bob", "my dog bites", Kind.SAY, 10),
    ("user_bob", "the password is mellon, dog", Kind.WHISPER, 9),
    ("user_caity", "[bold]the dog[/bold] \x1b[31mran off \u202eagain " + "x" * 300, Kind.EMOTE, 5),
    ("user_caity", "漢字の犬 dog", Kind.SAY, 2),
)


@pytest.fixture
async def told(player: Player) -> Player:
    """Phi was told of dogs, by two people, over three weeks."""
    now = player.clock.now() + 30 * DAY
    for user, text, kind, days in TOLD:
        player.clock.set(now - days * DAY)
        percept = Percept(
            user,
            text,
            player.clock.now(),
            kind,
            audience=frozenset({"phi"}),
            depth=9,
            place="garden",
            data={"tags": ["pets", user]},
        )
        await player.society.perceive("phi", percept)
    player.clock.set(now)
    return player


def as_player(told: Player) -> Player:
    return Player(told.society, told.clock, Role.PLAYER, inside=False)


def squeezed(lines: list[str]) -> list[str]:
    return [re.sub(r" {2,}", "  ", line.strip()) for line in lines]


def found(reply) -> list[str]:  # type: ignore[no-untyped-def]
    assert not reply.error, reply.data
    return [one["entry"]["text"][:12] for one in reply.data["memories"]]


async def test_hits_with_why_scores_and_where_they_are(told: Player) -> None:
    lines = squeezed(await told.read('@recall phi "what did I say about my dog Biscuit"'))
    assert lines[0] == 'Phi · recall  "what did I say about my dog Biscuit"'
    assert re.fullmatch(r"\d found  in \d memories  by words", lines[1])
    assert lines[3].startswith("#  score  who")
    assert re.fullmatch(r"\d  \S+ 0\.\d\d  caity.* ago  lexical 0\.\d\d( .*)? working", lines[4])
    assert re.fullmatch(r"my dog is called Biscuit #pets.*", lines[5])


async def test_a_memory_begins_a_line_of_its_own_and_another_command_shows_it_in_full(told: Player) -> None:
    said = "my brother, who keeps bees behind the chapel, has painted every hive in another colour"
    await told.society.perceive("phi", Percept("user_bob", said, told.clock.now(), depth=9))
    *_, text, hint = await told.read("@recall phi bees")
    assert text.strip().startswith(said[:70])
    shown = await told.read(hint.partition("one in full with ")[2])
    assert said in " ".join(" ".join(shown).split())


async def test_a_question_does_not_rank_above_what_tells_it(told: Player) -> None:
    for text in ("Teun has my backups somewhere in Leiden", "who has my backups?", "where are my backups?"):
        await told.society.perceive("phi", Percept("user_bob", text, told.clock.now(), depth=9))
    assert found(await told.type('@recall phi "who has my backups"'))[0] == "Teun has my "
    assert found(await told.type('@recall phi "who has my backups" --limit 1')) == ["Teun has my "]


async def test_what_has_nothing_in_common_with_the_words_is_not_found(told: Player) -> None:
    for text in ("the heron sleeps", "mrrp."):
        await told.society.perceive("phi", Percept("user_bob", text, told.clock.now(), depth=9))
    assert found(await told.type('@recall phi "heron"')) == ["the heron sl"]


async def test_from_whom_it_was_had_is_no_tag_to_be_read(told: Player) -> None:
    await told.society.perceive(
        "phi",
        Percept("user_bob", "the heron sleeps", told.clock.now(), depth=9, data={"hearsay": [["user_ada"]]}),
    )
    (heron,) = told.society.find("phi").memory.retrieve_working()[-1:]
    assert "from:user_ada" in tags_of(heron)
    assert "from:" not in "".join(await told.read('@recall phi "heron"'))


@pytest.mark.parametrize("width", [30, 40, 80, 132])
async def test_it_fits_every_width(told: Player, width: int) -> None:
    lines = await told.read('@recall phi "dog" --mood -0.8,0.9', width)
    assert "[bold]the dog" in " ".join(lines)


@pytest.mark.slow
async def test_a_page_of_hits_fits_a_terminal(told: Player) -> None:
    for number in range(30):
        told.clock.advance(60)
        await told.society.perceive("phi", Percept("user_bob", f"dog {number}", told.clock.now(), depth=9))
    assert len(await told.read("@recall phi dog")) <= 22
    assert len(found(await told.type("@recall phi dog --limit 25"))) == 25


@pytest.mark.parametrize(
    ("flags", "texts"),
    [
        ("--user me", ["my dog is ca", "[bold]the do", "漢字の犬 dog"]),
        ("--user bob", ["my dog bites", "the password"]),
        ("--since 10d", ["the password", "[bold]the do", "漢字の犬 dog"]),
        ("--since 2wk --until 7d", ["my dog bites", "the password"]),
        ("--kind whisper", ["the password"]),
        ("--tag user_bob", ["my dog bites", "the password"]),
        ("--tag bob", []),
        ("--kind emote --status working", ["[bold]the do"]),
        ("--status archive", []),
        ("--since 1970-01-01 --until 1970-01-20T00:00", []),
        ("--importance 1", []),
        ("--score 1", []),
    ],
)
async def test_flags_narrow_it_down(told: Player, flags: str, texts: list[str]) -> None:
    told.society.introduce("user_bob", "bob")
    told.society.introduce("user_caity", "caity")
    assert sorted(found(await told.type(f'@recall phi "dog" {flags}'))) == sorted(texts)


async def test_mood_is_shown_and_counts(told: Player) -> None:
    lines = squeezed(await told.read('@recall phi "dog" --mood -0.9,0.2'))
    assert re.fullmatch(r"5 found  in \d memories  by words  in the mood \w+ -0\.90", lines[1])
    reply = await told.type("@recall phi dog --mood current --weight 0.5")
    assert reply.data["emotion_weight"] == 0.5
    assert reply.data["mood"]["affect"] == (await told.type("@mood phi")).data["mood"]["affect"]
    assert (await told.type("@recall phi dog --mood none")).data["mood"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("@recall", "Which character"),
        ("@recall phi", "Recall what?"),
        ("@recall nobody dog", "There is no character nobody"),
        ('@recall phi "dog" --mood happy', "--mood needs current, none, or valence and arousal"),
        ('@recall phi "dog" --mood 2,0', "An affect is out of range"),
        ('@recall phi "dog" --mood nan,0', "An affect is out of range"),
        ('@recall phi "dog" --since whenever', "'whenever' is not a time"),
        ('@recall phi "dog" --since 9d --until 10d', "Since is later than until"),
        ('@recall phi "dog" --since "3 moons"', "'3 moons' is not a time"),
        ('@recall phi "dog" --kind bark', "--kind is one of say, emote"),
        ('@recall phi "dog" --status lost', "--status is one of working, episodic, archive"),
        ('@recall phi "dog" --feeling blue', "'blue' is not a feeling"),
        ('@recall phi "dog" --limit 0', "--limit needs a whole number from 1 to 1000"),
        ('@recall phi "dog" --weight 2', "--weight needs a number from 0 to 1"),
        ('@recall phi "dog" --user zed', "does not know anybody called zed"),
        ('@recall phi "dog" --sinse 3d', "did you mean --since?"),
    ],
)
async def test_refusals_say_what_would_work(told: Player, line: str, said: str) -> None:
    reply = await told.type(line)
    assert reply.error
    assert said in reply.data["error"]


async def test_nothing_found_is_said(told: Player) -> None:
    lines = squeezed(await told.read("@recall phi submarine"))
    assert lines[-1] == "It has nothing about this that it may tell you."


async def test_a_player_finds_what_they_told_and_not_what_others_did(told: Player) -> None:
    player = as_player(told)
    texts = found(await player.type("@recall phi dog --limit 100"))
    assert sorted(texts) == sorted(["my dog is ca", "[bold]the do", "漢字の犬 dog"])
    assert found(await player.type("@recall phi mellon")) == []
    refused = await player.type("@recall phi dog --user bob")
    assert refused.error
    assert "yourself" in refused.data["error"]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40))
@given(
    st.sampled_from(["dog", "password", "mellon bites", "bob", "what did bob say about the password"]),
    st.lists(
        st.sampled_from(
            [
                "--mood current",
                "--limit 1000",
                "--status working",
                "--since 4wk",
                "--kind whisper",
                "--user me",
            ]
        ),
        unique=True,
    ),
)
async def test_no_words_of_others_reach_a_player(told: Player, query: str, flags: list[str]) -> None:
    reply = await as_player(told).type(f'@recall phi "{query}" {" ".join(flags)}')
    assert all(one["entry"]["user"] == "user_caity" for one in reply.data["memories"])
    shown = reply.render(132).split("\n", 1)[1]
    assert "mellon" not in shown
    assert "bites" not in shown


async def test_the_state_of_the_archive_is_shown_while_it_is_not_whole(told: Player) -> None:
    archive = told.society.agents["phi"].archive
    assert archive is not None
    backlog = archive._backlog
    backlog.waiting.add(1)
    backlog.waiting.parked[2] = "why"
    backlog.reason = "it cannot be reached"
    lines = " ".join(squeezed(await told.read("@recall phi dog")))
    assert "1 are not embedded yet, so for now only their words are searched." in lines
    assert "1 could not be embedded, so only their words are searched: it cannot be reached" in lines
    shown = (await as_player(told).type("@recall phi dog")).render()
    assert "cannot be reached" not in shown


async def test_help_has_examples(told: Player) -> None:
    lines = (await told.type("help @recall")).render(80).split("\n")
    assert any('@recall servnak "what did I say about my dog"' in line for line in lines)
    assert lines[0] == '@recall NAME "WHAT" [--user WHO] [--since WHEN] [--mood current] [--limit N]'
