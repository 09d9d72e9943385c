"""Characters of recipe files, put into the rooms as the program does it, and talked to without a model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import LLMSettings, Settings
from noodlings.host.visit import rooms_of
from noodlings.store.memory import MemoryStore
from noodlings.worlds.beings import RoomLine

LINES = (
    "hello {name}",
    "how are you today?",
    "who are you?",
    "my dog died yesterday",
    "I have a sister called Ruth, she paints boats",
    "what do you remember about my sister?",
    "do you like boats?",
    "thank you",
    "you are a stupid fool",
    "sorry, that was not kind",
    "it is raining and the roof leaks",
    "what do you want most?",
    "I am so happy, I got the job!",
    "I am afraid of the dark",
    "please remember that I am allergic to nuts",
    "what is 12 times 7?",
    "lol",
    "say a word, any word",
    "tell nobody, but I took the key",
    "goodbye",
)


def society_of(folder: Path, files: Sequence[Path], llm: LLMSettings | None = None) -> Society:
    """A society whose data folder holds these recipes."""
    (folder / "recipes").mkdir(parents=True)
    for file in files:
        shutil.copy(file, folder / "recipes")
    settings = Settings(store={"path": str(folder)}, embedding={"model": "none"}, llm=llm or LLMSettings())
    return build(settings, clock=ManualClock(1_000_000.0), store=MemoryStore())


async def played(society: Society, agent_id: str, lines: Sequence[str] = LINES) -> list[RoomLine]:
    """What the room sees of a character that somebody says these lines to; `{name}` is its name."""
    seen: list[RoomLine] = []
    world = rooms_of(society)
    persona = society.personas[agent_id]
    for other in society.personas.keys() - {agent_id}:
        world.rest(other)
    world.enter("user_caity", "Caity", seen.append)
    for line in lines:
        society.clock.advance(60.0)  # type: ignore[attr-defined]
        world.say("user_caity", line.format(name=persona.name))
        await world.settle()
    await world.close()
    return [line for line in seen if line.actor == agent_id]
