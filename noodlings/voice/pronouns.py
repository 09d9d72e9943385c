"""Pronouns: a line turned from its speaker to somebody who repeats it.

"I lost my key" is "you lost your key" to its speaker and "they lost their key" to everybody else; "you" in it
is whoever repeats it.
"""

from __future__ import annotations

import re

from noodlings.voice.words import bare_of, bases, listed, past_of, third_of, words_for

_PIECES = re.compile(r"([^\W\d_]+(?:['’][^\W\d_]+)*)")

# From the one who said it to "you", when it is repeated to them.
_TO_SPEAKER = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "we": "you", "us": "you",
    "our": "your", "ours": "yours", "ourselves": "yourselves", "i'm": "you're", "i've": "you've",
    "i'd": "you'd", "i'll": "you'll", "we're": "you're", "we've": "you've", "we'd": "you'd",
    "we'll": "you'll", "im": "you're", "ive": "you've",
}  # fmt: skip
# The same to "they", when it is repeated to somebody else.
_TO_OTHERS = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves", "we": "they",
    "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves", "i'm": "they're",
    "i've": "they've", "i'd": "they'd", "i'll": "they'll", "we're": "they're", "we've": "they've",
    "we'd": "they'd", "we'll": "they'll", "im": "they're", "ive": "they've",
}  # fmt: skip
# What was said to the one who repeats it.
_TO_SELF = {
    "your": "my", "yours": "mine", "yourself": "myself", "you're": "I'm", "you've": "I've", "you'd": "I'd",
    "you'll": "I'll", "youre": "I'm",
}  # fmt: skip
_BE_AFTER_I = {"am": "are", "was": "were", "wasn't": "weren't"}
_BE_AFTER_YOU = {"are": "am", "were": "was", "aren't": "am not", "weren't": "wasn't"}

# A present that is over when the words are repeated later.
_PAST = {
    "am": "was", "is": "was", "are": "were", "will": "would", "can": "could", "have": "had", "has": "had",
    "you're": "you were", "they're": "they were", "i'm": "I was", "it's": "it was",
    "he's": "he was", "she's": "she was", "you'll": "you would", "they'll": "they would",
    "isn't": "wasn't", "aren't": "weren't", "won't": "wouldn't", "can't": "couldn't",
    "don't": "didn't", "doesn't": "didn't", "haven't": "hadn't", "hasn't": "hadn't",
}  # fmt: skip
_SUBJECTS = frozenset({"i", "you", "we", "they"})
_ALONE = frozenset({"he", "she", "it", "who", "that", "nobody", "everybody", "everyone", "somebody"})
# "makes you feel", "let them go": the verb after these is none that stands in a tense.
_BARE_AFTER = frozenset(
    {
        "make", "makes", "made", "let", "lets", "help", "helps", "helped", "see", "saw", "hear", "heard",
        "watch", "do", "does", "did", "will", "would", "can", "could", "should", "must", "may", "might", "to",
    }
)  # fmt: skip


def turn(text: str, to_speaker: bool) -> str:
    """The line as somebody else says it: to its speaker ("you"), or about them ("they")."""
    table = _TO_SPEAKER if to_speaker else _TO_OTHERS
    pieces = _PIECES.split(text)  # words at odd places, what stands between them at even ones
    words = [piece.replace("’", "'").lower() for piece in pieces]
    for at in range(1, len(pieces), 2):
        before = words[at - 2] if at > 1 else ""
        after = words[at + 2] if at + 2 < len(words) else ""
        if words[at] == "you":
            pieces[at] = "I" if _is_subject(words, at) else "me"
        else:
            pieces[at] = _turned(pieces[at], words[at], before, after, table)
    return "".join(pieces)


def _turned(piece: str, word: str, before: str, after: str, table: dict[str, str]) -> str:
    if word in _BE_AFTER_I and "i" in (before, after):
        return _BE_AFTER_I[word]
    if word in _BE_AFTER_YOU and ("you" in (before, after)) and not (before == "you" and after == "i"):
        return _BE_AFTER_YOU[word]
    return table.get(word) or _TO_SELF.get(word) or piece


def _is_subject(words: list[str], at: int) -> bool:
    """Whether the "you" at this place is a subject: at the beginning of a clause, or with a verb after it."""
    begins = at == 1 or ";" in words[at - 1] or (words[at - 2] == "and" and "," in words[at - 3])
    at += 2
    while at < len(words) and words[at] in words_for("adverbs") and words[at - 1].isspace():
        at += 2
    return at < len(words) and words[at - 1].isspace() and (begins or words[at] in words_for("verbs"))


_THIRD = {"he": "him he his himself", "she": "her she her herself", "it": "it it its itself"}
_AFTER_I = {"is": "am", "has": "have", "does": "do", "was": "was"}
_VERB = re.compile(r"((?:\bI|,|\b(?:and|or|but)) (?:(?:always|never|still|\w+ly) )?)([a-z]+)")


def in_first_person(text: str, pronoun: str, name: str) -> str:
    """What is told of somebody as they say it: "she keeps her light" is "I keep my light"; "" if unclear."""
    own = dict(zip(_THIRD[pronoun].split(), ("me", "I", "my", "myself"), strict=True))

    def first(found: re.Match[str]) -> str:
        to_her = found[1] == "her" and (not found[2] or listed(found[2], "common"))
        return "me" if to_her else own.get(found[1].lower(), "I" if found[1] == name else "my")

    def bare(found: re.Match[str]) -> str:
        base = _AFTER_I.get(found[2]) or (bare_of if found[1][0] == "I" else third_of)(found[2])
        return found[1] + (base or found[2])

    if pronoun == "it" and re.search(r"\w.*\bit\b", text, re.I):
        return ""
    said = re.sub(rf"\b((?i:{'|'.join(own)})|{re.escape(name)}(?:['’]s)?)\b(?=(?: (\w+))?)", first, text)
    said = said[:1].upper() + said[1:].replace("I's ", "I'm ")
    return _VERB.sub(bare, said) if re.search(r"\bI\b", said) else said


def to_past(text: str) -> str:
    """A clause in the past tense: "you are afraid" becomes "you were afraid"."""
    pieces = _PIECES.split(text)
    words = [piece.replace("’", "'").lower() for piece in pieces]
    for at in range(1, len(pieces), 2):
        if words[at] != "have" or not _stands_bare(words, at):
            pieces[at] = _PAST.get(words[at]) or _past(words, at) or pieces[at]
    return "".join(pieces)


def _stands_bare(words: list[str], at: int) -> bool:
    """Whether a verb has no tense: "would have", "couldn't really have", "to have"."""
    before = [word for word in words[max(at - 8, 1) : at - 1 : 2] if word not in words_for("adverbs")]
    nearest = [word for word in before if word != "not"][-1:]
    return bool(nearest) and nearest[0].removesuffix("n't") in _BARE_AFTER


def _past(words: list[str], at: int) -> str:
    """The past of a verb in the present tense at this place; "" for everything else."""
    before = [word for word in words[max(at - 6, 1) : at - 1 : 2] if word not in words_for("adverbs")]
    subject, earlier = (["", "", *before])[-1], (["", "", *before])[-2]
    if words[at] in bases():
        bare = subject not in _SUBJECTS or earlier in _BARE_AFTER
        return "" if bare else past_of(words[at])
    base = third_of(words[at])
    # "your dog barks", but not "the old dog walks" of a noun in the plural: that needs an article.
    noun = subject and not any(subject in words_for(name) for name in ("common", "verbs", "adjectives"))
    return past_of(base) if base and (subject in _ALONE or noun) else ""


def lower_first(text: str) -> str:
    """The text for the middle of a sentence; "I" stays."""
    first = _PIECES.search(text)
    if first is None or first.group().split("'")[0].split("’")[0] == "I":
        return text
    return text[: first.start()] + text[first.start()].lower() + text[first.start() + 1 :]
