import json

import pytest

from commands import registry
from commands.help import completions
from commands.registry import CommandContext
from noodlings.clock import ManualClock
from noodlings.inspect.inspector import Inspector
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World
from tests.fakes import FakeAgent, FakeSociety, ScriptedMinds, make_persona

SERVNAK = make_persona(
    "SERVNAK", home="workshop", species="robot", description="A brass robot, dented with pride."
)
TOAD = make_persona("Toad", home="garden")


class Table:
    """A player at a table with a world on it: what is typed, what is answered, what is seen and heard."""

    def __init__(self):
        self.society = FakeSociety()
        self.society.add(FakeAgent(SERVNAK, mood=Affect(sorrow=0.9, valence=-0.8)))
        self.society.add(FakeAgent(TOAD))
        self.minds = ScriptedMinds()
        self.lines = []
        caller = Caller("user_caity", "caity", Role.ADMIN)
        personas = [agent.persona for agent in self.society.agents.values()]
        self.world = World(load_places(), personas, self.minds.perceive, self.minds.idle, ManualClock())
        self.world.enter(caller.user_id, caller.name, self.lines.append)
        self.context = CommandContext(caller, self.society, Inspector(self.society), self.world)

    async def type(self, line):
        reply = await registry.dispatch(line, self.context)
        await self.world.settle()
        json.dumps(reply.data)
        return reply

    async def read(self, line):
        return (await self.type(line)).render(200)


@pytest.mark.parametrize(
    ("line", "shown", "kind", "heard"),
    [
        ("say hello there", 'You say, "hello there"', Kind.SAY, "hello there"),
        ('"hello', 'You say, "hello"', Kind.SAY, "hello"),
        ('"   hello', 'You say, "hello"', Kind.SAY, "hello"),
        ("SAY hello", 'You say, "hello"', Kind.SAY, "hello"),
        (":waves", "caity waves.", Kind.EMOTE, "waves"),
        ("pose bows", "caity bows.", Kind.EMOTE, "bows"),
        ("emote bows!", "caity bows!", Kind.EMOTE, "bows!"),
        ("whisper servnak = psst = x", 'You whisper to SERVNAK, "psst = x"', Kind.WHISPER, "psst = x"),
        ("say [bold]x[/bold]", 'You say, "[bold]x[/bold]"', Kind.SAY, "[bold]x[/bold]"),
        ("say \x1b[31mred\x1b[0m\x00", 'You say, "red"', Kind.SAY, "red"),
        ("say 👍🏽 é ", 'You say, "👍🏽 é"', Kind.SAY, "👍🏽 é"),
    ],
)
async def test_what_is_typed_is_shown_and_heard(line, shown, kind, heard):
    table = Table()
    assert await table.read(line) == shown
    assert [percept.text for _, percept in table.minds.heard if percept.kind is kind] == [heard]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("hello", "Nobody else is here."),
        ("servnak, are you there?", "Nobody else is here. SERVNAK is in the Workshop."),
        (":waves to toad", "Nobody else is here. Toad is in the Walled Garden."),
    ],
)
async def test_where_nobody_hears_it_is_said_and_where_those_are_who_are_named(line, told):
    table = Table()
    await table.type("go east")
    said, note = (await table.read(line)).split("\n")
    assert said.startswith(("You say", "caity waves"))
    assert note == told
    await table.type("go west")
    assert "Nobody" not in await table.read(line)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("say", "say TEXT"),
        ('"', "say TEXT"),
        (":", "emote ACTION"),
        ("whisper servnak", "whisper NAME = TEXT"),
        ("whisper servnack = hi", "did you mean SERVNAK?"),
        ("whisper toad = hi", "Toad is not here, but in the Walled Garden"),
        ("look servnack", "did you mean SERVNAK? You can also look at: workbench"),
        ("go up", "You cannot go up from here; there is north"),
        ("go", "Which way; there is north to the Walled Garden, east to the Library"),
        ("u", "cannot go up"),
        ("helo", "did you mean help?"),
        ("north by northwest", "North is typed alone. To say the line instead, put say in front."),
        ("help me", "There is no command me"),
        ("help me find my dog", "To say the line instead, put say in front."),
        ("x" * 100_000, "100,000 characters"),
        ("say " + "x" * 4_500, "into parts of at most 4,000"),
    ],
)
async def test_what_cannot_be_done_is_answered_with_what_can(line, hint):
    table = Table()
    reply = await table.type(line)
    assert reply.error
    assert hint in reply.render(1000)
    assert all(percept.kind is Kind.ARRIVE for _, percept in table.minds.heard)


async def test_looking_around_shows_the_room_its_things_people_and_exits():
    shown = await Table().read("look")
    for word in ("The Workshop", "workbench", "SERVNAK", "north (The Walled Garden)", "east (The Library)"):
        assert word in shown
    assert "caity" not in shown


async def test_looking_at_somebody_shows_who_they_are_and_how_they_seem():
    table = Table()
    for line in ("look servnak", "look at SERVNAK", "l serv"):
        shown = await table.read(line)
        assert "SERVNAK, robot" in shown
        assert "A brass robot" in shown
        assert "seems sorrowful" in shown


async def test_looking_at_things_and_at_oneself():
    table = Table()
    assert "Scarred oak" in await table.read("look at the bench")
    assert "That is you" in await table.read("look me")


async def test_walking_in_many_words():
    table = Table()
    for line, room in (
        ("go north", "The Walled Garden"),
        ("s", "The Workshop"),
        ("east", "The Library"),
        ("go garden", "The Walled Garden"),
        ("go the library", "The Library"),
    ):
        assert (await table.read(line)).startswith(room)


async def test_who_lists_everybody_and_where_they_are():
    shown = await Table().read("who")
    assert [line.split() for line in shown.splitlines()] == [
        ["SERVNAK", "The", "Workshop"],
        ["Toad", "The", "Walled", "Garden"],
        ["caity", "The", "Workshop", "(you)"],
    ]


@pytest.mark.parametrize("line", ["quit", "exit", "@quit", "QUIT"])
async def test_leaving(line):
    reply = await Table().type(line)
    assert reply.leave
    assert not reply.error


async def test_without_rooms_the_words_of_the_world_say_so():
    table = Table()
    table.context.world = None
    for line in ("say hi", "look", "who", "go north", "whisper a = b", ":waves"):
        assert "no rooms here" in (await table.type(line)).render()


@pytest.mark.parametrize("line", ["", "   ", "\x00", "\x1b[31m"])
async def test_nothing_typed_is_nothing_done(line):
    reply = await Table().type(line)
    assert not reply.error
    assert reply.render() == ""


async def test_help_lists_every_command_with_its_summary():
    shown = await Table().read("help all")
    for made in registry.all():
        assert made.summary
        if made.group != "directions":
            assert f"  {made.usage.split(' --')[0].split(' [--')[0]}" in shown
            assert made.summary.rstrip(".")[:40] in shown
    assert "north, south, east, west, up, down (n s e w u d)" in shown


async def test_the_first_page_of_help_is_one_screen_of_commands_that_there_are():
    table = Table()
    shown = (await table.type("help")).render(80).splitlines()
    assert len(shown) <= 22  # of 24: the line that asked for it, and the prompt
    for row in shown:
        if row.startswith("  ") and (word := row.split()[0].strip(",")) not in ("hello", "NAME"):
            assert registry.split(word)[0].summary


async def test_everything_in_help_fits_eighty_columns():
    table = Table()
    for line in ("help", "help all", "commands", *(f"help {made.name}" for made in registry.all())):
        shown = (await table.type(line)).render(80)
        assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    "line", ["help whisper", "whisper --help", "whisper -h", "help WHISPER", "? whisper"]
)
async def test_help_on_one_command_shows_usage_words_and_examples(line):
    shown = await Table().read(line)
    assert shown.startswith("whisper NAME = TEXT")
    assert "Examples:\n  whisper phi = I am afraid of the dark" in shown


async def test_help_among_flags_is_the_help_of_that_command():
    table = Table()
    assert await table.read("@memories servnak --help") == await table.read("help @memories")


async def test_a_character_is_called_as_its_bridge_called_it():
    table = Table()
    assert await table.read("look agent_servnak") == await table.read("look servnak")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("wh", ["whisper", "who"]),
        ("@mem", ["@memories"]),
        ("look s", ["servnak", "skylight"]),
        ("go ", ["east", "north"]),
        ("whisper ", ["servnak"]),
        ("@memories t", ["toad"]),
        ("@memories toad --fl", ["--flow"]),
        ("@memories toad --h", ["--help"]),
        ("help whi", ["whisper"]),
        ("nonsense ", []),
        ("zzz", []),
    ],
)
async def test_the_tab_key_offers_what_fits(line, offered):
    assert completions(Table().context, line) == offered
