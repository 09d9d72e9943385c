"""Somebody new comes to life, stays after a start anew, and nothing that would not is written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from argon2.profiles import CHEAPEST

from noodlings.agent.recipes import BUILT_IN, find_recipes
from noodlings.worlds.accounts import Accounts
from tests.api.conftest import TOKENS, MakeSite, Site

RECIPE = """name: Lotta
species: lighthouse keeper
description: Lotta smells of salt.
identity: You are Lotta.
aliases: [lamplighter]
home: library
"""
YAML = {"content-type": "application/yaml"}


async def create(site: Site, text: str, agent: str = "lotta", headers=None):
    return await site.ask("POST", f"/api/recipes/{agent}", content=text, headers=headers or YAML)


async def test_somebody_new_lives_and_is_kept(make_site: MakeSite, tmp_path: Path):
    site = make_site()
    answer = await create(site, RECIPE)
    assert (answer.status_code, answer.json()["name"]) == (201, "Lotta")
    await site.tell("good morning", agent="lotta")
    kept = tmp_path / "recipes" / "lotta.yaml"
    assert kept.read_text(encoding="utf-8") == RECIPE
    assert find_recipes([BUILT_IN, kept.parent]).personas["lotta"].home == "library"
    listed = {one["id"]: one["own"] for one in (await site.get("/api/recipes")).json()["recipes"]}
    assert listed == {"lotta": True, "maren": False, "phi": False, "servnak": False}
    again = make_site()
    assert (await again.get("/api/agents/lamplighter")).json()["id"] == "lotta"


async def test_somebody_new_is_in_the_rooms(site: Site):
    await create(site, RECIPE)
    world = site.parts.people.world
    assert world.room_of("lotta") == world.places.rooms["library"]


async def test_a_recipe_in_json(site: Site):
    body = {"name": "Bo", "species": "bot", "description": "Bo beeps.", "identity": "You are Bo."}
    assert (await site.post("/api/recipes/bo", body)).status_code == 201


async def test_a_recipe_in_json_may_escape_what_it_likes(make_site: MakeSite, tmp_path: Path) -> None:
    body = json.dumps({"name": "Bo", "description": "Bo likes \U0001f600"})
    assert "\\ud83d\\ude00" in body
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    answer = await create(make_site(), body, "bo", headers)
    assert answer.status_code == 201, answer.text
    assert make_site().society.personas["bo"].description == "Bo likes \U0001f600"
    assert (tmp_path / "recipes" / "bo.json").read_text(encoding="utf-8") == body


@pytest.mark.parametrize(
    "text",
    ["{", "name: Bo", "[1]", '{"name": NaN}', '{"name": "Bo", "name": "Bo"}', '{"name": "' + "x" * 1_000_001],
)
async def test_what_is_no_json_is_not_kept_as_such(site: Site, tmp_path: Path, text: str) -> None:
    answer = await create(site, text, "bo", {"content-type": "application/json"})
    assert answer.status_code in (400, 413), answer.text
    assert not (tmp_path / "recipes").exists()


@pytest.mark.parametrize(
    ("text", "agent", "status"),
    [
        (RECIPE, "servnak", 409),
        (RECIPE.replace("Lotta", "Phi"), "lotta", 409),
        (RECIPE.replace("lamplighter]", "servnak]"), "lotta", 409),
        (RECIPE, "../../etc/passwd", 404),
        (RECIPE, "Lotta", 422),
        (RECIPE, "lotta.yaml", 422),
        (RECIPE.replace("name", "nane"), "lotta", 400),
        ("", "lotta", 400),
        ("- a list", "lotta", 400),
        ("[", "lotta", 400),
        ("!!python/object/apply:os.system [ls]", "lotta", 400),
        ("a: &a [x, x]\nb: &b [*a, *a]\n", "lotta", 400),
        ("{" * 5_000, "lotta", 400),
        ("name: \udcff", "lotta", 400),
    ],
)
async def test_what_will_not_do_is_not_kept(site: Site, tmp_path: Path, text: str, agent: str, status: int):
    answer = await create(site, text.encode("utf-8", "surrogateescape"), agent)
    assert answer.status_code == status, answer.text
    assert str(tmp_path) not in answer.text
    assert "/tmp" not in answer.text
    assert not (tmp_path / "recipes").exists()
    assert "lotta" not in site.society.personas


async def test_another_type_is_refused(site: Site):
    assert (await create(site, RECIPE, headers={"content-type": "text/plain"})).status_code == 415


async def test_no_character_has_the_id_of_somebody_who_spoke(site: Site) -> None:
    await site.tell("good morning", user="lotta")
    answer = await create(site, RECIPE)
    assert (answer.status_code, "id of a person" in answer.text) == (409, True)


@pytest.mark.parametrize("user", ["Lotta", "agent_lotta", "LOTTA"])
async def test_no_character_has_the_id_of_a_person_in_another_form(site: Site, user: str) -> None:
    await site.tell("good morning", user=user)
    assert (await create(site, RECIPE)).status_code == 409


async def test_no_character_has_the_id_of_somebody_who_only_listened(site: Site) -> None:
    await site.tell("between us, my pin is 4471", present=["lotta"])
    answer = await create(site, RECIPE)
    assert (answer.status_code, "id of a person" in answer.text) == (409, True)


async def test_no_character_is_called_like_somebody_with_an_account_or_a_token(
    make_site: MakeSite, tmp_path: Path
) -> None:
    site = make_site(tokens=True)
    Accounts(tmp_path, CHEAPEST).create("Lamplighter", "correct horse battery")
    headers = YAML | {"authorization": f"Bearer {TOKENS['admin']['token']}"}
    for name in ("lamplighter", "caity", "Lаmplighter", "сaity", "traveller"):  # with a Cyrillic letter
        answer = await create(site, RECIPE.replace("lamplighter", name), headers=headers)
        assert (answer.status_code, "choose another name" in answer.text) == (409, True), answer.text
    answer = await create(site, RECIPE.replace("lamplighter", "lampman"), headers=headers)
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize(
    "name", ["me", "You", "all", "north", "--yes", "x: y", "x\uff1a y", "Gustav,", 'Old "Tom"', "They're"]
)
@pytest.mark.parametrize("where", ["name: Lotta", "lamplighter"])
async def test_no_character_has_a_name_that_commands_would_misunderstand(
    site: Site, name: str, where: str
) -> None:
    new = json.dumps(name) if where == "lamplighter" else f"name: {json.dumps(name)}"
    answer = await create(site, RECIPE.replace(where, new))
    assert answer.status_code == 409
    assert "lotta" not in site.society.personas


@pytest.mark.parametrize(
    "name", ["Dr. Finch, the Younger", "Jean-Luc", "The Keeper of the Seven Lamps", "सीता", "Zoë 9"]
)
async def test_a_character_may_have_a_name_that_no_player_may(site: Site, name: str) -> None:
    assert (await create(site, RECIPE.replace("name: Lotta", f"name: {name}"))).status_code == 201


async def test_whoever_spoke_in_a_log_may_become_a_character(site: Site) -> None:
    site.society.introduce("past:lotta", "Lotta")
    assert (await create(site, RECIPE)).status_code == 201


async def test_no_character_has_the_id_of_a_person(site: Site) -> None:
    for id in ("user_bob", "api_world"):
        answer = await site.client.post(f"/api/recipes/{id}", content=RECIPE, headers=YAML)
        assert answer.status_code == 409
        assert "belong to people" in answer.json()["detail"]
