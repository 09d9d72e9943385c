"""Lines are heard for what they are: a table of examples, and that nothing breaks the ear."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.values.affect import Affect
from noodlings.values.percept import Kind, Percept
from noodlings.values.wording import DialogueAct
from noodlings.voice.understanding import understand
from tests.voice.utterances import PERSONAS

HEARD = {
    "greeting": [
        "my name is Caity",
        "I'm Bob",
        "hello",
        "hey Phi",
        "good morning, phi!",
        "[bold]hi[/bold]",
        "Hello there!",
    ],
    "farewell": [
        "ok bye",
        "cya",
        "brb",
        "good night",
        "bye",
        "i have to go now",
        "Goodbye, Phi. See you tomorrow!",
    ],
    "thanks": ["thanks", "thank you so much, that was kind"],
    "apology": ["just kidding", "I was only joking", "sorry about that", "I apologise"],
    "praise": [
        "I'll miss you",
        "I missed you",
        "you're so cute",
        "good kitty",
        "I love you",
        "you are a very good friend",
    ],
    "insult": [
        "I don't like you",
        "go to hell",
        "you are stupid",
        "Idiot!",
        "bad kitty",
        "shut up",
        "you are so boring",
    ],
    "short": ["I'm ok now", "ha", "yes", "ok then", "lol", "never mind", "I see"],
    "puzzled": [
        "what did you say?",
        "say that again",
        "I don't understand",
        "what do you mean?",
        "that makes no sense",
        "stop saying that",
        "huh?",
    ],
    "secret": ["don't tell anyone", "keep this a secret", "please don't tell Bob"],
    "how_are_you": ["r u ok", "how are you?", "how are you doing", "Are you sad?", "what's up?"],
    "who_are_you": [
        "tell me about your life",
        "wat is ur name",
        "who are you?",
        "what's your name",
        "are you a robot?",
        "tell me about yourself",
    ],
    "what_do_you_want": ["what do you want?", "What is your dream?"],
    "what_is_my_name": ["what's my name?", "who am I?"],
    "where_are_we": ["where are we?", "What is this place?"],
    "likes": ["do you like my hat?", "do you like storms"],
    "doing": ["what are you doing?", "what are you thinking about?"],
    "yes_or_no": ["Have you ever seen the sea?", "did you sleep well?", "do you have a family?"],
    "personal": ["what have you forgotten?"],
    "question": [
        "where are we moving?",
        "is Caity sad?",
        "did Bob get fired?",
        "do you think she forgave me?",
        "what is the capital of Peru?",
        "what do you think I saw?",
        "why is the sky blue",
        "what time is it?",
    ],
    "advice": [
        "what do I do?",
        "how do I get home?",
        "what should I do?",
        "how can I get out of here?",
        "should I stay?",
    ],
    "request": [
        "can you help me?",
        "tell me a story",
        "sing a song for me",
        "let's go to the lake",
        "please open the door",
    ],
    "forgotten": [
        "do you still know my brother's name?",
        "do you remember my dog?",
        "what did I say about my dog?",
        "what do you remember about me?",
        "what's my dog's name?",
        "when did my dog die?",
        "did I tell you about my sister?",
        "remember my dog?",
        "what did Caity say about the bridge?",
        "where do I work?",
        "what do I hate?",
        "what pets do I have?",
        "tell me about my cat",
        "tell me everything you know about me",
    ],
    "keep": ["remember that my birthday is in May", "don't forget the key is under the stone"],
    "grief": ["hello, my dog died yesterday", "my grandmother passed away", "the king is dead"],
    "despair": ["I want to die", "I don't want to live any more"],
    "sad": [
        "I feel nothing",
        "the doctor says it is cancer",
        "my father has Alzheimer's",
        "my wife left me",
        "nobody likes me",
        "I feel so alone",
        "I miss my dog",
        "you broke my heart",
        "I'm getting divorced",
    ],
    "afraid": ["I am scared of the dark", "I'm worried about the exam"],
    "angry": ["my boss shouted at me today", "I am furious"],
    "glad": [
        "I cried with joy",
        "I'm pregnant",
        "my test came back negative, I'm healthy!",
        "I got married!",
        "I passed my exam",
    ],
    "tired": ["I'm tired"],
    "bored": ["this is boring", "I'm so bored"],
    "statement": [
        "I am not sad",
        "I died again lol",
        "the zombies killed me three times",
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


@pytest.mark.parametrize(("act", "line"), [(o, line) for o, lines in HEARD.items() for line in lines])
def test_lines_are_heard_for_what_they_are(act: str, line: str) -> None:
    assert understand(Percept("user_caity", line, 0.0), PERSONAS["phi"]).act == act


@pytest.mark.parametrize(
    ("kind", "text", "act"),
    [
        (Kind.EMOTE, "waves", DialogueAct.EMOTE_WARM),
        (Kind.EMOTE, "sobs quietly", DialogueAct.EMOTE_SAD),
        (Kind.EMOTE, "is crying", DialogueAct.EMOTE_SAD),
        (Kind.EMOTE, "starts to dance", DialogueAct.EMOTE_WARM),
        (Kind.EMOTE, "kicks the table", DialogueAct.EMOTE_HARSH),
        (Kind.EMOTE, 'holds out a cup "tea?"', DialogueAct.EMOTE_GIFT),
        (Kind.EMOTE, "juggles", DialogueAct.EMOTE),
        (Kind.EMOTE, 'leans in. "my dog died"', DialogueAct.GRIEF),
        (Kind.ARRIVE, "arrives", DialogueAct.ARRIVE),
        (Kind.LEAVE, "leaves", DialogueAct.LEAVE),
        (Kind.EVENT, "the clock falls over", DialogueAct.EVENT),
    ],
)
def test_what_is_done_is_told_apart_from_what_is_said(kind: Kind, text: str, act: DialogueAct) -> None:
    assert understand(Percept("user_caity", text, 0.0, kind), PERSONAS["phi"]).act is act


def test_a_given_feeling_counts_where_the_words_are_plain() -> None:
    felt = Affect(valence=-0.7, fear=0.9)
    assert (
        understand(Percept("u", "the moon is red", 0.0, affect=felt), PERSONAS["phi"]).act
        is DialogueAct.AFRAID
    )


@pytest.mark.parametrize(
    ("line", "felt"),
    [
        ("he was such a good boy", Affect(valence=0.7, arousal=0.7)),
        ("I hate mushrooms", Affect(valence=-0.7, arousal=0.7)),
        ("I died again lol", Affect(valence=-0.6, sorrow=0.7)),
        ("what will it be tomorrow?", Affect(valence=-0.7, sorrow=0.9)),
    ],
)
def test_what_the_hearer_feels_is_not_all_the_speaker_tells(line: str, felt: Affect) -> None:
    heard = understand(Percept("u", line, 0.0, affect=felt), PERSONAS["phi"])
    assert heard.act in (DialogueAct.STATEMENT, DialogueAct.QUESTION)


@pytest.mark.parametrize(
    ("line", "act"),
    [
        ("*smiles* hello", DialogueAct.GREETING),
        ("my dog died *cries*", DialogueAct.GRIEF),
        ("*sobs quietly*", DialogueAct.EMOTE_SAD),
        ("*kicks the table* nice weather", DialogueAct.STATEMENT),
    ],
)
def test_a_gesture_in_asterisks_is_not_said(line: str, act: DialogueAct) -> None:
    assert understand(Percept("u", line, 0.0), PERSONAS["phi"]).act is act


def test_who_always_shouts_is_heard_as_anybody() -> None:
    heard = understand(Percept("servnak", "THE BOILER IS WARM", 0.0), PERSONAS["maren"])
    assert (heard.topic, heard.echo) == ("the boiler", "the boiler is warm")


def test_what_is_hard_is_heard_as_sad_though_no_feeling_stands_out() -> None:
    hard = Affect(valence=-0.8, arousal=0.5, fear=0.1, sorrow=0.1)
    assert understand(Percept("u", "I can't sleep", 0.0, affect=hard), PERSONAS["phi"]).act is DialogueAct.SAD


def test_what_hurts_is_not_said_back() -> None:
    line = "they cut the oak"
    assert understand(Percept("u", line, 0.0), PERSONAS["phi"]).echo == line
    assert understand(Percept("u", line, 0.0, affect=Affect(valence=-0.4)), PERSONAS["phi"]).echo == ""


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
    assert understand(Percept("u", line, 0.0), PERSONAS["phi"]).topic == topic


@given(st.text(max_size=300), st.sampled_from(list(Kind)))
def test_nothing_that_can_be_typed_breaks_the_ear(text: str, kind: Kind) -> None:
    heard = understand(Percept("u", text, 0.0, kind), PERSONAS["phi"])
    assert isinstance(heard.act, DialogueAct)
