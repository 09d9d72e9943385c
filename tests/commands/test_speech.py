"""Bare text in a room is speech, and nothing that looks like a command is said aloud: as a table."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import registry
from commands.registry import CommandContext
from commands.speech import EVERYDAY
from noodlings.clock import ManualClock
from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.text import clean
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World
from tests.fakes import FakeAgent, FakeSociety, ScriptedMinds, make_persona


class Room:
    """Caity and SERVNAK in the workshop, and what was heard there."""

    def __init__(self, inside=True):
        self.minds = ScriptedMinds()
        society, personas = FakeSociety(), []
        for name, home in (("SERVNAK", "workshop"), ("Old Tom", "garden")):
            personas.append(make_persona(name, home=home))
            society.add(FakeAgent(personas[-1]))
        self.world = World(load_places(), personas, self.minds.perceive, self.minds.idle, ManualClock())
        if inside:
            self.world.enter("user_caity", "caity", lambda line: None)
        caller = Caller("user_caity", "caity", Role.PLAYER)
        self.context = CommandContext(caller, society, Inspector(society), self.world)

    async def type(self, line):
        reply = await registry.dispatch(line, self.context)
        await self.world.settle()
        return reply

    @property
    def heard(self):
        return [percept.text for _, percept in self.minds.heard if percept.kind in (Kind.SAY, Kind.WHISPER)]


@pytest.mark.parametrize(
    "line",
    """hello
hi there!
Hello, how are you?
servnak, hello
SERVNAK: what do you remember?
why
why did you say that?
why, servnak?
who are you?
do you remember me?
no
no I never said so
so what
we are friends, aren't we
he is nice
how are you
I love you
may I sit down?
stay with me
where is everybody
not today
quite so
look, I am sorry
looks like rain
went home early
best day of my life
tell me about your day
more tea, please
tell us a joke
tall tales, servnak
till tomorrow then
to servnak with love
me and servnak
really servnak, that is so
content with what I have
logic is on my side
Logan is here now
Logan, come here
Logan is here
lingo is hard to learn
lingo! I love it
creates a mess every time
creates a mess
connects to the well
con artists are everywhere
log in please
connection lost again, servnak
forget it
recall that day?
people are strange
what's that
'tis cold
(sighs) I am tired
...and then she left
“so it begins”
¿qué tal?
привет
👍
（笑） servnak
…that is so
42
a -- b
come here, old tom
give me a break
get well soon
take care
put that down, servnak
open the door for me, would you
score one for the home team?
mind the self-driving clock""".splitlines(),
)
async def test_talk_is_said_as_it_was_typed(line):
    room = Room()
    reply = await room.type(line)
    assert not reply.error, reply.render()
    assert reply.data["kind"] == "say"
    assert room.heard == [line]
    assert registry.name_of(line, room.world, "user_caity") == "say"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("whispr servnak = I am afraid", "did you mean whisper?"),
        ("wisper servnak I am afraid", "did you mean whisper?"),
        ("WHSIPER servnak I am afraid", "did you mean whisper?"),
        ("wspr servnak = I am afraid", "Nothing was said"),
        ("psst servnak = I am afraid", "Nothing was said"),
        ("tell servnak I am afraid", "To tell servnak alone, type: whisper servnak = TEXT"),
        ("tell tom I am afraid", "Nothing was said"),
        ("inventory", "There is no command inventory here"),
        ("examine clocks", "There is no command examine here"),
        ("get the workbench", "There is no command get here"),
        ("give servnak a fish", "pose it: emote ACTION"),
        ("ooc brb", "There is no command ooc here"),
        ("more", "To see the next page of a list"),
        ("q", "To leave, type quit."),
        ("msg serv I am afraid", "type: whisper serv = TEXT"),
        ("w servnak I am afraid", "West is typed alone"),
        ("wh servnak I am afraid", "type: whisper servnak = TEXT"),
        ("whisper: servnak, I am afraid", "did you mean whisper?"),
        ("/w servnak I am afraid", "Nothing was said"),
        ("/msg servnak I am afraid", "Nothing was said"),
        ("tel servnak I am afraid", "type: whisper servnak = TEXT"),
        ("tlel servnak I am afraid", "type: whisper servnak = TEXT"),
        ("etll servnak I am afraid", "type: whisper servnak = TEXT"),
        ("TEKL: servnak, I am afraid", "type: whisper servnak = TEXT"),
        ("mgs servnak I am afraid", "type: whisper servnak = TEXT"),
        ("pgae servnak I am afraid", "type: whisper servnak = TEXT"),
        ("ｔell servnak I am afraid", "type: whisper servnak = TEXT"),
        ("tell servnak＝I am afraid", "type: whisper servnak = TEXT"),
        ("tell servnak = I am afraid", "type: whisper servnak = TEXT"),
        ("tell “servnak” I am afraid", "type: whisper servnak = TEXT"),
        ("pm: servnak I am afraid", "type: whisper servnak = TEXT"),
        ("t: servnak I am afraid", "type: whisper servnak = TEXT"),
        ("／w servnak I am afraid", "type: whisper servnak = TEXT"),
        ("＋w servnak I am afraid", "type: whisper servnak = TEXT"),
        ("＠whisper servnak I am afraid", "Nothing was said"),
        ("＠forget servnak", "Nothing was said"),
        ("＊waves＊", "Nothing was said"),
        ("ｗhisper servnak I am afraid", "did you mean whisper?"),
        ("ｗｈｉｓｐｅｒ servnak I am afraid", "Nothing was said"),
        ("connect caity hunter2", "already in the world"),
        ("connetc caity hunter2", "already in the world"),
        ("conn caity hunter2", "already in the world"),
        ("craete caity hunter2", "already in the world"),
        ("lgoin caity my dog hunter2", "already in the world"),
        ("conect caity my dog hunter2", "already in the world"),
        ("connects caity hunter2", "already in the world"),
        ("connect the dots", "already in the world"),
        ("con caity hunter2", "already in the world"),
        ("cr: caity hunter2", "already in the world"),
        ("ｃonnect caity hunter2", "already in the world"),
        ("conect caity hunter2", "already in the world"),
        ("create caity hunter2", "already in the world"),
        ("@memorise servnak", "did you mean @memories"),
        ("@nonsense", "There is no command @nonsense"),
        ("why servnak", "Did you mean @why servnak?"),
        ("forget servnak", "Did you mean @forget servnak?"),
        ("memories servnak --flow", "Nothing was said"),
        ("no --user servnak", "North is typed alone"),
        ("lok", "did you mean look?"),
        ("lok servnak", "did you mean look?"),
        ("hlep", "did you mean help?"),
        ("quti", "did you mean quit"),
        ("nroth", "did you mean north"),
        ("u ok?", "Up is typed alone"),
        ("north by northwest", "put say in front"),
        ("quit smoking", "Quit is typed alone"),
        ("/help", "Nothing was said"),
        ("#tag", "Nothing was said"),
        ("*waves*", "Nothing was said"),
        ("i = 3", "Nothing was said"),
    ],
)
async def test_what_looks_like_a_command_is_not_said(line, hint):
    room = Room()
    if line.startswith("tell tom"):
        room.world.go("user_caity", "north")
    reply = await room.type(line)
    assert reply.error
    assert hint in reply.render(1000)
    assert room.heard == []
    assert not re.search("afraid|hunter2", reply.render())
    said = await room.type(f"say {line}")
    assert not said.error
    assert room.heard == [line]


@pytest.mark.parametrize(
    ("line", "room"),
    [("library", "The Library"), ("The Walled Garden", "The Walled Garden"), ("nor", None), ("noo", None)],
)
async def test_the_name_of_an_exit_alone_walks_there(line, room):
    assert (await Room().type(line)).data.get("room") == room


async def test_where_there_are_no_rooms_nothing_is_said():
    room = Room()
    room.context.world = None
    for line in ("hello", "servnak, hello", "no"):
        reply = await room.type(line)
        assert reply.error
        assert "Nothing was said" not in reply.render()
    assert room.heard == []


WORLD = Room(inside=False).world
_KEYS = [key for made in registry.all() for key in (made.name, *made.aliases)]
_WORDS = st.one_of(
    st.sampled_from(_KEYS),
    st.sampled_from(_KEYS).flatmap(lambda key: st.integers(1, len(key)).map(lambda n: key[:n])),
    st.sampled_from(sorted(EVERYDAY)),
    st.sampled_from(["servnak", "= x", "--flow", "hello", "library", "me"]),
    st.text(min_size=1, max_size=8),
)


def lines():
    return st.lists(_WORDS, min_size=1, max_size=4).map(lambda words: str(clean(" ".join(words))))


@given(lines().filter(bool))
def test_no_line_that_is_a_command_becomes_speech(line):
    try:
        command, rest = registry.split(line)
    except UserError:
        return
    first, space, _ = line.lower().partition(" ")
    if first in EVERYDAY or (first == "who" and space):
        return
    assert registry.read(line, WORLD, "user_caity") == (command, rest)


@pytest.mark.slow
@given(lines().filter(bool))
def test_nothing_that_is_written_like_a_command_becomes_speech(line):
    try:
        command, _ = registry.read(line, WORLD, "user_caity")
    except UserError:
        return
    if command.name == "say" and line[0] != '"' and not re.match(r"(?i)say?( |$)", line):
        assert line[0] not in set(string.punctuation) - set("'(.")
        assert "=" not in line
        assert not re.search(r"(?:^|\s)--[a-zA-Z]", line)


def test_everyday_words_are_no_command_of_their_own():
    assert not EVERYDAY & set(_KEYS)


async def test_a_semicolon_poses_as_in_other_worlds():
    room = Room()
    reply = await room.type(";waves")
    assert not reply.error
    assert reply.data["kind"] == "emote"


@pytest.mark.parametrize(
    "line", ["@mood old tom", "@why Old Tom 2", "@recall old tom cat", '@recall "old tom" cat']
)
async def test_a_name_of_two_words_needs_no_quotation_marks(line):
    reply = await Room().type(line)
    assert "Type it like this" not in reply.render()
    assert "There is no character" not in reply.render()
