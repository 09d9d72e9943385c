"""Good news without a glad word is glad; what is denied, asked, wished or only looks like it is not."""

from __future__ import annotations

import pytest

from noodlings.affect.appraisal import Appraiser
from noodlings.affect.good_news import tells_good_news
from noodlings.embed.minilm import MiniLM

NEWS = (
    "I'm pregnant, twelve weeks now",
    "my wife had twins last night, both girls",
    "It’s a boy! Eight pounds.",
    "he proposed on the pier and I said yes",
    "they gave me the part",
    "hey, I passed",
    "I got into medical school",
    "we got the house",
    "she's been given the all clear",
    "dad is in remission",
    "the tumour was benign",
    "they found him alive",
    "the fever broke in the night",
    "my brother came home from the war",
    "they granted us asylum",
    "they dropped the charges",
    "WE WON",
    "baby took her first steps",
)
NONE = (
    "are you pregnant?",
    "I'm not pregnant",
    "if I got the job I would move",
    "I wish they had given me the part",
    "we nearly won",
    "it won't be long",
    "she was born in Leith",
    "her son was born dead",
    "I passed the shop on the way",
    "the bar was engaged in smuggling",
    "he beat him up",
    "they never found him alive",
    "he asked whether it's a boy",
)


@pytest.mark.parametrize("line", NEWS)
def test_good_news_is_heard(line: str) -> None:
    assert tells_good_news(line)


@pytest.mark.parametrize("line", NONE)
def test_what_is_no_fact_or_no_news_is_not(line: str) -> None:
    assert not tells_good_news(line)


def test_good_news_is_glad_also_where_a_trouble_is_named() -> None:
    vectors, layers = MiniLM().read(NEWS)
    felt = [
        Appraiser().appraise(line, vector=vector, layers=layer).affect.valence
        for line, vector, layer in zip(NEWS, vectors, layers, strict=True)
    ]
    assert min(felt) > 0.3


@pytest.mark.parametrize(
    "line", ["my mother died before she heard that I passed", "we got married, then he died"]
)
def test_good_news_beside_a_death_is_not(line: str) -> None:
    assert Appraiser().appraise(line).affect.valence < 0.1
