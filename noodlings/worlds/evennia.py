"""Characters with a mind for a game made with Evennia; the mind lives in `noodlings serve`, asked over HTTP.

This file stands alone: copy it into a game (`mygame/typeclasses/minds.py`), and do not install noodlings
there, whose package `commands` has the name of the game's own. docs/evennia.md says how.

The rule it keeps: the game never waits. Requests go through Twisted's own client, so that no thread of the
game is held however many characters wait for a slow model. While the server is away its characters are
silent, the staff is told once (and once when it is back), and what they would have perceived waits: the
latest 64 of each, sent in order and, by a key, never twice. What is dropped is said in the log.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from django.conf import settings
from evennia import AccountDB, CmdSet, Command, DefaultCharacter
from evennia.utils import logger
from evennia.utils.ansi import strip_ansi
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks
from twisted.internet.defer import TimeoutError as AnswerTimeout
from twisted.internet.error import ConnectError, ConnectionClosed, DNSLookupError
from twisted.internet.error import TimeoutError as ConnectTimeout
from twisted.internet.task import deferLater
from twisted.web.client import (
    Agent,
    FileBodyProducer,
    HTTPConnectionPool,
    PartialDownloadError,
    RequestNotSent,
    RequestTransmissionFailed,
    ResponseFailed,
    readBody,
)
from twisted.web.http_headers import Headers

if TYPE_CHECKING:
    from evennia import DefaultObject as _Base
else:
    _Base = object

DEFAULT_URL = "http://127.0.0.1:8765"
STAFF = "Admin"
"""Whoever has this permission is told of trouble, and types with NOODLINGS_ADMIN_TOKEN where there is one."""
MOST_WAITING = 64
"""Percepts of one character that wait; of more the oldest go."""
MAX_DEPTH = 3
"""Replies to replies to replies reach no mind any more: every echo between characters ends."""
LATE_SECONDS = 60.0
"""What waited longer is still remembered, but not answered: nobody would know what was meant."""
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 120.0
RETRY_SECONDS = 3.0
BUSY_SECONDS = 1.0

_MAX_TEXT, _MAX_ID, _MAX_NAME, _MAX_PRESENT = 4_000, 80, 30, 100
_WIDTHS = (20, 400)
_KINDS = {"say": "say", "whisper": "whisper", "pose": "emote", "emote": "emote"}
"""The `type` of Evennia's messages → the kind of percept."""
_QUOTED = re.compile(r"[\"“„«](.*)[\"”“»]", re.DOTALL)
_BOLD = re.compile(r"\*\*+")
_STARRED = re.compile(r"\*([^*]+)\*")
_SENTENCE_ENDS = ".!?…,;:\"'”*"
_AWAY = (401, 403, 502, 503, 504)
_BUSY = 429
_UNKNOWN = 404
_UNREACHABLE = (
    AnswerTimeout,
    CancelledError,
    ConnectError,
    ConnectTimeout,
    ConnectionClosed,
    DNSLookupError,
    PartialDownloadError,
    RequestNotSent,
    RequestTransmissionFailed,
    ResponseFailed,
)

Asking = Generator[Any, Any, Any]
"""A function that waits by `yield`, see twisted.internet.defer.inlineCallbacks."""


class Silence(Exception):
    """The server does not answer, or nothing that can be understood; the text says why."""


# What becomes which percept, and what an answer becomes.


@dataclass(slots=True)
class Percept:
    """Something a character perceived, on its way.

    Attributes:
        user_id, name: who did it.
        text: what was said or done, without the name.
        kind: say, emote, whisper, arrive or leave.
        addressed: it was meant for this character.
        present: ids of those who would hear an answer.
        place: where it happened.
        depth: how many replies of other characters led to it.
        since: when, in seconds of a clock that only rises.
        key: under which it is perceived once, however often it is sent.
        tried: it was sent before; it must not be changed any more.
    """

    user_id: str
    name: str
    text: str
    kind: str
    addressed: bool = False
    present: tuple[str, ...] = ()
    place: str = ""
    depth: int = 0
    since: float = field(default_factory=time.monotonic)
    key: str = field(default_factory=lambda: uuid4().hex)
    tried: bool = False

    def late(self, now: float) -> bool:
        """Whether it waited so long that an answer would not be understood."""
        return now - self.since > LATE_SECONDS

    def body(self) -> dict[str, Any]:
        """What `POST /api/agents/{agent}/perceive` takes, within its limits."""
        return {
            "user_id": self.user_id,
            "name": self.name[:_MAX_ID],
            "text": self.text[:_MAX_TEXT],
            "kind": self.kind,
            "addressed": self.addressed,
            "present": list(self.present[:_MAX_PRESENT]),
            "place": self.place[:_MAX_ID],
        }


def words_of(line: str, name: str) -> str:
    """What was said, out of a line as a room shows it: `Wren says, "good morning"` is `good morning`.

    A game may word (and translate) that line as it likes; without quotes all behind the name was said.
    """
    rest = line.strip().removeprefix(name)
    quoted = _QUOTED.search(rest)
    return (quoted[1] if quoted else rest).strip()


def deed_of(line: str, name: str) -> str:
    """What was done, out of a line as a room shows it: `Wren waves` is `waves`."""
    return line.strip().removeprefix(name).strip()


def named_in(text: str, names: tuple[str, ...]) -> bool:
    """Whether one of the names stands in the text as a word of its own, in whatever case."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I) for name in names if name)


def came_and_went(
    known: Mapping[str, str] | None, here: Mapping[str, str], mover: tuple[str, str] | None = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Who came and who went, id → name each.

    Args:
        known: who was there when last looked; None for never.
        here: who is there now.
        mover: whose move was seen, id and name. Of one who was never looked at, this alone is known.
    """
    if known is None:
        known = dict(here)
        if mover is not None and known.pop(mover[0], None) is None:
            known[mover[0]] = mover[1]
    came = {who: name for who, name in here.items() if who not in known}
    went = {who: name for who, name in known.items() if who not in here}
    return came, went


def acts(response: str, name: str) -> list[tuple[str, str]]:
    """What a character does with a response, in order: ("say", words) and ("pose", deed).

    Deeds stand in asterisks. Asterisks in the midst of a sentence are emphasis, and only the asterisks go.
    """
    response = _BOLD.sub("", response)
    found: list[tuple[str, str]] = []
    end = 0
    for starred in _STARRED.finditer(response):
        before, after = response[: starred.start()].rstrip(), response[starred.end() :].strip()
        if before and after and not before.endswith(tuple(_SENTENCE_ENDS)):
            continue
        found += _said(response[end : starred.start()])
        deed = " ".join(starred[1].split())
        if deed.lower().startswith(f"{name.lower()} "):
            deed = deed[len(name) :].strip()
        found += [("pose", deed)] if deed else []
        end = starred.end()
    return found + _said(response[end:])


def _said(words: str) -> list[tuple[str, str]]:
    words = " ".join(words.replace("*", "").split())
    return [("say", words)] if re.search(r"\w", words) else []


def shown(text: str) -> str:
    """Text from outside as Evennia shows it unchanged: its colour codes begin with a bar."""
    return text.replace("|", "||")


def cause_of(error: Exception) -> str:
    """Why something could not be asked, in words; Twisted wraps the cause in what came of it."""
    reasons = getattr(error, "reasons", ())
    words = reasons[0].getErrorMessage() if reasons else str(error)
    return words.rstrip(".") or type(error).__name__


def problem_of(answer: Mapping[str, Any]) -> str:
    """What a refusal says, in words."""
    return str(answer.get("detail") or answer.get("title") or "it was refused").rstrip(".")


# The way to the server.


@dataclass(slots=True)
class Way:
    """What is on its way to the mind of one character.

    Attributes:
        percepts: that wait, oldest first.
        sending: one of them is being sent.
        unknown: the server has no such mind, and the staff was told.
    """

    character: Any
    percepts: deque[Percept] = field(default_factory=deque)
    sending: bool = False
    unknown: bool = False


class Link:
    """The one way of a game to its noodlings server.

    Attributes:
        trouble: why it cannot be reached, "" while it can.
    """

    def __init__(self, url: str, token: str, staff_token: str) -> None:
        self.trouble = ""
        self._url, self._token, self._staff_token = url.rstrip("/"), token, staff_token or token
        pool = HTTPConnectionPool(reactor)
        pool._factory.noisy = (
            False  # else each connection, and each try while it is away, is in the game's log
        )
        self._agent = Agent(reactor, connectTimeout=CONNECT_SECONDS, pool=pool)
        self._ways: dict[int, Way] = {}
        self._since = 0.0
        self._dropped = 0

    def hand(self, character: Any, percept: Percept) -> None:
        """Send a percept when its turn comes; the character utters what comes back. Returns at once."""
        way = self._ways.setdefault(character.id, Way(character))
        way.percepts.append(percept)
        if len(way.percepts) > MOST_WAITING:
            oldest = way.percepts.popleft()
            self._dropped += 1
            logger.log_warn(f"noodlings: {character.key} did not perceive the {oldest.kind} of {oldest.name}")
        self._go_on(way)

    def waiting(self, character: Any) -> int:
        """How many percepts of a character were not sent yet."""
        way = self._ways.get(character.id)
        return len(way.percepts) + way.sending if way else 0

    @inlineCallbacks
    def command(self, caller: Any, line: str, width: int) -> Asking:
        """A whole command line as `caller` typed it, with its rights. Its answer or refusal, as text."""
        if not self._token and not is_staff(caller):
            # Without tokens the server takes every caller for its admin, and all would read what all told.
            return "Only staff may use this, because the game's settings have no NOODLINGS_TOKEN."
        width = min(max(width, _WIDTHS[0]), _WIDTHS[1])
        body = {
            "user_id": being_id(caller),
            "name": caller.key[:_MAX_NAME],
            "line": line,
            "width": width,
            "rooms": False,  # the game has its own
        }
        try:
            status, answer = yield self._ask("POST", "/api/commands", body, staff=is_staff(caller))
        except Silence as silence:
            return f"The noodlings server cannot be reached: {silence}."
        return str(answer.get("text", "")) if status < 300 else f"The server refused: {problem_of(answer)}."

    def _go_on(self, way: Way) -> None:
        if not way.sending and not self.trouble:
            way.sending = True
            self._send(way).addErrback(lambda failure: logger.log_err(failure.getTraceback()))

    @inlineCallbacks
    def _send(self, way: Way) -> Asking:
        """Send what waits, one after another: a character perceives things in the order they happened."""
        path = f"/api/agents/{quote(way.character.mind, safe='')}/perceive"
        try:
            while way.percepts and not self.trouble:
                percept = way.percepts.popleft()
                late = percept.late(time.monotonic())
                percept.addressed = percept.addressed and (percept.tried or not late)
                percept.tried = True
                try:
                    status, answer = yield self._ask("POST", path, percept.body(), key=percept.key)
                except Silence as silence:
                    way.percepts.appendleft(percept)
                    self._lose(str(silence))
                    return
                if status == _BUSY:
                    way.percepts.appendleft(percept)
                    yield deferLater(reactor, BUSY_SECONDS)
                elif status >= 300:
                    self._refused(way, percept, status, answer)
                else:
                    self._answered(way, percept, answer, late)
        finally:
            way.sending = False

    def _answered(self, way: Way, percept: Percept, answer: Mapping[str, Any], late: bool) -> None:
        way.unknown = False
        turn = answer.get("turn") or {}
        response = turn.get("response")
        if not response or late:
            return
        try:
            way.character.utter(response, percept, bool((turn.get("percept") or {}).get("private")))
        except Exception:  # noqa: BLE001 -- hooks of the game run in it; the next percept is to be sent all the same
            logger.log_trace(f"noodlings: {way.character.key} could not say its answer")

    def _refused(self, way: Way, percept: Percept, status: int, answer: Mapping[str, Any]) -> None:
        why = problem_of(answer)
        logger.log_warn(f"noodlings: {way.character.key} did not perceive a {percept.kind}: {status}, {why}")
        if status == _UNKNOWN and not way.unknown:
            way.unknown = True
            tell_staff(f"{way.character.key} has no mind at {self._url}: {why}")

    def _lose(self, why: str) -> None:
        if self.trouble:
            return
        self.trouble, self._since, self._dropped = why, time.monotonic(), 0
        tell_staff(f"{self._url} cannot be asked ({why}). Its characters are silent until it is back.")
        reactor.callLater(RETRY_SECONDS, self._look_for_it)

    @inlineCallbacks
    def _look_for_it(self) -> Asking:
        try:
            yield self._ask("GET", "/api/agents")
        except Silence as silence:
            self.trouble = str(silence)
            reactor.callLater(RETRY_SECONDS, self._look_for_it)
            return
        self.trouble = ""
        waiting = sum(len(way.percepts) for way in self._ways.values())
        away = time.monotonic() - self._since
        told = f"{waiting} percepts waited and are sent now, {self._dropped} were dropped"
        tell_staff(f"{self._url} is back after {away:.0f} s: {told}.")
        for way in self._ways.values():
            self._go_on(way)

    @inlineCallbacks
    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str = "",
        staff: bool = False,
    ) -> Asking:
        """Status and JSON of an answer. Raises `Silence`, also for one that says: not for us, or not now."""
        headers = {"Content-Type": ["application/json"], "Idempotency-Key": [key] if key else []}
        token = self._staff_token if staff else self._token
        headers["Authorization"] = [f"Bearer {token}"] if token else []
        sent = FileBodyProducer(BytesIO(json.dumps(body).encode())) if body is not None else None
        try:
            asked: Deferred[Any] = self._agent.request(
                method.encode(), f"{self._url}{path}".encode(), Headers(headers), sent
            )
            response = yield asked.addTimeout(ANSWER_SECONDS, reactor)
            raw = yield readBody(response).addTimeout(ANSWER_SECONDS, reactor)
            answer = json.loads(raw)
        except _UNREACHABLE as error:
            raise Silence(cause_of(error)) from error
        except ValueError as error:
            raise Silence("what it answers is not JSON") from error
        if not isinstance(answer, dict):
            raise Silence("what it answers is not what a noodlings server answers")
        if response.code in _AWAY:
            raise Silence(problem_of(answer))
        return response.code, answer


@cache
def link() -> Link:
    """The way to the server that the game's settings name."""
    names = ("NOODLINGS_URL", "NOODLINGS_TOKEN", "NOODLINGS_ADMIN_TOKEN")
    url, token, staff_token = (getattr(settings, name, "") for name in names)
    return Link(url or DEFAULT_URL, token, staff_token)


def tell_staff(what: str) -> None:
    """Say something to everybody of the staff who is connected, and to the log."""
    logger.log_warn(f"noodlings: {what}")
    for account in AccountDB.objects.get_connected_accounts():
        if is_staff(account):
            account.msg(f"|wnoodlings:|n {shown(what)}")


def is_staff(somebody: Any) -> bool:
    """Whether an account, or whoever plays a character, runs the game (and is not quelled)."""
    return bool(somebody.check_permstring(STAFF))


def being_id(being: Any) -> str:
    """By which a mind knows somebody: another mind by its own id, a player by what no other can have."""
    return being.mind if isinstance(being, Mind) else f"user_evennia_{being.id}"


# What a game uses.


class Mind(_Base):
    """Makes any character typeclass one with a mind: `class Keeper(Mind, Character)`.

    The mind is the one at the server whose id is the attribute `mind`, or else the character's name in small
    letters. While somebody plays the character itself, its mind rests.
    """

    @property
    def mind(self: Any) -> str:
        """The id of its mind at the server."""
        return str(self.attributes.get("mind") or self.key.lower().replace(" ", "_"))

    def at_msg_receive(self: Any, text: Any = None, from_obj: Any = None, **kwargs: Any) -> Any:
        """Everything that is shown in a room comes by here; see evennia.DefaultObject."""
        if isinstance(from_obj, DefaultCharacter | Mind) and from_obj is not self and not self.has_account:
            self.notice(text, from_obj)
        return super().at_msg_receive(text=text, from_obj=from_obj, **kwargs)

    def at_post_move(self: Any, source_location: Any, **kwargs: Any) -> None:
        """Elsewhere it looks around anew: it is not those who are there who came."""
        self.ndb.mind_sees = None
        super().at_post_move(source_location, **kwargs)

    def at_server_reload(self: Any) -> None:
        """What waits is lost with the process, and not in silence."""
        super().at_server_reload()
        self.say_what_is_lost()

    def at_server_shutdown(self: Any) -> None:
        """The same."""
        super().at_server_shutdown()
        self.say_what_is_lost()

    def say_what_is_lost(self: Any) -> None:
        """A line in the log, where something waits."""
        if waiting := link().waiting(self):
            logger.log_warn(f"noodlings: {self.key} loses {waiting} percepts that were not taken yet")

    def notice(self: Any, text: Any, actor: Any) -> None:
        """A message that somebody caused: words, a deed, or a sign that somebody comes or goes."""
        line, how = text if isinstance(text, tuple) else (text, {})
        kind = _KINDS.get(how.get("type", ""))
        if kind is None:
            # The mover may still be where it was, and words say in any language where it goes: look after it.
            reactor.callLater(0, self.look_around, (being_id(actor), actor.key))
            return
        self.look_around()
        depth = (actor.ndb.mind_depth or 0) if isinstance(actor, Mind) else 0
        name = strip_ansi(actor.get_display_name(self))
        take = deed_of if kind == "emote" else words_of
        said = take(strip_ansi(str(line)), name)
        if not said or depth > MAX_DEPTH:
            return
        others = [being_id(being) for being in self.others()]
        alone = others == [being_id(actor)]
        called = (self.key, *self.aliases.all())
        self.perceive(
            actor_id=being_id(actor),
            name=actor.key,
            text=said,
            kind=kind,
            addressed=kind == "whisper" or alone or named_in(said, called),
            present=[being_id(actor)] if kind == "whisper" else others,
            depth=depth,
        )

    def look_around(self: Any, mover: tuple[str, str] | None = None) -> None:
        """Perceive who came and who went since it last looked."""
        if self.location is None:
            return
        here = {being_id(being): being.key for being in self.others()}
        came, went = came_and_went(self.ndb.mind_sees, here, mover)
        self.ndb.mind_sees = here
        for changed, kind, text in ((came, "arrive", "arrives"), (went, "leave", "leaves")):
            for who, name in changed.items():
                self.perceive(actor_id=who, name=name, text=text, kind=kind, present=list(here))

    def perceive(
        self: Any,
        *,
        actor_id: str,
        name: str,
        text: str,
        kind: str,
        present: list[str],
        addressed: bool = False,
        depth: int = 0,
    ) -> None:
        """Hand something over to the mind."""
        place = self.location.key if self.location else ""
        percept = Percept(actor_id, name, text, kind, addressed, tuple(present), place, depth)
        link().hand(self, percept)

    def others(self: Any) -> Iterator[Any]:
        """Everybody who is here, without itself."""
        room = self.location
        for being in room.contents if room else ():
            if being is not self and isinstance(being, DefaultCharacter | Mind):
                yield being

    def utter(self: Any, response: str, percept: Percept, private: bool = False) -> None:
        """Say and do in its room what its mind answered.

        To a whisper it is for whoever whispered alone, and so is what is `private` where somebody has come in
        since.
        """
        if self.location is None or self.has_account:
            return
        here = {being_id(being): being for being in self.others()}
        newcomers = here.keys() - {percept.user_id, *percept.present}
        confided = percept.kind == "whisper" or (private and bool(newcomers))
        listener = here.get(percept.user_id)
        if confided and listener is None:
            logger.log_info(f"noodlings: {self.key} had an answer for {percept.name}, who is gone")
            return
        self.ndb.mind_depth = percept.depth + 1
        try:
            for act, words in acts(response, self.key):
                self.do(act, shown(words), listener if confided else None)
        finally:
            self.ndb.mind_depth = 0

    def do(self: Any, act: str, words: str, alone: Any = None) -> None:
        """One act of an answer, seen by the room or by one alone."""
        if act == "say":
            whisper = {"receivers": [alone], "whisper": True} if alone else {}
            self.at_say(words, **whisper)
        elif alone:
            alone.msg((f"{self.get_display_name(alone)} {words}", {"type": "pose"}), from_obj=self)
        else:
            # As a mapping, so that no brace or $function in the words is taken for the game's own.
            self.location.msg_contents(
                ("{actor} {deed}", {"type": "pose"}), from_obj=self, mapping={"actor": self, "deed": words}
            )


class MindedCharacter(Mind, DefaultCharacter):
    """A character with a mind: `create/drop servnak:typeclasses.minds.MindedCharacter`."""


class MindCommand(Command):
    """A command that the server answers: the whole line goes there, with who typed it and its rights."""

    locks = "cmd:all()"
    help_category = "Minds"
    arg_regex = r"\s|$"
    auto_help = False

    def func(self) -> None:
        """Ask, and show the answer when it comes."""
        line = f"{self.key}{self.args}".strip()
        asked = link().command(self.caller, line, self.client_width())
        asked.addCallback(lambda text: self.msg(shown(text)))
        asked.addErrback(lambda failure: logger.log_err(failure.getTraceback()))


class CmdMemories(MindCommand):
    """
    look inside a character's memory

    Usage:
      @memories <character>
      @memories <character> --user me
      @memories <character> --working | --episodic | --important | --flow

    You see what you yourself shared with it. All that can be asked:
      @memories --help
    """

    key = "@memories"
    auto_help = True


class CmdWhy(MindCommand):
    """
    why a character said what it said

    Usage:
      @why <character> [how many answers back]

    What it perceived and felt, what came to mind, and what it was made of.
    """

    key = "@why"
    auto_help = True


class CmdMood(MindCommand):
    """
    what a character feels

    Usage:
      @mood <character>
    """

    key = "@mood"
    auto_help = True


class CmdRecall(MindCommand):
    """
    look for something in what a character remembers of you

    Usage:
      @recall <character> "what"

    All that can be asked:
      @recall --help
    """

    key = "@recall"
    auto_help = True


class CmdForget(MindCommand):
    """
    make a character forget what you told it, for good

    Usage:
      @forget <character> --id <number> [--yes]
      @forget <character> --user me [--yes]
    """

    key = "@forget"
    auto_help = True


class MindCmdSet(CmdSet):
    """All of them: `self.add(MindCmdSet)` in a game's own cmdset."""

    key = "Minds"

    def at_cmdset_creation(self) -> None:
        """See evennia.CmdSet."""
        for command in (CmdMemories, CmdWhy, CmdMood, CmdRecall, CmdForget):
            self.add(command())
