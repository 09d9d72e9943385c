import pytest

from noodlings.values.caller import Caller, Role
from tests.commands.conftest import Player

LOTTA = """name: Lotta
species: ferryman
description: Lotta smells of river.
identity: You are Lotta, who rows the ferry.
"""


def recipe(player, name, text):
    folder = player.society.settings.data_dir / "recipes"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


async def test_the_list_says_who_is_in_the_rooms_and_who_could_be(player):
    recipe(player, "lotta", LOTTA)
    reply = await player.type("@recipes")
    rooms = {one["id"]: one["room"] for one in reply.data["recipes"]}
    assert (rooms["phi"], rooms["lotta"]) == ("The Workshop", "")
    rows = await player.read("@recipes")
    assert any("Lotta" in row and "at rest" in row and "ferryman" in row for row in rows)


async def test_a_character_of_a_new_recipe_comes_to_life_and_answers(player):
    recipe(player, "lotta", LOTTA + "home: workshop\n")
    reply = await player.type("@rez Lotta")
    assert reply.data == {"agent": "lotta", "room": "The Workshop"}
    assert "Lotta comes to life." in player.heard
    await player.type("say Lotta, I am afraid of the river")
    assert any(line.startswith("Lotta") and "says" in line for line in player.heard)
    assert (await player.type("@memories lotta")).error is False


async def test_who_is_derezzed_is_silent_and_comes_back_with_everything(player):
    await player.type("say Phi, my dog died yesterday")
    await player.type("@derez phi")
    heard = len(player.heard)
    await player.type("say Phi?")
    assert not any(line.startswith("Phi") for line in player.heard[heard:])
    assert "dog" in str((await player.type("@memories phi --important")).data)
    assert (await player.type("@derez phi")).error
    assert not (await player.type("@rez PHI")).error
    assert (await player.type("@rez phi")).data["error"].startswith("There is already somebody called")


@pytest.mark.parametrize("line", ["@rez nobody", "@derez nobody", "@rez", "@derez", "@recipes phi"])
async def test_mistakes_are_told(player, line):
    assert (await player.type(line)).error


async def test_a_recipe_that_is_wrong_is_told_and_nothing_breaks(player):
    recipe(player, "lotta", "name: Lotta\nspecies: 3\n")
    reply = await player.type("@rez lotta")
    assert "lotta.yaml" in reply.data["error"]


@pytest.mark.parametrize("role", [Role.PLAYER, Role.VIEWER, Role.WORLD])
async def test_only_an_admin_lets_characters_come_and_go(player, role):
    player.context.caller = Caller("user_caity", "caity", role)
    for line in ("@rez phi", "@derez phi"):
        assert "Only an admin" in (await player.type(line)).data["error"]
    assert not (await player.type("@recipes")).error


async def test_outside_the_rooms_nobody_comes_to_life(quiet_society):
    outside = Player(*quiet_society, inside=False)
    for line in ("@rez phi", "@derez phi", "@recipes"):
        assert "no rooms" in (await outside.type(line)).data["error"]
