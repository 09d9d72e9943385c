"""The window of the day in which characters go over what they perceived."""

import asyncio

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import LLMError, StoreError
from noodlings.host.nights import DAY, reflect_within
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Percept

HOUR = 3_600.0
MIDNIGHT = 20_000 * DAY


@pytest.fixture
def society(tmp_path):
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    made = build(settings, clock=ManualClock(MIDNIGHT), store=MemoryStore())
    yield made
    made.close()


async def tell(society, who="phi"):
    await society.perceive(who, Percept("user_ann", "I have a goat", society.clock.now(), addressed=True))


class Looks:
    """Looks at the clock when a test says so."""

    def __init__(self, society, window):
        self.society, self._go, self._looked = society, asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(reflect_within(society, window, self._wait))

    async def _wait(self, seconds):
        self._looked.set()
        await self._go.wait()
        self._go.clear()

    async def reflected_at(self, hours):
        """Whether Phi goes over what is new, so many hours after midnight."""
        await self._looked.wait()
        self._looked.clear()
        await tell(self.society)
        self.society.clock.set(MIDNIGHT + hours * HOUR)
        self._go.set()
        await self._looked.wait()
        return self.society.agents["phi"].night.new == 0


@pytest.fixture
async def looks(society):
    made = []

    def make(window):
        made.append(Looks(society, window))
        return made[-1].reflected_at

    yield make
    for one in made:
        one.task.cancel()
        await asyncio.gather(one.task, return_exceptions=True)


async def test_once_in_each_window_and_never_outside(looks):
    reflected_at = looks("03:00-05:00")
    assert not await reflected_at(2.9)
    assert await reflected_at(3.0)
    assert not await reflected_at(4.9)
    assert not await reflected_at(24.0 + 5.0)
    assert await reflected_at(48.0 + 4.9)


async def test_a_window_may_go_over_midnight(looks):
    reflected_at = looks("23:30-01:00")
    assert await reflected_at(23.6)
    assert not await reflected_at(24.5)
    assert not await reflected_at(25.5)
    assert await reflected_at(48.5)


async def test_who_fails_tries_again_and_holds_up_nobody(society, looks, monkeypatch, caplog):
    reflected_at = looks("00:00-02:00")
    await reflected_at(3.0)
    await tell(society, "servnak")

    async def full(lately=False):
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(society.agents["servnak"], "reflect", full)
        assert await reflected_at(24.1)
    assert "servnak could not go over its day: the disk is full" in caplog.text
    await reflected_at(24.2)
    assert society.agents["servnak"].night.new == 0


async def test_a_model_that_is_away_is_asked_again_in_the_next_window_and_never_for_all_days(
    society, looks, monkeypatch
):
    reflected_at, asked, phi = looks("03:00-05:00"), [], society.agents["phi"]

    async def away(agent, dry_run, lately):
        asked.append(lately)
        raise LLMError("it is away")
        yield

    monkeypatch.setattr(phi.night.journal_writing, "write", away)
    assert await reflected_at(3.1)  # what needs no model is done
    assert not await reflected_at(3.2)
    assert await reflected_at(27.1)
    assert asked == [True, True]


@pytest.mark.parametrize("window", ["3-5", "25:00-05:00", "03:00", "03:00-05:60", " "])
def test_a_window_that_is_none_is_refused(tmp_path, window):
    with pytest.raises(ValueError, match="window"):
        Settings(store={"path": str(tmp_path)}, reflection={"window": window})
