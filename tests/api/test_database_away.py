"""A server whose database goes away and comes back: what is said meanwhile is refused, nothing is lost."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest

from tests.api.serving import Server, environment, served
from tests.postgres import PostgresServer
from tests.program import ran

pytest.importorskip("psycopg")
pytestmark = pytest.mark.slow

PATH = "/api/agents/servnak/perceive"
PATIENCE = 60.0
"""Real seconds within which the database is there again, however many tries fit into them."""


def say(server: Server, text: str) -> int:
    """The status of the answer."""
    return server.client.post(PATH, json={"user_id": "user_caity", "text": text}).status_code


def test_percepts_are_refused_while_it_is_away_and_taken_when_it_is_back(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    with served(tmp_path, NOODLINGS_STORE__URL=postgres_server.new_database()) as server:
        assert say(server, "My dog died yesterday") == 200
        postgres_server.stop()
        try:
            refused = server.client.post(PATH, json={"user_id": "user_caity", "text": "Anybody there?"})
            assert (refused.status_code, refused.json()["title"]) == (503, "Service Unavailable")
            assert "cannot be read or written right now" in refused.json()["detail"]
            assert [server.client.get(path).status_code for path in ("/health", "/ready", "/")] == [200] * 3
        finally:
            postgres_server.start()
        gives_up = monotonic() + PATIENCE
        while say(server, "Back again") != 200:
            assert monotonic() < gives_up
        assert say(server, "Good") == 200
        found = server.client.get("/api/agents/servnak/memory/working").json()
        said = [entry["text"] for entry in found["entries"]]
        assert said == ["My dog died yesterday", "Back again", "Good"]
    assert "cannot be reached" in (tmp_path / "noodlings.log").read_text("utf-8")


def test_who_tries_to_come_in_or_to_go_while_it_is_away_can_do_so_when_it_is_back(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    def types(server: Server, line: str, user: str) -> tuple[int, str]:
        answer = server.client.post("/api/commands", json={"user_id": user, "line": line})
        return answer.status_code, answer.text

    with served(tmp_path, NOODLINGS_STORE__URL=postgres_server.new_database()) as server:
        assert types(server, "look", "user_caity")[0] == 200
        postgres_server.stop()
        try:
            for line, user in (("look", "user_eve"), ("north", "user_caity"), ("look", "user_eve")):
                assert "cannot be read or written right now" in types(server, line, user)[1]
        finally:
            postgres_server.start()
        gives_up = monotonic() + PATIENCE
        while types(server, "look", "user_eve")[0] != 200:
            assert monotonic() < gives_up
        assert "user_eve" not in types(server, "north", "user_caity")[1]
        heard = types(server, "look", "user_eve")[1]
        assert "caity leaves to the north" in heard
        assert heard.count("leaves to the north") == 1


def test_a_start_without_it_says_so_and_nothing_of_the_password(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://noodlings:hunter2@/noodlings?host={tmp_path}"
    for words in (("serve", "--port", "0"), ("play",), ("check",)):
        done = ran(*words, "--data", tmp_path, environment=environment(NOODLINGS_STORE__URL=url))
        assert done.returncode == 3
        assert b"the database noodlings on" in done.stderr
        assert b"cannot be reached" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert b"hunter2" not in done.stdout + done.stderr
