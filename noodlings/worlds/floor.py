"""Turn-taking: whom a line was said to, and which of its hearers answers.

There is one decision for the room. A line that was said to somebody is answered by nobody else. A line to
nobody in particular gets at most one answer, and exactly one if a person asks. Nobody waits for a hearer that
fails, is gone, or does not decide in time.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from noodlings.values.floor import Decision
from noodlings.values.percept import Kind
from noodlings.voice.question import QuestionKind, read_question
from noodlings.voice.words import tokens
from noodlings.worlds.beings import Being, RoomLine

TALK = 120.0
"""World seconds for which two are in talk after one spoke to the other."""
PATIENCE = 2.0
"""Real seconds after the first bid to wait for the others; a bid takes a few milliseconds."""

_GREETING = (
    r"(?:(?:hi|hello|hey)(?: there)?|greetings|welcome|goodbye|bye"
    r"|good (?:day|morning|afternoon|evening|night))"
)
_LEADS = rf"(?:{_GREETING}|oh|dear|listen|thanks|thank you)"
_GREETED = re.compile(rf"\W*(?:{_GREETING}\W+)*{_GREETING}\W*", re.I)
_EVERYBODY = r"(?:every(?:body|one)|all|folks|friends|(?:all|both) of you|you (?:all|two|both)|y['’]all)"
_ANYBODY = re.compile(
    r"\b(?:all|any|both|each|one|some|which) of you\b|\b(?:you all|y['’]all)\b"
    r"|(?:^|[,;.!?])\s*(?:(?:so|and|but|please) )?(?:(?:do|does|did|has|have|is|was|can|could|will|would)"
    r"(?:n['’]t)? )?(?:any|some|every)(?:body|one)\b[^.!?]{0,200}\?",
    re.I,
)


@lru_cache(maxsize=256)
def _calls(who: str) -> re.Pattern[str]:
    """How a line addresses somebody: "hi Bob", "Bob, look", "look, Bob", "how are you Bob?" """
    return re.compile(
        rf"^\W*(?:{_LEADS}\W+)+{who}(?!\w)|(?:^|[.!?…]\s)\W{{0,5}}{who}\s*(?:$|[,:;!?.…—])|@{who}(?!\w)"
        rf"|(?:[,;.!?…—]\s*|\b(?:you|up|going|doing|think|here|there|now|today|too|please|later|then|me)\s+)"
        rf"@?{who}\W*$",
        re.I,
    )


def to_everybody(text: str) -> bool:
    """Whether words are for all who hear them, even if the speaker was in talk with somebody."""
    return _calls(_EVERYBODY).search(text) is not None or _ANYBODY.search(text) is not None


def wants_answer(text: str) -> bool:
    """Whether words to nobody in particular want an answer: a question, or a greeting."""
    asks = "?" in text or read_question(text, tokens(text)) is not QuestionKind.NONE
    return asks or to_everybody(text) or _GREETED.fullmatch(text) is not None


def _addressed(line: RoomLine, others: Sequence[Being]) -> list[Being]:
    """Those to whom a line was said, by the line alone."""
    if line.kind is Kind.WHISPER:
        return [other for other in others if other.id == line.target]
    told = others if line.kind in (Kind.SAY, Kind.EMOTE) else ()
    return [other for other in told if len(others) == 1 or _called(other, line)]


def _called(being: Being, line: RoomLine) -> bool:
    """Whether a line addresses somebody by name.

    A character need only be named. A player's name may be any word, so it must be used as an address.
    """
    if being.persona is not None or line.kind is Kind.EMOTE:
        return being.named_in(line.text)
    names = "|".join(re.escape(name) for name in being.names)
    return _calls(rf"(?:{names})").search(line.text) is not None


def take_turns(
    bids: Mapping[str, Decision], names: Mapping[str, str], now: float, asked: bool
) -> dict[str, Decision]:
    """What each hearer of a line does, given the bids: what each would do alone. Their order is irrelevant.

    Of those who would speak, the one with most to say does, but whoever spoke last comes after the others.

    Args:
        bids, names: by agent id.
        now: world time.
        asked: one of them must answer, if there is one that may.
    """
    free = {who: bid for who, bid in bids.items() if bid.eagerness is not None}
    willing = [who for who in free if bids[who].speak] or (list(free) if asked else [])
    decisions = dict(bids)
    if not willing:
        return decisions
    spoke = {who: -math.inf if bid.last_spoke is None else bid.last_spoke for who, bid in free.items()}
    latest = max(spoke.values())
    lately = 0.0 <= now - latest < TALK

    def standing(who: str) -> tuple[bool, float, float, float, str]:
        eagerness = round(free[who].eagerness or 0.0, 1)
        return lately and spoke[who] == latest, -eagerness, spoke[who], free[who].lot, who

    first, *others = sorted(willing, key=standing)
    if not bids[first].speak:
        decisions[first] = Decision(True, "nobody else would answer")
    for other in others if bids[first].speak else ():
        why = " this time"
        if standing(other)[0] != standing(first)[0]:
            why = " (having spoken last)"
        elif standing(other)[1] != standing(first)[1]:
            why = " (who had more to say)"
        decisions[other] = Decision(False, f"left it to {names[first]}{why}")
    return decisions


class RoomFloor:
    """The `Floor` of one line. Use within a running event loop.

    Args:
        hearers: agent id → name, of the characters who hear it.
        now, asked: see `take_turns`.
        speaker: name of whoever said it.
        to: those to whom it was said; empty for nobody in particular.
        in_talk: `to` follows from an earlier talk and not from the line.
        here: tells whether a hearer is still there.
    """

    def __init__(
        self,
        hearers: Mapping[str, str],
        now: float,
        asked: bool = False,
        speaker: str = "",
        to: Sequence[Being] = (),
        in_talk: bool = False,
        here: Callable[[str], bool] = lambda agent_id: True,
    ) -> None:
        names = " and ".join(being.name for being in to)
        self.to = frozenset(being.id for being in to)
        self.to_you = f"in talk with {speaker}" if in_talk else "addressed"
        others = f"{speaker} is in talk with {names}" if in_talk else f"it was said to {names}"
        self.to_others = others if to else ""
        self._hearers, self._now, self._asked, self._here = hearers, now, asked, here
        self._awaited = set(hearers)
        self._bids: dict[str, Decision] = {}
        self._decisions: dict[str, Decision] = {}
        self._decided = asyncio.Event()
        self._patience: asyncio.TimerHandle | None = None

    def bid(self, agent_id: str, decision: Decision) -> None:
        """Take what a hearer would do. After the decision only a hearer that was addressed may still bid."""
        if agent_id in self._awaited or decision.eagerness is None:
            self._bids[agent_id] = decision
            if self._patience is None:
                self._patience = asyncio.get_running_loop().call_later(PATIENCE, self.decide)
            self.drop(agent_id)

    def drop(self, agent_id: str) -> None:
        """Do not wait for a hearer any more."""
        self._awaited.discard(agent_id)
        if not self._awaited:
            self.decide()

    def decide(self) -> None:
        """Decide, once, by the bids so far."""
        if not self._decided.is_set():
            self._awaited.clear()
            bids = {who: bid for who, bid in self._bids.items() if self._here(who)}
            self._decisions = take_turns(bids, self._hearers, self._now, self._asked)
            self._decided.set()
            if self._patience is not None:
                self._patience.cancel()

    async def decision(self, agent_id: str) -> Decision:
        """What a hearer does. One that bid too late, or is gone, is silent."""
        own = self._bids.get(agent_id)
        if own is not None and (own.eagerness is None or not (own.speak or self._asked)):
            return own
        await self._decided.wait()
        return self._decisions.get(agent_id, Decision(False, "the others went ahead"))


class Talks:
    """Who is in talk with whom: with the last who spoke to them, or the only one they addressed."""

    def __init__(self) -> None:
        self._with: dict[str, tuple[str, str, float]] = {}

    def floor(
        self, line: RoomLine, others: Sequence[Being], place: str, now: float, depth: int, answers: str,
        here: Callable[[str], bool],
    ) -> RoomFloor:  # fmt: skip
        """The floor of a line.

        Args:
            others: who is there beside the speaker.
            place: a room's id.
            depth: see `Percept`; 0 for what a person says.
            answers: id of the one whom the line answers, or "".
            here: tells whether a hearer is still there.
        """
        to, in_talk = _addressed(line, others), False
        if len(to) == 1:
            self._with[line.actor] = (to[0].id, place, now)
        elif not to and depth == 0 and line.kind in (Kind.SAY, Kind.EMOTE) and not to_everybody(line.text):
            partner, where, when = self._with.get(line.actor, ("", "", 0.0))
            in_talk = where == place and 0.0 <= now - when < TALK
            to = [other for other in others if in_talk and other.id == partner]
        for other in (answers,) if answers else (being.id for being in to):
            self._with[other] = (line.actor, place, now)
        hearers = {other.id: other.name for other in others if other.persona is not None}
        asks = depth == 0 and line.kind is Kind.SAY and wants_answer(line.text)
        return RoomFloor(hearers, now, asks, line.name, to, in_talk, here)
