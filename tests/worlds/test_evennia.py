"""The adapter for Evennia without Evennia: what becomes which percept, and what an answer becomes.

Stand-ins for the few names that it imports; the real ones are in tests/evennia.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.perceive import Said
from commands import registry
from noodlings.values.percept import Kind

ROOT = Path(__file__).parents[2]
FILE = ROOT / "noodlings" / "worlds" / "evennia.py"


class Aliases(list[str]):
    def all(self) -> list[str]:
        return list(self)


class Character:
    """What the adapter uses of evennia.DefaultCharacter."""

    made = 0

    def __init__(self, key: str, room: Room, **attributes: str) -> None:
        Character.made += 1
        self.id, self.key = Character.made, key
        self.attributes = attributes
        self.aliases = Aliases()
        self.ndb = SimpleNamespace(mind_sees=None, mind_utters=None)
        self.has_account = False
        self.location: Room | None = None
        self.shown: list[str] = []
        self.go(room)

    def go(self, room: Room | None) -> None:
        if self.location:
            self.location.contents.remove(self)
        self.location = room
        if room:
            room.contents.append(self)

    def get_display_name(self, looker: Character) -> str:
        return self.key

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        self.shown.append(text[0] if isinstance(text, tuple) else text)
        return True

    def msg(self, text: Any = None, from_obj: Any = None) -> None:
        self.at_msg_receive(text=text, from_obj=from_obj)

    def at_say(self, words: str, receivers: list[Character] | None = None, whisper: bool = False) -> None:
        assert self.location
        kind, verb = ("whisper", "whispers:") if whisper else ("say", "says,")
        self.location.msg_contents((f'{self.key} {verb} "{words}"', {"type": kind}), self, among=receivers)


@dataclass
class Room:
    """What the adapter uses of evennia.DefaultRoom."""

    key: str
    contents: list[Character] = field(default_factory=list)

    def msg_contents(
        self,
        text: Any,
        from_obj: Character,
        mapping: dict[str, Any] | None = None,
        among: list[Character] | None = None,
    ) -> None:
        line, how = text if isinstance(text, tuple) else (text, {})
        names = {name: getattr(one, "key", one) for name, one in (mapping or {}).items()}
        for other in among or list(self.contents):
            other.at_msg_receive(text=(line.format_map(names) if names else line, how), from_obj=from_obj)


class Reactor:
    """Calls what is to be called later when it is told to."""

    def __init__(self) -> None:
        self._later: list[Callable[[], None]] = []

    def callLater(self, seconds: float, call: Callable[..., None], *words: Any) -> None:
        self._later.append(lambda: call(*words))

    def turn(self) -> None:
        while self._later:
            self._later.pop(0)()


class Post:
    """Takes percepts in place of the client."""

    def __init__(self) -> None:
        self.percepts: list[tuple[Any, Any]] = []

    def send(self, character: Any, percept: Any) -> None:
        self.percepts.append((character, percept))

    def all(self, who: Any = None) -> list[tuple[str, str, str, bool]]:
        """Kind, name, text and whether it was addressed."""
        return [
            (one.kind, one.name, one.text, one.addressed)
            for character, one in self.percepts
            if who in (None, character)
        ]


def _stand_ins() -> dict[str, ModuleType]:
    errors = {name: type(name, (Exception,), {}) for name in ("ConnectError", "ConnectionClosed")}
    errors |= {name: type(name, (Exception,), {}) for name in ("DNSLookupError", "TimeoutError")}
    client = ("PartialDownloadError", "RequestNotSent", "RequestTransmissionFailed", "ResponseFailed")
    made: dict[str, dict[str, Any]] = {
        "django": {},
        "django.conf": {"settings": SimpleNamespace()},
        "evennia": {
            "AccountDB": object,
            "CmdSet": object,
            "Command": object,
            "DefaultCharacter": Character,
        },
        "evennia.utils": {"logger": SimpleNamespace(log_info=print, log_warn=print)},
        "evennia.utils.ansi": {"strip_ansi": lambda text: text.replace("|c", "").replace("||", "|")},
        "twisted": {},
        "twisted.internet": {"reactor": Reactor()},
        "twisted.internet.defer": {
            "CancelledError": errors["ConnectError"],
            "TimeoutError": errors["TimeoutError"],
            "inlineCallbacks": lambda function: function,
        },
        "twisted.internet.error": errors,
        "twisted.internet.task": {"deferLater": None},
        "twisted.web": {},
        "twisted.web.client": {name: type(name, (Exception,), {}) for name in client}
        | {"Agent": None, "FileBodyProducer": None, "HTTPConnectionPool": None, "readBody": None},
        "twisted.web.http_headers": {"Headers": None},
    }
    modules = {}
    for name, names in made.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(names)
    return modules


def _loaded() -> Any:
    """The file by itself, as a game has it, among the stand-ins."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in _stand_ins().items():
            patch.setitem(sys.modules, name, module)
        spec = importlib.util.spec_from_file_location("minds_of_a_game", FILE)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module


evennia = _loaded()


@pytest.fixture
def post(monkeypatch: pytest.MonkeyPatch) -> Post:
    taken = Post()
    monkeypatch.setattr(evennia, "client", lambda: taken)
    return taken


@pytest.fixture
def room() -> Room:
    return Room("The Workshop")


def says(speaker: Character, words: str) -> None:
    speaker.at_say(words)


def poses(actor: Character, action: str) -> None:
    assert actor.location
    actor.location.msg_contents((f"{actor.key} {action}", {"type": "pose"}), actor)


def moves(mover: Character, room: Room | None) -> None:
    """With the two messages that Evennia shows, and a turn of the reactor."""
    if mover.location:
        mover.location.msg_contents((f"{mover.key} is leaving", {"type": "traverse"}), mover)
    mover.go(room)
    if room:
        room.msg_contents((f"{mover.key} arrives", {"type": "traverse"}), mover)
    evennia.reactor.turn()


def test_neither_noodlings_nor_its_worlds_import_evennia():
    code = "import sys, noodlings.worlds; assert not {'evennia', 'twisted', 'django'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('Wren says, "good morning"', "good morning"),
        ('Wren whispers: "do not tell"', "do not tell"),
        ('Wren says, "he said "hi" to me"', 'he said "hi" to me'),
        ("Wren sagt: „guten Morgen“", "guten Morgen"),
        ("Wren dit : « bonjour »", "bonjour"),
        ("Wren: good morning", ": good morning"),
        ('Wren says, ""', ""),
    ],
)
def test_the_words_of_a_line(line: str, words: str):
    assert evennia.spoken_words(line, "Wren") == words


def test_a_name_with_quotes_is_not_what_was_said():
    assert evennia.spoken_words('Bob "the Rat" Smith says, "hello"', 'Bob "the Rat" Smith') == "hello"


@given(st.text(min_size=1).map(str.strip).filter(bool))
def test_what_is_said_in_quotes_is_taken_whole(words: str):
    assert evennia.spoken_words(f'Wren says, "{words}"', "Wren") == words


@pytest.mark.parametrize(
    ("line", "action"), [("Wren waves", "waves"), ("Wren's hands shake", "'s hands shake")]
)
def test_the_action_in_a_line(line: str, action: str):
    assert evennia.described_action(line, "Wren") == action


def test_names_are_words_of_their_own():
    assert evennia.named_in("hello, SERVNAK!", ("Servnak",))
    assert evennia.named_in("the old robot.", ("Servnak", "old robot"))
    assert not evennia.named_in("a philosophy", ("Phi",))
    assert not evennia.named_in("anything", ("",))


@pytest.mark.parametrize(
    ("response", "done"),
    [
        ("Hello there.", [("say", "Hello there.")]),
        ("*whirrs* Hello. *bows*", [("pose", "whirrs"), ("say", "Hello."), ("pose", "bows")]),
        ("*Servnak tilts its head*", [("pose", "tilts its head")]),
        ("I *never* forget.", [("say", "I never forget.")]),
        ("**Never.** *leaves*", [("say", "Never."), ("pose", "leaves")]),
        ("one\ntwo  three", [("say", "one two three")]),
        ("a * b", [("say", "a b")]),
        ("* *", []),
        ("…", []),
        ("", []),
    ],
)
def test_what_a_response_becomes(response: str, done: list[tuple[str, str]]):
    assert evennia.split_response(response, "Servnak") == done


@given(st.text(alphabet="*ab. \n"))
def test_no_word_of_a_response_is_lost_and_no_asterisk_is_shown(response: str):
    done = " ".join(words for _, words in evennia.split_response(response, "Servnak"))
    assert "*" not in done
    assert [c for c in done if c in "ab"] == [c for c in response if c in "ab"]


def test_who_came_and_who_went():
    wren, toad = {"u1": "Wren"}, {"u2": "Toad"}
    assert evennia.came_and_went({}, wren) == (wren, {})
    assert evennia.came_and_went(wren | toad, toad) == ({}, wren)
    assert evennia.came_and_went(wren, wren) == ({}, {})


def test_of_somebody_first_seen_only_the_move_that_was_seen_is_told():
    wren, toad = {"u1": "Wren"}, {"u2": "Toad"}
    assert evennia.came_and_went(None, wren | toad) == ({}, {})
    assert evennia.came_and_went(None, wren | toad, ("u1", "Wren")) == (wren, {})
    assert evennia.came_and_went(None, toad, ("u1", "Wren")) == ({}, wren)


def test_a_percept_is_what_the_api_takes():
    long = evennia.Percept("u1", "W" * 200, "x" * 9_000, "say", True, ("u",) * 300, "p" * 200)
    assert Said(**long.body()).kind == Kind.SAY
    assert {*evennia._KINDS.values()} <= {*Kind}
    assert long.key != evennia.Percept("u1", "Wren", "x", "say").key


def test_what_waited_too_long_is_late():
    percept = evennia.Percept("u1", "Wren", "x", "say", since=100.0)
    assert not percept.late(100.0 + evennia.LATE_SECONDS)
    assert percept.late(101.0 + evennia.LATE_SECONDS)


def test_what_is_said_and_done_is_perceived(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    says(wren, "hello")
    poses(wren, "waves")
    assert post.all() == [("say", "Wren", "hello", True), ("emote", "Wren", "waves", True)]
    percept = post.percepts[0][1]
    assert percept.user_id == f"user_evennia_{wren.id}"
    assert (percept.place, percept.present) == ("The Workshop", (percept.user_id,))
    assert servnak.shown == ['Wren says, "hello"', "Wren waves"]


def test_among_several_it_is_meant_by_its_name(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    servnak.aliases.append("robot")
    toad = Character("Toad", room)
    for words in ("hello", "hello, servnak", "you, robot"):
        says(wren, words)
    assert [addressed for *_, addressed in post.all()] == [False, True, True]
    assert post.percepts[0][1].present == (evennia.being_id(wren), evennia.being_id(toad))


@pytest.mark.parametrize("name", ["user_evennia_3", "User_Caity", "api_world", "past:bob"])
def test_a_mind_that_is_named_like_a_player_is_nobody_else(room: Room, name: str):
    fake, toad = evennia.MindedCharacter(name, room), evennia.MindedCharacter("Toad", room)
    assert evennia.being_id(fake) == f"user_evennia_{fake.id}"
    assert evennia.being_id(toad) == "toad"


def test_a_whisper_is_between_two(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    phi, toad = evennia.MindedCharacter("Phi", room), Character("Toad", room)
    wren.at_say("I am afraid", receivers=[servnak], whisper=True)
    assert post.all() == [("whisper", "Wren", "I am afraid", True)]
    percept = post.percepts[0][1]
    assert percept.present == (evennia.being_id(wren),)
    servnak.utter("*leans in* Of what?", percept)
    assert wren.shown == ["Servnak leans in", 'Servnak whispers: "Of what?"']
    assert toad.shown == phi.shown == []


def test_what_was_told_alone_is_answered_alone_once_somebody_has_come_in(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    says(wren, "I am afraid")
    percept = post.percepts[0][1]
    servnak.utter("Of what?", percept, 1)
    toad = Character("Toad", room)
    servnak.utter("Of whom?", percept, 1)
    servnak.utter("Good evening.", percept)
    assert wren.shown[-3:] == [
        'Servnak says, "Of what?"',
        'Servnak whispers: "Of whom?"',
        'Servnak says, "Good evening."',
    ]
    assert toad.shown == ['Servnak says, "Good evening."']


def test_what_is_answered_from_a_secret_is_one_for_every_other_mind_that_hears_it(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    phi = evennia.MindedCharacter("Phi", room)
    says(wren, "I am afraid")
    percept = next(percept for character, percept in post.percepts if character is servnak)
    servnak.utter("*trembles* Of what?", percept, 2)
    servnak.utter("Good evening.", percept)
    heard = [percept for character, percept in post.percepts if character is phi][1:]
    assert [(one.kind, one.text, one.body()["tier"]) for one in heard] == [
        ("emote", "trembles", 2),
        ("say", "Of what?", 2),
        ("say", "Good evening.", 0),
    ]


def test_a_gesture_for_one_mind_alone_is_known_to_nobody_who_stands_by(room: Room, post: Post):
    servnak, phi = evennia.MindedCharacter("Servnak", room), evennia.MindedCharacter("Phi", room)
    says(phi, "I am afraid")
    Character("Toad", room)
    servnak.utter("*points to the well*", post.percepts[0][1], 1)
    told = post.percepts[-1][1]
    assert (told.kind, told.text, told.present) == ("whisper", "points to the well", ("servnak",))


def test_an_answer_to_somebody_who_is_gone_is_whispered_to_nobody(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    toad = Character("Toad", room)
    wren.at_say("I am afraid", receivers=[servnak], whisper=True)
    wren.go(None)
    servnak.utter("Of what?", post.percepts[0][1])
    assert toad.shown == []


def test_coming_and_going_are_perceived_and_looked_for_after_the_move(room: Room, post: Post):
    servnak, wren, toad = evennia.MindedCharacter("Servnak", room), Character("Wren", Room("x")), None
    moves(wren, room)
    toad = Character("Toad", Room("x"))
    moves(toad, room)
    moves(wren, None)
    assert post.all(servnak) == [
        ("arrive", "Wren", "arrives", False),
        ("arrive", "Toad", "arrives", False),
        ("leave", "Wren", "leaves", False),
    ]


def test_who_came_unseen_has_come_before_it_speaks(room: Room, post: Post):
    evennia.MindedCharacter("Servnak", room)
    wren, toad = Character("Wren", room), Character("Toad", Room("x"))
    says(wren, "hello")
    toad.go(room)
    says(toad, "boo")
    assert [kind for kind, *_ in post.all()] == ["say", "arrive", "say"]


def test_elsewhere_nobody_came(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    says(wren, "hello")
    servnak.ndb.mind_sees = None  # what at_post_move does
    says(wren, "hello again")
    assert [kind for kind, *_ in post.all()] == ["say", "say"]


def test_it_does_not_perceive_itself_nor_while_somebody_plays_it(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    says(servnak, "I am I")
    servnak.has_account = True
    says(wren, "hello")
    servnak.utter("Hello.", evennia.Percept("u", "Wren", "hello", "say"))
    assert post.all() == []
    assert wren.shown == ['Servnak says, "I am I"', 'Wren says, "hello"']


def test_an_echo_between_two_minds_ends(room: Room, post: Post):
    servnak, phi = evennia.MindedCharacter("Servnak", room), evennia.MindedCharacter("Phi", room)
    says(servnak, "hello")
    for number in range(20):
        if number == len(post.percepts):
            break
        character, percept = post.percepts[number]
        character.utter("And hello to you.", percept)
    assert len(post.percepts) == evennia.MAX_DEPTH + 1
    assert {percept.user_id for _, percept in post.percepts} == {"servnak", "phi"}
    assert servnak.ndb.mind_utters is phi.ndb.mind_utters is None


def test_words_of_a_mind_are_never_taken_for_the_codes_of_the_game(room: Room, post: Post):
    servnak, wren = evennia.MindedCharacter("Servnak", room), Character("Wren", room)
    says(wren, "hello")
    servnak.utter("*draws {braces}* |rred|n", post.percepts[0][1])
    assert wren.shown[1:] == ["Servnak draws {braces}", 'Servnak says, "||rred||n"']


def test_the_id_of_a_mind(room: Room):
    assert evennia.MindedCharacter("Old Servnak", room).mind == "old_servnak"
    assert evennia.MindedCharacter("Old Servnak", room, mind="servnak").mind == "servnak"


def test_a_refusal_in_words():
    assert evennia.problem_of({"title": "Not Found", "detail": "nobody here."}) == "nobody here"
    assert evennia.problem_of({"title": "Not Found"}) == "Not Found"
    assert evennia.problem_of({}) == "it was refused"


def test_the_page_names_the_settings_and_commands_that_there_are():
    page, source = (ROOT / "docs" / "evennia.md").read_text("utf-8"), FILE.read_text("utf-8")
    settings = set(re.findall(r"^(NOODLINGS_[A-Z_]+) = ", page, re.M))
    assert settings == set(re.findall(r'"(NOODLINGS_[A-Z_]+)"', source))
    typed = set(re.findall(r'key = "(@\w+)"', source))
    assert len(typed) == 5
    assert typed <= set(re.findall(r"@\w+", page))
    assert typed <= {command.name for command in registry.all()}
