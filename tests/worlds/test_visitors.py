import asyncio

import pytest

from noodlings.errors import StoreError
from noodlings.values.caller import Role
from noodlings.worlds import visitors
from noodlings.worlds.accounts import FILE_NAME
from noodlings.worlds.visitors import AT_ONCE, DOOR_SECONDS, MOST_DOOR_SECONDS
from tests.worlds.mush import PASSWORD, FakeWire, HandTimer, Mush


class Visits:
    """A world and everybody's visits to it."""

    def __init__(self, mush, timer):
        self.mush, self.timer = mush, timer
        self.tasks = []

    def comes(self, *lines, **wire):
        made = FakeWire(**wire)
        made.type(*lines)
        self.tasks.append(asyncio.create_task(self.mush.visitors.receive(made)))
        return made

    async def connected(self, name, **wire):
        made = self.comes(f"connect {name} {PASSWORD}", **wire)
        await made.sees("Here:")
        return made

    async def over(self):
        await asyncio.wait_for(asyncio.gather(*self.tasks), 20)


@pytest.fixture
async def visits(tmp_path):
    timer = HandTimer()
    mush = Mush(tmp_path, timer)
    for name in ("Caity", "Ben"):
        mush.accounts.create(name, PASSWORD)
    made = Visits(mush, timer)
    yield made
    await mush.visitors.close()
    await made.over()
    assert mush.here() == []
    await mush.world.settle()
    await mush.world.close()


async def test_somebody_new_comes_in_as_a_player_and_is_heard(visits):
    caity = await visits.connected("Caity")
    dora = visits.comes(f"create Dora {PASSWORD}", "say Hello, Phi", "quit")
    await caity.sees('Dora says, "Hello, Phi"')
    await caity.sees("Dora leaves.")
    assert [(one.user_id, one.role) for one in visits.mush.introduced][-1] == ("account:dora", Role.PLAYER)
    assert "Hello, Phi" in visits.mush.minds.texts("phi")
    assert dora.sent.count('You say, "Hello, Phi"') == 1


@pytest.mark.parametrize(
    "headers",
    [
        ["POST / HTTP/1.1", "User-Agent: Mozilla/5.0"],
        ["get /create HTTP/1.0"],
        ["POST /" + "x" * 64_000, "Host: 127.0.0.1:4201"],  # the end of a long line is not kept
        ["x", "origin: https://evil.example"],
    ],
    ids=lambda headers: headers[-1],
)
async def test_a_page_in_a_browser_does_not_come_in_by_what_it_posts(visits, headers):
    page = visits.comes(*headers, "", f"create Web {PASSWORD}", "say hi", "quit")
    await visits.over()
    assert page.closed
    assert any("not HTTP" in text for text in page.sent)
    assert not visits.mush.introduced
    await visits.connected("Caity")


async def test_who_is_called_host_comes_in(visits):
    await visits.connected("Ben")
    host = visits.comes(f"create Host {PASSWORD}", "quit")
    await host.sees("Here: Ben, Host")


async def test_rights_are_those_of_the_account(visits):
    visits.mush.accounts.change("Caity", role=Role.ADMIN)
    await visits.connected("caity")
    assert [(one.name, one.role) for one in visits.mush.introduced] == [("Caity", Role.ADMIN)]


@pytest.mark.parametrize("removed", [True, False])
async def test_who_is_removed_or_gets_another_role_must_log_in_again(visits, removed):
    visits.mush.accounts.change("Caity", role=Role.ADMIN)
    caity, ben = await visits.connected("Caity"), await visits.connected("Ben")
    if removed:
        visits.mush.accounts.remove("Caity")
    else:
        visits.mush.accounts.change("Caity", role=Role.PLAYER)
    caity.type("say I am still here")
    await caity.sees("Your account was changed or removed")
    await ben.sees("Caity leaves.")
    assert "still here" not in "".join(visits.mush.minds.texts("phi"))


async def test_whose_account_is_erased_while_they_come_in_stays_outside(visits):
    accounts = visits.mush.accounts
    check = accounts.check

    def erased_meanwhile(name, password):
        account = check(name, password)
        accounts.erase(name)
        return account

    accounts.check = erased_meanwhile
    caity = visits.comes(f"connect Caity {PASSWORD}")
    await caity.sees("Your account was changed or removed")
    assert visits.mush.here() == []


async def test_a_password_is_asked_for_unseen_and_a_new_one_twice(visits):
    caity = visits.comes("connect Caity", PASSWORD)
    await caity.sees("Here:")
    assert caity.hidden == [True, False]
    dora = visits.comes("create Dora", PASSWORD, "something else", "create Dora", PASSWORD, PASSWORD)
    await dora.sees("passwords are different")
    await dora.sees("Here:")
    assert dora.hidden == [True, False] * 4
    assert not any(PASSWORD in text for text in caity.sent + dora.sent)


async def test_wrong_words_at_the_door_are_told_and_lead_nowhere(visits):
    guest = visits.comes(
        "say hello", "connect Caity wrong-password", "create Phi 12345678", "@memories phi", "quit"
    )
    await visits.over()
    assert sum("connect NAME PASSWORD" in text for text in guest.sent) == 3
    assert any("do not match" in text for text in guest.sent)
    assert any("already taken" in text for text in guest.sent)
    assert guest.closed
    assert visits.mush.introduced == []


async def test_a_damaged_file_of_accounts_is_told_to_the_log_alone(visits, tmp_path, caplog):
    (tmp_path / FILE_NAME).write_text("damaged")
    guest = visits.comes(f"connect Caity {PASSWORD}", "quit")
    await visits.over()
    assert any("Nobody can log in" in text for text in guest.sent)
    assert not any(str(tmp_path) in text for text in guest.sent)
    assert str(tmp_path) in caplog.text


async def test_who_is_silent_is_let_go_and_who_types_stays(visits):
    caity, ben = await visits.connected("Caity"), await visits.connected("Ben")
    visits.timer.advance(500)
    ben.type("say still here")
    await ben.sees("You say")
    await visits.timer.somebody_sleeps(600)
    visits.timer.advance(100)
    await caity.sees("idle for too long")
    await ben.sees("Caity leaves.")
    assert visits.mush.here() == ["Ben"]


async def test_nobody_stands_at_the_door_for_ever(visits):
    guest = visits.comes()
    await visits.timer.somebody_sleeps(DOOR_SECONDS)
    visits.timer.advance(DOOR_SECONDS)
    await visits.over()
    assert guest.closed


async def test_a_flooder_is_slowed_and_nobody_else(visits):
    caity, ben = await visits.connected("Caity"), await visits.connected("Ben")
    ben.type(*(f"say {number}" for number in range(100)))
    await visits.timer.somebody_sleeps(0.2)
    # Connecting was a line too.
    assert sum("You say" in text for text in ben.sent) == AT_ONCE - 1
    for number in range(5):
        caity.type(f"say calm {number}")
        await ben.sees(f"calm {number}")
    for _ in range(10):
        visits.timer.advance(0.2)
        await visits.timer.somebody_sleeps(0.2)
    said = [text for text in caity.sent if text.startswith("Ben says")]
    assert said == [f'Ben says, "{number}"' for number in range(AT_ONCE + 9)]


async def test_who_comes_back_sees_the_last_lines_but_nothing_that_others_told_in_confidence(visits):
    caity = await visits.connected("Caity")
    caity.type("quit")
    ben = await visits.connected("Ben")
    assert "Recently:" not in ben.sent
    ben.type("say and not this, with nobody else here")
    await ben.sees("You say")
    visits.mush.accounts.create("Dora", PASSWORD)
    await visits.connected("Dora")
    ben.type("say You missed this", "whisper Phi and not this")
    await ben.sees("You whisper")
    again = await visits.connected("Caity")
    await again.sees('Ben says, "You missed this"')
    assert "Recently:" in again.sent
    assert not any("not this" in text for text in again.sent)


async def test_who_comes_in_twice_leaves_the_first_wire(visits):
    first = await visits.connected("Caity")
    second = await visits.connected("Caity", address="203.0.113.2")
    await first.sees("from elsewhere")
    assert visits.mush.here() == ["Caity"]
    second.type("say it is me")
    await second.sees("You say")
    third, fourth = visits.comes(f"connect Caity {PASSWORD}"), visits.comes(f"connect Caity {PASSWORD}")
    await second.sees("from elsewhere")
    await asyncio.wait(visits.tasks[2:], return_when=asyncio.FIRST_COMPLETED)
    assert visits.mush.here() == ["Caity"]
    assert [third.closed, fourth.closed].count(True) == 1


async def test_a_line_may_hold_anything(visits):
    caity, ben = await visits.connected("Caity"), await visits.connected("Ben")
    ben.type("say \x1b[2J\x1b]0;title\x07 ünï 🐕\u202e \ud800\x00")
    await caity.sees('Ben says, "ünï 🐕')
    assert all(text.isprintable() for sent in caity.sent for text in sent.split("\n"))


async def test_answers_are_as_wide_as_the_window(visits):
    caity = await visits.connected("Caity", columns=60)
    caity.type("wide")
    await caity.sees("x" * 60)
    assert max(len(line) for text in caity.sent for line in text.split("\n")) <= 60


async def test_colours_are_for_those_who_can(visits):
    caity, ben = await visits.connected("Caity", colour=True), await visits.connected("Ben")
    for one in (caity, ben):
        one.type("say hello")
        await one.sees("hello")
    await caity.sees("\x1b[")
    assert not any("\x1b" in text for text in ben.sent)


async def test_something_that_breaks_ends_one_visit_alone(visits, caplog):
    caity, ben = await visits.connected("Caity"), await visits.connected("Ben")
    ben.type("break")
    await caity.sees("Ben leaves.")
    await ben.sees("Something went wrong")
    assert "broken on purpose" in caplog.text
    caity.type("say on it goes")
    await caity.sees("You say")


async def test_who_cannot_be_saved_is_told_so_and_comes_in_later(visits, monkeypatch, caplog):
    def changed(state):
        raise StoreError("the database x is away")

    with monkeypatch.context() as away:
        away.setattr(visits.mush.world, "_changed", changed)
        caity = visits.comes(f"connect Caity {PASSWORD}")
        await caity.sees("cannot be read or written right now")
        await visits.over()
    assert not any("database x" in text for text in caity.sent)
    assert "the database x is away" in caplog.text
    assert visits.mush.here() == []
    await visits.connected("Caity")
    assert visits.mush.here() == ["Caity"]


async def test_one_address_cannot_take_all_the_room(visits, monkeypatch):
    monkeypatch.setattr(visitors, "MOST_FROM_ONE_ADDRESS", 2)
    for name in ("Caity", "Ben"):
        await visits.connected(name)
    refused = visits.comes()
    await refused.sees("world is full")
    assert refused.closed
    await visits.comes(address="203.0.113.2").sees("Welcome")


@pytest.mark.parametrize("limit", ["MOST", "MOST_FROM_ONE_ADDRESS"])
async def test_a_crowd_at_the_door_keeps_nobody_out_and_puts_nobody_out(visits, monkeypatch, limit):
    monkeypatch.setattr(visitors, limit, 4)
    await visits.connected("Caity")
    crowd = [visits.comes() for _ in range(20)]
    await crowd[-1].sees("Welcome")
    await visits.connected("Ben")
    await crowd[0].sees("waited longest")
    assert visits.mush.here() == ["Ben", "Caity"]
    assert sum(not one.closed for one in crowd) <= 4


async def test_a_word_now_and_then_keeps_nobody_at_the_door(visits):
    guest = visits.comes()
    await guest.sees("Welcome")
    left = MOST_DOOR_SECONDS
    while left > 0:
        await visits.timer.somebody_sleeps(min(DOOR_SECONDS, left))
        step = min(DOOR_SECONDS - 1, left)
        visits.timer.advance(step)
        left -= step
        if left > 0:
            guest.type("nonsense")
    await visits.over()
    assert guest.closed


async def test_where_no_connection_is_left_for_one_more_it_is_told(visits):
    await visits.comes(f"connect Caity {PASSWORD}", room=False).sees("world is full")
    assert visits.mush.here() == []


async def test_at_the_end_everybody_is_told(visits):
    caity, guest = await visits.connected("Caity"), visits.comes()
    await guest.sees("Welcome")
    await visits.mush.visitors.close()
    await visits.over()
    assert caity.sent[-1] == guest.sent[-1] == "The world is shutting down. Everything is kept."
    assert (caity.closed, guest.closed) == (True, True)
    late = visits.comes()
    await late.sees("world is full")
