"""`@journal` as it is typed."""

from __future__ import annotations

import pytest


@pytest.mark.slow
async def test_the_day_is_told_with_its_evidence(player):
    await player.type("say servnak, my dog Biscuit died yesterday, and I cannot stop crying")
    reply = await player.type("@journal servnak")
    (day,) = reply.data["days"]
    assert day["sentences"][0]["text"] == "I talked with caity."
    (told,) = [one for one in day["sentences"] if "Biscuit" in one["text"]]
    for width in (40, 80):
        lines = await player.read("@journal servnak", width=width)
        assert lines[0] == "SERVNAK · journal"
        shown = " ".join(" ".join(lines).split())
        assert 'caity told me: "my dog Biscuit died yesterday' in shown
        assert str(told["evidence"][0]) in shown
        assert day["day"] in shown


async def test_a_day_without_anything(player):
    assert "nothing on that day" in "\n".join(await player.read("@journal phi 1999-12-31"))
    assert "Nothing has happened yet" in "\n".join(await player.read("@journal maren"))


@pytest.mark.slow
async def test_pages_go_back_in_days(player):
    for _ in range(3):
        await player.type("say servnak, I saw the geese come over the lake today")
        player.context.society.clock.advance(86_400.0)
    lines = "\n".join(await player.read("@journal servnak --limit 1"))
    assert "earlier days with --limit 1 --page 2" in lines
    assert "There are no earlier days" in "\n".join(await player.read("@journal servnak --page 9"))


async def test_what_is_no_day_is_explained(player):
    assert "2026-11-23" in "\n".join(await player.read("@journal phi tomorrow"))
