"""Requests to agents of other workers: kept until they are answered, in order, and read by workers alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

psycopg = pytest.importorskip("psycopg")

from noodlings.store.sharing import Sharing  # noqa: E402
from noodlings.store.sql import SqlStore  # noqa: E402
from tests.postgres import NewDatabase  # noqa: E402
from tests.store.records import AGENT  # noqa: E402


@pytest.fixture
def url(new_database: NewDatabase) -> str:
    return new_database()


@contextmanager
def worker(url: str) -> Iterator[Sharing]:
    with closing(SqlStore(url, shared=True)) as store:
        assert store.sharing is not None
        yield store.sharing


def test_a_request_goes_to_the_owner_and_its_reply_to_who_asked(url: str) -> None:
    with worker(url) as owner, worker(url) as asker:
        owner.leases.claim(AGENT)
        asked = asker.outbox.ask(AGENT, "how are you?", repeatable=False)
        assert asker.outbox.due() == []
        (request,) = owner.outbox.due()
        assert (request.agent_id, request.request, request.begun) == (AGENT, "how are you?", False)
        assert asker.outbox.take_replies() == {asked: None}
        owner.outbox.reply(request, "well")
        assert owner.outbox.due() == []
        assert owner.outbox.take_replies() == {}
        assert asker.outbox.take_replies() == {asked: "well"}
        assert asker.outbox.take_replies() == {}


def test_requests_come_in_the_order_in_which_they_were_asked(url: str) -> None:
    with worker(url) as owner, worker(url) as a, worker(url) as b:
        owner.leases.claim(AGENT)
        for number in range(10):
            asker = (a, b)[number % 2]
            asker.outbox.ask(AGENT, str(number), repeatable=True)
        due = owner.outbox.due()
        assert [request.request for request in due] == [str(number) for number in range(10)]


def test_what_a_dead_worker_had_begun_is_known_to_the_next(url: str) -> None:
    with worker(url) as asker, worker(url) as heir:
        with worker(url) as owner:
            owner.leases.claim(AGENT)
            asker.outbox.ask(AGENT, "how are you?", repeatable=False)
            (request,) = owner.outbox.due()
            owner.outbox.begin(request)
            assert heir.outbox.due() == []
        (request,) = heir.outbox.due()
        assert request.begun


def test_no_word_of_a_request_stands_in_the_database_and_its_log_has_none_of_it(url: str) -> None:
    with worker(url) as sharing, psycopg.connect(url.replace("+psycopg", "")) as admin:
        asked = sharing.outbox.ask(AGENT, "zzheliotrope", repeatable=True)
        (request,) = sharing.outbox.due()
        assert request.request == "zzheliotrope"
        sharing.outbox.reply(request, "zzverbena")
        kept = str(admin.execute("SELECT * FROM outbox").fetchall())
        assert asked in kept
        assert "zzheliotrope" not in kept
        assert "zzverbena" not in kept
        assert admin.execute("SELECT relpersistence FROM pg_class WHERE relname = 'outbox'").fetchone() == (
            "u",
        )
        assert sharing.outbox.take_replies() == {asked: "zzverbena"}


def test_a_worker_that_came_later_cannot_read_a_request(url: str) -> None:
    with worker(url) as asker:
        asked = asker.outbox.ask(AGENT, "how are you?", repeatable=True)
        with worker(url) as late:
            (request,) = late.outbox.due()
            assert request.request == ""
            late.outbox.reply(request, "")
            assert asker.outbox.take_replies() == {asked: ""}
            asker.outbox.ask(AGENT, "how are you?", repeatable=True)
            assert [request.request for request in late.outbox.due()] == ["how are you?"]


def test_who_has_no_key_is_left_out_and_logged_once(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with worker(url) as sharing, psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        for junk in ("zz-not-hex", "00ff", "00" * 32):  # the last one is a key that gives no secret
            admin.execute("INSERT INTO workers VALUES (%s, 0)", [junk])
        for words in ("one", "two"):
            sharing.outbox.ask(AGENT, words, repeatable=True)
        assert [request.request for request in sharing.outbox.due()] == ["one", "two"]
    assert len([record for record in caplog.records if "without a key" in record.message]) == 3


def test_what_is_damaged_or_moved_is_not_read_and_holds_up_nothing_else(url: str) -> None:
    with worker(url) as sharing, psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        asked = [sharing.outbox.ask(AGENT, words, repeatable=True) for words in ("one", "two", "three")]
        admin.execute("UPDATE outbox SET request = left(request, -6) || 'AAAA\"}' WHERE number = 1")
        admin.execute(
            "UPDATE outbox SET request = (SELECT request FROM outbox WHERE number = 3) WHERE number = 2"
        )
        due = sharing.outbox.due()
        assert [request.request for request in due] == ["", "", "three"]
        for request in due:
            sharing.outbox.reply(request, "well")
        admin.execute("UPDATE outbox SET reply = 'well' WHERE number = 1")
        assert sharing.outbox.take_replies() == dict.fromkeys(asked[1:], "well")


async def test_all_workers_hear_what_one_tells(url: str) -> None:
    with worker(url) as a, worker(url) as b:
        heard: asyncio.Queue[list[str]] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        with a.waking(loop, heard.put_nowait), b.waking(loop, heard.put_nowait):
            assert [await heard.get(), await heard.get()] == [["listening"]] * 2
            a.outbox.tell("turn", AGENT, "1")
            assert [await heard.get(), await heard.get()] == [["turn", AGENT, "1"]] * 2


async def test_worlds_in_two_schemas_of_a_database_do_not_hear_each_other(new_database: NewDatabase) -> None:
    with worker(new_database()) as ours, worker(new_database()) as theirs:
        heard: asyncio.Queue[list[str]] = asyncio.Queue()
        with ours.waking(asyncio.get_running_loop(), heard.put_nowait):
            assert await heard.get() == ["listening"]
            theirs.outbox.tell("created", "zarnok")
            ours.outbox.tell("created", "lotta")
            assert await heard.get() == ["created", "lotta"]


async def test_a_schema_may_have_the_longest_name(url: str) -> None:
    base, _, name = url.rpartition("%3D")
    longest = f"{name}_".ljust(63, "s")
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {longest}")  # type: ignore[call-overload]
    with worker(f"{base}%3D{longest}") as sharing:
        heard: asyncio.Queue[list[str]] = asyncio.Queue()
        with sharing.waking(asyncio.get_running_loop(), heard.put_nowait):
            assert await heard.get() == ["listening"]
            sharing.outbox.tell("created", "lotta")
            assert await heard.get() == ["created", "lotta"]


async def test_a_listener_listens_again_when_its_connection_broke_and_says_so(url: str) -> None:
    with worker(url) as sharing, psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        heard: asyncio.Queue[list[str]] = asyncio.Queue()
        with sharing.waking(asyncio.get_running_loop(), heard.put_nowait):
            assert await heard.get() == ["listening"]
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND application_name LIKE 'noodlings%'"
            )
            assert await heard.get() == ["listening"]
            sharing.outbox.tell("turn", AGENT, "1")
            assert await heard.get() == ["turn", AGENT, "1"]


def test_all_workers_count_the_requests_of_a_caller_together(url: str) -> None:
    with worker(url) as a, worker(url) as b:
        taken = [one.take_request("toad", 0.001, 4.0) for one in (a, b, a, b)]
        assert taken == [0.0] * 4
        assert 900 < a.take_request("toad", 0.001, 4.0) <= 1_000
        assert b.take_request("toad", 0.001, 4.0) > 0
        assert b.take_request("caity", 0.001, 4.0) == 0.0


def test_a_bucket_fills_at_its_rate(url: str) -> None:
    with worker(url) as sharing, psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        assert sharing.take_request("toad", 0.5, 1.0) == 0.0
        assert sharing.take_request("toad", 0.5, 1.0) > 1.5
        admin.execute("UPDATE rates SET since = since - interval '2 seconds'")
        assert sharing.take_request("toad", 0.5, 1.0) == 0.0
        admin.execute("UPDATE rates SET since = since + interval '1 hour'")  # its clock was set back
        assert 1.0 < sharing.take_request("toad", 0.5, 1.0) <= 2.0


def test_what_nobody_waits_for_any_more_is_deleted(url: str) -> None:
    with worker(url) as sharing, psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as admin:
        sharing.take_request("toad", 0.5, 1.0)
        sharing.outbox.ask(AGENT, "how are you?", repeatable=True)
        sharing.outbox.ask(AGENT, "and now?", repeatable=True)
        sharing.outbox.reply(sharing.outbox.due()[0], "well")
        sharing.tidy()
        assert admin.execute("SELECT count(*) FROM outbox").fetchall() == [(2,)]
        admin.execute("UPDATE rates SET since = since - interval '2 hours'")
        admin.execute("UPDATE outbox SET asked = asked - interval '2 hours'")
        sharing.take_request("caity", 0.5, 1.0)
        sharing.tidy()
        assert admin.execute("SELECT caller FROM rates").fetchall() == [("caity",)]
        assert admin.execute("SELECT count(*) FROM outbox").fetchall() == [(0,)]
