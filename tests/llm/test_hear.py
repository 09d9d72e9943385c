"""Lines are heard for what they are: a table of examples, and that nothing breaks the ear."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.llm.hear import hear
from noodlings.values.affect import Affect
from noodlings.values.occasions import Occasion
from noodlings.values.percept import Kind, Percept
from tests.llm.utterances import PERSONAS

HEARD = {
    "greeting": ["hello", "hey Phi", "good morning, phi!", "[bold]hi[/bold]", "Hello there!"],
    "farewell": ["good night", "bye", "i have to go now", "Goodbye, Phi. See you tomorrow!"],
    "thanks": ["thanks", "thank you so much, that was kind"],
    "apology": ["sorry about that", "I apologise"],
    "praise": ["you're so cute", "good kitty", "I love you", "you are a very good friend"],
    "insult": ["you are stupid", "Idiot!", "bad kitty", "shut up", "you are so boring"],
    "short": ["yes", "ok then", "lol", "never mind", "I see"],
    "how_are_you": ["how are you?", "how are you doing", "Are you sad?", "what's up?"],
    "who_are_you": ["who are you?", "what's your name", "are you a robot?", "tell me about yourself"],
    "what_do_you_want": ["what do you want?", "What is your dream?"],
    "what_is_my_name": ["what's my name?", "who am I?"],
    "where_are_we": ["where are we?", "What is this place?"],
    "likes": ["do you like my hat?", "do you like storms"],
    "doing": ["what are you doing?", "what are you thinking about?"],
    "yes_or_no": ["Have you ever seen the sea?", "did you sleep well?", "do you have a family?"],
    "question": ["what is the capital of Peru?", "why is the sky blue", "what time is it?"],
    "advice": ["what should I do?", "how can I get out of here?", "should I stay?"],
    "request": ["can you help me?", "tell me a story", "sing a song for me", "please open the door"],
    "forgotten": [
        "do you remember my dog?",
        "what did I say about my dog?",
        "what do you remember about me?",
        "what's my dog's name?",
        "when did my dog die?",
        "did I tell you about my sister?",
        "remember my dog?",
        "what did Caity say about the bridge?",
    ],
    "keep": ["remember that my birthday is in May", "don't forget the key is under the stone"],
    "grief": ["hello, my dog died yesterday", "my grandmother passed away", "the king is dead"],
    "sad": ["I feel so alone", "I miss my dog", "you broke my heart", "I'm getting divorced"],
    "afraid": ["I am scared of the dark", "I'm worried about the exam"],
    "angry": ["my boss shouted at me today", "I am furious"],
    "glad": ["I got married!", "I passed my exam"],
    "tired": ["I'm tired"],
    "bored": ["this is boring", "I'm so bored"],
    "statement": [
        "I am not sad",
        "my phone died",
        "I bought a red kite",
        "I love storms",
        "I hate mondays",
        "It's a nice day, isn't it?",
        "what a day",
        "asdfgh",
    ],
    "numbers": ["42", "3.14 + 2?"],
    "signs": ["😀😀", "❤️"],
    "silence": ["", "...", "!!!"],
    "foreign": ["Ich bin sehr müde und habe Hunger", "je ne sais pas", "こんにちは", "hola", "Я устал"],
}


@pytest.mark.parametrize(("occasion", "line"), [(o, line) for o, lines in HEARD.items() for line in lines])
def test_lines_are_heard_for_what_they_are(occasion: str, line: str) -> None:
    assert hear(Percept("user_caity", line, 0.0), PERSONAS["phi"]).occasion == occasion


@pytest.mark.parametrize(
    ("kind", "text", "occasion"),
    [
        (Kind.EMOTE, "waves", Occasion.EMOTE_WARM),
        (Kind.EMOTE, "sobs quietly", Occasion.EMOTE_SAD),
        (Kind.EMOTE, "kicks the table", Occasion.EMOTE_HARSH),
        (Kind.EMOTE, 'holds out a cup "tea?"', Occasion.EMOTE_GIFT),
        (Kind.EMOTE, "juggles", Occasion.EMOTE),
        (Kind.EMOTE, 'leans in. "my dog died"', Occasion.GRIEF),
        (Kind.ARRIVE, "arrives", Occasion.ARRIVE),
        (Kind.LEAVE, "leaves", Occasion.LEAVE),
        (Kind.EVENT, "the clock falls over", Occasion.EVENT),
    ],
)
def test_what_is_done_is_told_apart_from_what_is_said(kind: Kind, text: str, occasion: Occasion) -> None:
    assert hear(Percept("user_caity", text, 0.0, kind), PERSONAS["phi"]).occasion is occasion


def test_a_feeling_that_comes_with_the_line_counts_when_the_words_are_plain() -> None:
    felt = Affect(valence=-0.7, fear=0.9)
    assert (
        hear(Percept("u", "the moon is red", 0.0, affect=felt), PERSONAS["phi"]).occasion is Occasion.AFRAID
    )


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("my dog would have liked this", "your dog"),
        ("I bought a red kite", "the red kite"),
        ("I lost my train ticket", "your train ticket"),
        ("the old bridge collapsed", "the old bridge"),
        ("the weather is bad but my sister's wedding was fine", "your sister's wedding"),
        ("it was one of those days", ""),
        ("nothing much", ""),
    ],
)
def test_the_topic_is_a_noun_phrase_turned_to_the_speaker(line: str, topic: str) -> None:
    assert hear(Percept("u", line, 0.0), PERSONAS["phi"]).topic == topic


@given(st.text(max_size=300), st.sampled_from(list(Kind)))
def test_nothing_that_can_be_typed_breaks_the_ear(text: str, kind: Kind) -> None:
    heard = hear(Percept("u", text, 0.0, kind), PERSONAS["phi"])
    assert isinstance(heard.occasion, Occasion)
