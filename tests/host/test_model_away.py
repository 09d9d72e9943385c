"""A server whose model refuses the key and comes back: what its owner, everybody and the players are told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.api.serving import free_port, served
from tests.host.test_mush import PASSWORD, Person
from tests.llm.server import KEY, Answer, Server, chat, serving

pytestmark = pytest.mark.slow

AWAY = "The language model refuses requests: the offline voice speaks until it answers."
BACK = "The language model answers again."


async def test_it_is_said_once_that_the_model_is_away_and_once_that_it_is_back(tmp_path: Path):
    async with serving(chat("Mind the third shelf.")) as model:
        await asyncio.to_thread(_visited, tmp_path, model)


def _visited(folder: Path, model: Server) -> None:
    port, where = free_port(), f"http://127.0.0.1:{model.port}/v1"
    llm = {
        "NOODLINGS_LLM__BASE_URL": where,
        "NOODLINGS_LLM__MODEL": "m",
        "NOODLINGS_LLM__API_KEY": KEY,
        "NOODLINGS_THOUGHT__RUMINATE": "false",
        "NOODLINGS_WORLD__IDLE_SECONDS": "0",
        "NOODLINGS_MUSH__PORT": str(port),
    }
    with served(folder, **llm) as server, Person(port) as caity:
        said = "\n".join(server.said)
        for other in ("phi", "servnak"):  # else what they meet counts as well
            body = {"user_id": "user_root", "line": f"@derez {other}"}
            answer = server.client.post("/api/commands", json=body)
            assert "has left the rooms" in answer.text, answer.text
        caity.types(f"create Caity {PASSWORD}")
        caity.sees("The Workshop")
        caity.types("east")
        caity.sees("The Library")
        caity.types("say maren, what is new?")
        caity.sees("Mind the third shelf.")
        assert server.client.get("/ready").json() == {"status": "ok", "model": "answers"}
        model.answer = lambda _: Answer(b"", 401)
        caity.types("say maren, tell me something else")
        caity.sees(AWAY)
        caity.sees("Maren")
        caity.types("say maren, are you there?")
        caity.sees("Maren")
        answer = server.client.get("/ready")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok", "model": "refuses"})
        assert 'noodlings_model{state="refuses"} 1.0' in server.client.get("/metrics").text
        with Person(port) as toad:
            toad.types(f"create Toad {PASSWORD}")
            toad.sees(AWAY)
        model.answer = lambda _: chat("The kettle is on.")
        caity.types("say maren, and now?")
        caity.sees(BACK)
        caity.sees("The kettle is on.")
        shown = caity.passed + caity.seen
        assert (shown.count(AWAY.encode()), shown.count(BACK.encode())) == (1, 1)
        assert server.stop() == 0
        said += server.output.rest()
    assert model.listings == 1
    assert f"The model m at {where} answers." in said
    assert said.count(f"The model m at {where} refuses requests (it answered 401: the API key was ref") == 1
    log = (folder / "noodlings.log").read_text(encoding="utf-8")
    assert "refuses requests (it answered 401" in log
    assert KEY not in said + log
