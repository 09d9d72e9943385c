"""What a player asks a character to remember becomes episodic and has a note, however little it says."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from noodlings.agent.perceiving import ASKED, asked_to_remember
from noodlings.errors import StoreError, told
from noodlings.store.database import DATABASE_NAME
from noodlings.values.percept import Kind, Percept
from tests.api.conftest import MakeSite
from tests.api.serving import environment, served
from tests.fakes import make_persona
from tests.program import ran

ROBOT = make_persona("SERVNAK", aliases=("serv",))


@pytest.mark.parametrize(
    "text",
    [
        "remember the code is 7",
        "Please remember that my sister is called Ada",
        "servnak, remember my locker",
        "always remember this",
        "remember: bread",
        "don't forget the meeting on Friday",
        "please don’t forget: bread",
        "never forget the way to the mill",
        "keep in mind I take the night bus",
        "the second key lies under the millstone. Keep that for me.",
        "mind what I tell you, the ford is deep",
    ],
)
def test_who_asks_to_remember(text: str) -> None:
    said = Percept("user_caity", text, 0.0, addressed=True)
    assert asked_to_remember(said, ROBOT)
    for other in ({"addressed": False}, {"depth": 1}, {"kind": Kind.EMOTE}, {"kind": Kind.EVENT}):
        assert not asked_to_remember(Percept("user_caity", text, 0.0, **{"addressed": True, **other}), ROBOT)


@pytest.mark.parametrize(
    "text",
    [
        "do you remember the code?",
        "remember my dog?",
        "remember when we met",
        "remember the time we sank",
        "I remember that well",
        "I never forget a face",
        "she keeps it for me in the shed",
        "can you hold this for me while I climb",
        "what did I ask you to keep in mind?",
        "",
    ],
)
def test_who_does_not(text: str) -> None:
    assert not asked_to_remember(Percept("user_caity", text, 0.0, addressed=True), ROBOT)


async def test_it_is_episodic_and_counts_in_the_importance_but_may_be_evicted(make_site: MakeSite) -> None:
    site = make_site(sections={"memory": {"surprise_threshold": 0.95}})
    plain, asked = [await site.tell(text) for text in ("the code is 7", "remember the code is 7")]
    (listed,) = (await site.get("/api/agents/servnak/memory/episodic")).json()["entries"]
    assert listed["id"] == asked
    assert listed["parts"]["remember"] == ASKED
    agent = site.society.find("servnak")
    assert agent.entry(asked).importance > agent.entry(plain).importance + 0.2
    assert not agent.entry(asked).held


@pytest.mark.slow
def test_there_is_a_note_of_it_that_is_found_when_the_database_cannot_be_read(tmp_path: Path) -> None:
    data = tmp_path / "data"

    with served(data, NOODLINGS_MEMORY__SURPRISE_THRESHOLD="0.95") as server:
        for text in ("the bus is late", "remember the code is 7"):
            body = {"user_id": "user_caity", "text": text, "present": ["user_toad"]}
            assert server.client.post("/api/agents/servnak/perceive", json=body).status_code == 200
        path = "/api/agents/servnak/memory/entries/2/note"
        deadline = time.monotonic() + 20.0
        while server.client.get(path).status_code != 200:
            assert time.monotonic() < deadline, "there is no note"
            time.sleep(0.05)
        assert server.client.get(path.replace("/2/", "/1/")).status_code == 404
    (data / DATABASE_NAME).write_bytes(b"no database " * 1000)
    for words in (("export", "servnak"), ("memories", "servnak"), ("play",)):
        refused = ran(*words, "--data", data, environment=environment())
        assert refused.returncode == 2, refused
        said = refused.stderr.decode()
        assert f"noodlings notes search --data {data} WORD" in said, (words, refused)
    found = ran("notes", "search", "--data", data, "code", environment=environment())
    assert found.returncode == 0
    assert "user_caity: remember the code is 7" in found.stdout.decode()


def test_who_asks_while_the_database_fails_is_told_of_the_notes() -> None:
    words = told(StoreError("SELECT user_text FROM entries in /srv/data"))
    assert "noodlings notes search WORD" in words
    assert "SELECT" not in words
