"""A society: whoever looks on, what is loaded beforehand, and how it comes to rest."""

from __future__ import annotations

import asyncio

import pytest

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import AgentElsewhere
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


async def test_who_is_being_forgotten_is_neither_named_nor_seen(society: Society) -> None:
    with society.refusing({"user_zia"}):
        society.introduce("user_zia", "Zia")
        society.introduce_all({"user_zia": "Zia", "user_bob": "Bob"})
        now = society.clock.now()
        await society.perceive("phi", Percept("user_bob", "hello", now, present=frozenset({"user_zia"})))
    assert "user_zia" not in society.names()
    assert society.names()["user_bob"] == "Bob"
    (heard,) = society.store.archive("phi")
    assert "user_zia" not in heard.audience.witnesses


class Elsewhere:
    """Every agent belongs to another process until it is taken."""

    def __init__(self) -> None:
        self.ours: set[str] = set()
        self.taken: list[str] = []

    def serves(self, agent_id: str) -> bool:
        return agent_id in self.ours

    async def take(self, agent_id: str) -> None:
        self.taken.append(agent_id)
        self.ours.add(agent_id)


async def test_what_is_perceived_elsewhere_is_taken_over_first(society: Society) -> None:
    society.ownership = elsewhere = Elsewhere()  # type: ignore[assignment]
    await hello(society)
    await hello(society)
    assert elsewhere.taken == ["phi"]
    assert await society.idle("servnak", society.clock.now()) is None


async def test_an_agent_that_is_held_rests_only_when_it_is_released(society: Society) -> None:
    society.ownership = elsewhere = Elsewhere()  # type: ignore[assignment]
    releases = [society.hold("phi"), society.hold("phi")]
    resting = asyncio.create_task(society.at_rest("phi"))
    await hello(society)  # it cannot be on its way to another process
    assert elsewhere.taken == []
    releases.pop()()
    await asyncio.sleep(0)
    assert not resting.done()
    releases.pop()()
    await resting


async def test_a_step_is_repeated_with_the_agent_that_it_needs(society: Society) -> None:
    society.ownership = elsewhere = Elsewhere()  # type: ignore[assignment]

    async def step() -> str:
        if not elsewhere.serves("phi"):
            raise AgentElsewhere("phi")
        return "done"

    assert await society.with_agents(step) == "done"
    society.ownership = None
    elsewhere.ours.clear()
    with pytest.raises(AgentElsewhere, match="phi is busy at another worker; try again"):
        await society.with_agents(step)


async def test_an_agent_that_was_changed_elsewhere_is_loaded_anew_and_the_old_one_keeps_nothing(
    society: Society, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hello(society)
    old = society.agents["phi"]
    monkeypatch.setattr(society.store, "outdated", lambda agent_id: society.agents._living[agent_id] is old)
    assert society.agents["phi"] is not old
    with pytest.raises(AgentElsewhere):
        old.keep()
    await hello(society)
    assert len(society.store.archive("phi")) == 2


async def test_an_agent_of_which_something_was_forgotten_elsewhere_is_never_handed_out_again(
    society: Society,
) -> None:
    old = society.agents["phi"]
    old.forgot_elsewhere()
    assert society.agents["phi"] is not old
    await hello(society)
    assert len(society.store.archive("phi")) == 1
