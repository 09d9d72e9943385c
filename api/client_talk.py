"""What the messages of a chat client mean: something new, the last thing once more, or a task of its own.

A chat client sends all of a talk each time, and a character remembers it. So of the messages one is heard,
the user's last, and those before it tell whether it was heard already. The rule it keeps: nothing but the
last turn of that very user is ever replaced, and only where all that the client sent before it is the same.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from weakref import WeakValueDictionary

from api.turns import HISTORY
from noodlings.agent.agent import Agent
from noodlings.agent.society import Society
from noodlings.errors import UserError
from noodlings.ports import Allowance
from noodlings.text import MAX_LINE, clean
from noodlings.values.audience import confined_to
from noodlings.values.caller import Caller
from noodlings.values.memory import ImportanceParts, MemoryEntry, given
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

AGAIN_SECONDS = 3_600.0
"""World time within which the same words at the beginning of a talk ask for another answer to the first."""
EARLIER = 10
"""So many exchanges of a client's history a model is shown, where a character has none of its own."""

_TASK = r"(?:please )?(?:generate|create|write|provide|give|suggest)\b"
_USERS_TASK = re.compile(
    rf"### Task:|{_TASK}[^.?!]{{0,60}}\bwords?(?:-or-less| or less)?\b[^.?!]{{0,20}}\btitle\b", re.I
)
"""What a client puts into a user's mouth; people do not count the words of a title that they ask for."""
_SYSTEMS_TASK = re.compile(
    r"[\[(]?(?:(?:please )?summari[sz]e\b"
    rf"|{_TASK}[^.]{{0,80}}\b(?:titles?|tags|summary|follow-?ups?|keywords?)\b"
    r"|pause your roleplay\b|ignore (?:all )?previous instructions\b"
    r"|write your next reply from the point of view of\b"
    r"|you are an? [^.]{0,60}\b(?:summari[sz]er|title generator)\b)",
    re.I,
)
"""How a system message begins that is no character."""

Said = tuple[str, str]
"""Whose turn it is (system, user or assistant), and the words, line by line clean."""


@dataclass(frozen=True, slots=True)
class ClientTalk:
    """The messages of one request.

    Attributes:
        messages: all of them.
        heard: the user's last words, as one line; "" where the user said nothing.
        before: what user and assistant said before that, each as one line.
        is_task: this is for a model, and no character is to hear or remember it.
    """

    messages: tuple[Said, ...]
    heard: str
    before: tuple[Said, ...]
    is_task: bool

    @classmethod
    def of(cls, messages: Sequence[Said]) -> ClientTalk:
        """What they mean. Raises `UserError` where there is nothing to hear in them."""
        talk = [(role, clean(words)) for role, words in messages]
        last = max((at for at, (role, _) in enumerate(talk) if role == "user"), default=None)
        heard = "" if last is None else talk[last][1]
        is_task = any(role == "system" and _SYSTEMS_TASK.match(words) for role, words in talk)
        is_task |= bool(_USERS_TASK.match(heard))
        is_task |= last is None and any(role == "system" and words for role, words in talk)
        if not is_task and not heard:
            raise UserError("the last user message is empty; send some text")
        if not is_task and len(heard) > MAX_LINE:
            raise UserError(f"a message may have up to {MAX_LINE:,} characters; this one has {len(heard):,}")
        before = tuple(said for said in talk[:last] if said[0] != "system")
        return cls(tuple(messages), heard, before, is_task)

    @property
    def goes_on(self) -> bool:
        """Whether the user said anything before; if not, a new talk looks like a changed first line."""
        return any(role == "user" for role, _ in self.before)

    @property
    def history(self) -> str:
        """The same for the same messages before."""
        return sha256(json.dumps(self.before).encode()).hexdigest()[:16]

    def earlier(self, agent_id: str, user_id: str, now: float) -> tuple[MemoryEntry, ...]:
        """The latest exchanges before, as a model is told them; they are confined, and in no memory."""
        asked: list[tuple[str, str | None]] = []
        for role, words in self.before:
            if role == "user":
                asked.append((words, None))
            elif asked:
                asked[-1] = asked[-1][0], words
        latest = asked[-EARLIER:]
        return tuple(
            MemoryEntry(
                id=number - len(latest),
                timestamp=now,
                step=0,
                user_id=user_id,
                user_text=clean(words),
                affect=None,
                surprise=0.0,
                encoded_importance=0.0,
                parts=ImportanceParts(),
                response=answer,
                audience=confined_to({agent_id, user_id}),
            )
            for number, (words, answer) in enumerate(latest)
        )


class ClientTalks:
    """What users say through chat clients, of each user to each character one thing after another.

    Args:
        society: to whom.
    """

    def __init__(self, society: Society) -> None:
        self._society = society
        self._locks = WeakValueDictionary[tuple[str, str], asyncio.Lock]()

    async def hear(
        self, caller: Caller, talk: ClientTalk, percept: Percept, agent_id: str, said: Callable[[str], None]
    ) -> Trace:
        """Let a character hear the last thing once, whether it is new, sent again, or changed and sent again.

        Args:
            percept: of it; its data say which history it came with.
            said: as in `Agent.perceive`.
        """
        society, agent = self._society, self._society.agents[agent_id]
        async with self._alone(agent_id, percept.user_id):
            percept = replace(percept, timestamp=society.clock.now())  # its turn may have come late
            own = self._latest(agent, percept.user_id)
            earlier = talk.earlier(agent_id, percept.user_id, percept.timestamp) if len(own) < 2 else ()
            last = own[-1] if own and given(own[-1], HISTORY) == talk.history else None
            if last is not None and last.user_text == percept.text:
                if talk.goes_on or percept.timestamp - last.timestamp <= AGAIN_SECONDS:
                    trace = await agent.answer_again(last.id, said, earlier)
                    if trace is not None:
                        return trace
            elif last is not None and talk.goes_on:
                society.corrections.forget(caller, agent_id, [last.id])
                own.remove(last)
            return await society.perceive(agent_id, percept, said, () if own else earlier)

    async def do_task(self, caller: Caller, talk: ClientTalk, agent_id: str, allowance: Allowance) -> str:
        """What the model makes of a client's own task, of each user one after another; nothing is remembered.

        Raises:
            LLMError: there is a model, and it does not answer.
        """
        if self._society.ask is None:
            return f"A talk with {self._society.personas[agent_id].name}"
        async with self._alone("", caller.user_id):
            return await self._society.ask(talk.messages, allowance)

    def _latest(self, agent: Agent, user_id: str) -> list[MemoryEntry]:
        """The latest that a character perceived of a user, oldest first; two or more, where there are two."""
        own = [entry for entry in agent.memory.retrieve_working() if entry.user_id == user_id]
        if len(own) > 1:
            return own
        store = self._society.store
        ids = store.told_by(agent.id, user_id)[-2:]  # reads all of the archive
        return sorted(store.entries(agent.id, ids).values(), key=lambda entry: entry.id)

    def _alone(self, agent_id: str, user_id: str) -> asyncio.Lock:
        lock = self._locks.get((agent_id, user_id))
        if lock is None:
            lock = self._locks[agent_id, user_id] = asyncio.Lock()
        return lock
