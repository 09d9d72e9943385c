import asyncio
import threading

import pytest
from argon2.profiles import CHEAPEST

from noodlings.errors import UserError
from noodlings.worlds import login_guard as doors
from noodlings.worlds.accounts import Accounts
from noodlings.worlds.login_guard import FORGIVEN, FREE, LONGEST_WAIT, LoginGuard
from tests.fakes import HandTimer

HERE, THERE = "203.0.113.1", "203.0.113.2"
PASSWORD = "correct horse"
WAITS = (1, 2, 4, 8, 16, LONGEST_WAIT, LONGEST_WAIT)


@pytest.fixture
async def timer():
    return HandTimer()


@pytest.fixture
def accounts(tmp_path):
    accounts = Accounts(tmp_path, cost=CHEAPEST)
    for name in ("Caity", "Mallory", "Ben"):
        accounts.create(name, PASSWORD)
    return accounts


@pytest.fixture
def door(accounts, timer):
    return LoginGuard(accounts, lambda name: name == "Servnak", timer)


async def guess(door, address=HERE, name="Caity"):
    with pytest.raises(UserError, match="do not match"):
        await door.connect(address, name, "wrong password")


async def guess_and_wait(door, timer, seconds, address=HERE, name="Caity"):
    """A guess that is answered after so long, and not before."""
    guessing = asyncio.create_task(guess(door, address, name))
    await timer.somebody_sleeps(seconds)
    assert not guessing.done()
    timer.advance(seconds)
    await guessing


async def test_who_made_an_account_is_told_and_who_could_not_is_not(accounts, timer):
    made = []
    door = LoginGuard(accounts, lambda name: name == "Servnak", timer, lambda *what: made.append(what))
    account = await door.create(HERE, "Dora", PASSWORD)
    with pytest.raises(UserError):
        await door.create(HERE, "Servnak", PASSWORD)
    await door.connect(HERE, "Dora", PASSWORD)
    assert made == [(account, HERE)]


async def test_the_right_password_never_waits(door):
    for _ in range(20):
        assert (await door.connect(HERE, "Caity", PASSWORD)).name == "Caity"


async def test_each_wrong_password_waits_longer_and_its_owner_elsewhere_does_not(door, timer):
    for _ in range(FREE):
        await guess(door)
    for seconds in WAITS:
        guessing = asyncio.create_task(guess(door))
        await timer.somebody_sleeps(seconds)
        assert not guessing.done()
        await door.connect(THERE, "Caity", PASSWORD)
        timer.advance(seconds)
        await guessing


async def test_ones_own_success_forgives_no_failures_at_another_name(door, timer):
    for _ in range(FREE):
        await guess(door)
        await door.connect(HERE, "Mallory", PASSWORD)
    for seconds in WAITS:
        await guess_and_wait(door, timer, seconds)
        await door.connect(HERE, "Mallory", PASSWORD)


async def test_ones_own_success_forgives_no_names_that_were_tried_through(door, timer):
    for number in range(FREE):
        await guess(door, name=f"Nobody-{number}")
    for number, seconds in enumerate(WAITS):
        await door.connect(HERE, "Mallory", PASSWORD)
        await guess_and_wait(door, timer, seconds, name=f"No-{number}")


async def test_the_owners_success_does_not_shorten_the_waits_of_who_guesses_elsewhere(door, timer):
    for _ in range(FREE):
        await guess(door)
    for seconds in WAITS:
        await door.connect(THERE, "Caity", PASSWORD)
        await guess_and_wait(door, timer, seconds)


async def test_guesses_at_one_account_wait_longer_from_however_many_addresses(door, timer):
    for number in range(FREE):
        await guess(door, f"198.51.100.{number}")
    for number, seconds in enumerate(WAITS):
        await guess_and_wait(door, timer, seconds, f"203.0.113.{number}")


async def test_who_guesses_from_many_addresses_has_one_second_guess_at_a_time(door, timer):
    addresses = [f"198.51.100.{number}" for number in range(3)]
    for address in addresses[:FREE]:
        await guess(door, address)
    await guess_and_wait(door, timer, 1, addresses[2])
    guessing = [asyncio.create_task(guess(door, address)) for address in addresses]
    for number, seconds in enumerate((2, 4, 8)):
        await timer.somebody_sleeps(seconds)
        assert [task.done() for task in guessing] == [n < number for n in range(3)]
        timer.advance(seconds)
    await asyncio.gather(*guessing)


async def test_an_owner_mistypes_at_home_as_if_nobody_else_guessed(door, timer):
    await door.connect(HERE, "Caity", PASSWORD)
    for _ in range(FREE):
        await guess(door, THERE)
    for seconds in WAITS:
        await guess_and_wait(door, timer, seconds, THERE)
    guessing = asyncio.create_task(guess(door, THERE))
    await timer.somebody_sleeps(LONGEST_WAIT)
    for _ in range(FREE):
        await guess(door)
    await guess_and_wait(door, timer, 1)
    assert (await door.connect(HERE, "Caity", PASSWORD)).name == "Caity"
    for _ in range(FREE):
        await guess(door)
    timer.advance(LONGEST_WAIT)
    await guessing


async def test_failures_at_one_account_do_not_slow_another_one_at_the_same_address(door, timer):
    for _ in range(FREE):
        await guess(door)
    guessing = asyncio.create_task(guess(door))
    await timer.somebody_sleeps(1)
    await guess(door, name="Ben")
    assert (await door.connect(HERE, "Ben", PASSWORD)).name == "Ben"
    timer.advance(1)
    await guessing


@pytest.mark.parametrize("before", [0, FREE + 1])
@pytest.mark.parametrize("name", ["Caity", "Nobody"])
async def test_waits_do_not_tell_whether_there_is_such_an_account(door, timer, name, before):
    for number in range(before):
        if number < FREE:
            await guess(door, name=f"No-{number}")
        else:
            await guess_and_wait(door, timer, 1, name=f"No-{number}")
    if before:
        await guess_and_wait(door, timer, 2, name=name)
        await guess_and_wait(door, timer, 2, name=name.upper())
        await guess_and_wait(door, timer, 4, name="No-again")
    else:
        for _ in range(FREE):
            await guess(door, name=name)
        await guess_and_wait(door, timer, 1, name=name.upper())
        await guess(door, name="No-again")
        await guess_and_wait(door, timer, 2, THERE, name)


async def test_names_are_tried_through_one_at_a_time_however_many_wires_there_are(door, timer):
    guessing = [asyncio.create_task(guess(door, name=f"Nobody-{number}")) for number in range(FREE + 3)]
    for number, seconds in enumerate((1, 2, 4)):
        await timer.somebody_sleeps(seconds)
        assert [task.done() for task in guessing] == [n < FREE + number for n in range(FREE + 3)]
        timer.advance(seconds)
    await asyncio.gather(*guessing)


async def test_guesses_of_one_address_queue_up_however_many_wires_it_has(door, timer):
    for _ in range(FREE):
        await guess(door)
    guessing = [asyncio.create_task(guess(door)) for _ in range(3)]
    for number, seconds in enumerate((1, 2, 4)):
        await timer.somebody_sleeps(seconds)
        assert [task.done() for task in guessing] == [n < number for n in range(3)]
        timer.advance(seconds)
    await asyncio.gather(*guessing)


@pytest.mark.parametrize("other", ["2001:db8::ffff", "2001:db8:0:0:1:2:3:4"])
async def test_a_household_of_ipv6_is_one_address(door, timer, other):
    for _ in range(FREE):
        await guess(door, "2001:db8::1", "Nobody-1")
    await guess_and_wait(door, timer, 1, "2001:db8::2", "Nobody-1")
    for number in range(FREE - 1):
        await guess(door, "2001:db8::3", f"No-{number}")
    await guess_and_wait(door, timer, 1, other, "Nobody-2")
    await guess(door, "2001:db8:0:1::1", "Nobody-3")


async def test_an_address_of_ipv4_is_the_same_when_it_is_written_as_one_of_ipv6(door, timer):
    for number in range(FREE):
        await guess(door, f"::ffff:{HERE}", f"Nobody-{number}")
    await guess(door, f"::ffff:{THERE}", "No-1")
    await guess_and_wait(door, timer, 1, HERE, "No-2")


async def test_a_wire_without_an_address_is_let_in_too(door):
    await guess(door, "")
    assert (await door.connect("", "Caity", PASSWORD)).name == "Caity"


async def test_after_a_good_while_all_is_forgiven_and_not_before(door, timer):
    for _ in range(FREE):
        await guess(door)
    timer.advance(FORGIVEN - 1)
    await guess_and_wait(door, timer, 1)
    timer.advance(FORGIVEN - 1)  # of the latest attempt, not of the first one
    await guess_and_wait(door, timer, 2)
    timer.advance(FORGIVEN + 1)
    for _ in range(FREE):
        await guess(door)


async def test_accounts_are_made_one_after_the_other_ever_slower(door, timer):
    for number in range(FREE):
        assert (await door.create(HERE, f"Ben-{number}", PASSWORD)).name == f"Ben-{number}"
    making = asyncio.create_task(door.create(HERE, "Bo", PASSWORD))
    await timer.somebody_sleeps(1)
    timer.advance(1)
    assert (await making).name == "Bo"


async def test_whoever_made_an_account_is_at_home_there(door, timer):
    await door.create(HERE, "Bo", PASSWORD)
    for _ in range(FREE):
        await guess(door, THERE, "Bo")
    await guess_and_wait(door, timer, 1, THERE, "Bo")
    await guess(door, HERE, "Bo")


async def test_where_others_try_names_through_those_who_live_there_come_in(door, timer):
    await door.connect(HERE, "Caity", PASSWORD)
    for number in range(FREE):
        await guess(door, name=f"Nobody-{number}")
    guessing = asyncio.create_task(guess(door, name="Nobody"))
    await timer.somebody_sleeps(1)
    assert (await door.connect(HERE, "Caity", PASSWORD)).name == "Caity"
    await guess(door)
    timer.advance(1)
    await guessing


@pytest.mark.parametrize("name", ["Caity", "Servnak"])
async def test_asking_for_names_that_are_taken_is_slowed_like_making_accounts(door, timer, name):
    for _ in range(FREE):
        with pytest.raises(UserError, match="taken"):
            await door.create(HERE, name, PASSWORD)
    making = asyncio.create_task(door.create(HERE, name, PASSWORD))
    await timer.somebody_sleeps(1)
    timer.advance(1)
    with pytest.raises(UserError, match="taken"):
        await making


async def test_a_password_that_will_not_do_is_told_at_once_however_often(door):
    for _ in range(FREE + 2):
        with pytest.raises(UserError, match="8 to 128"):
            await door.create(HERE, "Bo", "short")


async def test_a_name_that_characters_know_is_refused(door):
    with pytest.raises(UserError, match="already taken"):
        await door.create(HERE, "Servnak", PASSWORD)


async def test_a_name_of_an_account_that_was_removed_is_refused(door, accounts):
    accounts.remove("Ben")
    with pytest.raises(UserError, match="already taken"):
        await door.create(HERE, "ben", PASSWORD)


async def test_passwords_are_hashed_beside_the_event_loop(door, accounts, monkeypatch):
    where = []
    check, create = accounts.check, accounts.create
    monkeypatch.setattr(accounts, "check", lambda *a: where.append(threading.get_ident()) or check(*a))
    monkeypatch.setattr(accounts, "create", lambda *a: where.append(threading.get_ident()) or create(*a))
    await door.connect(HERE, "Caity", PASSWORD)
    await door.create(HERE, "Bo", PASSWORD)
    assert len(where) == 2
    assert threading.get_ident() not in where


async def flood(door, timer):
    """Guesses from many addresses at many names, none of which waits."""
    for number in range(100):
        timer.advance(0.001)
        await guess(door, f"198.51.100.{number}", f"Nobody-{number}")
        assert len(door._tried) <= doors.REMEMBERED


async def test_what_is_remembered_has_a_bound(door, timer, monkeypatch):
    monkeypatch.setattr(doors, "REMEMBERED", 40)
    for number in range(100):
        door._tries(address=str(number))
        assert len(door._tried) == (number + 1 if number < 40 else 21 + (number - 40) % 20)


async def test_a_full_table_does_not_forget_what_was_guessed_at(door, timer, monkeypatch):
    monkeypatch.setattr(doors, "REMEMBERED", 40)
    for _ in range(FREE):
        await guess(door)
    for seconds in WAITS[:3]:
        await guess_and_wait(door, timer, seconds)
    await flood(door, timer)
    await guess_and_wait(door, timer, 8)


async def test_a_full_table_does_not_forget_who_was_let_in(door, timer, monkeypatch):
    monkeypatch.setattr(doors, "REMEMBERED", 40)
    await door.connect(HERE, "Caity", PASSWORD)
    for _ in range(FREE):
        await guess(door, THERE)
    await guess_and_wait(door, timer, 1, THERE)
    await flood(door, timer)
    await guess(door)


async def test_a_full_table_does_not_forget_who_waits(door, timer, monkeypatch):
    monkeypatch.setattr(doors, "REMEMBERED", 40)
    for number in range(FREE):
        await guess(door, f"192.0.2.{number}")
    first = asyncio.create_task(guess(door))
    await timer.somebody_sleeps(1)
    await flood(door, timer)
    assert door._tries(HERE, "caity").turn.locked()
    second = asyncio.create_task(guess(door))
    timer.advance(1)
    await first
    await timer.somebody_sleeps(2)
    assert not second.done()
    timer.advance(2)
    await second
