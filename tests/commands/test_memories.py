import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import commands.help
import commands.memories  # noqa: F401 -- declares the command
from commands.registry import CommandContext, Reply, registry
from noodlings.inspect.inspector import Inspector
from noodlings.memory.plain import PlainMemory
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import ImportanceParts
from noodlings.values.percept import Kind
from noodlings.values.trace import RecalledTrace, Trace
from tests.fakes import FakeAgent, FakeSociety, make_persona
from tests.thorough import examples

ADMIN = Caller("user_root", "root", Role.ADMIN)
CAITY = Caller("user_caity", "caity")
SORROW = Affect(-0.8, 0.4, 0.1, 0.9)
NOW = 1_763_790_605.0
DAY = 86_400.0

LINES = (
    ("user_caity", "My dog died yesterday", SORROW, Kind.SAY),
    ("user_bob", "the password is mellon", Affect(0.1, 0.6), Kind.WHISPER),
    ("user_caity", "[bold]look[/bold] \x1b[31mred \u202eevil\x07", Affect(0.6, 0.6), Kind.SAY),
    (
        "user_kanji",
        "漢字漢字漢字が好きです、とても好きです、ほんとうに好きです、毎日書きます",
        Affect(0.7, 0.4),
        Kind.SAY,
    ),
    ("user_caity", "we won!! 🎉🎉👨‍👩‍👧 " + "x" * 5_000, Affect(0.9, 0.9), Kind.EMOTE),
    ("user_bob", "you useless heap of rust!", Affect(-0.7, 0.8, 0.1), Kind.SAY),
    ("servnak", "I wonder what rust tastes like", None, Kind.THOUGHT),
    ("user_caity", "\x00", None, Kind.EVENT),
)
VIEWS = {
    "": "stats",
    "--stats": "stats",
    "--working": "working",
    "--working --limit 3 --page 2": "working",
    "--episodic": "episodic",
    "--episodic --limit 2": "episodic",
    "--important": "important",
    "--user me": "by_user",
    "--affect": "affect_groups",
    "--affect --limit 1": "affect_groups",
    "--affect-similar --current": "affect_alike",
    "--flow": "last_retrieval",
}

LIMITED = ("--working", "--episodic", "--important", "--user me", "--affect", "--affect-similar")


def populated(times: int = 4) -> FakeSociety:
    """SERVNAK after some talk, with a last answer that drew on memories, one of them forgotten since."""
    society = FakeSociety(
        people={"user_caity": "caity", "user_bob": "bob", "user_kanji": "漢字の人ととても長い名前"}
    )
    agent = society.add(FakeAgent(make_persona("SERVNAK"), mood=SORROW, affect=SORROW))
    society.clock.set(NOW)
    kept = society.store.kept["servnak"] = {}
    for number in range(times * len(LINES)):
        user, text, felt, kind = LINES[number % len(LINES)]
        entry = agent.memory.add(
            NOW - DAY * (40 - number),
            number,
            user,
            text,
            felt,
            surprise=0.3,
            kind=kind,
            response=f"SO: {text}",
        )
        kept[entry.id] = entry
    if 1 in kept:
        kept[1] = agent.memory.pin(kept[1])
    recalled = (
        RecalledTrace(1, ("important", "affect"), 0.9, {"important": 0.9, "affect": 0.8}, used=True),
        RecalledTrace(2, ("important",), 0.7, {"important": 0.7}),
        RecalledTrace(9_999, ("recent",), 0.5, {"recent": 0.5}),
    )
    asked = times * len(LINES)
    society.store.turns["servnak"] = [
        Trace(
            "servnak", asked, NOW, SORROW, "words", SORROW, 0.2, 0.4, ImportanceParts(), recalled,
            response="YOUR DOG DIED. I MOURN. \x1b[2J", voice="offline", decision="addressed",
            degraded=("the model was late",),
        )
    ]  # fmt: skip
    return society


@pytest.fixture
def society() -> FakeSociety:
    return populated()


def context(society: FakeSociety, caller: Caller = ADMIN) -> CommandContext:
    return CommandContext(caller, society, Inspector(society))  # type: ignore[arg-type]


async def ask(society: FakeSociety, arguments: str, caller: Caller = ADMIN) -> Reply:
    return await registry.dispatch(f"@memories {arguments}", context(society, caller))


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("caller", [ADMIN, CAITY], ids=["admin", "player"])
@pytest.mark.parametrize("flags", VIEWS)
async def test_every_view_fits_every_terminal(society: FakeSociety, flags: str, caller: Caller, width: int):
    reply = await ask(society, f"servnak {flags}", caller)
    assert not reply.error, reply.data
    for colour in (False, True):
        lines = reply.render(width, colour).split("\n")
        assert lines[0]
        if not colour:
            assert max(cell_len(line) for line in lines) <= width
            assert all(line == line.rstrip() for line in lines)
            assert "".join(lines).replace("\u200d", "").isprintable()
        else:
            assert "\x1b[31mred" not in reply.render(width, colour)
            assert "\x1b[2J" not in reply.render(width, colour)


@pytest.mark.parametrize("flags", VIEWS)
async def test_the_data_is_what_the_inspector_gives(society: FakeSociety, flags: str):
    data = (await ask(society, f"servnak {flags}", CAITY)).data
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    if "--limit" in flags:
        return
    arguments = {"by_user": ("me", 10)}.get(VIEWS[flags], ())
    limits = {"working": {"limit": 20}, "episodic": {"limit": 20}, "affect_groups": {"limit": 2}}
    read = getattr(Inspector(society), VIEWS[flags])  # type: ignore[arg-type]
    assert data == read(CAITY, "servnak", *arguments, **limits.get(VIEWS[flags], {})).as_dict()


@pytest.mark.parametrize("flags", VIEWS)
async def test_a_player_reads_no_word_of_others(society: FakeSociety, flags: str):
    reply = await ask(society, f"servnak {flags}", CAITY)
    for shown in (reply.render(200), json.dumps(reply.data, ensure_ascii=False)):
        assert not [word for word in ("mellon", "rust", "漢字") if word in shown]
    everything = await ask(society, f"servnak {flags}", ADMIN)
    if everything.data.get("hidden") == 0 and reply.data["hidden"]:
        assert "not yours to read" in reply.render(80)


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(
    st.lists(st.tuples(st.sampled_from(["user_caity", "user_bob", "servnak"]), st.sampled_from(list(Kind))))
)
def test_no_word_of_another_reaches_a_player_whatever_was_said(heard: list[tuple[str, Kind]]):
    society = populated(0)
    memory, kept = society.agents["servnak"].memory, society.store.kept["servnak"]
    for user, kind in heard:
        entry = memory.add(NOW, 0, user, f"words of {user}", SORROW, kind=kind, response=f"answer to {user}")
        kept[entry.id] = entry
    recalled = tuple(RecalledTrace(number, ("recent",), 0.5) for number in kept)
    society.store.turns["servnak"] = [
        Trace(
            "servnak",
            number,
            NOW,
            SORROW,
            "words",
            SORROW,
            0.2,
            0.4,
            ImportanceParts(),
            recalled,
            response="so",
        )
        for number in kept
    ]

    async def everything() -> str:
        replies = [await ask(society, f"servnak {flags} --limit 50", CAITY) for flags in LIMITED]
        replies += [await ask(society, f"servnak {flags}", CAITY) for flags in VIEWS]
        return "".join(reply.render(200) + json.dumps(reply.data) for reply in replies)

    shown = asyncio.run(everything())
    assert "words of user_bob" not in shown
    assert "answer to user_bob" not in shown
    assert "words of servnak" not in shown
    if ("user_caity", Kind.SAY) in heard[-15:]:
        assert "words of user_caity" in shown


@pytest.mark.parametrize("flags", VIEWS)
async def test_looking_changes_nothing(society: FakeSociety, flags: str):
    memory = society.agents["servnak"].memory

    def state() -> object:
        entries = [*memory.retrieve_episodic(limit=None), *memory.retrieve_working()]
        return memory.stats(), entries, [memory.strength(entry, NOW) for entry in entries]

    before = state()
    await ask(society, f"servnak {flags}")
    assert state() == before


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("flags", VIEWS)
async def test_an_agent_without_memories_is_shown_as_such(flags: str, plain: bool):
    society = FakeSociety()
    agent = society.add(FakeAgent(make_persona("SERVNAK")))
    if plain:
        agent.memory = PlainMemory()  # type: ignore[assignment]
    reply = await ask(society, f"servnak {flags}", CAITY)
    assert not reply.error
    shown = reply.render(80)
    assert ("plain list" in shown) == plain
    assert any(
        words in shown for words in ("Nothing here yet", "0/", "No memory felt", "No answer to you has drawn")
    )


async def test_the_plain_list_says_what_it_is_and_shows_what_there_is(society: FakeSociety):
    agent = society.agents["servnak"]
    agent.memory = PlainMemory()  # type: ignore[assignment]
    agent.memory.add(NOW, 1, "user_bob", "just a line", SORROW)
    assert "1/500" in (await ask(society, "servnak")).render(80)
    assert "episodic " not in (await ask(society, "servnak")).render(80)
    for flags in ("--working", "--important", "--affect", "--user bob"):
        assert "just a line" in (await ask(society, f"servnak {flags}")).render(80)


async def test_the_stats_name_their_figures(society: FakeSociety):
    stats = society.agents["servnak"].memory.stats()
    shown = (await ask(society, "servnak")).render(80)
    for figure in (
        f"{stats.working}/20",
        f"{stats.episodic}/200",
        "0/100",
        f"{stats.consolidation_rate:.1%}",
        f"{stats.average_importance:.2f}",
    ):
        assert figure in shown
    assert "0.9–1.0" in shown


async def test_the_flow_shows_every_reason_with_its_score(society: FakeSociety):
    shown = (await ask(society, "servnak --flow")).render(80)
    for words in (
        "YOUR DOG DIED. I MOURN.",
        "addressed",
        "without: the model was late",
        "0.90  important",
        "0.80  affect",
        "(pinned) My dog died yesterday",
        "0.50  recent",
        "(forgotten)",
        "▸ put into words",
    ):
        assert words in shown


async def test_rows_say_what_is_not_plain_speech_and_who_answered(society: FakeSociety):
    shown = (await ask(society, "servnak --user bob --limit 2")).render(200)
    assert "(whisper) the password is mellon" in shown
    assert "↳ SO: the password is mellon" in shown
    assert "(no words)" in (await ask(society, "servnak --working")).render(200)


async def test_pages_follow_one_another(society: FakeSociety):
    first = await ask(society, "servnak --important --limit 3")
    assert "1–3 of 28" in first.render(80)
    assert "25 more with --limit 3 --page 2" in first.render(80)
    second = await ask(society, "servnak --important --limit 3 --page 2")
    assert second.data["offset"] == 3
    seen = [entry["id"] for entry in (*first.data["entries"], *second.data["entries"])]
    assert len(set(seen)) == 6
    beyond = await ask(society, "servnak --important --page 99")
    assert "There is nothing on this page; there are only 28." in beyond.render(80)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "Which character?"),
        ("nobody", "nobody"),
        ("servnak --flo", "did you mean --flow?"),
        ("servnak --working --flow", "One view at a time: --working or --flow."),
        ("servnak --limit 0 --working", "a whole number from 1 to"),
        ("servnak --working --limit many", "'many'"),
        ("servnak --limit 5", "--limit goes with --working"),
        ("servnak --affect --page 2", "--page goes with --working"),
        ("servnak --current", "--current only works with --affect-similar"),
        ("servnak --user", "--user needs"),
        ("servnak --user nobody", "SERVNAK does not know anybody called nobody"),
    ],
)
async def test_mistakes_get_a_helpful_line(society: FakeSociety, arguments: str, words: str):
    reply = await ask(society, arguments)
    assert reply.error
    assert words in reply.data["error"]
    assert "\n" not in reply.data["error"]


async def test_a_player_is_refused_what_others_shared(society: FakeSociety):
    reply = await ask(society, "servnak --user bob", CAITY)
    assert reply.error
    assert "--user me" in reply.data["error"]


async def test_help_is_the_docstring(society: FakeSociety):
    for arguments in ("--help", "servnak --help", "servnak --flow -h"):
        reply = await ask(society, arguments)
        assert not reply.error
        for flag in ("--stats", "--working", "--affect-similar", "--flow", "--limit", "--page", "--user"):
            assert flag in reply.render(80)


async def test_an_abbreviated_name_of_the_command_will_do(society: FakeSociety):
    reply = await registry.dispatch("@mem servnak", context(society))
    assert reply.data["agent"] == "servnak"


async def test_names_from_outside_are_harmless():
    society = populated(1)
    agent = society.agents["servnak"]
    agent.persona = replace(agent.persona, name="\x1b[31mSERV[bold]NAK")
    society.people["user_caity"] = "\x1b[5mcaity\n\u202e"
    shown = (await ask(society, "servnak --working")).render(80)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "SERV[bold]NAK · working memory" in shown
