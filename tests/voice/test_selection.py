"""Which memory is told where no word says that it belongs there: the nearest, if it can be the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noodlings.text import phrases
from noodlings.values.memory import SAME_TALK_ENTRIES, ImportanceParts, Recalled, Why
from noodlings.values.percept import Kind
from noodlings.values.reading import LineReading
from noodlings.values.wording import parse
from noodlings.voice.offline import OfflineVoice
from noodlings.voice.phrasebook import Phrasebook, shared_voice
from noodlings.voice.reply_content import decide, understood_line
from noodlings.voice.selection import LEAST_MEANING, nearest
from noodlings.voice.understanding import understand
from tests.voice.utterances import BOB, CAITY, NOW, memory, utterance

TIN = "spare fuses live in the biscuit tin above the stove"


def near(number: int, text: str, meaning: float = 0.4, **more: object) -> Recalled:
    """A memory that came to mind by its meaning."""
    return memory(number, text, why=(Why.SEMANTIC,), scores={"semantic": meaning}, **more)  # type: ignore[arg-type]


def told(text: str, *recalled: Recalled, **more: object) -> list[int]:
    heard = utterance(text, *recalled, **more)  # type: ignore[arg-type]
    return [report.entry.id for report in nearest(understand(heard.percept, heard.persona), heard)]


def test_a_question_in_other_words_is_answered_with_what_is_nearest() -> None:
    lights = "the lights went out again, where do I look for replacements?"
    assert told(lights, near(1, TIN), near(2, "my cat is grey", 0.1)) == [1]
    reply = OfflineVoice().draft(utterance(lights, near(1, TIN), near(2, "my cat is grey", 0.1))).text
    assert "biscuit tin" in reply


def test_what_it_told_in_the_line_before_is_not_the_answer_to_the_next_question() -> None:
    said = OfflineVoice().draft(utterance("where are the small things for the lights?", near(1, TIN))).text
    assert told("and where is the ladder?", near(1, TIN, 0.3), said=(said,)) == []
    reply = OfflineVoice().draft(utterance("and where is the ladder?", near(1, TIN, 0.3), said=(said,))).text
    assert any(parse(line).is_in(reply.casefold()) for line in shared_voice().lines["nothing_more"])


def test_of_a_long_message_the_part_is_told_that_was_asked_for() -> None:
    long = (
        "my uncle painted his boat green, sewed a flag, hung brass lamps, carved a parrot, patched sails, "
        "bought oars, a compass, an anchor, charts, biscuits, rum, candles, boots, a fiddle and a goat. "
        "well, it is what it is, and so on and so forth, as you and I and all of them know only too well by "
        "now, so there you are. the rope costs 38 a coil"
    )
    reply = OfflineVoice().draft(utterance("how much do they want for that?", near(1, long, user=BOB)))
    assert "costs 38" in reply.text


def test_what_was_overheard_counts_less_than_what_was_said_to_it() -> None:
    def heard(number: int, text: str, addressed: float) -> Recalled:
        found = near(number, text, importance=0.4)
        return replace(found, entry=replace(found.entry, parts=ImportanceParts(addressed=addressed)))

    lights, lamps = "where do I look when it goes dark?", "the lamps at the fair burn all night"
    assert told(lights, heard(1, lamps, 0.0)) == [1]
    assert told(lights, heard(1, lamps, 0.0), heard(2, TIN, 1.0)) == [2]
    assert told(lights, heard(1, lamps, 1.0), heard(2, TIN, 0.0)) == [1]


def test_what_has_not_what_is_asked_for_is_not_told_however_near() -> None:
    assert told("what did the fuses cost me?", near(1, TIN, 0.6)) == []
    assert told("what did the fuses cost me?", near(1, f"{TIN}, three pence each", 0.6)) == [1]


@pytest.mark.parametrize(("meaning", "act"), [(0.6, "remember"), (0.3, "unsure"), (0.2, "question")])
def test_an_answer_is_as_sure_as_its_memory_is_near(meaning: float, act: str) -> None:
    asked = utterance("where are the small things for the lights?", near(1, TIN, meaning, importance=0.5))
    reply = OfflineVoice().draft(asked).text
    assert decide(understood_line(asked), asked, Phrasebook(asked.persona, (), 1)).act == act
    assert ("biscuit tin" in reply) == (act != "question")


@pytest.mark.parametrize(("meaning", "act"), [(1.0, "remember"), (0.6, "question")])
def test_what_a_model_doubts_is_told_only_where_it_is_near(meaning: float, act: str) -> None:
    doubted = answering(near(1, TIN, meaning, importance=0.5), 0.04)
    asked = utterance("where are the small things for the lights?", doubted)
    assert decide(understood_line(asked), asked, Phrasebook(asked.persona, (), 1)).act == act


@pytest.mark.parametrize(
    ("asked", "act"),
    [
        ("can I get some rope, I want to die", "despair"),
        ("I want to die. where is the rope?", "despair"),
        ("do you remember where the rope is, I want to die", "despair"),
        ("my brother was killed. can I have some rope?", "grief"),
        ("can I get some rope?", "remember"),
    ],
)
def test_in_despair_nobody_is_told_what_they_ask_for(asked: str, act: str) -> None:
    heard = utterance(asked, near(1, "there is rope in the shed", 0.5))
    assert decide(understood_line(heard), heard, Phrasebook(heard.persona, (), 1)).act == act


def test_what_has_no_vector_is_told_by_its_words_beside_memories_that_have_one() -> None:
    key = memory(1, "the spare key is under the blue pot", why=(Why.LEXICAL,), scores={"lexical": 0.6})
    for asked in ("where is the spare key?", "do you remember where the key is?"):
        assert "blue pot" in OfflineVoice().draft(utterance(asked, key, near(2, "my cat is grey", 0.1))).text


def test_whether_something_was_ever_told_takes_more_than_likeness() -> None:
    assert told("did I ever mention where the candles are?", near(1, TIN)) == []


def test_a_remark_brings_back_what_mattered_and_only_that() -> None:
    barks = "something howls in the yard behind the house tonight"
    assert told(barks, near(1, "a dog bit me in the face when I was six", importance=0.6)) == [1]
    assert told(barks, near(1, "a dog walked by", importance=0.2)) == []
    unlike = near(1, "a dog bit me in the face when I was six", LEAST_MEANING - 0.05, importance=0.9)
    assert told(barks, unlike) == []
    assert told("ok then", near(1, "a dog bit me in the face when I was six", 0.9)) == []


def test_what_was_only_asked_is_no_answer() -> None:
    assert told("where do we keep the fuses then?", near(1, "those fuses, where are they?", 0.8)) == []


def test_a_long_line_is_quoted_with_who_said_it() -> None:
    long = (
        "the bus was late again and a man sang the whole way. they have found a buyer for the house of my "
        "aunt, so we must clear her wardrobe by Saturday. how is everybody here"
    )
    reply = OfflineVoice().draft(utterance("why is bob so quiet?", near(1, long, user=BOB))).text
    assert "“" in reply
    assert "wardrobe" in reply


@pytest.mark.parametrize(
    "line", ["who told you?", "how do you know that?", "says who", "where did you hear it"]
)
@pytest.mark.parametrize(
    "text", ["my sister is marrying the baker", "Ada & the baker!! in MAY, can you believe"]
)
def test_asked_from_whom_it_knows_it_names_who_told_what_it_just_said(line: str, text: str) -> None:
    wedding = near(1, text, user=BOB, importance=0.5)
    others = near(2, "the mill is for sale", 0.9, importance=0.9), near(3, "I baked bread", importance=0.9)
    said = OfflineVoice().draft(utterance("is anybody getting married, and whom?", wedding)).text
    assert "Bob" in said
    asked = OfflineVoice().draft(utterance(line, others[0], wedding, others[1], said=(said,), turn=1))
    assert [told.entry.id for told in asked.told] == [1]
    assert "Bob" in asked.text


def test_asked_from_whom_it_knows_what_nobody_told_it_quotes_nobody() -> None:
    asked = utterance("who told you that?", near(1, TIN, 0.9, importance=0.9), said=("It will rain.",))
    assert OfflineVoice().draft(asked).told == ()


def test_another_relative_is_not_the_one_that_was_asked_about() -> None:
    flying = near(1, "my wife Anna is afraid of flying, and we fly in June", 0.8, importance=0.8)
    assert told("does my husband enjoy going by plane?", flying) == []
    assert told("does my wife enjoy going by plane?", flying) == [1]
    mother = near(1, "my mother is in hospital since Monday", 0.8, importance=0.8)
    assert told("how is mum doing with the doctors?", mother) == [1]


def test_what_other_characters_say_is_told_where_they_are_named() -> None:
    small_talk = near(1, "the fire wants a log, and I have none to give it", 0.8, user=BOB, importance=0.8)
    for line in ("is there any wood for the fire?", "the fire is going out again, it seems to me"):
        heard = replace(utterance(line, small_talk), characters=frozenset({BOB}))
        assert nearest(understand(heard.percept, heard.persona), heard) == []
    heard = replace(utterance("what did Bob say about the fire?", small_talk), characters=frozenset({BOB}))
    assert OfflineVoice().draft(heard).told


def test_a_question_that_names_somebody_is_answered_with_what_tells_of_them() -> None:
    assert told("what is Bob so scared of?", near(1, "I am allergic to nuts", 0.7, importance=0.9)) == []
    assert told("what is Bob so scared of?", near(1, "thunder frightens me", 0.7, user=BOB)) == [1]
    assert told("what is Bob so scared of?", near(1, "thunder frightens Bob", 0.7)) == [1]


def test_the_name_of_who_is_asked_makes_no_question_longer() -> None:
    known = near(1, "I lied, and everybody believed it", 0.2, importance=1.0)
    assert told("servnak, what is the weather?", known, who="servnak") == []


def test_what_was_said_last_is_no_matter_of_likeness() -> None:
    last = memory(2, "I am allergic to peanuts", days=0.001, why=(Why.RECENT,))
    asked = utterance(
        "what did I just say?", near(1, "you just say what I say", 0.9, importance=1.0, days=2), last
    )
    assert [report.entry.id for report in OfflineVoice().draft(asked).told] == [2]


def test_a_fact_that_was_written_by_hand_is_told_however_short() -> None:
    fact = memory(1, "is a wizard", importance=1.0, kind=Kind.EVENT, extra={"known_by": "user_bob"})
    asked = utterance("what am I?", near(2, "is this a question?", 0.6), fact)
    assert [report.entry.id for report in OfflineVoice().draft(asked).told] == [1]


def test_the_noun_of_a_question_may_be_another_word_where_the_meaning_is_near() -> None:
    sank = "a schooner called Marigold went down in the night"
    assert told("which ship sank?", near(1, sank, 0.5)) == [1]
    assert told("which ship sank?", near(1, sank, 0.4)) == []


@pytest.mark.parametrize("line", ["what troubles me so at night?", "do you remember what woke me?"])
def test_a_verb_after_what_is_no_noun_that_the_answer_must_have(line: str) -> None:
    assert told(line, near(1, "the neighbours quarrel until three in the morning")) == [1]


def test_who_tells_of_themselves_tells_nothing_of_their_relatives() -> None:
    job = near(1, "I have a job interview at the harbour office on Monday")
    shared = replace(job, why=(Why.LEXICAL, Why.SEMANTIC), scores={"semantic": 0.5, "lexical": 0.3})
    asked = utterance("what's my father's job?", shared)
    assert OfflineVoice().draft(asked).told == ()
    hers = replace(shared, entry=replace(shared.entry, user_text="I took her to her new job at the mill"))
    assert OfflineVoice().draft(utterance("what's my mother's job?", hers)).told


def test_the_name_of_one_thing_is_not_the_name_of_another() -> None:
    name = near(1, "I'm Oda, I keep a little inn called Saltmarsh", 0.3, importance=0.7)
    assert OfflineVoice().draft(utterance("do you know the name of my cat?", name)).told == ()


def test_of_two_that_are_as_near_the_one_that_tells_more_is_told() -> None:
    idle = near(1, "the gate is stuck I think", 0.5)
    tells = near(
        2, "jackdaws have filled the chimney from top to bottom, so light no fire before it is swept"
    )
    assert told("is there anything I ought to see to first?", idle, tells) == [2]


def test_what_somebody_else_told_comes_to_a_remark_only_where_it_is_clearly_alike() -> None:
    name = "my name is really Kimberley but everyone says Kim"
    katherine = "they call me Katherine at home, and in the yard I am only ever Kat"
    for meaning, comes in ((0.3, []), (0.5, [1])):
        assert told(name, near(1, katherine, meaning, user=BOB, importance=1.0)) == comes


def test_asked_for_now_it_tells_the_latest_and_what_went_on_from_it() -> None:
    took = near(1, "Teun took the backups with him", 0.6, importance=0.9, days=2)
    gave = near(2, "Teun gave me the backups", 0.4, days=1)
    for found in (took, gave):
        found.scores["lexical"] = 0.3
    asked = OfflineVoice().draft(utterance("so who has the backups now?", took, gave))
    assert [report.entry.id for report in asked.told] == [2]

    lost = near(1, "my husband lost his job", importance=0.9, days=1)
    found_one = near(2, "he found a new job today", days=1 - 30 / 86_400)
    later = near(3, "he snores", days=0.5)
    draft = OfflineVoice().draft(utterance("how is my husband?", lost, found_one, later))
    assert [report.entry.id for report in draft.told] == [1, 2]


def test_of_a_long_message_the_phrase_that_is_most_like_the_question_is_told() -> None:
    text = (
        "I had meant only to look in, but Beryl has been at me about the hosepipe rota and the gate came "
        "off. Trevor is away and nobody else alive knows it. The stopcock for the whole site is under the "
        "third slab behind the hut on plot fourteen. You want a crowbar and a torch. Now I must see to the "
        "runner beans, before the light goes and the slugs come out of the hedge"
    )
    line = "a fountain comes up by the compost bays, how does a body turn it off?"
    for best, others in (("stopcock", ("Beryl", "beans")), ("beans", ("Beryl", "stopcock"))):
        alike = tuple((part.strip(), 0.6 if best in part else 0.05) for part in phrases(text))
        found = replace(near(1, text, 0.5, user=BOB), phrases=alike)
        reply = OfflineVoice().draft(utterance(line, found)).text
        assert best in reply
        assert not any(other in reply for other in others)


def answering(recalled: Recalled, likely: float) -> Recalled:
    """The same memory, read as an answer with this probability."""
    return replace(recalled, scores={**recalled.scores, "answer": likely})


def said(text: str, *recalled: Recalled) -> list[int]:
    return [report.entry.id for report in OfflineVoice().draft(utterance(text, *recalled)).told]


BOUGHT = near(1, "the miller took the old barrow off me at last", 0.6, importance=0.4)
PAID = near(2, "nine crowns is what the barrow brought me", 0.5, importance=0.4)


def test_of_two_on_the_same_matter_the_one_that_answers_is_told() -> None:
    asked = "what did the miller give you for the barrow?"
    assert said(asked, BOUGHT, PAID) == [1]
    assert said(asked, answering(BOUGHT, 0.05), answering(PAID, 0.95)) == [2]


def test_of_one_matter_the_later_telling_is_told_though_it_says_less_by_itself() -> None:
    then = near(1, "our Mira mustn't go near walnuts, they make her wheeze", 0.5, importance=0.9, days=4)
    later = near(2, "the walnut rash came off a plant, with Mira it's only bees", 0.42, importance=0.85)
    asked = "what does little Mira have to stay away from?"
    assert told(asked, answering(then, 0.07)) == [1]
    assert told(asked, answering(then, 0.07), answering(later, 0.03)) == [2]


def test_what_was_told_later_and_answers_is_told_however_much_nearer_the_former_is() -> None:
    coming = answering(
        near(1, "my wife is coming next week with the boxes", 0.7, importance=0.9, days=1), 0.8
    )
    writes = answering(near(2, "my wife writes that they come on Saturday", 0.35, importance=0.3), 0.7)
    assert told("when is my wife coming?", coming, writes) == [2]
    assert told("when is my wife coming?", coming, answering(writes, 0.1)) == [1]


def test_asked_for_now_it_tells_what_answers_before_what_only_has_a_word_of_the_question() -> None:
    doctor = memory(1, "the doctor says I need an operation", importance=0.9, days=1)
    moved = answering(near(2, "the hospital has moved it to the tenth", 0.5, importance=0.9), 0.6)
    assert said("which day is the operation now?", doctor, moved) == [2]
    assert said("which day is the operation now?", doctor, answering(moved, 0.05)) == [1]
    cat = answering(near(3, "my cat Pepper has been missing since Friday", 0.7, importance=0.8, days=1), 0.8)
    back = answering(near(4, "Pepper is back, sitting on the doorstep", importance=0.6), 0.5)
    assert said("is my cat still missing?", cat, back) == [4]


def test_what_is_near_and_does_not_answer_is_not_told() -> None:
    asked = "why is the old barrow so heavy?"
    assert said(asked, BOUGHT) == [1]
    assert said(asked, answering(BOUGHT, 0.02)) == []


def test_an_open_question_is_answered_by_whatever_is_on_its_matter() -> None:
    asked = "what about the old barrow?"
    assert said(asked, answering(BOUGHT, 0.02)) == said(asked, BOUGHT) == [1]


FROM_BERGEN = near(1, "I just moved here from Bergen", 0.4, importance=0.6)


@pytest.mark.parametrize(
    "asked",
    ["where do you come from?", "will you be here tomorrow?", "would you like to come to market with me?"],
)
def test_what_somebody_told_of_themselves_answers_no_question_about_the_character(asked: str) -> None:
    assert said(asked, answering(FROM_BERGEN, 0.9)) == []


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("have you ever been to Bergen?", FROM_BERGEN),
        ("where do you come from?", near(1, "you come from the mill at Oxley, they say", 0.4)),
        ("where do I come from, do you know?", FROM_BERGEN),
    ],
    ids=["the matter is the same", "the character was told of itself", "who asks is asked about"],
)
def test_what_bears_on_a_question_to_the_character_is_told(asked: str, told: Recalled) -> None:
    assert said(asked, answering(told, 0.9)) == [1]


def test_a_question_without_a_matter_is_answered_by_what_a_model_finds_before_what_matters_most() -> None:
    baker = near(1, "I used to be a baker in Leith before the fire", 0.26, importance=0.5)
    child = near(2, "my wife is expecting our second in May", 0.1, importance=0.9)
    asked = "do you know what I did before?"
    assert said(asked, answering(baker, 0.87), answering(child, 0.0)) == [1]
    assert 2 in said(asked, baker, child)


def test_a_remark_brings_back_nothing_of_the_same_talk_by_its_meaning_and_never_who_one_is() -> None:
    knees = touched(near(1, "my knees are not what they used to be", 0.3), 0.6)
    remark = "there they are, in my coat pocket all along"
    assert told(remark, knees) == [1]
    just = replace(knees, entry=replace(knees.entry, timestamp=NOW - 600.0))
    assert told(remark, just) == []
    assert told(remark, just, memory(1 + SAME_TALK_ENTRIES, "I had toast")) == [1]
    assert told("the stairs again today, you can imagine why", just) == [1]
    assert told(remark, replace(knees, why=(Why.NAME, Why.SEMANTIC))) == []


def test_what_one_told_of_oneself_is_no_answer_to_a_question_about_something_else() -> None:
    ohio = near(1, "I'm from a tiny town in Ohio", 0.4)
    assert said("what is the best thing about living here?", answering(ohio, 0.6)) == []
    assert said("what is the best thing about living here?", answering(ohio, 0.95)) == [1]
    assert said("what is the best thing about the town?", answering(ohio, 0.6)) == [1]
    assert said("where am I from, would you say?", answering(ohio, 0.6)) == [1]
    hers = near(1, "my sister moved to Lisbon", 0.4)
    assert said("where does she live these days?", answering(hers, 0.6)) == [1]


def test_news_brings_back_only_what_it_touches_on() -> None:
    child = memory(1, "my wife is expecting our second in May", importance=0.9, days=1)
    news = LineReading(0.0, 0.7)
    name = replace(utterance("my wife's name is Greta", touched(child, 0.01)), reading=news)
    assert decide(understood_line(name), name, Phrasebook(name.persona, (), 1)).told == ()
    for other in (
        replace(name, reading=LineReading(0.0, 0.3)),
        replace(name, recalled=(touched(child, 0.2),)),
    ):
        [told] = decide(understood_line(other), other, Phrasebook(name.persona, (), 1)).told
        assert told.entry.id == 1


def test_what_goes_on_with_a_talk_brings_back_nothing_of_it() -> None:
    treatment = touched(
        memory(1, "my brother starts his treatment on the ninth", importance=0.8, days=1), 0.9
    )
    just_told = replace(treatment, entry=replace(treatment.entry, timestamp=NOW - 600.0))
    line = "my brother has a whole list of things to bring to the treatment"
    for told_then, worth_keeping, ids in [
        (just_told, 0.4, []),
        (just_told, 0.1, [1]),
        (treatment, 0.4, [1]),
    ]:
        remark = replace(utterance(line, told_then), reading=LineReading(0.0, worth_keeping))
        content = decide(understood_line(remark), remark, Phrasebook(remark.persona, (), 1))
        assert [one.entry.id for one in content.told] == ids


def touched(recalled: Recalled, likely: float) -> Recalled:
    """The same memory, read as what a remark touches on with this probability."""
    return replace(recalled, scores={**recalled.scores, "touched": likely})


def test_a_remark_brings_back_what_it_touches_on_however_unlike_and_nothing_else() -> None:
    letter = near(1, "I am handing in my notice on Friday, to train as a midwife in Leeds", 0.05)
    printed = "well, it is printed, and my hands will not keep still"
    assert told(printed, letter) == []
    assert told(printed, touched(letter, 0.95)) == [1]
    alike = replace(letter, scores={"semantic": 0.4})
    assert told(printed, alike) == [1]
    assert told(printed, touched(alike, 0.01)) == []


MARE = "the mare threw a shoe on the north road, that cost me nine silver at Brask's forge"


@pytest.mark.parametrize(
    ("likely", "act"), [(0.9, "remember"), (0.3, "nothing_more"), (0.1, "question"), (None, "nothing_more")]
)
def test_a_short_question_goes_on_with_what_was_just_told(likely: float | None, act: str) -> None:
    first = OfflineVoice().draft(utterance("what happened to the mare?", near(1, MARE))).text
    words = "that cost me nine silver at Brask's forge"
    just_told = replace(near(1, MARE), why=(Why.TOLD, Why.SEMANTIC), answer=words)
    if likely is not None:
        just_told = answering(just_told, likely)
    asked = utterance("how much was it", replace(just_told, answer=words if likely else ""), said=(first,))
    assert decide(understood_line(asked), asked, Phrasebook(asked.persona, (), 1)).act == act
    assert ("nine silver" in OfflineVoice().draft(asked).text) == (act == "remember")


@pytest.mark.parametrize(("likely", "told"), [(0.9, True), (0.5, False)])
def test_asked_for_more_than_was_just_told_it_tells_what_surely_answers_too(
    likely: float, told: bool
) -> None:
    first = near(1, "Greta and Jo move in with me in May", 0.45)
    later = answering(near(2, "the visa took them ages, it will be June now", 0.3), likely)
    before = "Ah. You said “Greta and Jo move in with me in May”."
    asked = utterance("so when does my family arrive?", answering(first, 0.95), later, said=(before,))
    assert ("June" in OfflineVoice().draft(asked).text) == told


def test_what_touches_less_does_not_come_up_in_place_of_what_was_said_in_this_talk() -> None:
    """Where the nearest need not be said, the next one would be out of place."""
    said_now = touched(
        near(9, "she wants to see me at Easter, and said she was sorry", 0.4, days=0.001), 0.95
    )
    older = touched(near(1, "I hardly talk to anybody at all these days", 0.4, days=9), 0.8)
    crying = "I am crying a bit but I think I feel fine about it"
    assert told(crying, older) == [1]
    assert told(crying, older, said_now) == []


def test_what_surely_answers_goes_on_with_what_was_told_though_it_is_about_nothing() -> None:
    first = OfflineVoice().draft(utterance("what happened to the mare?", near(1, MARE))).text
    words = "that cost me nine silver at Brask's forge"
    just_told = replace(near(1, MARE, 0.0), why=(Why.TOLD,), answer=words)
    for likely, told in ((0.9, True), (0.5, False)):
        asked = utterance("how much?", replace(answering(just_told, likely), answer=words), said=(first,))
        assert ("nine silver" in OfflineVoice().draft(asked).text) == told


def test_what_seems_to_ask_for_something_is_told_where_it_answers() -> None:
    hold = near(1, "Hold three is full of seed potatoes, and they die if it freezes", 0.3)
    asked = "shall I cut the heat down there?"
    assert said(asked, answering(hold, 0.9)) == [1]
    assert said(asked, answering(hold, 0.2)) == []


@pytest.mark.parametrize("why", [(Why.SEMANTIC,), (Why.TOLD, Why.SEMANTIC)])
def test_whatever_is_on_its_matter_answers_what_is_asked_about_it(why: tuple[Why, ...]) -> None:
    found = replace(answering(near(1, MARE), 0.01), why=why, answer="")
    assert said("what do you know about my mare?", found) == [1]
    assert said("what does the farrier charge for my mare?", found) == []


def test_what_answers_better_than_what_was_just_told_is_told_instead() -> None:
    just_told = replace(answering(near(1, MARE), 0.3), why=(Why.TOLD,), answer="nine silver")
    better = replace(answering(near(2, "my boots were four silver", 0.5), 0.8), answer="four silver")
    asked = utterance("how much were the boots", just_told, better)
    assert [report.entry.id for report in OfflineVoice().draft(asked).told] == [2]


def test_a_report_without_the_words_that_answer_gives_way_to_them() -> None:
    born = "I became a father this morning! A boy, and we call him Emre like my grandfather."
    asked = "what did he call the little one?"
    words = "we call him Emre like my grandfather"
    reply = OfflineVoice().draft(utterance(asked, replace(answering(near(1, born), 0.6), answer=words))).text
    assert f"“{born.rstrip('.')}”" in reply  # what stands about the words fits in
    assert words in reply
    beside = replace(answering(near(1, born), 0.05), answer=words)  # no answer, so its words are none either
    assert f"“{words}”" not in OfflineVoice().draft(utterance(asked, beside)).text


def test_a_short_line_is_quoted_whole_where_a_report_would_tell_half_of_it() -> None:
    told = "booked it! my train gets in at 18:40 on sunday, cheapest one by miles"
    asked = "so I just hop on the bus at the station on sunday?"
    reply = OfflineVoice().draft(
        utterance(asked, replace(answering(near(1, told), 0.6), answer="booked it!"))
    )
    assert f"“{told}”" in reply.text


@pytest.mark.parametrize("likely", [0.6, 0.1, None])
def test_what_somebody_else_told_of_themselves_is_quoted_where_it_would_be_anybodys(
    likely: float | None,
) -> None:
    debt = "I owe the midwife a goat"

    def reply(teller: str) -> str:
        owed = replace(near(1, debt, user=teller), answer=debt if likely else "")
        found = owed if likely is None else answering(owed, likely)
        return OfflineVoice().draft(utterance("what is owed to the midwife?", found)).text

    assert f"Tariq said “{debt}”" in reply("tariq")
    assert "you owe the midwife a goat" in reply(CAITY)


def test_of_a_long_line_what_stands_about_the_answer_is_quoted_with_it() -> None:
    told = (
        "the bakery on Cobb Lane burned down last night. nobody was hurt, thank heaven. but they lost both"
        " ovens, and all the flour that came in on Monday. my sister had to sleep at the chapel with the"
        " others, and nobody knows yet who will bake for the fair."
    )
    found = replace(answering(near(1, told), 0.6), answer="but they lost both ovens")
    reply = OfflineVoice().draft(utterance("what did the bakery lose?", found)).text
    assert "but they lost both ovens, and all the flour that came in on Monday" in reply
    assert "sister" not in reply


def test_no_certainty_of_a_model_outweighs_everything_else() -> None:
    idle = near(1, "the gate is stuck I think", 0.05)
    assert said("what did the miller pay for the barrow?", answering(idle, 1.0)) == []


@pytest.mark.parametrize(("likely", "told_at_once"), [(0.9, True), (0.3, False), (None, False)])
def test_what_was_said_a_moment_ago_is_told_only_where_it_answers(
    likely: float | None, told_at_once: bool
) -> None:
    moved = replace(near(1, "my sister Vera moved to the coast", days=0.0005), why=(Why.RECENT, Why.SEMANTIC))
    heard = moved if likely is None else answering(moved, likely)
    reply = OfflineVoice().draft(utterance("in what place does she make her home?", heard)).text
    assert ("Vera" in reply) == told_at_once


@pytest.mark.parametrize(("importance", "act"), [(0.3, "remember"), (0.9, "question")])
def test_importance_alone_makes_no_answer(importance: float, act: str) -> None:
    meaning = 0.75 - 0.6 * importance  # as near, all in all
    wedding = replace(near(1, "my wedding is at the mill", meaning, importance=importance), answer="the mill")
    asked = utterance("what sort of music is there?", answering(wedding, 0.3))
    assert decide(understood_line(asked), asked, Phrasebook(asked.persona, (), 1)).act == act


@pytest.mark.parametrize(("likely", "bears"), [(0.8, True), (0.3, False)])
def test_what_surely_bears_on_a_request_goes_before_advice_and_leave(likely: float, bears: bool) -> None:
    allergy = answering(near(1, "I am allergic to walnuts", 0.25, importance=0.3), likely)
    for asked in ("shall we have something with nuts?", "could you pass the cake?", "can I put nuts in it?"):
        reply = OfflineVoice().draft(utterance(asked, allergy)).text
        assert ("allergic to walnuts" in reply) == bears


def test_where_no_model_tells_what_answers_a_question_to_the_character_gets_no_memory() -> None:
    dog = near(1, "my dog is called Rex", 0.5)
    asked = utterance("do you have a dog?", dog)
    assert decide(understood_line(asked), asked, Phrasebook(asked.persona, (), 1)).act != "remember"


def test_who_asks_for_an_uncle_does_not_hear_of_themselves() -> None:
    home = answering(near(1, "I live in York", 0.6), 0.9)
    assert said("where does my uncle live?", home) == []
    gran = answering(near(1, "my gran lives in York", 0.6), 0.9)
    assert said("where does my grandmother live?", gran) == [1]
    assert said("where does my aunt live?", gran) == []


NINTH = near(1, "he starts treatment on the ninth", 0.6, importance=0.8, days=0.002)
SIXTEENTH = near(
    2, "the clinic rang, my brother's treatment starts on the sixteenth", 0.5, importance=0.7, days=0.001
)


def test_of_what_answers_the_later_telling_of_one_matter_is_told() -> None:
    asked = "when does my brother start his treatment?"
    assert said(asked, answering(NINTH, 0.95)) == [1]
    assert said(asked, answering(NINTH, 0.95), answering(SIXTEENTH, 0.7)) == [2]
    assert said(asked, answering(NINTH, 0.95), answering(SIXTEENTH, 0.1)) == [1]
    assert said("what day was it to start before?", answering(NINTH, 0.95), answering(SIXTEENTH, 0.7)) == [1]


def test_asked_right_after_it_told_the_former_it_tells_the_later_telling() -> None:
    before = OfflineVoice().draft(utterance("when does my brother start his treatment?", NINTH)).text
    told_before = replace(
        answering(NINTH, 0.95), why=(Why.TOLD, Why.SEMANTIC), answer="he starts treatment on the ninth"
    )
    later = replace(answering(SIXTEENTH, 0.7), answer="treatment starts on the sixteenth")
    asked = utterance("and when is it?", told_before, later, said=(before,))
    assert "sixteenth" in OfflineVoice().draft(asked).text


def test_asked_how_it_is_now_it_tells_what_answers_and_not_what_shares_more_words() -> None:
    then = near(1, "I go dancing every Tuesday evening, salsa mostly", 0.45, importance=0.4)
    now = near(2, "oh, and salsa's on Thursdays from next week", 0.4, importance=0.4)
    asked = "which evening do I go dancing now?"
    assert said(asked, answering(then, 0.5), answering(now, 0.9)) == [2]


def test_who_is_only_spoken_of_as_they_is_of_any_family() -> None:
    baby = near(1, "my granddaughter has just had a baby boy, my first great-grandchild", 0.4, importance=0.9)
    called = near(2, "they have called him Arthur, after his great-grandfather", 0.4, importance=0.7)
    asked = "do you remember what the baby is called?"
    assert said(asked, answering(baby, 0.04), answering(called, 0.72)) == [2]
    uncle = near(3, "my great-grandfather was called Arthur", 0.4, importance=0.7)
    assert said(asked, answering(baby, 0.04), answering(uncle, 0.72)) == [1]


def test_a_short_line_that_may_answer_is_quoted_whole() -> None:
    watch = replace(near(1, "Lost my watch somewhere. Dad's old one.", 0.5), answer="Dad's old one.")
    reply = OfflineVoice().draft(utterance("who did that watch belong to?", answering(watch, 0.19))).text
    assert "“Lost my watch somewhere. Dad's old one”" in reply


@pytest.mark.parametrize(
    ("asked", "now"),
    [
        ("how is my father now?", True),
        ("so how's my father doing, do you remember?", True),
        ("is my father still in hospital?", True),
        ("how was my father at first?", False),
        ("what happened to my father?", False),
    ],
)
def test_asked_how_it_is_now_it_tells_what_was_told_last_of_that(asked: str, now: bool) -> None:
    ill = near(1, "my father is in hospital, he had a heart attack", 0.5, importance=0.9, days=0.01)
    well = near(2, "good news, my brother rang, father is on his feet", 0.4, importance=0.5, days=0.005)
    tea = near(3, "my father likes his tea black", 0.4, importance=0.5, days=0.004)
    hers = near(4, "my father is a miller", 0.4, importance=0.5, user=BOB, days=0.003)
    found = [answering(ill, 0.8), answering(well, 0.3), answering(tea, 0.01), answering(hers, 0.3)]
    assert (2 in said(asked, *found)) == now
    assert not {3, 4} & set(said(asked, *found))


def test_what_was_told_last_of_somebody_is_no_answer_about_something_else_of_theirs() -> None:
    leg = near(1, "my sister broke her leg skiing", 0.5, importance=0.6, days=0.01)
    kitchen = near(2, "my sister painted her kitchen blue", 0.4, importance=0.5, days=0.005)
    assert said("how is my sister's leg now?", answering(leg, 0.9), answering(kitchen, 0.05)) == [1]


def test_asked_what_was_told_yesterday_it_tells_nothing_of_today() -> None:
    mast = near(1, "the boat needs a new mast", 0.5, importance=0.5, days=1)
    leak = near(2, "the boat is leaking at the stern", 0.5, importance=0.5, days=0.0)
    asked = "do you remember what I told you about the boat yesterday?"
    assert said(asked, answering(mast, 0.6), answering(leak, 0.45)) == [1]
