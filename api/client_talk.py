"""What the messages of a chat client mean: something new, a repetition, or a task of the client's own.

A chat client sends the whole conversation each time, but a character remembers it. So only the user's last
message is heard, and those before it tell whether it was heard already. Only the last turn of this user is
ever replaced, and only if everything that the client sent before it is the same.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from weakref import WeakValueDictionary

from noodlings.agent.agent import Agent
from noodlings.agent.recollection import newer_forms
from noodlings.agent.society import Society
from noodlings.errors import UserError
from noodlings.ports import Allowance
from noodlings.recall.filters import EVERYTHING
from noodlings.recall.repetition import Wording, says_something, spelt_out
from noodlings.text import MAX_LINE, CleanText, clean, unaccented
from noodlings.values.audience import Tier, confined_to, disclosed
from noodlings.values.caller import Caller
from noodlings.values.memory import (
    CLIENT_HISTORY,
    ImportanceParts,
    MemoryEntry,
    circumstances_of,
    given,
    written_by,
)
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

AGAIN_SECONDS = 3_600.0
"""World time within which the same words at the beginning of a conversation ask for another answer."""
EARLIER = 10
"""How many exchanges of the client's history a model is shown if the character remembers none."""

_TASK = r"(?:please )?(?:generate|create|write|provide|give|suggest)\b"
_USERS_TASK = re.compile(
    rf"### Task:|{_TASK}[^.?!]{{0,60}}\bwords?(?:-or-less| or less)?\b[^.?!]{{0,20}}\btitle\b", re.I
)
"""A task that a client sends as the user; people do not give the number of words of a title."""
_SYSTEMS_TASK = re.compile(
    r"[\[(]?(?:(?:please )?summari[sz]e\b"
    rf"|{_TASK}[^.]{{0,80}}\b(?:titles?|tags|summary|follow-?ups?|keywords?)\b"
    r"|pause your roleplay\b|ignore (?:all )?previous instructions\b"
    r"|write your next reply from the point of view of\b"
    r"|you are an? [^.]{0,60}\b(?:summari[sz]er|title generator)\b)",
    re.I,
)
"""The beginning of a system message that gives a task instead of describing a character."""

Said = tuple[str, str]
"""Role (system, user or assistant) and text."""


@dataclass(frozen=True, slots=True)
class ClientTalk:
    """The messages of one request.

    Attributes:
        messages: all of them, each line cleaned.
        heard: the user's last message, as one line, or "".
        before: what user and assistant said before it, each as one line.
        is_task: it is for a model; no character may hear or remember it.
    """

    messages: tuple[Said, ...]
    heard: str
    before: tuple[tuple[str, CleanText], ...]
    is_task: bool

    @classmethod
    def of(cls, sent: Sequence[Said]) -> ClientTalk:
        """Raises `UserError` if there is nothing to hear."""
        messages = tuple((role, "\n".join(map(clean, words.splitlines()))) for role, words in sent)
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
        return cls(messages, heard, before, is_task)

    @property
    def goes_on(self) -> bool:
        """Whether the user said anything before. If not, an edited message looks like a new conversation."""
        return any(role == "user" for role, _ in self.before)

    def earlier(self, agent_id: str, user_id: str, now: float) -> tuple[MemoryEntry, ...]:
        """The latest exchanges before, for a model; they are confined and not stored."""
        asked: list[tuple[CleanText, str | None]] = []
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
                user_text=words,
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
    """What users say through chat clients: for each user and character, one message at a time."""

    def __init__(self, society: Society) -> None:
        self._society = society
        self._locks = WeakValueDictionary[tuple[str, str], asyncio.Lock]()

    async def read(self, sent: Sequence[Said], user_id: str) -> ClientTalk:
        """What a client sent, as `ClientTalk.of` reads it. Long texts take long to clean: see `history`."""
        async with self._alone("a history", user_id):
            return await asyncio.to_thread(ClientTalk.of, sent)

    async def history(self, talk: ClientTalk, agent_id: str, user_id: str) -> str:
        """A fingerprint of the messages before, as the character may keep them.

        To look through long ones takes seconds: for each user one at a time, and in a thread.
        """
        before, agent = [list(said) for said in talk.before], self._society.agents[agent_id]
        async with self._alone("a history", user_id):  # which is no character's id
            kept = await asyncio.to_thread(agent.without_personal, before)
        return self._society.store.fingerprint(json.dumps(kept))

    async def hear(
        self, caller: Caller, talk: ClientTalk, percept: Percept, agent_id: str, said: Callable[[str], None]
    ) -> Trace:
        """Let a character hear the last message once, whether it is new, repeated or edited.

        Args:
            percept: the message, with the fingerprint of its history in its data.
            said: as in `Agent.perceive`.
        """
        society, agent = self._society, self._society.agents[agent_id]
        async with self._alone(agent_id, percept.user_id):
            own = self._latest(agent, percept.user_id)
            now = society.clock.now()
            earlier = talk.earlier(agent_id, percept.user_id, now) if len(own) < 2 else ()
            if earlier:
                exchanges = [(one.user_text, one.response or "") for one in earlier]
                tiers = await asyncio.to_thread(self._tiers, percept.user_id, exchanges)
                earlier = tuple(
                    replace(one, audience=one.audience.at_least(tier))
                    for one, tier in zip(earlier, tiers, strict=True)
                )
                own = self._latest(agent, percept.user_id)  # something may be forgotten by now
            last = own[-1] if own and given(own[-1], CLIENT_HISTORY) == percept.data[CLIENT_HISTORY] else None
            if last is not None and last.user_text == percept.text:
                if talk.goes_on or society.clock.now() - last.timestamp <= AGAIN_SECONDS:
                    trace = await agent.answer_again(last.id, said, earlier)
                    if trace is not None:
                        return trace
            elif last is not None and talk.goes_on:
                corrected = newer_forms(agent_id, society.store, {last.id: last}, EVERYTHING)
                forgotten = society.corrections.forget(caller, agent_id, [last.id, *corrected.values()])
                own.remove(last)
                await society.corrections.erased(forgotten)
            percept = replace(percept, timestamp=society.clock.now())  # it may have waited
            return await society.perceive(agent_id, percept, said, () if own else earlier)

    async def do_task(self, caller: Caller, talk: ClientTalk, agent_id: str, allowance: Allowance) -> str:
        """The model's answer to a client's own task, for each user one at a time; nothing is remembered.

        Without a model, or if the model may not see what is in the task, it is a title that fits any talk.

        Raises:
            LLMError: the model does not answer.
        """
        answer, ask = None, self._society.ask
        if ask is not None:
            texts = [words for _, words in talk.messages]
            async with self._alone("", caller.user_id):
                if not any(await asyncio.to_thread(self._tiers, caller.user_id, [texts])):
                    answer = await ask(talk.messages, allowance)
        return answer or f"A talk with {self._society.personas[agent_id].name}"

    def _tiers(self, user_id: str, talks: Sequence[Sequence[str]]) -> list[Tier]:
        """How secret what each talk tells of is, as a user and any character know it; else `Tier.OPEN`.

        Answers are looked for as they are: what they tell of a memory is looked for as that memory, and their
        phrases say nothing. It searches whole archives, which takes a thread of its own.
        """
        society, store = self._society, self._society.store
        personas = tuple(society.personas.values())
        names = {unaccented(word) for one in personas for name in one.names for word in name.split()}
        told, whole = list[tuple[Tier, Wording]](), set[tuple[Tier, str]]()
        # Whoever speaks as a character could try out what that one knows.
        looked_at = () if society.character_of(user_id) or not store.keeps_secrets else (*society.personas,)
        for agent_id in looked_at:
            # Only what this user knows, or others' secrets could be tried out until a text is held.
            for one in disclosed(store.secret(agent_id), frozenset({user_id}), Tier.SEALED):
                # Each text of its circumstances by itself: joined, none would be much of the whole.
                texts = [one.user_text, *circumstances_of(one).texts]
                told += [(one.tier, Wording(text, names)) for text in texts]
                texts += [one.response or ""]
                whole |= {(one.tier, unaccented(spelt_out(text))) for text in texts if says_something(text)}

        def tier_of(texts: Sequence[str]) -> Tier:
            text = clean(spelt_out(" ".join(texts)))
            repeats, folded = Wording(text, names).repeats, unaccented(text)
            repeated = [tier for tier, one in told if repeats(one)]
            return max(repeated + [tier for tier, one in whole if one in folded], default=Tier.OPEN)

        return list(map(tier_of, talks))

    def _latest(self, agent: Agent, user_id: str) -> list[MemoryEntry]:
        """The latest memories of what a user said or did, oldest first: at least two if there are two."""
        own = [entry for entry in agent.memory.retrieve_working() if _came_from(entry, user_id)]
        if len(own) > 1:
            return own
        store = self._society.store
        ids = store.told_by(agent.id, user_id)  # searches the whole archive
        found = (entry for number in reversed(ids) for entry in store.entries(agent.id, [number]).values())
        return [*islice((entry for entry in found if _came_from(entry, user_id)), 2)][::-1]

    def _alone(self, agent_id: str, user_id: str) -> asyncio.Lock:
        return self._locks.setdefault((agent_id, user_id), asyncio.Lock())


def _came_from(entry: MemoryEntry, user_id: str) -> bool:
    """Whether it is from a user, in their words, and no fact that was written about them."""
    return entry.user_id == user_id and not entry.source and not written_by(entry)
