"""An image of an intense moment, by a language model.

The result is one printable line with a new image, or an `LLMError`. An answer that repeats an example of the
prompt, an earlier image or the moment itself is refused, and so is whatever the `guard` refuses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from noodlings.llm.call import ModelCall, Refused, Task
from noodlings.llm.foreign_language import foreign_at
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import without_fragments
from noodlings.llm.prompting import symbol_prompt
from noodlings.ports import Allowance
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.voice.reply_content import stable
from noodlings.voice.words import stem, tokens, topic_stems, words_for

LONGEST_IMAGE = 160
"""Characters; of a longer answer the first sentence is taken, if that is short enough."""
ALIKE = 0.6
"""Images that share this part of their words, or more, are the same image."""
REPEATED = 0.5
"""An image with this part of its words, or more, from the moment itself only repeats it."""
TEMPERATURE = 0.9

EXAMPLES = ("a thimble of hailstones", "lanterns on a glacier", "a trombone in straw")
"""Shown in the prompt for their form. Their words are so rare that an answer with one of them is a copy."""

_ABOUT = frozenset(map(stem, ("image", "symbol", "metaphor", "moment")))
_LABEL = re.compile(
    r"^\W*(?:\d+[.)]\s*)?(?:(?:the\s+)?(?:image|symbol|metaphor|answer)\W*:)?\s*", re.IGNORECASE
)
_SPOKEN = re.compile(r"(?:^|[.!?…] )\W*[A-Z][\w'’-]*[*_]*:")
"""A name before the line, as in a play."""
_SENTENCE = re.compile(r"[^.!?]+[.!?]?")
_WORD = re.compile(r"[^\W\d_]{2,}")


class LLMSymbolist:
    """The port `Symbolist` over a model."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    @property
    def name(self) -> str:
        return self._gateway.model(Task.SYMBOL)

    async def imagine(self, event: str, affect: Affect, avoid: Sequence[str], allowance: Allowance) -> str:
        """An image. Raises `LLMError` if there is no new one in time."""
        prompt = symbol_prompt(event, affect, avoid, EXAMPLES)
        call = ModelCall(Task.SYMBOL, prompt, TEMPERATURE, seed=stable(event, *avoid))
        return await self._gateway.ask(call, lambda answer: image_in(answer.text, event, avoid), allowance)


def image_in(text: str, event: str, avoid: Sequence[str]) -> str:
    """The image of an event in a model's answer: its first line with words.

    Raises:
        Refused: there is none, or it repeats the event, an example, or an image to avoid.
    """
    image = _first_line(text)
    words = topic_stems(tokens(image))
    faults = {
        "has no words in it": not words,
        "is words about one": words & _ABOUT,
        "is something that somebody does": "*" in image,
        "is somebody's line": _SPOKEN.search(image),
        "is in another language": foreign_at(image, (event,)) is not None,
        "is one of the examples": words & topic_stems(tokens(" ".join(EXAMPLES))),
        "was there before": any(_share(words, topic_stems(tokens(old))) >= ALIKE for old in avoid),
        "only tells again what happened": len(words & topic_stems(tokens(event))) >= REPEATED * len(words),
        # Without saying whom, which a log would keep.
        "names somebody of the moment": _capitalised(image[1:]) & _capitalised(event),
    }
    for why, found in faults.items():
        if found:
            raise _refused(why)
    return image


def _refused(why: str) -> Refused:
    return Refused(f"its image {why}", "Answer with one new image and nothing else.")


def _first_line(text: str) -> str:
    for raw in without_fragments(text).splitlines():
        line = _LABEL.sub("", clean(raw), count=1).strip(" \"'“”*_")
        if line and not line.endswith(":"):
            return _short(line)
    raise _refused("has no words in it")


def _short(line: str) -> str:
    if len(line) <= LONGEST_IMAGE:
        return line
    first = _SENTENCE.match(line)
    if first is None or len(first.group()) > LONGEST_IMAGE:
        raise _refused(f"is longer than {LONGEST_IMAGE} characters")
    return first.group().strip()


def _capitalised(text: str) -> set[str]:
    common = words_for("common")
    return {word for word in _WORD.findall(text) if word[0].isupper() and word.lower() not in common}


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """The part of all words that both have, 0…1."""
    return len(one & other) / len(one | other) if one else 0.0
