"""Somebody who has been spoken to: Phi with turns, symbols and feelings; and signs that a test sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.errors import NoodlingsError
from noodlings.inspect.feed import TurnEventView
from noodlings.inspect.questions import Question, V
from noodlings.inspect.why import WhyView
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Kind, Percept
from studio.source import Action, SourceEvent
from tests.studio.village import Village

NOW = 1_000_000.0
SAID = (
    "My dog died yesterday and I cannot stop crying",
    "We won the tournament!! I am so happy!!",
    "I am terrified of the storm, I was shaking all night",
    "You useless heap of rust, I hate you!",
    "what time is it?",
    "[bold]look[/bold] at my \x1b[31mred shoes",
    "do you remember my dog?",
)


async def spoken_to(said: tuple[str, ...] = SAID) -> MemoryStore:
    """What is kept after Phi was told these things by Caity, a minute apart."""
    store = MemoryStore()
    with closing(build(settings(), clock=ManualClock(NOW), store=store)) as society:
        for minute, text in enumerate(said):
            when = NOW - 60.0 * (len(said) - minute)
            await society.perceive("phi", Percept("user_caity", text, when, Kind.SAY, addressed=True))
        await society.rest(5.0)
    return store


def settings() -> Any:
    """Without a model of any sort."""
    return load_settings(None, embedding={"model": "none"})


class Talking(Village):
    """A source over such a store that tells what a test wants told.

    `asked` holds every question with its arguments; with `refusal` set, every deed is refused with it.
    """

    def __init__(self, folder: Path, store: MemoryStore) -> None:
        super().__init__(folder, lambda: self._build(store))
        self.asked: list[tuple[Question[Any], dict[str, Any]]] = []
        self.refusal = ""
        self._signs: asyncio.Queue[SourceEvent] = asyncio.Queue()

    def tell(self, step: str, entry: int = 99, turn: WhyView | None = None, agent: str = "phi") -> None:
        """Another step of a turn."""
        self._signs.put_nowait(SourceEvent(agent, step, TurnEventView(agent, "Phi", entry, step, turn)))

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """Remember what was asked."""
        self.asked.append((question, how))
        return await super().ask(question, agent, **how)

    async def act(self, action: Action, agent: str, **how: Any) -> Mapping[str, Any]:
        """As the village, or refused."""
        if self.refusal:
            raise NoodlingsError(self.refusal)
        return await super().act(action, agent, **how)

    async def events(self) -> AsyncIterator[SourceEvent]:
        """What is told."""
        while True:
            yield await self._signs.get()

    @staticmethod
    def _build(store: MemoryStore) -> Society:
        return build(settings(), clock=ManualClock(NOW), store=store)
