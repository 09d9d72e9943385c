"""The words of the offline voice: word lists, names, spans of time and English verb forms.

The lists are in `lexicon.yaml`, where a plus sign joins the words of a phrase. Verbs are there as irregular
forms and as bare regular forms; a verb in neither list has only the form that was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import resources
from typing import Any

from noodlings import stemming
from noodlings.ports import Utterance
from noodlings.text import any_of, cached_by_text, clean, without_hasty_will
from noodlings.validation import yaml_of
from noodlings.values.percept import told_name
from noodlings.values.persona import Persona

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip


def ago(seconds: float) -> str:
    """ "three days ago"; "" for just now or the future."""
    if seconds < 2 * MINUTE:
        return ""
    if seconds < HOUR:
        return "a little while ago"
    if seconds < 20 * HOUR:
        hours = round(seconds / HOUR)
        return "an hour ago" if hours == 1 else "a few hours ago" if hours < 6 else "some hours ago"
    days = round(seconds / DAY)
    for length, unit in ((365, "year"), (30, "month"), (7, "week"), (1, "day")):
        if days >= length:
            count = days // length
            return f"a {unit} ago" if count == 1 else f"{in_words(count)} {unit}s ago"
    return "a day ago"


def in_words(number: int) -> str:
    """A count as a word up to twenty, beyond as digits."""
    return _NUMBERS[number] if 0 < number < len(_NUMBERS) else f"{number:,}"


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DRAWN = re.compile(r"^([^\W\d_])\1{2,}(?=[^\W\d_])")  # "hellooo", "yesss", read from their ends
GESTURE = re.compile(r"\*[^*]+\*")
_I = re.compile(r"\bi\b")
SHOUTED_WORDS = 3
"""Words in capitals from which a line is shouted; fewer may be a name, or a cry."""


def load_yaml(name: str) -> Any:
    return yaml_of(resources.files(__package__).joinpath(name))


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    lists = {
        name: frozenset(entry.replace("+", " ") for entry in str(words).split())
        for name, words in load_yaml("lexicon.yaml").items()
    }
    irregular_forms = frozenset(" ".join(lists["irregular"]).split())
    lists["verbs"] |= lists["finite"] | (irregular_forms - lists["noun_as_well"])
    lists["openers"] |= lists["subjects"] | lists["determiners"] | lists["links"] | lists["before_subject"]
    return lists


def words_for(name: str) -> frozenset[str]:
    return _lists()[name]


def listed(word: str, *names: str) -> bool:
    return any(word in words_for(name) for name in names)


@lru_cache(maxsize=4)
def _pairs(name: str) -> dict[str, str]:
    return dict(pair.split() for pair in words_for(name))


def tokens(text: str) -> list[str]:
    """The words of a line in lower case, with straight apostrophes and without chat spelling."""
    return list(_tokens(text))


def bare_words(text: str) -> Iterator[str]:
    """The words of a line without the "'s" at their end: "dad's picking me up"."""
    return (word.removesuffix("'s") for word in tokens(text))


@cached_by_text(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    words = _WORD.findall(without_hasty_will(text))
    found = (_DRAWN.sub(r"\1", word.replace("’", "'").lower()[::-1])[::-1] for word in words)
    return tuple(_pairs("chat").get(word, word) for word in found)


def spoken_words(text: str) -> str:
    """What is said in a line: without gestures in asterisks, and in small letters if all is in capitals.

    A line that is only a gesture stays as it is.
    """
    said = GESTURE.sub(" ", text)
    said = " ".join((said if any(map(str.isalnum, said)) else text).split())
    shouted = len(said.split()) >= SHOUTED_WORDS and not any(map(str.islower, said))
    return _I.sub("I", said.lower()) if shouted else said


def stem(word: str) -> str:
    """The stem of an English word in lower case: "dogs" and "dog's" are "dog", "lost" is "lose"."""
    word = word.removesuffix("'s")
    return stemming.stem(_bases().get(word, word))


@lru_cache(maxsize=16)
def stems_for(name: str) -> frozenset[str]:
    """One list, the first word of each entry as its stem: "break down" for "breaks down"."""
    return frozenset(" ".join([stem(first), *rest]) for first, *rest in map(str.split, words_for(name)))


@lru_cache(maxsize=1)
def _bases() -> dict[str, str]:
    """Base by irregular past, where that is no other word as well."""
    unclear = words_for("other_word_as_well")
    return {past: base for base, past in irregular().items() if past not in unclear}


def topic_stems(words: list[str]) -> frozenset[str]:
    common = words_for("common")
    return frozenset(stem(word) for word in words if word not in common and len(word) > 1)


_NO_PAST = re.compile(
    r".*eed$|^(?:bed|red|shed|sled|hundred|sacred|naked|wicked|kindred|beloved|bobsled|ted)$"
)


@lru_cache(maxsize=1)
def irregular() -> dict[str, str]:
    """Past by base: "went" for "go"."""
    return _pairs("irregular")


@lru_cache(maxsize=1)
def bases() -> frozenset[str]:
    return words_for("regular") | irregular().keys()


def third_of(word: str) -> str:
    """The base of a form in -s ("lives", "cries", "goes"), or ""."""
    if not word.endswith("s") or word.endswith("ss"):
        return ""
    found = (
        word[:-1],
        word[:-2] if word.endswith("es") else "",
        f"{word[:-3]}y" if word[-3:] == "ies" else "",
    )
    return next((base for base in found if base in bases()), "")


def bare_of(verb: str) -> str:
    """The base of a verb in the third person, listed or not: "hug" for "hugs"; "" for another word."""
    if (known := third_of(verb)) or not re.fullmatch(r"[a-z]+[^s]s", verb):
        return known
    base = verb[:-3] + "y" if verb.endswith("ies") else verb[:-1]
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes", "zzes")) else base


def is_past(word: str) -> bool:
    """Whether it can be a past form: "went", "died"; not "bed"."""
    return word in _pasts() or (len(word) > 3 and word.endswith("ed") and not _NO_PAST.match(word))


def past_of(base: str) -> str:
    """ "went" for "go", "hugged" for "hug", "carried" for "carry"."""
    if base in irregular():
        return irregular()[base]
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]", base):  # hug, nod, pet
        return f"{base}{base[-1]}ed"
    return f"{base}{'d' if base.endswith('e') else 'ed'}"


@lru_cache(maxsize=1)
def _pasts() -> frozenset[str]:
    return frozenset(irregular().values())


_PREFIX = re.compile(r"^(?:user|agent|player|npc)_", re.I)


def shown(user_id: str, utterance: Utterance) -> str:
    """The name of a person: as the world shows it, else made from the id."""
    if user_id == utterance.percept.user_id and utterance.speaker:
        return proper(utterance.speaker)
    return proper(utterance.names.get(user_id) or plain_name(user_id))


def name_of(utterance: Utterance) -> str:
    """What the person who is answered is called: as they told last, if that is in mind, else as shown."""
    heard = [found.entry for found in reversed(utterance.recalled)]
    theirs = (entry.user_text for entry in heard if entry.user_id == utterance.percept.user_id)
    told = filter(None, map(told_name, (utterance.percept.text, *theirs)))
    return next(told, "") or clean(proper(utterance.speaker)) or "friend"


def plain_name(user_id: str) -> str:
    """ "agent_fred_rogers" becomes "Fred Rogers"."""
    words = re.split(r"[_\s]+", _PREFIX.sub("", user_id.strip()))
    return " ".join(word[:1].upper() + word[1:] for word in words if word) or "somebody"


def proper(name: str) -> str:
    return name[:1].upper() + name[1:] if name.islower() else name


def without_names(text: str, persona: Persona) -> str:
    """The line without the name of the person spoken to, at its beginning or its end."""
    at_start, at_end = _vocatives(persona.called)
    bare = at_start.sub("", text, count=1)
    called = at_end.search(bare)
    last_word = bare[: called.start()].lower().split()[-1:] if called else []
    if called and words_for("belonging").isdisjoint(last_word):
        bare = bare[: called.start()] + called.group(1)
    bare = bare.strip()
    return bare if any(map(str.isalnum, bare)) else text


def called_other(text: str, utterance: Utterance) -> tuple[str, str]:
    """The name that a line begins with ("Maren, look"), and the rest; else "" and the line."""
    name, comma, rest = text.partition(",")
    shown_names = {display_name.casefold(): display_name for display_name in utterance.names.values()}
    other = shown_names.get(name.strip().casefold(), "") if comma else ""
    return (proper(other), rest.strip()) if other and rest.strip() else ("", text)


_CALLED_FIRST = re.compile(
    r"\W*(?:(?:hey|hi|hiya|hello|hola|oh|ah|ay|aye|morning|evening|thanks|sorry|no|yes|dear)[\s,]+)?([\w'-]+)"
    r"\s*(?:[,.!?:…]|$)",
    re.I,
)
_CALLED_LAST = re.compile(r",\s*([\w'-]+)\W*$")
LEAST_OF_NAME = 3
"""Letters of a name by which somebody may be called: "Tam" for Tamsin."""


def calls_another(utterance: Utterance) -> bool:
    """Whether a line is for somebody else, by the name at its beginning or its end: "well done, Bob"."""
    text = utterance.percept.text
    places = (_CALLED_FIRST.match(text), _CALLED_LAST.search(text))
    called = {found[1].casefold() for found in places if found and len(found[1]) >= LEAST_OF_NAME}
    others = set(utterance.names).difference(utterance.persona.own_ids, [utterance.percept.user_id])
    names = _parts([shown(user, utterance) for user in others])
    own = _parts(utterance.persona.called)
    return any(_begins(names, one) and not _begins(own, one) for one in called)


def _parts(names: Iterable[str]) -> list[str]:
    return re.split(r"[_\s]+", " ".join(names).casefold())


def _begins(parts: list[str], start: str) -> bool:
    return any(part.startswith(start) for part in parts)


def self_as_me(text: str, persona: Persona) -> str:
    """What was done to the speaker: "hugs Phi" as "hugs me"."""
    return re.sub(rf"\b{any_of(persona.called)}\b", "me", text, flags=re.I)


@lru_cache(maxsize=256)
def _vocatives(called: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    names = any_of(called)
    # "Phi, look" and "hey Phi look", but not "Phi is small", which is said about Phi.
    start = rf"^(?:@?{names}\s*[,:;!.…—-]+\s*|(?P<hey>hey|oh|dear)\s+@?{names}\b[,:;!.…—-]*\s*)"
    return re.compile(start, re.I), re.compile(rf",?\s+@?{names}\s*([.!?…]*)\s*$", re.I)
