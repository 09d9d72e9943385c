"""`@symbols` as it is typed."""

from dataclasses import replace

import pytest

from commands.help import completions
from commands.registry import registry
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller
from noodlings.voice.images import TableOfImages

pytestmark = pytest.mark.slow

AFRAID = Affect(-0.6, 0.8, 0.8, 0.1, 0.0)
GLAD = Affect(0.9, 0.7, 0.0, 0.0, 0.0)


@pytest.fixture
async def phi(player):
    """Phi, who was told twelve things and dreams of two of them."""
    agent = player.society.agents["phi"]
    for number in range(12):
        await player.type(f"say Phi, this is [bold]thing[/bold] {number}")
    heard = [entry for entry in agent.memory.retrieve_working() if "thing" in entry.user_text]
    for entry, felt in zip(heard, [AFRAID, GLAD, *[AFRAID] * 10], strict=True):
        await agent.subconscious.encode_event(
            entry.user_text, felt, 0.5, TableOfImages(), entry_id=entry.id, timestamp=entry.timestamp
        )
    return agent


async def test_images_stand_above_what_happened_the_latest_first(player, phi):
    lines = await player.read("@symbols phi --limit 2")
    newest, second = reversed(phi.subconscious.symbols[-2:])
    assert lines[0] == f"Phi · symbols   1–2 of {len(phi.subconscious)}"
    assert newest.symbolic_encoding in lines[3]
    assert "↳ " in lines[4]
    assert "thing[/bold] 11" in lines[4]
    assert second.symbolic_encoding in lines[5]
    assert lines[7].strip() == f"{len(phi.subconscious) - 2} more with --limit 2 --page 2"
    assert len(lines) == 8
    assert f"{newest.salience:.2f}" in lines[3]
    wide = await player.read("@symbols phi", width=132)
    assert "made by" in wide[2]
    assert "images" in wide[3]


async def test_pages_follow_one_another_to_the_end(player, phi):
    everything = [symbol.id for symbol in reversed(phi.subconscious.symbols)]
    shown = []
    for page in (1, 2, 3):
        reply = await player.type(f"@symbols phi --limit 5 --page {page}")
        shown += [symbol["id"] for symbol in reply.data["symbols"]]
    assert shown == everything
    last = (await player.read("@symbols phi --limit 5 --page 9"))[-1].strip()
    assert last == f"There is nothing on this page; there are only {len(everything)}."


async def test_similar_shows_what_is_felt_and_what_that_brings_back(player, phi, monkeypatch):
    monkeypatch.setattr(type(phi), "affect", GLAD)  # a thought of its own may have changed it since
    reply = await player.type("@symbols phi --similar")
    assert {symbol["felt"]["family"] for symbol in reply.data["symbols"]} == {"joy"}
    assert reply.data["current"]["family"] == "joy"
    lines = reply.render(80).split("\n")
    assert lines[0].startswith("Phi · symbols that felt like now   all ")
    assert "feels" in lines[1]
    assert any("1.00" in line for line in lines)


async def test_who_has_no_symbols_is_told_so_in_words(player):
    assert "No moment has been intense enough" in (await player.read("@symbols servnak"))[-1]
    assert "Nothing felt like that" in (await player.read("@symbols servnak --similar"))[-1]
    reply = await player.type("@symbols nobody")
    assert reply.error
    assert "There is no character nobody" in reply.render()


async def test_it_is_helped_with_and_completed(player):
    shown = (await player.type("help @symbols")).render(80)
    assert "@symbols servnak --similar" in shown
    assert completions(player.context, "@symb") == ["@symbols"]
    assert completions(player.context, "@symbols serv") == ["servnak"]
    assert "--similar" in completions(player.context, "@symbols phi --s")


async def test_who_may_read_none_is_told_that_and_not_that_there_are_none(player, phi):
    stranger = replace(player.context, caller=Caller("user_dan", "dan"))
    for line in ("@symbols phi", "@memories phi --important", "@memories phi --affect"):
        reply = await registry.dispatch(line, stranger)
        told = f"{reply.data['hidden']} {'is' if reply.data['hidden'] == 1 else 'are'} not yours to read"
        assert reply.data["hidden"]
        assert told in reply.render(80)
        for untrue in ("yet", "No moment", "felt like that", "more"):
            assert untrue not in reply.render(80)


async def test_the_figures_of_memories_count_them(player, phi):
    reply = await player.type("@memories phi")
    assert reply.data["symbols"] == len(phi.subconscious)
    assert reply.data["symbol_capacity"] == 100
