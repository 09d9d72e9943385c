"""How much mood counts in a search is a setting, and may be said with a question, over REST and as typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import registry
from commands.registry import CommandContext
from noodlings.config import RetrievalSettings, load_settings
from noodlings.errors import UserError
from noodlings.recall.mood_congruence import DEFAULT_WEIGHT
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept
from tests.api.conftest import MakeSite, Site

ADMIN = Caller("user_root", "root", Role.ADMIN)
GLAD, SAD = Affect(0.9, 0.5), Affect(-0.9, 0.5, 0.0, 0.9, 0.0)
CAME, WENT = "the red boat came in", "the red boat went out"
"""Both fit "red boat" alike; what is said of it first comes first, if mood does not decide."""


async def felt(site: Site) -> Site:
    """Phi was told of a boat, once with joy and once with sorrow."""
    for text, affect in ((CAME, GLAD), (WENT, SAD)):
        site.clock.advance(60.0)
        await site.society.perceive("phi", Percept("user_ann", text, site.clock.now(), affect=affect))
    return site


async def by_rest(site: Site, **how: float) -> tuple[str, float]:
    """The first of what is found in a sad mood, and how much that counted."""
    params = {"query": "red boat", "limit": 1, "mood": "-1,0.5", **how}
    view = (await site.get("/api/agents/phi/recall", params=params)).json()
    return view["memories"][0]["entry"]["text"], view["emotion_weight"]


async def by_command(site: Site, flags: str = "") -> str:
    """The same as it is typed."""
    line = f'@recall phi "red boat" --limit 1 --mood -1,0.5 {flags}'
    reply = await registry.dispatch(line, CommandContext(ADMIN, site.society, site.parts.inspector))
    assert not reply.error, reply.data
    text: str = reply.data["memories"][0]["entry"]["text"]
    return text


def test_the_settings_are_those_of_the_file_and_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("retrieval: {emotion_weight: 0.6, candidate_multiplier: 4}\n")
    monkeypatch.setenv("NOODLINGS_RETRIEVAL__EMOTION_WEIGHT", "0.1")
    assert load_settings(file).retrieval == RetrievalSettings(emotion_weight=0.1, candidate_multiplier=4)
    assert RetrievalSettings() == RetrievalSettings(emotion_weight=DEFAULT_WEIGHT, candidate_multiplier=2)


@pytest.mark.parametrize(
    "wrong",
    ["emotion_weight: 1.1", "emotion_weight: -0.1", "candidate_multiplier: 0", "candidate_multiplier: 6"],
)
def test_a_setting_out_of_range_is_refused(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"retrieval: {{{wrong}}}\n")
    with pytest.raises(UserError, match=f"retrieval.{wrong.partition(':')[0]}"):
        load_settings(file)


@pytest.mark.slow
async def test_where_nothing_is_said_the_settings_count(make_site: MakeSite) -> None:
    assert await by_rest(await felt(make_site())) == (WENT, 0.3)
    for retrieval, first in (
        ({"emotion_weight": 0.0}, CAME),
        ({"emotion_weight": 0.9}, WENT),
        ({"candidate_multiplier": 1}, CAME),
        ({"candidate_multiplier": 5}, WENT),
    ):
        site = await felt(make_site(sections={"retrieval": retrieval}))
        assert await by_rest(site) == (first, retrieval.get("emotion_weight", 0.3))
        assert await by_command(site) == first


async def test_what_is_said_with_a_question_counts_more(make_site: MakeSite) -> None:
    site = await felt(make_site(sections={"retrieval": {"emotion_weight": 0.0, "candidate_multiplier": 1}}))
    assert await by_rest(site, emotion_weight=0.5, candidate_multiplier=2) == (WENT, 0.5)
    assert await by_command(site, "--weight 0.5 --multiplier 2") == WENT
    assert await by_rest(site, emotion_weight=0.5) == (CAME, 0.5)
    assert await by_command(site, "--weight 0.5") == CAME


@pytest.mark.parametrize("multiplier", [0, 6, "two"])
async def test_a_multiplier_out_of_range_is_refused(site: Site, multiplier: object) -> None:
    params = {"query": "boat", "candidate_multiplier": multiplier}
    answer = await site.get("/api/agents/phi/recall", params=params)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "query.candidate_multiplier"
    reply = await registry.dispatch(
        f'@recall phi "boat" --multiplier {multiplier}',
        CommandContext(ADMIN, site.society, site.parts.inspector),
    )
    assert reply.error
    assert "a whole number from 1 to 5" in reply.data["error"]


@pytest.mark.slow
async def test_what_a_character_recalls_for_its_answer_follows_the_settings(make_site: MakeSite) -> None:
    for retrieval, first in (({"emotion_weight": 0.0}, 1), ({"candidate_multiplier": 1}, 1), ({}, 2)):
        site = await felt(make_site(sections={"retrieval": retrieval}))
        archive = site.society.find("phi").archive
        assert archive is not None
        assert [hit.entry_id for hit in await archive.search("red boat", limit=1, mood=SAD)] == [first]
