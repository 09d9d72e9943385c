"""Passages: nothing of a document is lost, none is too long, and a change moves no other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from noodlings.ingest.passages import MOST, SUMMARY, Block, passages, summary
from noodlings.text import clean

TEXTS = st.text("abc XYZ.!?", min_size=1, max_size=2_000).map(clean)
SAYING = TEXTS.filter(lambda text: any(map(str.isalnum, text)))
LEVELS = st.sampled_from([0, 0, 0, 1, 2, 3])
BLOCKS = st.lists(st.builds(Block, SAYING, st.integers(0, 99), LEVELS), max_size=12)


def paragraphs(*texts: str) -> list[Block]:
    return [Block(text, number) for number, text in enumerate(texts, 1)]


@given(BLOCKS)
def test_every_word_of_a_paragraph_is_in_a_passage_of_bounded_length(blocks: list[Block]) -> None:
    found = list(passages(blocks))
    told = " ".join(passage.text for passage in found)
    words = {word.strip(".!?") for block in blocks if not block.level for word in block.text.split()}
    assert all(word in told for word in words if len(word) < MOST)
    headings = max((len(block.text) for block in blocks if block.level), default=0)
    assert all(len(passage.text) <= 2 * MOST + headings + 2 for passage in found)
    assert len({passage.id for passage in found}) == len(found)


def test_a_passage_has_the_headings_above_it_and_the_line_where_it_begins() -> None:
    tides, fees = Block("Tides", 2, 2), Block("Fees", 5, 2)
    blocks = [Block("Book", 1, 1), tides, Block("Nine feet.", 3), fees, Block("Two herons.", 6)]
    first, second = passages(blocks)
    assert (first.section, first.text, first.line) == ("Book › Tides", "Tides. Nine feet.", 3)
    assert (second.section, second.text) == ("Book › Fees", "Fees. Two herons.")


def test_what_is_put_in_or_changed_moves_no_other_passage() -> None:
    on = "It goes on and on, as books do. " * 9
    long = [f"{name} begins here. {on}" for name in ("One", "Two", "Three")]
    before = list(passages(paragraphs(*long)))
    known = {one.id: one.text for one in before}
    added = list(passages(paragraphs(long[0], "Something new. " + "x " * 200, *long[1:])))
    assert {one.id: one.text for one in added if one.id in known} == known
    assert len(added) == len(before) + 1
    changed = list(passages(paragraphs(long[0], long[1] + "A new end.", long[2])))
    assert [one.id for one in changed] == [one.id for one in before]
    assert [one.text == other.text for one, other in zip(changed, before, strict=True)] == [True, False, True]


def test_passages_that_open_alike_are_told_apart() -> None:
    twice = list(passages(paragraphs("Ditto. " * 60, "Ditto. " * 60)))
    assert len({one.id for one in twice}) == 2


def test_a_summary_is_some_sentences_of_a_long_document_in_their_order() -> None:
    topic = "The harbour bell is rung by the harbour master at the turn of every tide."
    texts = [
        f"The harbour bell number {n} tells the tide to the harbour master and the boats. "
        + f"Aside {n} {n * 7}. " * 20
        for n in range(14)
    ]
    found = list(passages(paragraphs(topic, *texts)))
    short = summary(found)
    assert 0 < len(short) <= SUMMARY
    assert "harbour" in short
    assert all(said in " ".join(one.text for one in found) for said in short.split(". ")[:1])
    assert summary(found[:5]) == ""
