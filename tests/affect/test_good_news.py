"""Good news without a glad word is glad; what is denied, asked, wished or only looks like it is not."""

from __future__ import annotations

import pytest

from noodlings.affect.appraisal import Appraiser
from noodlings.affect.good_news import good_news
from noodlings.embed.minilm import MiniLM

NEW = (
    "I'm pregnant, twelve weeks now",
    "it’s a boy! Eight pounds.",
    "he proposed on the pier and I said yes",
    "they gave me the part",
    "I passed",
    "I got into medical school",
    "we got the house",
    "WE WON",
    "my daughter got the job",
    "we're having a baby",
)
OVER = (
    "she's been given the all clear",
    "dad is in remission",
    "the tumour was benign",
    "they found him alive",
    "the fever broke in the night",
    "my brother came home from the war",
)
NONE = (
    "are you pregnant?",
    "are you pregnant, Ann?",
    "have you got the job, Tom?",
    "I'm not pregnant",
    "I'm pregnant and he left me",
    "if I got the job I would move",
    "I wish they had given me the part",
    "we nearly won",
    "it won't be long",
    "she was born in Leith",
    "her son was born dead",
    "she had her baby taken away",
    "I passed the shop on the way",
    "My mother was ill for months. She passed.",
    "my father beat her every night",
    "they never found him alive",
    "they found the boy in the river",
    "he was in remission but it came back",
    "the doctors were wrong that it is benign",
    "he lied that he had passed his exams",
    "they dropped the charges against the man who hurt her",
    "my ex got custody of the children",
    "my rival got the part",
    "I won nothing",
)


@pytest.mark.parametrize(("line", "kind"), [*((one, "new") for one in NEW), *((one, "over") for one in OVER)])
def test_good_news_is_heard(line: str, kind: str) -> None:
    assert good_news(line) == kind


@pytest.mark.parametrize("line", NONE)
def test_what_is_no_fact_or_no_news_is_not(line: str) -> None:
    assert good_news(line) == ""


def felt(*lines: str) -> list[float]:
    """The valence of lines as they are felt with the embedding model."""
    return [
        Appraiser().appraise(line, said=True, understood=understood).affect.valence
        for line, understood in zip(lines, MiniLM().read(lines), strict=True)
    ]


def test_good_news_is_glad_also_where_a_trouble_is_named() -> None:
    assert min(felt(*NEW, *OVER)) > 0.3


def test_news_that_is_heard_as_bad_stays_bad() -> None:
    assert max(felt("I got the flat of my dear murdered sister", "I won, and now they torture my son")) < 0.0


def test_beside_a_death_in_the_words_nothing_is_good_news() -> None:
    """The clause of the funeral is another sentence, so only what is felt in all of it tells."""
    lines = ("I'm heartbroken. We buried mum today. I got the job.", "I got the job.")
    sad, glad = (Appraiser().appraise(line).affect.valence for line in lines)
    assert sad < 0.1
    assert glad > 0.3
