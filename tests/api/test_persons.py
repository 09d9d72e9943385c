"""The right to know and to go over REST, while the world runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from noodlings.store.sql import SqlStore
from tests.api.conftest import MakeSite

PERSON = "/api/persons/user_caity"


async def test_an_admin_sees_exports_and_deletes_a_person_while_the_world_runs(
    make_site: MakeSite, tmp_path: Path
) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(tokens=True, store=store)
    await site.tell("I hid the zarnok in the mill", user="user_caity")
    await site.tell("The mill is for sale", user="user_toad")
    walked = await site.post(
        "/api/commands", {"user_id": "user_caity", "name": "Caity", "line": "look"}, "world"
    )
    assert walked.status_code == 200, walked.text
    for who in ("caity", "viewer", "world"):
        headers = {"Noodlings-User": "user_caity"} if who == "world" else {}
        refused = [
            await site.ask(method, path, who, headers)
            for method, path in (
                ("GET", PERSON),
                ("GET", f"{PERSON}/export"),
                ("DELETE", f"{PERSON}?yes=true"),
            )
        ]
        assert {answer.status_code for answer in refused} == {403}
    kept = (await site.get(PERSON, "admin")).json()
    assert "zarnok" not in json.dumps(kept)
    assert kept["characters"]["servnak"]["memories"] == 1
    assert kept["tokens"] == 1
    exported = await site.get(f"{PERSON}/export", "admin")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    assert "zarnok" in exported.text
    assert "for sale" not in exported.text
    preview = (await site.ask("DELETE", PERSON, "admin")).json()
    assert preview["done"] is None
    assert preview["report"] == (await site.get(PERSON, "admin")).json()
    done = (await site.ask("DELETE", f"{PERSON}?yes=true", "admin")).json()["done"]
    assert done["memories"] >= 1
    assert done["remains"]["found"] == {}
    assert not site.parts.people.world.has_been("user_caity")
    assert (await site.get("/api/agents/servnak/memory/working", "admin")).text.count("zarnok") == 0
    left = (await site.get(PERSON, "admin")).json()
    assert left["characters"] == {}


async def test_whoever_nothing_is_kept_of_is_not_found(make_site: MakeSite, tmp_path: Path) -> None:
    store: Any = SqlStore(tmp_path)
    site = make_site(store=store)
    assert (await site.get("/api/persons/user_nobody")).status_code == 404
