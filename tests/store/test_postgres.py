"""What is PostgreSQL's own in the store: connections that break, one writer, and tables of other versions."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg")

from noodlings.errors import NotFound, StoreBusy, StoreError, UserError  # noqa: E402
from noodlings.ports import AgentState, Changes  # noqa: E402
from noodlings.store import forgetting, postgres  # noqa: E402
from noodlings.store import statements as sql  # noqa: E402
from noodlings.store.cipher import UserKey  # noqa: E402
from noodlings.store.keys import UserKeys  # noqa: E402
from noodlings.store.sql import SqlStore  # noqa: E402
from noodlings.store.tables import SCHEMA  # noqa: E402
from noodlings.store.vault import Encryption  # noqa: E402
from noodlings.values.audience import Audience, Tier  # noqa: E402
from tests.postgres import NewDatabase, PostgresServer  # noqa: E402
from tests.store.records import AGENT, BEFORE_NIGHTS, an_entry  # noqa: E402
from tests.store.test_kill import killed, start_writer  # noqa: E402


@pytest.fixture
def url(new_database: NewDatabase) -> str:
    return new_database()


@pytest.fixture
def admin(url: str) -> Iterator[Any]:
    """A connection of somebody else to the same tables."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        yield connection


def cut_off(admin: Any) -> int:
    """Break every other connection, as a restart of the server does."""
    found = admin.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND application_name LIKE 'noodlings%'"
    )
    return len(found.fetchall())


def test_what_was_committed_is_there_when_it_is_opened_again(url: str) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
    with closing(SqlStore(url)) as store:
        assert store.entries(AGENT, [1]) == {1: an_entry(1)}


def test_a_connection_that_broke_meanwhile_is_opened_again(url: str, admin: Any) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        assert cut_off(admin) == 1
        store.commit(Changes(AGENT, added=(an_entry(2),)))
        assert cut_off(admin) == 1
        assert list(store.entries(AGENT, [1, 2])) == [1, 2]


def test_what_breaks_in_the_midst_leaves_nothing_and_the_next_goes_on(url: str, admin: Any) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT))

        def cut_off_in_the_midst() -> None:
            with store._database.transaction() as begun:
                begun.run(sql.ADD_AGENT, {"agent_id": "callie", "forgotten_id": 0})
                cut_off(admin)
                begun.run(sql.CHANGE_AGENT, {"of_agent": AGENT, "state": None})

        with pytest.raises(StoreBusy, match="cannot be reached"):
            cut_off_in_the_midst()
        assert store.agents() == [AGENT]


def test_there_is_one_writer_and_any_number_of_readers(url: str) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        with pytest.raises(StoreBusy, match="another noodlings is running"):
            SqlStore(url)
        with closing(SqlStore(url, read_only=True)) as reader:
            store.commit(Changes(AGENT, added=(an_entry(2),)))
            assert list(reader.entries(AGENT, [1, 2])) == [1, 2]
            with pytest.raises(StoreError, match="open for reading only"):
                reader.commit(Changes(AGENT, added=(an_entry(3),)))


def test_without_tables_a_reader_is_told_where_to_look(url: str) -> None:
    with pytest.raises(NotFound, match=r"store\.url"):
        SqlStore(url, read_only=True)


def test_tables_of_somebody_else_are_left_alone(url: str, admin: Any) -> None:
    admin.execute("CREATE TABLE bills (number int)")
    for read_only in (False, True):
        with pytest.raises(StoreError, match="not those of noodlings"):
            SqlStore(url, read_only)
    tables = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
    assert tables == [("bills",)]


def test_tables_of_a_newer_version_are_refused(url: str, admin: Any) -> None:
    SqlStore(url).close()
    admin.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match=f"newer noodlings .*knows {SCHEMA}"):
        SqlStore(url)


def test_tables_of_an_older_version_are_migrated_by_a_writer_only(url: str, admin: Any) -> None:
    with closing(SqlStore(url, encryption=Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text)))) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
    for statement in BEFORE_NIGHTS.strip().split("\n"):
        admin.execute(statement)
    admin.execute("UPDATE alembic_version SET version_num = '0008'")
    keys = Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))
    with pytest.raises(StoreError, match="older version"):
        SqlStore(url, read_only=True, encryption=keys)
    with closing(SqlStore(url, encryption=keys)) as store:
        assert store.entries(AGENT, [1]) == {1: an_entry(1)}
    assert admin.execute("SELECT version_num FROM alembic_version").fetchall() == [(SCHEMA,)]
    where = "schemaname = current_schema() AND indexname = 'ix_links_target'"
    ((index,),) = admin.execute(f"SELECT indexdef FROM pg_indexes WHERE {where}")
    assert index.endswith("(target_id, agent_id, strength, created, quoted)")


def test_a_process_that_stands_still_holds_up_nobody_for_long(url: str, admin: Any) -> None:
    change = f"UPDATE agents SET state = NULL WHERE agent_id = '{AGENT}'"
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, state=AgentState(AGENT, {"said": "hello"})))

        def stand_still() -> None:
            with store._database.transaction() as begun:
                begun.run(sql.CHANGE_AGENT, {"of_agent": AGENT, "state": "{}"})
                (seconds,) = begun._driver.execute("SHOW idle_in_transaction_session_timeout").fetchone()
                assert seconds == "5s"
                begun._driver.execute("SET idle_in_transaction_session_timeout = '100ms'")
                assert admin.execute(change).rowcount == 1  # it waits until the other one has lost

        with pytest.raises(StoreBusy, match="cannot be reached"):
            stand_still()
        record = store.load(AGENT)
        assert record is not None
        assert record.state == AgentState(AGENT, {})


def test_whoever_forgets_may_think_for_longer(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []

    def limit(transaction: Any) -> Any:
        (found,) = transaction._driver.execute("SHOW idle_in_transaction_session_timeout").fetchone()
        return found

    def redact(transaction: Any, *given: Any) -> Any:
        limits.append(limit(transaction))
        return _redact_traces(transaction, *given)

    _redact_traces = forgetting._redact_traces
    monkeypatch.setattr(forgetting, "_redact_traces", redact)
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        assert store.forget(AGENT, [1], by_user="admin", timestamp=1.0).count == 1
        with store._database.transaction() as transaction:
            limits.append(limit(transaction))
    assert limits == ["30s", "5s"]


def test_a_server_that_does_not_answer_is_given_up(
    url: str, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", 0.3)
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        ((pid,),) = admin.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'noodlings%'"
        ).fetchall()
        os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(3):  # it still holds the lock
                with pytest.raises(StoreBusy, match=r"cannot be reached|another noodlings is running"):
                    store.commit(Changes(AGENT, added=(an_entry(2),)))
        finally:
            os.kill(pid, signal.SIGCONT)
        monkeypatch.setattr(postgres.time, "monotonic", lambda: float("inf"))
        store.commit(Changes(AGENT, added=(an_entry(2),)))
        assert list(store.entries(AGENT, [1, 2])) == [1, 2]


def test_a_server_that_stops_to_answer_in_the_midst_is_given_up(
    url: str, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", 0.3)
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT))

        def answer_nothing() -> None:
            with store._database.transaction() as begun:
                (pid,) = begun._driver.execute("SELECT pg_backend_pid()").fetchone()
                os.kill(pid, signal.SIGSTOP)
                try:
                    begun.run(sql.ADD_AGENT, {"agent_id": "callie", "forgotten_id": 0})
                finally:
                    os.kill(pid, signal.SIGCONT)

        with pytest.raises(StoreBusy, match="cannot be reached: wait timeout expired"):
            answer_nothing()
        assert store.agents() == [AGENT]


def test_who_waits_for_a_lock_is_told_after_a_while(url: str, admin: Any) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT))
        store._database._connected().execute("SET lock_timeout = '50ms'")
        with admin.transaction():
            admin.execute("SELECT * FROM agents FOR UPDATE")
            with pytest.raises(StoreBusy, match="in use by another program"):
                store.commit(Changes(AGENT, state=AgentState(AGENT, {"said": "hello"})))
        store.commit(Changes(AGENT, state=AgentState(AGENT, {"said": "hello"})))


def test_a_server_that_is_away_is_asked_again_in_a_moment_and_not_for_every_step(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        database = store._database
        asked: list[object] = []

        def away(**address: object) -> object:
            asked.append(address)
            raise psycopg.OperationalError("connection failed: nobody is there")

        with monkeypatch.context() as patch:
            patch.setattr(postgres._Connection, "connect", away)
            patch.setattr(postgres.time, "monotonic", lambda: 100.0)
            database._driver.close()
            for _ in range(3):
                with pytest.raises(StoreBusy, match="cannot be reached: connection failed: nobody is there"):
                    store.commit(Changes(AGENT, added=(an_entry(2),)))
            assert len(asked) == 1
            patch.setattr(postgres.time, "monotonic", lambda: 101.0)
            with pytest.raises(StoreBusy):
                store.agents()
            assert len(asked) == 2
        monkeypatch.setattr(postgres.time, "monotonic", lambda: 110.0)
        store.commit(Changes(AGENT, added=(an_entry(2),)))
        assert list(store.entries(AGENT, [1, 2])) == [1, 2]


def test_a_refusal_quotes_nothing_of_what_is_kept(url: str) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1, "zanzibar"),)))
        with pytest.raises(StoreError, match="uq_entries_agent_id") as refused:
            store.commit(Changes(AGENT, added=(an_entry(1, "zanzibar"),)))
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__
        assert AGENT not in str(refused.value)


def test_a_closed_store_says_so(url: str) -> None:
    store = SqlStore(url)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.agents()


def test_a_key_that_another_process_changed_is_taken_up(url: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    keys = UserKeys(file=str(file))
    keys.write((UserKey(bytes(32)),))
    sealed = Encryption(Tier.OPEN, keys)
    with closing(SqlStore(url, encryption=sealed)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1, "zanzibar"),)))
        with closing(SqlStore(url, read_only=True, encryption=sealed)) as reader:
            keys.write((UserKey(bytes(range(32))), UserKey(bytes(32))))
            store.commit(Changes(AGENT, added=(an_entry(2, "zanzibar"),)))
            assert [entry.user_text for entry in reader.archive(AGENT)] == ["zanzibar"] * 2
    keys.write((UserKey(bytes(range(32))),))
    with closing(SqlStore(url, encryption=sealed)) as store:
        assert [entry.user_text for entry in store.archive(AGENT)] == ["zanzibar"] * 2


def test_an_open_question_becomes_secret_with_its_answer(url: str, admin: Any) -> None:
    keys = Encryption(Tier.SECRET, UserKeys(UserKey(bytes(32)).text))
    asked = an_entry(1, user_text="where is the zebrafinch?")
    secret = Audience(frozenset({"user_ann"}), confined=True, tier=Tier.SECRET)
    answered = replace(asked, response="in the oak", audience=secret)
    with closing(SqlStore(url, encryption=keys)) as store:
        store.commit(Changes(AGENT, added=(asked,)))
        store.commit(Changes(AGENT, updated=(answered,)))
        assert store.entries(AGENT, [1]) == {1: answered}
    assert "zebrafinch" not in str(admin.execute("SELECT * FROM entries").fetchall())


def test_tables_that_were_away_for_a_moment_are_used_again(url: str, admin: Any) -> None:
    with closing(SqlStore(url)) as store:
        store.commit(Changes(AGENT, added=(an_entry(1),)))
        admin.execute("ALTER TABLE keys RENAME TO away")
        with pytest.raises(StoreError, match="keys"):
            store.commit(Changes(AGENT, added=(an_entry(2),)))
        admin.execute("ALTER TABLE away RENAME TO keys")
        store.commit(Changes(AGENT, added=(an_entry(2),)))
        assert list(store.entries(AGENT, [1, 2])) == [1, 2]


def test_a_url_with_a_mistake_is_refused_in_words() -> None:
    for option, error, words in (
        ("port=abc", UserError, r"store\.url: .*port"),
        ("nonsense=1", StoreError, 'invalid connection option "nonsense"'),
    ):
        with pytest.raises(error, match=words) as refused:
            SqlStore(f"postgresql+psycopg://me:hunter2@127.0.0.1:1/noodlings?{option}")
        assert "hunter2" not in str(refused.value)


def everything_is_there(url: str, acknowledged: list[int]) -> None:
    """Open it, as the next start does: what was acknowledged is there with its answers, each once."""
    with closing(SqlStore(url)) as store:
        entries = store.archive(AGENT, limit=10**6)
        assert [entry.id for entry in entries] == list(range(1, len(entries) + 1))
        assert entries[-1].id >= acknowledged[-1]
        assert {number: entries[number - 1].response for number in acknowledged} == {
            number: f"answer {number}" for number in acknowledged
        }


@pytest.mark.slow
def test_kills_lose_nothing_that_was_acknowledged(url: str) -> None:
    acknowledged: list[int] = []  # by all of them: a percept whose answer a kill cut off never is
    for turns in (1, 7, 20):
        process = start_writer(url)
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(turns)]
        acknowledged += [*said, *killed(process)]
        everything_is_there(url, acknowledged)


@pytest.mark.slow
def test_a_server_that_falls_loses_nothing_that_was_acknowledged(
    url: str, postgres_server: PostgresServer
) -> None:
    process = start_writer(url)
    assert process.stdout is not None
    said = [int(process.stdout.readline()) for _ in range(20)]
    postgres_server.crash()
    try:
        rest, _ = process.communicate(timeout=60)  # its next step is refused
    finally:
        postgres_server.start()
    assert process.returncode == 1
    everything_is_there(url, said + [int(line) for line in rest.split()])
