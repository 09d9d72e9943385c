"""Lines that are made to be slow: whatever reads what people say takes time by the length of it, and no more.

All of it runs where everything else runs, so one such line would keep everybody waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest

from noodlings.affect.good_news import good_news
from noodlings.affect.words import read as read_feelings
from noodlings.agent import close_reading, memory_question
from noodlings.agent.hearsay import hands_on
from noodlings.agent.perceiving import asked_to_remember, identity_salience
from noodlings.ingest.moments import BEGINNING, LONGEST_TIME
from noodlings.ingest.sources.mu_log import _ABOVE_WORDS, MuLog, _unclosed
from noodlings.ingest.sources.talk import _before_words, _told, plain_id
from noodlings.ingest.wording import may_be_private
from noodlings.inspect import chronicle
from noodlings.personal import personal_finder
from noodlings.ports import Answer
from noodlings.recall.cues import PeopleIndex, day_happened, named_dates
from noodlings.recall.cues import read as read_cues
from noodlings.recall.repetition import Wording, spelt_out
from noodlings.reflection.contradictions import ReadLine
from noodlings.reflection.facts import facts
from noodlings.reflection.plans import due_of
from noodlings.reflection.superseding import corrects
from noodlings.text import MAX_LINE, clean, folded, forget_texts, goes_on, phrases, unaccented
from noodlings.values.acting import acts_of
from noodlings.values.percept import Kind, Percept, in_confidence, told_name
from noodlings.values.reading import LineReading, LineTopics
from noodlings.values.relationship import stance_of
from noodlings.values.topic import SelfTopic
from noodlings.voice import offline, question, reported_speech, selection, words
from noodlings.voice.colour_affect import _sentences
from noodlings.voice.images import themes_of
from noodlings.voice.reply_content import self_topic
from noodlings.voice.statement import begins_with_name, find_topic, is_clause
from noodlings.voice.understanding import understand
from noodlings.worlds.floor import to_everybody, wants_answer
from tests.agent.played import society_of
from tests.fakes import make_persona
from tests.memory.entries import an_entry
from tests.voice.utterances import utterance

pytestmark = [pytest.mark.slow, pytest.mark.no_cover]

PARTS = (
    "(", "a", "A", "-", "a-", ",", ", ", ". ", "?!", "“", "'", "a'", "*", "/", "_", "1/", "@", "😀", "字",
    "not ", "the ", "what ", "so ", "and i ", "my dog, ", "Phi, ", "ill ", "log ",
)  # fmt: skip
LONG = 3 * MAX_LINE
"""Characters. Where time grows by the square of the length, this shows what is hardly seen in a line."""
SOON, SOON_ANSWERED = 0.36, 1.0
"""Seconds of the processor for one text that is read or answered, many times what it takes."""

PHI, PEOPLE = make_persona("Phi"), PeopleIndex()
ABOUT_ITSELF = LineReading(0.0, 0.0, topics=LineTopics(SelfTopic.AGE))
PEOPLE.meet("user_caity")
READERS: dict[str, Callable[[str], object]] = {
    "cleaning": lambda text: (clean(text), folded(text), unaccented(text)),
    "phrases": phrases,
    "an answer that is handed on": lambda text: hands_on(text, "In the mill."),
    "what only asks": memory_question.only_asks,
    "what may ask": memory_question.may_ask,
    "the subject of a question": memory_question.subject,
    "the clause that answers": lambda text: close_reading._answering_words(
        text, Answer(0.9, ((len(text) - 1, len(text), 0.9),))
    ),
    "feelings": read_feelings,
    "good news": good_news,
    "whom it calls": lambda text: (to_everybody(text), words.without_names(text, PHI)),
    "what wants an answer": wants_answer,
    "a name": told_name,
    "a secret": lambda text: in_confidence(Kind.SAY, text),
    "how it treats us": lambda text: stance_of(Kind.SAY, text),
    "what is to be remembered": lambda text: asked_to_remember(said(text), PHI),
    "who it is about": lambda text: identity_salience(text, PHI),
    "what is understood": lambda text: understand(said(text), PHI),
    "words": lambda text: words.topic_stems(words.tokens(words.spoken_words(text))),
    "a statement": lambda text: (is_clause(words.tokens(text)), begins_with_name(text), find_topic(text)),
    "what is retold": reported_speech.statement,
    "a question": lambda text: question.read_question(text, words.tokens(text)),
    "what a question asks for": lambda text: (question.answer_type(text), question.may_answer("it is", text)),
    "what a character is asked about itself": lambda text: self_topic(
        understand(said(text), PHI), replace(utterance(text), reading=ABOUT_ITSELF)
    ),
    "how a line goes on": lambda text: (goes_on(text), question.asks_source(text)),
    "sentences": lambda text: [*_sentences(text)],
    "ends of sentences": offline._SENTENCE_END.findall,
    "what is quoted": selection._QUOTED.findall,
    "acts": lambda text: acts_of(f"*{text}*"),
    "images": themes_of,
    "facts": lambda text: facts(an_entry(1, user_text=text), {"ann": "user_ann"}),
    "claims": lambda text: ReadLine.of(1, text),
    "a plan": lambda text: due_of(an_entry(1, user_text=text)),
    "a correction": corrects,
    "cues": lambda text: (read_cues(text, PEOPLE), named_dates(text), day_happened(text, 1e9)),
    "wording": lambda text: Wording(spelt_out(text), set()),
    "what a question names": chronicle._EXACT.findall,
    "personal data": personal_finder(),
    "a line of a log": lambda text: (MuLog(Path("log"))._moment(text), MuLog(Path("log"))._told(text)),
    "the rest of a page in a log": lambda text: (
        _ABOVE_WORDS.search(text),
        BEGINNING.match(text[:LONGEST_TIME]),
        _unclosed(text),
        MuLog(Path("log"))._begins(text),
    ),
    "a line of recorded talk": lambda text: (
        plain_id(_told(text, {"Ann"})[0]),
        _before_words(text),
        may_be_private(text),
        may_be_private(f"a{text}x"),
    ),
}


def said(text: str) -> Percept:
    return Percept("user_caity", text, 1_000_000.0, addressed=True)


def lines(length: int) -> Iterator[str]:
    """Hostile lines of so many characters, cleaned as any line is, with and without an end that differs."""
    for part in PARTS:
        text = clean(part * (length // len(part)))
        yield text
        yield f"I know {text}"[: length - 1] + "x"


@pytest.mark.parametrize("reader", READERS)
def test_no_line_takes_long_to_read(reader: str) -> None:
    READERS[reader]("I have a red boat, and you?")  # whatever is loaded the first time
    for text in lines(LONG):
        forget_texts()
        began = process_time()
        READERS[reader](text)
        assert process_time() - began < SOON, text[:20]


async def test_no_line_takes_long_to_hear_to_answer_and_to_recall(tmp_path: Path) -> None:
    society = society_of(tmp_path, [])
    hostile = lines(MAX_LINE)
    for plain, other_end in zip(hostile, hostile, strict=True):
        for line in (plain, f"my dog died. {other_end}"[:MAX_LINE], "what did I tell you about my dog?"):
            began = process_time()
            trace = await society.perceive("phi", said(line))
            await society.agents["phi"].settle()
            assert process_time() - began < SOON_ANSWERED, line[:20]
            assert not trace.degraded, line[:20]
    society.close()
