"""The lines of docs/api.md and docs/chat.md, run as they stand there against fresh servers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.api.conftest import Site
from tests.api.serving import ROOT, served

pytestmark = pytest.mark.slow

DOCUMENT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
CHAT = (ROOT / "docs" / "chat.md").read_text(encoding="utf-8")


def test_a_fresh_client_gets_from_nothing_to_why(tmp_path: Path):
    script = re.findall(r"```sh\n(URL=.*?)```", DOCUMENT, re.DOTALL)[0]
    with served(tmp_path) as server:
        script = script.replace("URL=http://127.0.0.1:8765", f"URL={server.url}", 1)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    created, first, second, why, stats, episodic, alike, found, heard, gone = answers(done.stdout)
    assert created["id"] == "lotta"
    assert first["turn"]["response"]
    assert second["turn"]["response"]
    assert why["turn"]["percept"]["text"] == "my dog would have loved this beach"
    assert 1 in {one["id"] for one in why["recalled"]}
    assert stats["perceived"] == 2
    assert episodic["entries"][0]["text"] == "My dog died yesterday"
    assert alike["entries"][0]["entry"]["text"] == "My dog died yesterday"
    assert "My dog died yesterday" in {one["entry"]["text"] for one in found["memories"]}
    assert heard["heard"]
    assert gone["forgotten"] >= 2


def test_the_examples_for_chat_clients_run_as_they_stand_there(tmp_path: Path):
    [shell] = re.findall(r"```sh\n(URL=.*?)```", CHAT, re.DOTALL)
    [python] = re.findall(r"```python\n(.*?)```", CHAT, re.DOTALL)
    [model] = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", CHAT, re.DOTALL)[0])
    with served(tmp_path) as server:
        here = "http://127.0.0.1:8765"
        commands = (
            ["bash", "-euo", "pipefail", "-c", shell.replace(here, server.url)],
            [sys.executable, "-c", python.replace(here, server.url)],
        )
        done = [
            subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
            for words in commands
        ]
        assert server.client.get(f"/v1/models/{model['model_name']}").status_code == 200
        assert model["api_base"] == f"{here}/v1"
    assert [one.returncode for one in done] == [0, 0], done
    whole, _, stream = done[0].stdout.partition("data: ")
    models, first, second = answers(whole)
    assert model["model_name"] in {one["id"] for one in models["data"]}
    assert first["choices"][0]["message"]["content"]
    assert "REX" in second["choices"][0]["message"]["content"]
    assert stream.endswith("data: [DONE]\n\n")
    assert "ada" in done[1].stdout.lower()


async def test_the_page_fetches_everything_from_here(site: Site):
    page = (await site.get("/docs")).text
    fetched = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(fetched) >= 3
    for address in fetched:
        assert address.startswith("/")
        assert (await site.get(address)).status_code == 200


def answers(shown: str) -> list[dict]:
    """JSON objects, one behind the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while shown[at:].strip():
        at += len(shown[at:]) - len(shown[at:].lstrip())
        one, at = decoder.raw_decode(shown, at)
        found.append(one)
    return found


def test_every_route_is_named():
    named = set(re.findall(r"`(?:GET|POST|PUT|DELETE|WS) [^`]+`|`/[^`]+`", DOCUMENT))
    for word in (
        "/why",
        "/turns/{n}",
        "/browse",
        "/symbols",
        "/last-retrieval",
        "/undo",
        "/whoami",
        "/metrics",
        "/ready",
    ):
        assert any(word in one for one in named), word
