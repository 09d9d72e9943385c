"""The occasions a character has words for, and the feelings it bursts out with.

A recipe may give its character own lines for any occasion (`voice.lines`); for the others it speaks with
the lines that all characters share.
"""

from __future__ import annotations

from enum import StrEnum

from noodlings.values.persona import APPETITES


class Feeling(StrEnum):
    """What an interjection expresses."""

    JOY = "joy"
    SORROW = "sorrow"
    FEAR = "fear"
    ANGER = "anger"
    BOREDOM = "boredom"
    CALM = "calm"


class Occasion(StrEnum):
    """What a line is an answer to. The docstrings say which slots beside the common ones it may use."""

    GREETING = "greeting"
    REUNION = "reunion"
    """A greeting by somebody of whom something important is remembered: {memory}."""
    FAREWELL = "farewell"
    THANKS = "thanks"
    APOLOGY = "apology"
    PRAISE = "praise"
    INSULT = "insult"
    SHORT = "short"
    """A word that asks for nothing: yes, no, ok, lol."""
    PUZZLED = "puzzled"
    """Somebody does not see what it means, or has heard it before."""

    HOW_ARE_YOU = "how_are_you"
    WHO_ARE_YOU = "who_are_you"
    WHAT_DO_YOU_WANT = "what_do_you_want"
    WHAT_IS_MY_NAME = "what_is_my_name"
    WHERE_ARE_WE = "where_are_we"
    LIKES = "likes"
    """Asked whether it likes something that it does like: {topic}."""
    DISLIKES = "dislikes"
    """Asked whether it likes something that it does not: {topic}."""
    LIKES_YOU = "likes_you"
    """Asked whether it likes the one who asks."""
    DOING = "doing"
    """Asked what it is doing or thinking of."""
    YES_OR_NO = "yes_or_no"
    """Asked about itself, yes or no."""
    PERSONAL = "personal"
    """Another question about itself to which its recipe has no answer."""
    QUESTION = "question"
    """A question it cannot know the answer to."""
    ADVICE = "advice"
    """Asked what somebody should do."""
    REQUEST = "request"
    """Asked to do something."""

    REMEMBER = "remember"
    """Asked about something it remembers: {memory}."""
    REMINDED = "reminded"
    """Reminded of something by what was said: {memory}."""
    FORGOTTEN = "forgotten"
    """Asked about something it does not remember; with {topic} where that is known."""
    KEEP = "keep"
    """Asked to remember something."""

    GRIEF = "grief"
    DESPAIR = "despair"
    """Somebody does not want to live any more."""
    SAD = "sad"
    AFRAID = "afraid"
    ANGRY = "angry"
    GLAD = "glad"
    TIRED = "tired"
    BORED = "bored"
    COMFORT = "comfort"
    """What it adds to something heavy."""

    STATEMENT = "statement"
    """Told something ordinary; with {topic} (what it was about), {echo} (the statement itself) or neither."""
    LONG = "long"
    """A speech too long to be answered point by point."""

    EMOTE = "emote"
    EMOTE_WARM = "emote_warm"
    EMOTE_SAD = "emote_sad"
    EMOTE_HARSH = "emote_harsh"
    EMOTE_GIFT = "emote_gift"
    ARRIVE = "arrive"
    LEAVE = "leave"
    EVENT = "event"
    SILENCE = "silence"
    """Nothing was said that could be answered."""
    SECRET = "secret"  # noqa: S105 -- not a password
    """Asked to tell nobody, and what it adds to an answer when somebody whispers."""

    SIGNS = "signs"
    """Only emoji or punctuation."""
    NUMBERS = "numbers"
    FOREIGN = "foreign"
    """A language it does not know."""

    MOOD_JOY = "mood_joy"
    """What a strong mood adds to small talk; so the next five."""
    MOOD_SORROW = "mood_sorrow"
    MOOD_FEAR = "mood_fear"
    MOOD_ANGER = "mood_anger"
    MOOD_BOREDOM = "mood_boredom"


COMMON_SLOTS = frozenset({"name", "address", "me", "species", "percent"})
"""Slots every line may use: who is spoken to, what it calls them, its own name and species, a number."""

SLOTS: dict[Occasion, frozenset[str]] = {
    Occasion.REUNION: frozenset({"memory"}),
    Occasion.REMEMBER: frozenset({"memory"}),
    Occasion.REMINDED: frozenset({"memory"}),
    Occasion.FORGOTTEN: frozenset({"topic"}),
    Occasion.LIKES: frozenset({"topic"}),
    Occasion.DISLIKES: frozenset({"topic"}),
    Occasion.STATEMENT: frozenset({"topic", "echo"}),
    Occasion.WHERE_ARE_WE: frozenset({"place"}),
    Occasion.WHAT_DO_YOU_WANT: frozenset({"want"}),
}
"""What else the lines of an occasion may use."""

SIGNS = tuple(feeling.value for feeling in Feeling if feeling is not Feeling.CALM)
"""Feelings that show in the body: their colours are gestures, the others are whole sentences."""

GENTLY = {name: f"gently_{name}" for name in ("curiosity", "status", "mastery", "novelty", "autonomy")}
"""Wants that are spoken of in another way in the face of something heavy, and the colour for that."""

COLOURS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*SIGNS, *APPETITES, *GENTLY.values(), "alike_told", "self"), frozenset()),
    "alike": frozenset({"memory"}),
    "image": frozenset({"image"}),
}
"""What may colour a reply, with what else its phrases may use: a feeling, something wanted, a moment that
felt alike ({memory}, a clause), an image from below ({image}: "a cold tide"), and who the character is."""
