import asyncio

import pytest

from noodlings.errors import UserError
from noodlings.worlds.accounts import Accounts
from noodlings.worlds.door import ADDRESSES, FORGIVEN, FREE, LONGEST_WAIT, Door
from tests.fakes import HandTimer

HERE, THERE = "203.0.113.1", "203.0.113.2"
PASSWORD = "correct horse"


@pytest.fixture
async def timer():
    return HandTimer()


@pytest.fixture
def door(tmp_path, timer):
    accounts = Accounts(tmp_path, cost=4)
    accounts.create("Caity", PASSWORD)
    return Door(accounts, lambda name: name == "Servnak", timer)


async def guess(door, address=HERE):
    with pytest.raises(UserError, match="no such name"):
        await door.connect(address, "Caity", "wrong password")


async def test_the_right_password_never_waits(door):
    for _ in range(20):
        assert (await door.connect(HERE, "Caity", PASSWORD)).name == "Caity"


async def test_each_wrong_password_waits_longer_and_others_do_not(door, timer):
    for _ in range(FREE):
        await guess(door)
    for seconds in (1, 2, 4, 8, 16, LONGEST_WAIT, LONGEST_WAIT):
        guessing = asyncio.create_task(guess(door))
        await timer.somebody_sleeps(seconds)
        assert not guessing.done()
        await door.connect(THERE, "Caity", PASSWORD)
        timer.advance(seconds)
        await guessing


async def test_guesses_of_one_address_queue_up_however_many_wires_it_has(door, timer):
    for _ in range(FREE):
        await guess(door)
    guessing = [asyncio.create_task(guess(door)) for _ in range(3)]
    for number, seconds in enumerate((1, 2, 4)):
        await timer.somebody_sleeps(seconds)
        assert [task.done() for task in guessing] == [n < number for n in range(3)]
        timer.advance(seconds)
    await asyncio.gather(*guessing)


async def test_after_a_good_while_all_is_forgiven(door, timer):
    for _ in range(FREE):
        await guess(door)
    timer.advance(FORGIVEN + 1)
    for _ in range(FREE):
        await guess(door)


async def test_accounts_are_made_one_after_the_other_ever_slower(door, timer):
    for number in range(FREE):
        assert (await door.create(HERE, f"Ben-{number}", PASSWORD)).name == f"Ben-{number}"
    making = asyncio.create_task(door.create(HERE, "Ben", PASSWORD))
    await timer.somebody_sleeps(1)
    timer.advance(1)
    assert (await making).name == "Ben"


async def test_a_name_that_characters_know_is_refused(door):
    with pytest.raises(UserError, match="known here already"):
        await door.create(HERE, "Servnak", PASSWORD)


async def test_addresses_are_not_remembered_without_bound(door):
    for number in range(ADDRESSES + 10):
        door._visitor(str(number))
    assert len(door._visitors) <= ADDRESSES
