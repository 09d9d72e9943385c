"""A society: whoever looks on, what is loaded beforehand, and how it comes to rest."""

from __future__ import annotations

import asyncio

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.memory import MemoryStore
from noodlings.values.model_status import ModelState, ModelStatus, ModelWatcher
from noodlings.values.percept import Percept
from noodlings.values.trace import TurnEvent


@pytest.fixture
def society() -> Society:
    settings = Settings(embedding={"model": "none"}, thought={"ruminate": False})
    return build(settings, clock=ManualClock(1_000_000.0), store=MemoryStore())


async def hello(society: Society, agent_id: str = "phi") -> None:
    await society.perceive(agent_id, Percept("user_caity", "hello", society.clock.now(), addressed=True))


async def test_whoever_watches_is_told_of_every_agent_until_it_is_enough(society: Society) -> None:
    seen: list[TurnEvent] = []
    unwatch = society.watch(seen.append)
    await hello(society)
    await hello(society, "servnak")
    assert [turn_event.agent_id for turn_event in seen] == ["phi"] * 4 + ["servnak"] * 4
    unwatch()
    await hello(society)
    assert len(seen) == 8


async def test_one_watcher_going_leaves_the_others(society: Society) -> None:
    seen: list[str] = []
    first, _ = society.watch(lambda _: seen.append("first")), society.watch(lambda _: seen.append("second"))
    first()
    await hello(society)
    assert set(seen) == {"second"}


class Model:
    """A language model that notes what is done with it."""

    status = ModelStatus(ModelState.ASKED, "m")

    def __init__(self) -> None:
        self.watchers: list[ModelWatcher] = []
        self.done: list[str] = []

    def warm(self) -> None:
        self.done.append("loaded")

    async def meet(self) -> None:
        self.done.append("asked")

    async def close(self) -> None:
        self.done.append("released")


def made(model: Model) -> Society:
    def nobody(persona):
        raise AssertionError("nobody is asked for")

    return Society(nobody, [], ManualClock(), Settings(), MemoryStore(), model)


async def test_at_rest_it_lets_go_of_its_connections_and_warm_it_has_loaded_them() -> None:
    model = Model()
    society = made(model)
    await asyncio.to_thread(society.warm)
    await society.meet_model()
    await society.rest(0.1)
    assert model.done == ["loaded", "asked", "released"]
