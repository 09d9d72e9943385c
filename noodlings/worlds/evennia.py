"""Characters with a mind for a game made with Evennia; the mind lives in `noodlings serve`, asked over HTTP.

This file stands alone: copy it into a game (`mygame/typeclasses/minds.py`), and do not install noodlings
there, whose package `commands` has the name of the game's own. docs/evennia.md says how.

The game never waits. Requests go through Twisted's own client, so no thread of the game is blocked, however
many characters wait for a slow model. While the server is away, its characters are silent, the staff is told
once (and once more when it is back), and the latest 64 percepts of each character wait. They are sent in
order and, because each has a key, are never perceived twice. The log names every percept that is dropped.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.conf import settings
from evennia import AccountDB, CmdSet, Command, DefaultCharacter
from evennia.utils import logger
from evennia.utils.ansi import strip_ansi
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, inlineCallbacks
from twisted.internet.defer import TimeoutError as AnswerTimeout
from twisted.internet.error import ConnectError, ConnectionClosed, DNSLookupError
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

DEFAULT_URL = "http://127.0.0.1:8765"
STAFF = "Admin"
"""Whoever has this permission is told of trouble, and uses NOODLINGS_ADMIN_TOKEN where it is set."""
MAX_WAITING = 64
"""Percepts of one character that may wait; beyond that the oldest are dropped."""
MAX_DEPTH = 3
"""Deeper replies to replies reach no mind, so that every talk between characters ends."""
LATE_SECONDS = 60.0
"""A percept that waited longer is remembered but not answered: nobody would understand the answer."""
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
_AWAY = (401, 502, 503, 504)
_BUSY = 429
_UNKNOWN, _FORBIDDEN = 404, 403
_UNREACHABLE = (
    AnswerTimeout,
    CancelledError,
    ConnectError,
    ConnectionClosed,
    DNSLookupError,
    PartialDownloadError,
    RequestNotSent,
    RequestTransmissionFailed,
    ResponseFailed,
)
_Base: Any = object

Waiting = Generator[Any, Any, Any]
"""What a function returns that waits by `yield`, see twisted.internet.defer.inlineCallbacks."""


class ServerUnavailable(Exception):
    """The server does not answer, or its answer makes no sense; the text says why."""


# Messages of the game to percepts, and answers to what a character says and does.


@dataclass(slots=True)
class Percept:
    """Something a character perceived, on its way to the server.

    Attributes:
        user_id, name: who did it.
        text: what was said or done, without the name.
        kind: say, emote, whisper, arrive or leave.
        addressed: it was meant for this character.
        present: ids of those who would hear an answer.
        depth: how many replies of other characters led to it.
        tier: how far it is kept from others; see docs/data.md.
        since: when it happened, by `time.monotonic`.
        key: the server takes a percept with this key once, however often it is sent.
        tried: it was sent before, and must not change any more.
    """

    user_id: str
    name: str
    text: str
    kind: str
    addressed: bool = False
    present: tuple[str, ...] = ()
    place: str = ""
    depth: int = 0
    tier: int = 0
    since: float = field(default_factory=time.monotonic)
    key: str = field(default_factory=lambda: uuid4().hex)
    tried: bool = False

    def late(self, now: float) -> bool:
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
            "tier": self.tier,
        }


def spoken_words(line: str, name: str) -> str:
    """The words in a line as a room shows it: `good morning` in `Wren says, "good morning"`.

    A game may word (and translate) that line as it likes; without quotes, everything after the name counts.
    """
    rest = line.strip().removeprefix(name)
    quoted = _QUOTED.search(rest)
    return (quoted[1] if quoted else rest).strip()


def described_action(line: str, name: str) -> str:
    """The action in a line as a room shows it: `waves` in `Wren waves`."""
    return line.strip().removeprefix(name).strip()


def named_in(text: str, names: tuple[str, ...]) -> bool:
    """Whether one of the names is in the text as a whole word, in any case."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I) for name in names if name)


def came_and_went(
    known: Mapping[str, str] | None, here: Mapping[str, str], mover: tuple[str, str] | None = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Who came and who went, each as id → name.

    Args:
        known: who was there at the last look; None if there was none.
        here: who is there now.
        mover: id and name of somebody who was seen to move. Without a last look, only this move is known.
    """
    if known is None:
        known = dict(here)
        if mover is not None and known.pop(mover[0], None) is None:
            known[mover[0]] = mover[1]
    came = {who: name for who, name in here.items() if who not in known}
    went = {who: name for who, name in known.items() if who not in here}
    return came, went


def split_response(response: str, name: str) -> list[tuple[str, str]]:
    """What a character says and does in a response, in order: ("say", words) and ("pose", action).

    Actions stand in asterisks. Asterisks within a sentence are emphasis, and only the asterisks go.
    """
    response = _BOLD.sub("", response)
    parts: list[tuple[str, str]] = []
    end = 0
    for starred in _STARRED.finditer(response):
        before, after = response[: starred.start()].rstrip(), response[starred.end() :].strip()
        if before and after and not before.endswith(tuple(_SENTENCE_ENDS)):
            continue
        parts += _speech(response[end : starred.start()])
        action = " ".join(starred[1].split())
        if action.lower().startswith(f"{name.lower()} "):
            action = action[len(name) :].strip()
        parts += [("pose", action)] if action else []
        end = starred.end()
    return parts + _speech(response[end:])


def _speech(words: str) -> list[tuple[str, str]]:
    words = " ".join(words.replace("*", "").split())
    return [("say", words)] if re.search(r"\w", words) else []


def escaped(text: str) -> str:
    """Text that Evennia shows unchanged: its colour codes begin with a bar."""
    return text.replace("|", "||")


def cause_of(error: Exception) -> str:
    """Why a request failed, in words; Twisted wraps the cause in another error."""
    reasons = getattr(error, "reasons", ())
    words = reasons[0].getErrorMessage() if reasons else str(error)
    return words.rstrip(".") or type(error).__name__


def problem_of(answer: Mapping[str, Any]) -> str:
    """The reason that a refusal gives, in words."""
    return str(answer.get("detail") or answer.get("title") or "it was refused").rstrip(".")


# The connection to the server.


@dataclass(slots=True)
class PerceptQueue:
    """The percepts of one character that wait to be sent, oldest first.

    Attributes:
        sending: one of them is being sent.
        unknown: the server has no such mind, and the staff was told.
    """

    character: Any
    percepts: deque[Percept] = field(default_factory=deque)
    sending: bool = False
    unknown: bool = False


class ServerClient:
    """The connection of a game to its noodlings server.

    Attributes:
        trouble: why the server cannot be reached; "" while it can.
    """

    def __init__(self, url: str, token: str, staff_token: str) -> None:
        self.trouble = ""
        self._url, self._token, self._staff_token = url.rstrip("/"), token, staff_token or token
        pool = HTTPConnectionPool(reactor)
        pool._factory.noisy = False  # or the game's log names every connection and every retry
        self._agent = Agent(reactor, connectTimeout=CONNECT_SECONDS, pool=pool)
        self._queues: dict[int, PerceptQueue] = {}
        self._since = 0.0
        self._dropped = 0
        self._forbade = False

    def send(self, character: Any, percept: Percept) -> None:
        """Queue a percept; the character says what comes back. Returns at once."""
        queue = self._queues.setdefault(character.id, PerceptQueue(character))
        queue.percepts.append(percept)
        if len(queue.percepts) > MAX_WAITING:
            oldest = queue.percepts.popleft()
            self._dropped += 1
            logger.log_warn(f"noodlings: {character.key} did not perceive the {oldest.kind} of {oldest.name}")
        self._resume(queue)

    def waiting(self, character: Any) -> int:
        """How many percepts of a character have no answer yet."""
        queue = self._queues.get(character.id)
        return len(queue.percepts) + queue.sending if queue else 0

    @inlineCallbacks
    def command(self, caller: Any, line: str, width: int) -> Waiting:
        """Run a whole command line with the rights of `caller`. Its answer or refusal, as text."""
        if not self._token and not is_staff(caller):
            # Without tokens the server takes every caller for its admin, who may read everything.
            return "Only staff may use this, because the game's settings have no NOODLINGS_TOKEN."
        body = {
            "user_id": being_id(caller),
            "name": caller.key[:_MAX_NAME],
            "line": line,
            "width": min(max(width, _WIDTHS[0]), _WIDTHS[1]),
            "rooms": False,  # the game has its own
        }
        try:
            status, answer = yield self._request("POST", "/api/commands", body, staff=is_staff(caller))
        except ServerUnavailable as error:
            return f"The noodlings server cannot be reached: {error}."
        return str(answer.get("text", "")) if status < 300 else f"The server refused: {problem_of(answer)}."

    def _resume(self, queue: PerceptQueue) -> None:
        if not queue.sending and not self.trouble:
            queue.sending = True
            self._send_all(queue).addErrback(lambda failure: logger.log_err(failure.getTraceback()))

    @inlineCallbacks
    def _send_all(self, queue: PerceptQueue) -> Waiting:
        """Send what waits, one by one: a character perceives things in the order they happened."""
        path = f"/api/agents/{quote(queue.character.mind, safe='')}/perceive"
        try:
            while queue.percepts and not self.trouble:
                percept = queue.percepts.popleft()
                late = percept.late(time.monotonic())
                percept.addressed = percept.addressed and (percept.tried or not late)
                percept.tried = True
                try:
                    status, answer = yield self._request("POST", path, percept.body(), key=percept.key)
                except ServerUnavailable as error:
                    queue.percepts.appendleft(percept)
                    self._server_lost(str(error))
                    return
                if status == _BUSY:
                    queue.percepts.appendleft(percept)
                    yield deferLater(reactor, BUSY_SECONDS)
                elif status >= 300:
                    self._refused(queue, percept, status, answer)
                else:
                    self._answered(queue, percept, answer, late)
        finally:
            queue.sending = False

    def _answered(self, queue: PerceptQueue, percept: Percept, answer: Mapping[str, Any], late: bool) -> None:
        queue.unknown = False
        turn = answer.get("turn") or {}
        response = turn.get("response")
        if not response or late:
            return
        try:
            queue.character.utter(response, percept, (turn.get("percept") or {}).get("tier", 0))
        except Exception:  # noqa: BLE001 -- it runs hooks of the game; the next percept must be sent all the same
            logger.log_trace(f"noodlings: {queue.character.key} could not say its answer")

    def _refused(self, queue: PerceptQueue, percept: Percept, status: int, answer: Mapping[str, Any]) -> None:
        name, why = queue.character.key, problem_of(answer)
        logger.log_warn(f"noodlings: {name} did not perceive a {percept.kind}: {status}, {why}")
        if status == _UNKNOWN and not queue.unknown:
            queue.unknown = True
            tell_staff(f"{name} has no mind at {self._url}: {why}")
        if status == _FORBIDDEN and not self._forbade:  # by the name of a player, or by a token's role
            self._forbade = True
            tell_staff(f"{self._url} refuses something that {name} perceives: {why}")

    def _server_lost(self, why: str) -> None:
        if self.trouble:
            return
        self.trouble, self._since, self._dropped = why, time.monotonic(), 0
        tell_staff(f"{self._url} cannot be reached ({why}). Its characters are silent until it is back.")
        reactor.callLater(RETRY_SECONDS, self._check_again)

    @inlineCallbacks
    def _check_again(self) -> Waiting:
        try:
            yield self._request("GET", "/api/agents")
        except ServerUnavailable as error:
            self.trouble = str(error)
            reactor.callLater(RETRY_SECONDS, self._check_again)
            return
        self.trouble = ""
        waiting = sum(len(queue.percepts) for queue in self._queues.values())
        away = time.monotonic() - self._since
        counts = f"{waiting} percepts waited and are sent now, {self._dropped} were dropped"
        tell_staff(f"{self._url} is back after {away:.0f} s: {counts}.")
        for queue in self._queues.values():
            self._resume(queue)

    @inlineCallbacks
    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str = "",
        staff: bool = False,
    ) -> Waiting:
        """Status and JSON of an answer. Raises `ServerUnavailable`, also for a status in `_AWAY`."""
        headers = {"Content-Type": ["application/json"], "Idempotency-Key": [key] if key else []}
        token = self._staff_token if staff else self._token
        headers["Authorization"] = [f"Bearer {token}"] if token else []
        sent = FileBodyProducer(BytesIO(json.dumps(body).encode())) if body is not None else None
        url = f"{self._url}{path}".encode()
        try:
            asked = self._agent.request(method.encode(), url, Headers(headers), sent)
            response = yield asked.addTimeout(ANSWER_SECONDS, reactor)
            raw = yield readBody(response).addTimeout(ANSWER_SECONDS, reactor)
            answer = json.loads(raw)
        except _UNREACHABLE as error:
            raise ServerUnavailable(cause_of(error)) from error
        except ValueError as error:
            raise ServerUnavailable("its answer is not JSON") from error
        if not isinstance(answer, dict):
            raise ServerUnavailable("its answer is not that of a noodlings server")
        if response.code in _AWAY:
            raise ServerUnavailable(problem_of(answer))
        return response.code, answer


@cache
def client() -> ServerClient:
    """The connection to the server that the game's settings name."""
    names = ("NOODLINGS_URL", "NOODLINGS_TOKEN", "NOODLINGS_ADMIN_TOKEN")
    url, token, staff_token = (getattr(settings, name, "") for name in names)
    return ServerClient(url or DEFAULT_URL, token, staff_token)


def tell_staff(what: str) -> None:
    """Tell all connected staff, and the log."""
    logger.log_warn(f"noodlings: {what}")
    for account in AccountDB.objects.get_connected_accounts():
        if is_staff(account):
            account.msg(f"|wnoodlings:|n {escaped(what)}")


def is_staff(somebody: Any) -> bool:
    """Whether an account, or whoever plays a character, runs the game (and is not quelled)."""
    return bool(somebody.check_permstring(STAFF))


_NO_MINDS = ("user_", "api_", "past:")
"""How ids begin that are no mind's."""


def being_id(being: Any) -> str:
    """The id by which minds know somebody: a mind's own, or for a player one that nobody else can have.

    A builder can name a mind as they like, but not become a player by it.
    """
    mind = being.mind if isinstance(being, Mind) else ""
    return f"user_evennia_{being.id}" if not mind or mind.startswith(_NO_MINDS) else mind


# What a game uses.


class Mind(_Base):
    """Gives a mind to any character typeclass: `class Keeper(Mind, Character)`.

    The mind is the one at the server whose id is the attribute `mind`, or else the character's name in small
    letters. While somebody plays the character itself, its mind rests.
    """

    @property
    def mind(self: Any) -> str:
        return str(self.attributes.get("mind") or self.key.lower().replace(" ", "_"))

    def at_msg_receive(self: Any, text: Any = None, from_obj: Any = None, **kwargs: Any) -> Any:
        """Evennia calls this for everything that is shown in a room; see evennia.DefaultObject."""
        if isinstance(from_obj, DefaultCharacter | Mind) and from_obj is not self and not self.has_account:
            self.notice(text, from_obj)
        return super().at_msg_receive(text=text, from_obj=from_obj, **kwargs)

    def at_post_move(self: Any, source_location: Any, **kwargs: Any) -> None:
        """Look around anew in another room: those who are there did not just arrive."""
        self.ndb.mind_sees = None
        super().at_post_move(source_location, **kwargs)

    def at_server_reload(self: Any) -> None:
        super().at_server_reload()
        self.log_lost_percepts()

    def at_server_shutdown(self: Any) -> None:
        super().at_server_shutdown()
        self.log_lost_percepts()

    def log_lost_percepts(self: Any) -> None:
        if waiting := client().waiting(self):
            logger.log_warn(f"noodlings: {self.key} loses {waiting} percepts that were not taken yet")

    def notice(self: Any, text: Any, actor: Any) -> None:
        """Take in a message that somebody caused: words, an action, or that somebody comes or goes."""
        line, options = text if isinstance(text, tuple) else (text, {})
        kind = _KINDS.get(options.get("type", ""))
        if kind is None:
            # The mover may still be where it was, and the text may be in any language: look after the move.
            reactor.callLater(0, self.look_around, (being_id(actor), actor.key))
            return
        self.look_around()
        depth, tier = (actor.ndb.mind_utters or (0, 0)) if isinstance(actor, Mind) else (0, 0)
        name = strip_ansi(actor.get_display_name(self))
        extract = described_action if kind == "emote" else spoken_words
        said = extract(strip_ansi(str(line)), name)
        if not said or depth > MAX_DEPTH:
            return
        others = [being_id(being) for being in self.others()]
        alone = others == [being_id(actor)]
        called = (self.key, *self.aliases.all())
        addressed = kind == "whisper" or alone or named_in(said, called)
        present = [being_id(actor)] if kind == "whisper" else others
        how = {"addressed": addressed, "depth": depth, "tier": tier}
        self.perceive(being_id(actor), actor.key, said, kind, present, **how)

    def look_around(self: Any, mover: tuple[str, str] | None = None) -> None:
        """Perceive who came and who went since the last look."""
        if self.location is None:
            return
        here = {being_id(being): being.key for being in self.others()}
        came, went = came_and_went(self.ndb.mind_sees, here, mover)
        self.ndb.mind_sees = here
        for changed, kind, text in ((came, "arrive", "arrives"), (went, "leave", "leaves")):
            for who, name in changed.items():
                self.perceive(who, name, text, kind, here)

    def perceive(
        self: Any, actor_id: str, name: str, text: str, kind: str, present: Iterable[str], **how: Any
    ) -> None:
        """Send a percept to the mind; `how` as in `Percept`."""
        place = self.location.key if self.location else ""
        percept = Percept(actor_id, name, text, kind, present=tuple(present), place=place, **how)
        client().send(self, percept)

    def others(self: Any) -> Iterator[Any]:
        room = self.location
        for being in room.contents if room else ():
            if being is not self and isinstance(being, DefaultCharacter | Mind):
                yield being

    def utter(self: Any, response: str, percept: Percept, tier: int = 0) -> None:
        """Say and do in its room what its mind answered; other minds there keep it at its tier.

        The answer to a whisper goes only to whoever whispered; so does one that is not open if somebody has
        come in since.
        """
        if self.location is None or self.has_account:
            return
        here = {being_id(being): being for being in self.others()}
        newcomers = here.keys() - {percept.user_id, *percept.present}
        confided = percept.kind == "whisper" or (tier > 0 and bool(newcomers))
        listener = here.get(percept.user_id)
        if confided and listener is None:
            logger.log_info(f"noodlings: {self.key} had an answer for {percept.name}, who is gone")
            return
        self.ndb.mind_utters = (percept.depth + 1, tier)
        try:
            for act, words in split_response(response, self.key):
                self.do(act, escaped(words), listener if confided else None)
        finally:
            self.ndb.mind_utters = None

    def do(self: Any, act: str, words: str, alone: Any = None) -> None:
        """Say or do one part of an answer, before the room or before one listener alone."""
        if act == "say":
            whisper = {"receivers": [alone], "whisper": True} if alone else {}
            self.at_say(words, **whisper)
        elif alone:
            alone.msg((f"{self.get_display_name(alone)} {words}", {"type": "whisper"}), from_obj=self)
        else:
            # As a mapping, so that no brace or $function in the words is taken for the game's own.
            mapping = {"actor": self, "action": words}
            line = ("{actor} {action}", {"type": "pose"})
            self.location.msg_contents(line, from_obj=self, mapping=mapping)


class MindedCharacter(Mind, DefaultCharacter):
    """A character with a mind: `create/drop servnak:typeclasses.minds.MindedCharacter`."""


class MindCommand(Command):
    """A command that the server answers: it gets the whole line, who typed it, and their rights."""

    locks = "cmd:all()"
    help_category = "Minds"
    arg_regex = r"\s|$"

    def func(self) -> None:
        """Ask, and show the answer when it comes."""
        line = f"{self.key}{self.args}".strip()
        asked = client().command(self.caller, line, self.client_width())
        asked.addCallback(lambda text: self.msg(escaped(text)))
        asked.addErrback(lambda failure: logger.log_err(failure.getTraceback()))


class CmdMemories(MindCommand):
    """
    look inside a character's memory

    Usage:
      @memories <character>
      @memories <character> --user me
      @memories <character> --working | --episodic | --important | --flow

    You see what you yourself shared with it. To see all options:
      @memories --help
    """

    key = "@memories"


class CmdWhy(MindCommand):
    """
    why a character said what it said

    Usage:
      @why <character> [how many answers back]

    Shows what it perceived and felt, what came to mind, and what the answer was made of.
    """

    key = "@why"


class CmdMood(MindCommand):
    """
    what a character feels

    Usage:
      @mood <character>
    """

    key = "@mood"


class CmdRecall(MindCommand):
    """
    look for something in what a character remembers of you

    Usage:
      @recall <character> "what"

    To see all options:
      @recall --help
    """

    key = "@recall"


class CmdForget(MindCommand):
    """
    make a character forget what you told it, for good

    Usage:
      @forget <character> --id <number> [--yes]
      @forget <character> --user me [--yes]
    """

    key = "@forget"


class MindCmdSet(CmdSet):
    """All of these commands: `self.add(MindCmdSet)` in a game's own cmdset."""

    key = "Minds"

    def at_cmdset_creation(self) -> None:
        for command in (CmdMemories, CmdWhy, CmdMood, CmdRecall, CmdForget):
            self.add(command())
