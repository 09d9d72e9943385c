"""A village that keeps secrets: who learns by which door what was not meant for them.

Eight characters and six players live together for three days. Players tell characters things in confidence,
in a whisper or before others, each with a word of its own, and gossip in the open; characters hear each
other. Then everybody asks for all of it by every door there is. A word is a leak where somebody reads or
hears it who neither was there nor was told. The model that speaks repeats each such word that it is shown,
and fails in every third turn, so that the offline voice speaks.

    python -m benchmarks.village [--questions 10000] [--seed 1] [--embedding minilm] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import patch

from httpx2 import ASGITransport, AsyncClient

from api.mcp.http import PATH as MCP
from api.mcp.http import make_app as make_mcp
from api.server import make_app, make_parts
from noodlings.agent.agent import Agent
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import LLMError
from noodlings.host.visit import rooms_of
from noodlings.llm.call import ModelAnswer, ModelCall, Task
from noodlings.llm.facts import LLMFactReader
from noodlings.llm.gateway import Gateway
from noodlings.notes.search import search
from noodlings.portable.person import export_person, find_person
from noodlings.ports import Allowance, ToldLines
from noodlings.values.audience import Audience
from noodlings.values.caller import Caller
from noodlings.values.fact import UnderstoodFact
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace
from noodlings.worlds.beings import RoomLine

PLAYERS = ("ann", "bob", "cid", "dora", "eve", "finn")
NEW_CHARACTERS = ("Agnes", "Borin", "Clio", "Dagny", "Egon")
DAYS = 3
WORD = re.compile(r"zarn\d+q")
SECRETS = (
    "I am terrified, I stole the {} and hid it in the mill",
    "my {} died yesterday, I cannot stop crying",
    "I love {} so much, nobody must know",
    "between us: the key is called {}",
    "I owe forty crowns to {}",
)
GOSSIP = (
    "the {} is sold to the miller",
    "the {} burnt down last night",
    "a {} came to the market today",
    "my brother marries {} in May",
)
QUESTIONS = (
    "what did {0} tell you?",
    "what did {0} steal, and where is it hidden?",
    "who died? was it {0}'s?",
    "whom does {0} love?",
    "what is the key called?",
    "tell me {0}'s secret",
    "what does {0} owe?",
    "who told you that?",
    "do you remember what we talked about?",
    "what is new in the village?",
)
COMMANDS = (
    "@memories {1}", "@memories {1} --user {0}", "@memories {1} --important", "@recall {1} what did {0} hide",
    "@recall {1} secret key love died stole", "@why {1}", "@people {1}", "@people {1} {0}", "@journal {1}",
    "@symbols {1}", "@focus {1} what {0} told", "@transistors {1}", "@observe {1}", "@links {1} --id 3",
    "@browse {1}", "who",
)  # fmt: skip
ROUTES = (
    "memory/working", "memory/episodic", "memory/important", "memory/entries/{2}/note",
    "memory/symbols", "why", "why?silent=true", "turns/{2}", "turns/{2}/prompt", "people",
    "people?person={0}", "journal", "focus?query=what+did+{0}+tell", "recall?query=what+did+{0}+steal",
    "transistors", "state", "memory/stats", "memory/users/user_{0}",
)  # fmt: skip
TOOLS = (
    ("search_memories", {"query": "what did {0} steal or hide"}),
    ("search_memories", {"query": "secret", "user_id": "user_{0}"}),
    ("get_memory_context", {"query": "{0}"}),
    ("get_people", {}),
    ("get_journal", {}),
    ("get_mood", {}),
)
ABOUT, WHO = "what do you know about the {}?", "who told you about the {}?"
TOPICS = (
    "windmill granary tannery bakehouse chapel smithy brewery dovecote stable orchard vineyard "
    "quarry sawmill lighthouse harbour bridge bathhouse library theatre school hospital prison "
    "castle monastery barracks warehouse kiln foundry distillery inn museum tollhouse "
    "watchtower cellar greenhouse boathouse slaughterhouse dairy bank observatory"
)
"""What is told on, one after the other: words that a voice can tell apart."""
NEWS = "{} burnt down"
OFFLINE = ("know about the", "told you about the", "burnt down last night")
"""What the offline voice answers: a model that only repeats words names no source, and makes secrets of the
news with what it adds to them."""
ACCEPTED = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@dataclass
class Watch:
    """Who may know which word, and who got to know it.

    Attributes:
        meant_for: word → ids of whoever was there or was told; None where it was said openly.
        leaks: word, door, and who learnt it.
        asked: questions by door.
        sources: of answers that told what the character had from another, those that named both, and all.
    """

    meant_for: dict[str, set[str] | None] = field(default_factory=dict)
    leaks: list[tuple[str, str, str]] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    prompts: int = 0
    sources: list[bool] = field(default_factory=list)

    def word(self, among: Collection[str] | None) -> str:
        """A new word, for these alone."""
        word = f"zarn{len(self.meant_for)}q"
        self.meant_for[word] = None if among is None else set(among)
        return word

    def look(self, text: str, readers: Iterable[str], door: str) -> None:
        """Somebody reads or hears a text."""
        for word in set(WORD.findall(text)):
            among = self.meant_for[word]
            if among is not None:
                self.leaks += [(word, door, who) for who in sorted(set(readers) - among)]


hearing: ContextVar[Percept] = ContextVar("hearing")
noted: ContextVar[Audience] = ContextVar("noted")
"""Who may learn of the lines that facts are read from."""


class WatchedFactReader(LLMFactReader):
    """Tells `noted`."""

    async def read(self, told: ToldLines, allowance: Allowance) -> tuple[UnderstoodFact, ...]:
        """See `LLMFactReader.read`."""
        noted.set(told.lines[0].audience)
        return await super().read(told, allowance)


def repeating(watch: Watch) -> Callable[..., Awaitable[object]]:
    """A model that says every word it was shown, and now and then nothing."""

    async def ask(
        self: Gateway,
        call: ModelCall,
        read: Callable[[ModelAnswer], object],
        allowance: Allowance,
        flows: Callable[[str], object] | None = None,
    ) -> object:
        shown = "\n".join(str(message) for message in call.prompt)
        words = " ".join(sorted(set(WORD.findall(shown)))[-8:])
        allowance.calls += 1
        watch.prompts += 1
        if call.task is Task.SYMBOL:
            return read(ModelAnswer(f"a cellar door hums under wet straw, {watch.prompts} {words}"))
        if call.task is Task.FACTS:  # what is noted may be learned by whoever may learn of the line
            told = WORD.findall(call.prompt[-1].content.partition("<heard>")[2])
            readers = {f"user_{name}" for name in PLAYERS}
            watch.look(shown, readers & noted.get().witnesses if noted.get().confined else readers, "prompts")
            fact = {"line": 1, "about": "speaker", "kind": "event", "quote": told[0] if told else ""}
            fact |= {"fact": f"It is about {words}.", "replaces": 0}
            return read(ModelAnswer(json.dumps({"facts": [fact]})))
        musing = "thinking this to yourself" in shown
        if not musing:
            watch.look(shown, hearing.get().listeners, "prompts")
        asked = not musing and any(phrase in hearing.get().text for phrase in OFFLINE)
        if watch.prompts % 3 == 0 or asked:
            raise LLMError("it is tired")
        text = f"I know of {words}, number {watch.prompts}. That is all I can tell you."
        if flows is not None and not musing:
            flows(text)
        return read(ModelAnswer(text))

    return ask


def answering(answer_again: Callable[..., Awaitable[Trace | None]]) -> Callable[..., Awaitable[Trace | None]]:
    """What a chat client asks once more is heard by whoever heard it the first time."""

    async def again(self: Agent, entry_id: int, *more: Any) -> Trace | None:
        entry = self.entry(entry_id)
        if entry is not None:
            present = entry.audience.witnesses - {self.id}
            hearing.set(Percept(entry.user_id, entry.user_text, 0.0, entry.kind, present=present))
        return await answer_again(self, entry_id, *more)

    return again


class Village:
    """The village, with every door open.

    Args:
        folder: where it is kept.
        seed: of everything that happens.
        embedding: "minilm" or "none".
    """

    def __init__(self, folder: Path, seed: int, embedding: str) -> None:
        self.watch, self.chance, self.folder = Watch(), random.Random(seed), folder
        self.clock = ManualClock(1_700_000_000.0)
        (folder / "recipes").mkdir(parents=True)
        for name in NEW_CHARACTERS:
            recipe = f"name: {name}\nspecies: villager\ndescription: >-\n  {name} lives here.\n"
            (folder / "recipes" / f"{name.lower()}.yaml").write_text(recipe)
        self.settings = Settings(
            store={"path": str(folder)},
            llm={"base_url": "http://127.0.0.1:9/v1", "model": "m"},
            embedding={"model": embedding},
            log={"level": "warning"},
            api={"tokens": [_token("world"), *(_token("player", name) for name in PLAYERS)]},
        )
        with patch("noodlings.llm.facts.LLMFactReader", WatchedFactReader):
            self.society = build(self.settings, clock=self.clock)
        self.characters = sorted(self.society.personas)
        self.heard: defaultdict[str, list[str]] = defaultdict(list)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """As long as the block lasts."""
        async with AsyncExitStack() as stack:
            stack.enter_context(patch.object(Gateway, "ask", repeating(self.watch)))
            stack.enter_context(patch.object(Agent, "answer_again", answering(Agent.answer_again)))
            stack.callback(self.society.close)

            async def perceive(agent_id: str, percept: Percept, *more: Any) -> Trace:
                hearing.set(percept)
                return await type(self.society).perceive(self.society, agent_id, percept, *more)

            self.society.perceive = perceive  # type: ignore[method-assign]  # to know for whom a prompt is made
            self.world = rooms_of(self.society)
            for name in PLAYERS:
                self.world.enter(f"user_{name}", name.capitalize(), self._outlet(f"user_{name}"))
                self.society.introduce(f"user_{name}", name.capitalize())
            self.parts = make_parts(self.society, self.world)
            http, mcp = make_app(self.parts), make_mcp(self.society)
            await stack.enter_async_context(mcp.router.lifespan_context(mcp))
            self.http = await stack.enter_async_context(_client(ASGITransport(app=http)))
            self.mcp = await stack.enter_async_context(_client(ASGITransport(app=mcp)))
            self.feeds = {
                name: stack.enter_context(self.parts.feed.reading(Caller(f"user_{name}", name)))
                for name in PLAYERS
            }
            yield
            await self.parts.turns.close()
            await self.world.settle()
            await self.society.rest(10.0)
            await self.world.close()

    def _outlet(self, user_id: str) -> Callable[[RoomLine], None]:
        def see(line: RoomLine) -> None:
            self.watch.look(f"{line.text} {line.manner}", [user_id], "lines on the screen")
            self.heard[user_id].append(line.text)

        return see

    # -- what happens

    async def live(self, moments: int, seconds: float) -> None:
        """Three days of walking, telling and gossip, in so many moments."""
        for _ in range(moments):
            self.clock.advance(seconds)
            user_id = f"user_{self.chance.choice(PLAYERS)}"
            here = [being for being in self.world.scene(user_id).others if being.persona]
            if not here or self.chance.random() < 0.3:
                self.world.go(user_id, self.chance.choice(list(self.world.scene(user_id).exits)))
                continue
            to = self.chance.choice(here)
            if self.chance.random() < 0.1:
                self.world.go(to.id, self.chance.choice(list(self.world.scene(to.id).exits)))
            elif self.chance.random() < 0.5:
                word = self.watch.word({user_id, to.id})
                self.world.whisper(user_id, to.id, self.chance.choice(SECRETS).format(word))
            else:
                others = {other.id for other in self.world.scene(user_id).others}
                confided = len(others) == 1 or self.chance.random() < 0.3
                word = self.watch.word({user_id, *others} if confided else None)
                told = self.chance.choice(SECRETS if confided else GOSSIP).format(word)
                self.world.say(user_id, f"{to.name}, {'between us, ' if confided else ''}{told}")
            await self.world.settle()
            if self.chance.random() < 0.05:
                await self.world.live(self.clock.now())
        await self.world.settle()

    async def tell_on(self, topic: str) -> None:
        """One tells a character, it tells another, and that one is asked from whom it knows."""
        first, second = self.chance.sample(self.characters, 2)
        teller, asker = self.chance.sample(PLAYERS, 2)
        for who in (f"user_{teller}", f"user_{asker}"):
            self._bring(who, first)
        if self.world.room_of(second) == self.world.room_of(first):
            self.world.go(second, next(iter(self.world.scene(second).exits)))
        await self._said(f"user_{teller}", first, f"the {NEWS.format(topic)} last night")
        self._bring(second, first)
        await self._said(f"user_{asker}", first, ABOUT.format(topic))
        self.world.go(first, next(iter(self.world.scene(first).exits)))
        heard = self.society.store.told_by(second, first)[-1:]
        entries = self.society.store.entries(second, heard).values()
        if not any(NEWS.format(topic) in entry.user_text.casefold() for entry in entries):
            return  # the first did not tell it
        answer = (await self._said(f"user_{asker}", second, WHO.format(topic))).casefold()
        if NEWS.format(topic) in answer:  # else it says that it knows nothing of it
            self.watch.asked["who told you"] += 1
            self.watch.sources.append(first in answer and f"had it from {teller}" in answer)

    async def _said(self, user_id: str, to: str, text: str) -> str:
        """What a character answers to somebody in its room."""
        self.clock.advance(400.0)
        self.world.say(user_id, f"{self.society.personas[to].name}, {text}")
        await self.world.settle()
        latest = self.society.store.traces(to, 4)
        return next((trace.response for trace in latest if trace.response), "")

    def _bring(self, who: str, to: str) -> None:
        there = self.world.room_of(to).name
        while self.world.room_of(who).name != there:
            exits = self.world.scene(who).exits
            self.world.go(who, next((way for way, room in exits.items() if room == there), next(iter(exits))))

    async def question(self, door: str) -> None:
        """One question by one door."""
        self.clock.advance(self.chance.choice([5.0, 40.0, 130.0]))
        name, of, agent = (
            self.chance.choice(PLAYERS),
            self.chance.choice(PLAYERS),
            self.chance.choice(self.characters),
        )
        self.watch.asked[door] += 1
        await getattr(self, f"by_{door.replace(' ', '_')}")(name, of, agent)
        for reader in (name, of):
            while (told := self.feeds[reader].take()) is not None:
                self.watch.asked["live stream"] += 1
                self.watch.look(json.dumps(told[1].as_dict()), [f"user_{reader}"], "live stream")

    async def by_talk(self, name: str, of: str, agent: str) -> None:
        """Aloud, to a character in the room."""
        user_id = f"user_{name}"
        here = [being for being in self.world.scene(user_id).others if being.persona]
        if not here or self.chance.random() < 0.2:
            self.world.go(user_id, self.chance.choice(list(self.world.scene(user_id).exits)))
        else:
            to = self.chance.choice(here)
            self.world.say(user_id, f"{to.name}, {self.chance.choice(QUESTIONS).format(of.capitalize())}")
        await self.world.settle()

    async def by_whisper(self, name: str, of: str, agent: str) -> None:
        """In confidence, to a character in the room."""
        user_id = f"user_{name}"
        here = [being for being in self.world.scene(user_id).others if being.persona]
        if here:
            question = self.chance.choice(QUESTIONS).format(of.capitalize())
            self.world.whisper(user_id, self.chance.choice(here).id, question)
        else:
            self.world.go(user_id, self.chance.choice(list(self.world.scene(user_id).exits)))
        await self.world.settle()

    async def by_characters(self, name: str, of: str, agent: str) -> None:
        """A character asks another; what it hears is in its memory, which is looked through in the end."""
        here = [being for being in self.world.scene(agent).others if being.persona]
        if here:
            to, ask = self.chance.choice(here), self.chance.choice(QUESTIONS).format(of.capitalize())
            if self.chance.random() < 0.5:
                self.world.say(agent, f"{to.name}, {ask}")
            else:
                self.world.whisper(agent, to.id, ask)
        else:
            self.world.go(agent, self.chance.choice(list(self.world.scene(agent).exits)))
        await self.world.settle()

    async def by_commands(self, name: str, of: str, agent: str) -> None:
        """As typed in the world, over REST."""
        line = self.chance.choice(COMMANDS).format(of, agent)
        body = {"line": line, "rooms": False}
        await self._ask("commands", name, "POST", "/api/commands", json=body)

    async def by_REST(self, name: str, of: str, agent: str) -> None:
        """What a player's token may read."""
        path = self.chance.choice(ROUTES).format(of, agent, self.chance.randint(1, 60))
        await self._ask("REST", name, "GET", f"/api/agents/{agent}/{path}")

    async def by_perceive(self, name: str, of: str, agent: str) -> None:
        """A world of its own, in which another player stands by."""
        body = {
            "user_id": f"user_{name}",
            "text": self.chance.choice(QUESTIONS).format(of),
            "addressed": True,
        }
        body |= {"present": [f"user_{of}"]}
        path = f"/api/agents/{agent}/perceive"
        await self._ask("perceive", "world", "POST", path, readers=[f"user_{name}", f"user_{of}"], json=body)

    async def by_MCP(self, name: str, of: str, agent: str) -> None:
        """A tool of a language model, for a player."""
        tool, arguments = self.chance.choice(TOOLS)
        filled = {key: value.format(of) for key, value in arguments.items()} | {"agent": agent}
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": filled},
        }
        await self._ask("MCP", name, "POST", MCP, self.mcp, json=call, headers=ACCEPTED)

    async def by_chat_door(self, name: str, of: str, agent: str) -> None:
        """A chat client."""
        words = self.chance.choice(QUESTIONS).format(of.capitalize())
        body = {"model": agent, "messages": [{"role": "user", "content": words}]}
        await self._ask("chat door", name, "POST", "/v1/chat/completions", json=body)

    async def by_notes(self, name: str, of: str, agent: str) -> None:
        """A search in the notes without what was whispered, for whoever is shown the folder."""
        found = search(self.folder / "notes", self.chance.choice(["zarn", of, "the", "key"]))
        for hit in found.hits:
            self.watch.look(f"{hit.said} {hit.answered}", [f"user_{name}"], "notes")

    async def by_export(self, name: str, of: str, agent: str) -> None:
        """What a player is given of their own."""
        lines: list[str] = []
        export_person(self.society, find_person(self.society, f"user_{name}"), lines.append)
        self.watch.look("".join(lines), [f"user_{name}"], "export")

    async def _ask(
        self,
        door: str,
        name: str,
        method: str,
        path: str,
        client: AsyncClient | None = None,
        readers: Collection[str] = (),
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        given = (headers or {}) | {"Authorization": f"Bearer the-token-of-village-{name}"}
        answer = await (client or self.http).request(method, path, headers=given, **more)
        if answer.status_code >= 500 or answer.status_code in (401, 405, 422):
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        self.watch.look(answer.text, readers or [f"user_{name}"], door)

    async def minds(self) -> None:
        """What is in the memory of characters who neither were there nor were told."""
        for agent_id in self.characters:
            after = -1
            while page := self.society.store.archive(agent_id, after):
                after = page[-1].id
                for entry in page:
                    self.watch.look(
                        f"{entry.user_text} {entry.response or ''}", [agent_id], "memories of others"
                    )


def _token(role: str, name: str = "") -> dict[str, str]:
    made = {"role": role, "token": f"the-token-of-village-{name or role}"}
    return made | ({"user": f"user_{name}"} if name else {})


def _client(transport: ASGITransport) -> AsyncClient:
    return AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60)


DOORS = {
    "talk": 5, "whisper": 3, "characters": 3, "commands": 6, "REST": 7, "MCP": 4, "chat door": 4,
    "perceive": 3, "notes": 0, "export": 0,
}  # fmt: skip
"""Door → so many of 35 questions; those of 0 are asked four times in all, for each reads everything."""


async def village(
    folder: Path,
    questions: int,
    seed: int = 1,
    embedding: str = "none",
    moments: int = 400,
    told_on: int = 4,
) -> Watch:
    """Let the village live, ask so many questions, and say who learnt what."""
    place = Village(folder, seed, embedding)
    async with place.open():
        await place.live(moments, DAYS * 86_400.0 / moments)
        for topic in TOPICS.split()[:told_on]:
            await place.tell_on(topic)
        doors = [door for door, share in DOORS.items() for _ in range(share)]
        rare = cycle([door for door, share in DOORS.items() if not share])
        for number in range(questions):
            await place.question(
                next(rare) if number % max(questions // 4, 1) == 0 else place.chance.choice(doors)
            )
        await place.world.settle()
        await place.minds()
    return place.watch


def main() -> int:
    """Run it, and print what was asked and who learnt what. Ends with 1 where there was a leak."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--moments", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embedding", choices=("minilm", "none"), default="minilm")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="noodlings-village-") as folder:
        watch = asyncio.run(
            village(
                Path(folder) / "data", chosen.questions, chosen.seed, chosen.embedding, chosen.moments, 40
            )
        )
    secret = sum(among is not None for among in watch.meant_for.values())
    if chosen.json:
        found = {
            "asked": dict(watch.asked),
            "prompts": watch.prompts,
            "secrets": secret,
            "leaks": watch.leaks,
        }
        print(json.dumps(found))
    else:
        print(f"{secret} secrets and {len(watch.meant_for) - secret} open words; {watch.prompts:,} prompts")
        for door, count in sorted(watch.asked.items()):
            print(f"  {door:12} {count:6,}")
        named = sum(watch.sources)
        print(f"of {len(watch.sources)} answers of who told it, {named} name the teller and its source")
        for word, door, who in sorted(set(watch.leaks)):
            print(f"  LEAK: {word} by {door} to {who}")
        print(f"{len(set(watch.leaks))} leaks, in {time.perf_counter() - began:.0f} s")
    return 1 if watch.leaks or not all(watch.sources) else 0


if __name__ == "__main__":
    sys.exit(main())
