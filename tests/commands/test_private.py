"""`@private`: a whisper that is kept as a secret, or sealed; and how that is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.values.audience import Tier
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind
from tests.commands.conftest import Player
from tests.fakes import make_persona


def told(player: Player) -> list[MemoryEntry]:
    """What SERVNAK remembers of what was said."""
    return [entry for entry in player.society.store.archive("servnak") if entry.kind is Kind.WHISPER]


async def test_it_is_a_whisper_that_is_kept_as_a_secret(player: Player) -> None:
    shown = await player.read("@private servnak the spare key is under the pot")
    assert shown == ['You whisper to SERVNAK, "the spare key is under the pot"']
    (kept,) = told(player)
    assert kept.tier is Tier.SECRET
    listed = "\n".join(await player.read("@memories servnak --working"))
    assert "(whisper) (secret) the spare key is" in listed
    assert 2 in [one["tier"] for one in (await player.type("@memories servnak --working")).data["entries"]]


async def test_sealed_it_is_only_counted(player: Player) -> None:
    await player.type("@private servnak --sealed my real name is Zuleika")
    (kept,) = told(player)
    assert kept.tier is Tier.SEALED
    listed = "\n".join(await player.read("@memories servnak --working"))
    assert "(sealed)" in listed
    assert "Zuleika" not in listed
    assert not [line for line in player.heard if "Zuleika" in line]


@pytest.mark.parametrize("name", ["old tom", '"old tom"', "Old Tom"])
async def test_a_name_of_two_words_is_read_as_one(player: Player, name: str) -> None:
    assert player.world is not None
    tom = make_persona("Old Tom", home="workshop")
    player.society.create(tom)
    player.world.wake(tom)
    assert (await player.read(f"@private {name} the key is red"))[
        0
    ] == 'You whisper to Old Tom, "the key is red"'
    await player.type(f"@private {name} --sealed the key is blue")
    kept = [entry.tier for entry in player.society.store.archive(tom.id) if entry.kind is Kind.WHISPER]
    assert kept == [Tier.SECRET, Tier.SEALED]


@pytest.mark.parametrize("line", ["@private", "@private servnak", "@private servnak --sealed "])
async def test_without_words_it_says_how_it_is_typed(player: Player, line: str) -> None:
    assert "@private NAME [--sealed] TEXT" in " ".join(await player.read(line))
    assert told(player) == []


async def test_without_a_key_it_is_refused_before_anybody_hears_it(tmp_path: Path) -> None:
    clock = ManualClock(1e6)
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})  # type: ignore[arg-type]
    society = build(settings, clock=clock)
    player = Player(society, clock)
    assert "there is no key" in (await player.type("@private servnak psst")).data["error"]
    assert player.world is not None
    await player.world.close()
    assert told(player) == []
    society.close()


@pytest.mark.parametrize(
    "line",
    [
        "the key is red --sealed",
        "the key --sealed is red",
        "—sealed the key is red",
        "--SEALED the key",
        "= the key --seal",
    ],
)
async def test_a_flag_in_another_place_is_refused_before_anybody_hears_it(player: Player, line: str) -> None:
    before = player.society.agents["phi"].memory.stats().perceived
    assert "Put --sealed behind the name" in "\n".join(await player.read(f"@private phi {line}", width=200))
    assert player.society.agents["phi"].memory.stats().perceived == before
