"""A small village to look at: three characters who were talked to for some days, the same every time.

It is what the pictures of the studio are taken of, and what its tests drive it over.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from noodlings.clock import ManualClock
from noodlings.config import Settings, load_settings
from noodlings.host.visit import opened
from noodlings.values.percept import Percept

START = 1_780_000_000.0
PEOPLE = {"user_caity": "Caity", "user_bram": "Bram", "user_ines": "Ines"}
LINES = (
    "My dog died yesterday.",
    "I found a blue feather on the roof this morning!",
    "Do you remember the storm last winter?",
    "The baker gave me a loaf for nothing. People can be so kind.",
    "I'm scared of the cellar. Something moves down there.",
    "Nothing ever happens here on Sundays.",
    "We won the boat race! All of us, soaked and laughing.",
    "Why does the clock in the square run backwards?",
    "Please remember that my sister is called Odile.",
    "I broke your lamp. I'm sorry, I should have told you at once.",
    "Get out of my garden, you thief!",
    "The harbour is quiet tonight and the water looks like glass.",
    "waves and sits down by the stove",
    "Somebody took the brass key from its hook.",
    "I dreamt that the mountain walked away.",
    "You are the only one who listens to me.",
    "Soup again. Soup, soup, soup.",
    "There was a wolf at the edge of the wood, as close as that door!",
    "My grandmother used to sing that song when it rained.",
    "I've been offered work in the city. I don't know whether I should go.",
    "Look, snow!",
    "The letter never came.",
    "He shouted at me in front of everybody.",
    "I planted seven apple trees where the barn stood.",
    "It's only a scratch, don't worry.",
)


def settle(folder: Path, turns: int = 240, seed: int = 7) -> tuple[Settings, float]:
    """Fill an empty folder. Returns the settings to open it with, and the moment at which all was said."""
    settings = load_settings(None, store={"path": str(folder)})
    return settings, asyncio.run(_talk(settings, turns, random.Random(seed)))


async def _talk(settings: Settings, turns: int, chance: random.Random) -> float:
    clock = ManualClock(START)
    with opened(settings, clock) as society:
        for user_id, name in PEOPLE.items():
            society.introduce(user_id, name)
        agents = list(society.agents)
        for _ in range(turns):
            who = chance.choice(list(PEOPLE))
            said = Percept(
                user_id=who,
                text=chance.choice(LINES),
                timestamp=clock.now(),
                addressed=chance.random() < 0.6,
                present=frozenset({who}),
            )
            await society.perceive(chance.choice(agents), said)
            clock.advance(chance.choice((20, 60, 600, 7_000)))
    return clock.now()
