"""The world: rooms, who is where, and what happens there.

Everything that happens is perceived by the characters in the room and shown to the players in it. Acting
returns at once: characters answer later, through queues of their own (`minds`), so that a slow mind never
holds up the world or another mind.

Who moves is where they were until that is saved: where saving fails, nobody has seen anything.

The last lines of each room are held in memory, and shown again to anybody who comes back. Whispers, lines
between two who were alone, and what is private are shown again only to those who witnessed them.
"""

from __future__ import annotations

import logging
import random
import unicodedata
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from noodlings.errors import NotFound, StoreError, UserError
from noodlings.ports import Clock
from noodlings.text import MAX_LINE, clean, shorten
from noodlings.values.audience import Audience, Tier, may_learn
from noodlings.values.percept import Kind, Percept, in_confidence
from noodlings.values.persona import Persona
from noodlings.values.trace import Trace
from noodlings.worlds.beings import (
    Being,
    Outlet,
    RoomLine,
    RoomScene,
    find_being,
    heard,
    require_free,
    require_name,
    split_gestures,
    spoken,
)
from noodlings.worlds.floor import Talks
from noodlings.worlds.minds import Minds, Perceive
from noodlings.worlds.places import Places, Room, came_from

SCROLLBACK = 20
"""Lines of one room that are shown again."""


class Scrollback:
    """The latest things said and done in each room."""

    def __init__(self) -> None:
        self._rooms: dict[str, deque[tuple[RoomLine, Audience]]] = {}

    def note(self, room: Room, line: RoomLine, audience: Audience) -> None:
        """Keep a line that this audience saw in a room; who came and went is not kept."""
        if line.kind in (Kind.SAY, Kind.EMOTE, Kind.WHISPER):
            self._rooms.setdefault(room.name, deque(maxlen=SCROLLBACK)).append((line, audience))

    def of(self, room: Room, viewer: str) -> list[RoomLine]:
        """The lines of a room that a viewer may see again, oldest first."""
        lines = self._rooms.get(room.name, ())
        return [line for line, audience in lines if may_learn(frozenset({viewer}), audience)]

    def clear(self) -> None:
        self._rooms.clear()


log = logging.getLogger(__name__)

MAX_DEPTH = 3
"""Deeper replies to replies reach no mind, so that every talk between characters ends."""
MAX_NAME = 30

Idle = Callable[[str, float], Awaitable[str | None]]
"""Agent id, world time → what it does of its own accord: a line in quotation marks is spoken."""


class World:
    """Rooms with characters and players in them. Use within a running event loop.

    Args:
        personas: the characters; each starts where it was, else at its home.
        seed: decides which character acts next of its own accord.
        state: what `changed` was last called with, in an earlier process.
        changed: called with the whole state (JSON-compatible) before anybody moves; a `StoreError` leaves
            everybody where they are.
        shown: called with each line that is seen in a room, and with those who may learn of it.
        by_sentence: players see answers sentence by sentence, through `speaking`.
        admit: raises `UserError` for the id of a player who may not come in now.
        private: whether words of a kind may be learned by nobody who comes later.
        known: whether a name is that of a person, here or not.
    """

    def __init__(
        self,
        places: Places,
        personas: Iterable[Persona],
        perceive: Perceive,
        idle: Idle,
        clock: Clock,
        *,
        seed: int = 0,
        state: dict[str, Any] | None = None,
        changed: Callable[[dict[str, Any]], None] = lambda state: None,
        shown: Callable[[Room, RoomLine, Audience], None] = lambda room, line, audience: None,
        by_sentence: bool = False,
        admit: Callable[[str], None] = lambda user_id: None,
        private: Callable[[Kind, str], bool] = in_confidence,
        known: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self.places = places
        self._clock = clock
        self._idle_act = idle
        self._changed = changed
        self._shown = shown
        self._by_sentence = by_sentence
        self._admit = admit
        self._private = private
        self._known = known
        self._random = random.Random(seed)  # noqa: S311 -- whose turn it is, not a secret
        self._turns: list[str] = []
        self._notice = ""
        self._minds = Minds(perceive, self.answered)
        self._talks = Talks()
        self._beings: dict[str, Being] = {}
        self._together: defaultdict[str, list[Being]] = defaultdict(list)  # by room; empty when one moved
        self._rooms: dict[str, str] = {}
        self._resting: set[str] = set()
        self.resume(state or {}, personas)

    def resume(self, state: dict[str, Any], personas: Iterable[Persona]) -> None:
        """Put characters where they were when a state was saved; nobody else is there."""
        rooms, self._beings = state.get("rooms", {}), {}
        self._together.clear()
        self._rooms = {who: room for who, room in rooms.items() if room in self.places.rooms}
        self._resting = set(state.get("resting", ()))
        for persona in personas:
            if persona.id not in self._resting:
                self.settle_in(persona)

    def settle_in(self, persona: Persona) -> None:
        """Let a character live here, where it was last, else at its home."""
        self._beings[persona.id] = Being(persona.id, persona.name, persona)
        self._rooms.setdefault(persona.id, self._home(persona))
        self._together.clear()

    def wake(self, persona: Persona) -> Room:
        """Let a character come in, seen by everybody there. Raises `UserError` when it is there already."""
        self.require_free(persona)
        self.settle_in(persona)  # its home is left out of what is saved only while it is here
        try:
            self._save(resting=self._resting - {persona.id})
        except StoreError:
            self._remove(persona.id)
            raise
        self._resting.discard(persona.id)
        self._arrive(persona.id, "comes to life")
        return self.room_of(persona.id)

    def require_free(self, persona: Persona) -> None:
        """Raise `UserError` if somebody here is called like a character."""
        names = (persona.id, persona.name, *persona.aliases)
        require_free(self._beings.values(), persona.id, names, character=True)

    def rest(self, agent_id: str) -> None:
        """Take a character out of the rooms until it wakes; its memory stays. Raises `NotFound`."""
        being = self.being(agent_id)
        self._save(resting=self._resting | {agent_id})
        self._act(being, Kind.LEAVE, "falls silent and fades away")
        self._remove(agent_id)
        self._resting.add(agent_id)

    def enter(
        self, user_id: str, name: str, outlet: Outlet, give_way: Callable[[], None] | None = None
    ) -> None:
        """Let a player come in, where they were last.

        Raises `UserError` when the name will not do or they are being forgotten, `StoreError` when it cannot
        be kept.

        Players with `give_way` came in without a password of their own; they leave for one of the same name
        or id who has one.
        """
        self._admit(user_id)
        name = unicodedata.normalize("NFKC", clean(name))
        if not name or len(name) > MAX_NAME:
            raise UserError(f"a player's name has 1 to {MAX_NAME} characters")
        if give_way is not None:  # an account's name was checked when it was made
            require_name(name)
        for being in [*self._beings.values()] if give_way is None else ():
            if being.give_way is not None and being.would_be_taken_for(user_id, (name,)) is not None:
                being.give_way()
        require_free(self._beings.values(), user_id, (name,))
        room = self._rooms.get(user_id, self.places.start)
        self._save({user_id: room})
        self._beings[user_id] = Being(user_id, name, outlet=outlet, give_way=give_way)
        self._rooms[user_id] = room
        self._together.clear()
        self._arrive(user_id, "arrives")
        if self._notice:
            outlet(RoomLine(Kind.EVENT, self._notice))

    def leave(self, user_id: str) -> None:
        """Let a player go, if they are here."""
        being = self._beings.get(user_id)
        if being is not None:
            try:
                self._act(being, Kind.LEAVE, "leaves")
            finally:
                self._remove(user_id)

    def part_from(self, user_ids: Collection[str]) -> None:
        """Forget where players were; those who came in without a password of their own leave now.

        Raises:
            UserError: one of them is here with a password, or sits at the machine.
        """
        here = [being for being in self._beings.values() if being.id in user_ids]
        for being in here:
            if being.give_way is None:
                raise UserError(f"{being.name} is in the rooms now; try again when they have left")
        for being in here:
            if being.give_way is not None:
                being.give_way()
        for user_id in user_ids:
            self._rooms.pop(user_id, None)
        self._save()

    def being(self, being_id: str) -> Being:
        """Somebody in the world. Raises `NotFound`."""
        if being_id not in self._beings:
            raise NotFound(f"{shorten(being_id, 30)} is not in this world")
        return self._beings[being_id]

    def who(self) -> list[tuple[Being, Room]]:
        """Everybody and where they are: characters first."""
        return [(being, self.room_of(being.id)) for being in self._beings.values()]

    def has(self, being_id: str) -> bool:
        """Whether somebody is here now."""
        return being_id in self._beings

    def has_been(self, being_id: str) -> bool:
        """Whether somebody was ever here."""
        return being_id in self._rooms

    def room_of(self, being_id: str) -> Room:
        return self.places.rooms[self._rooms[self.being(being_id).id]]

    def scene(self, being_id: str) -> RoomScene:
        room = self.room_of(being_id)
        exits = {direction: self.places.rooms[target].name for direction, target in room.exits.items()}
        return RoomScene(room, exits, tuple(self._others(being_id)))

    def find_here(self, being_id: str, wanted: str) -> Being:
        """Somebody in the same room by name. Raises `NotFound`, which says who is near, or where they are."""
        others = self._others(being_id)
        try:
            return find_being(wanted, others)
        except NotFound:
            for being, room in self.who():
                if wanted.casefold() in being.names and being.id != being_id:
                    raise NotFound(f"{being.name} is not here, but in {room.inline}.") from None
            raise

    def say(self, being_id: str, text: str, depth: int = 0) -> RoomLine:
        return self._act(self.being(being_id), Kind.SAY, heard(text), depth)

    def emote(self, being_id: str, text: str, depth: int = 0) -> RoomLine:
        """Do something that everybody in the room sees: "waves"."""
        return self._act(self.being(being_id), Kind.EMOTE, heard(text), depth)

    def whisper(self, being_id: str, to: str, text: str, tier: Tier = Tier.CONFINED) -> RoomLine:
        """Say something to one in the room; the others only see that it happened."""
        being, target = self.being(being_id), self.find_here(being_id, to)
        called = clean(to)
        if called.casefold() not in target.names and (target.persona is None or self._known(called)):
            # The one who was meant may have left, and somebody with a longer name may be here.
            wanted = shorten(called, 30)
            raise NotFound(f"Nobody here is called {wanted}; did you mean {target.name}? Say the whole name.")
        line = RoomLine(
            Kind.WHISPER, heard(text), being_id, being.name, "", target.id, target.name, tier=tier
        )
        return self._happen(being, line)

    def go(self, being_id: str, way: str) -> Room:
        """Walk through an exit, named by its direction or by where it leads. Raises `UserError`."""
        being, room = self.being(being_id), self.room_of(being_id)
        direction, target = self.places.exit(room, way)
        self._save({being_id: target})
        self._act(being, Kind.LEAVE, f"leaves to the {direction}")
        self._rooms[being_id] = target
        self._together.clear()
        self._act(being, Kind.ARRIVE, f"arrives from {came_from(direction)}")
        return self.places.rooms[target]

    def leads_out(self, being_id: str, way: str) -> bool:
        """Whether `way` names an exit, as in `go`."""
        try:
            return bool(self.places.exit(self.room_of(being_id), way))
        except UserError:
            return False

    async def live(self, now: float) -> str | None:
        """Let one character that shares a room with a player do something of its own accord.

        Everybody gets a turn before anybody gets a second one. Returns whose turn it was, or None.
        """
        turn = self._next_turn()
        if turn is None:
            self._turns = [being.id for being in self._beings.values() if being.persona]
            self._random.shuffle(self._turns)
            turn = self._next_turn()
        if turn is not None:
            self._turns.remove(turn)
            await self._live(turn, now)
        return turn

    def answered(self, agent_id: str, percept: Percept, trace: Trace | None) -> None:
        """Let a character say in its room what came of a percept; the trace is None if its mind failed."""
        being = self._beings.get(agent_id)
        if being is None:
            log.info("%s had an answer for %s, and is at rest", agent_id, percept.user_id)
            return
        if trace is None:
            text = f"{being.name} loses the thread for a moment; the log says why."
            self._show(agent_id, RoomLine(Kind.EVENT, text))
            return
        line = self._answer_line(being, percept, trace, trace.response or "")
        if line is not None:
            self._happen(being, line, percept.depth + 1, trace, answers=percept.user_id)

    def speaking(self, agent_id: str, percept: Percept, trace: Trace, said: str) -> None:
        """Show the players around a part of an answer, in a world that shows answers by sentence.

        No mind perceives it: characters hear the whole answer when it is `answered`. An answer to something
        that was not perceived in a room of this world is not shown.
        """
        being = self._beings.get(agent_id)
        if being is None or percept.floor is None or not self._by_sentence:
            return
        line = self._answer_line(being, percept, trace, said)
        if line is not None:
            self._show(agent_id, line, self._confined(agent_id, trace))

    def _answer_line(self, being: Being, percept: Percept, trace: Trace, said: str) -> RoomLine | None:
        """An answer, or a part of it, as it is seen; None if it is empty, or for somebody who is gone."""
        words, manner = split_gestures(shorten(clean(said), MAX_LINE), being.name)
        if not words and not manner:
            return None
        here = frozenset(other.id for other in self._others(being.id))
        overheard = bool(here) and not may_learn(here, trace.audience)
        if not words and not overheard:
            return RoomLine(Kind.EMOTE, heard(manner), being.id, being.name)
        if percept.kind is not Kind.WHISPER and not overheard:
            return RoomLine(Kind.SAY, words, being.id, being.name, manner)
        # Said aloud, the answer would tell the whole room, or those who came in meanwhile.
        acted = not words
        words, manner = (manner, "") if acted else (words, manner)
        target = self._beings.get(percept.user_id)
        if target is None or target not in self._others(being.id):
            log.info("%s had an answer for %s, who is gone", being.id, percept.user_id)
            return None
        whispered = being.id, being.name, manner, target.id, target.name, acted, trace.audience.tier
        return RoomLine(Kind.WHISPER, words, *whispered)

    def thinking(self, agent_id: str) -> None:
        """Show the players around that a character takes long to answer; no mind perceives it."""
        being = self._beings.get(agent_id)
        if being is not None:
            self._show(agent_id, RoomLine(Kind.EVENT, f"{being.name} is thinking…"))

    def announce(self, text: str, lasting: bool = False) -> None:
        """Tell all players something about the whole world; no mind perceives it.

        A lasting announcement is also told to everybody who comes in, until the next one.
        """
        self._notice = text if lasting else ""
        for being in self._beings.values():
            if being.outlet is not None:
                being.outlet(RoomLine(Kind.EVENT, text))

    async def settle(self) -> None:
        """Wait until every mind has finished with what happened, and with what followed from it."""
        await self._minds.settle()

    async def close(self) -> None:
        """End all minds. `settle` first to let them finish."""
        await self._minds.close()

    async def _live(self, being_id: str, now: float) -> None:
        act = clean(await self._idle_act(being_id, now) or "")
        words = spoken(act)
        # Depth 1: nobody asked for it, so an answer to it begins no long talk.
        if words:
            self.say(being_id, words, depth=1)
        elif act:
            self.emote(being_id, act, depth=1)

    def _arrive(self, being_id: str, how: str) -> None:
        """Let others see somebody come in; where that fails, they are not here, and may try again."""
        try:
            self._act(self._beings[being_id], Kind.ARRIVE, how)
        except BaseException:
            self._remove(being_id)
            raise

    def _act(self, being: Being, kind: Kind, text: str, depth: int = 0) -> RoomLine:
        return self._happen(being, RoomLine(kind, text, being.id, being.name), depth)

    def _happen(
        self, being: Being, line: RoomLine, depth: int = 0, trace: Trace | None = None, answers: str = ""
    ) -> RoomLine:
        """Show the line to the players in the room and hand it to the minds there, except the actor's.

        What is confined in the turn that led to it stays confined in the minds of those who hear it. Whoever
        it `answers` is in talk with the actor from now on.
        """
        others, present = self._others(being.id), self._all_with(being.id)
        audience = self._confined(being.id, trace)
        if trace is None or not self._by_sentence:
            self._show(being.id, line, audience)
        now, place = self._clock.now(), self._rooms[being.id]

        def here(being_id: str) -> bool:
            return being_id in self._beings and self._rooms[being_id] == place

        floor = self._talks.floor(line, others, place, now, depth, answers, here)
        if depth > MAX_DEPTH:
            return line
        things = tuple(thing.name for thing in self.room_of(being.id).things)
        whispered = line.kind is Kind.WHISPER
        for hearer in others:
            if hearer.persona is None:
                continue
            if whispered and hearer.id != line.target:
                floor.drop(hearer.id)
                continue
            percept = Percept(
                user_id=being.id,
                text=line.text,
                timestamp=now,
                kind=line.kind,
                addressed=hearer.id in floor.to,
                audience=None if whispered else audience,
                present=frozenset({being.id}) if whispered else present - {hearer.id},
                depth=depth,
                place=place,
                things=things,
                data={"manner": line.manner} if line.manner else {},
                floor=floor,
                tier=line.tier,
            )
            kept = self._minds.hand(hearer.id, percept)
            if not kept and percept.addressed and being.outlet is not None:
                lost = f"{hearer.name} has too much to hear, and kept nothing of that; say it again soon."
                being.outlet(RoomLine(Kind.EVENT, lost))
        return line

    def _show(self, being_id: str, line: RoomLine, audience: Audience | None = None) -> None:
        others = self._others(being_id)
        if line.kind is Kind.WHISPER:
            audience = Audience(frozenset({line.actor, line.target}), True, line.tier)
        elif audience is None:  # what is said to one other alone is between the two
            alone = line.kind in (Kind.SAY, Kind.EMOTE) and len(others) < 2
            audience = Audience(self._all_with(being_id), alone or self._private(line.kind, line.text))
        self._shown(self.room_of(being_id), line, audience)
        overheard = replace(line, text="", manner="")
        for other in others:
            if other.outlet is not None:
                secret = line.kind is Kind.WHISPER and other.id != line.target
                other.outlet(overheard if secret else line)

    def _others(self, being_id: str) -> list[Being]:
        if not self._together:  # there may be thousands, too many to look through for each line
            for being in self._beings.values():
                self._together[self._rooms[being.id]].append(being)
        return [being for being in self._together[self._rooms[being_id]] if being.id != being_id]

    def _all_with(self, being_id: str) -> frozenset[str]:
        return frozenset({being_id, *(other.id for other in self._others(being_id))})

    def _remove(self, being_id: str) -> None:
        del self._beings[being_id]
        self._together.clear()

    def _confined(self, being_id: str, trace: Trace | None) -> Audience | None:
        """Everybody in the room, if the turn is confined; else None."""
        if trace is None or not trace.audience.confined:
            return None
        return Audience(self._all_with(being_id), tier=trace.audience.tier)

    def _next_turn(self) -> str | None:
        """The first in line who shares a room with a player and is not busy thinking."""
        for being_id in self._turns:
            watched = any(other.outlet for other in self._others(being_id))
            if watched and not self._minds.busy(being_id):
                return being_id
        return None

    def _home(self, persona: Persona) -> str:
        return persona.home if persona.home in self.places.rooms else self.places.start

    def _save(self, moved: Mapping[str, str] = MappingProxyType({}), resting: Set[str] | None = None) -> None:
        """Save the state as it will be when these have moved and those are at rest."""
        # Those at home are left out: a recipe that gives a character another home must move it.
        homes = {being.id: self._home(being.persona) for being in self._beings.values() if being.persona}
        rooms = {**self._rooms, **moved}
        state: dict[str, Any] = {
            "rooms": {who: room for who, room in rooms.items() if homes.get(who) != room}
        }
        resting = self._resting if resting is None else resting
        self._changed(state | ({"resting": sorted(resting)} if resting else {}))
