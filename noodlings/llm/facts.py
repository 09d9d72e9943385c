"""Facts about people, understood by a language model from what somebody told.

Every fact cites the words of the line that tell it. A fact whose citation is not in that line, that names
somebody or a number that the line and the talk before it do not contain, or that is no plain sentence, is
refused alone; the others of the answer stay.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from calendar import day_name, month_name
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

from noodlings.errors import LLMError
from noodlings.llm.call import ModelCall, Task, answer_format, prompt_hash, strict_object
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import without_thinking
from noodlings.llm.prompting import facts_prompt
from noodlings.ports import Allowance, ToldLines
from noodlings.text import clean
from noodlings.values.fact import ABOUT, FACT_KIND, SPEAKER, FactKind, UnderstoodFact
from noodlings.values.memory import MemoryEntry, given
from noodlings.values.model_status import ModelState
from noodlings.voice.words import words_for

LONGEST_FACT = 160
"""Characters of a fact."""
MOST = 6
"""Facts of one line."""
TRIES = 3
"""Failures of a call after which its lines count as read, if they are the call's own fault."""
log = logging.getLogger(__name__)
T = TypeVar("T")

KINDS = tuple(kind.value for kind in FactKind if kind not in (FactKind.KNOWN, FactKind.TOLD))

SHORTEST_CITED = 4
"""Letters that the longest word of a quotation has at least."""
SHORT_CITED = 6
"""Words of a quotation, with the one before, that are taken to deny as a whole."""
_SPEAKERS = frozenset({SPEAKER, "me", "i", "myself"})
_DENIALS = frozenset({"not", "never", "no", "without"})
_DATED = frozenset({FactKind.PLAN, FactKind.PROMISE, FactKind.EVENT})
"""Kinds of facts in which a date may stand for "tomorrow"."""
_LISTS = '"facts"'
"""What an answer has at least, whether it lists any or was cut off."""
_OBJECT = re.compile(r"\{[^{}]*\}")
_TOKEN = re.compile(r"\w+(?:'\w+)*")
_CALENDAR = frozenset(name.casefold() for name in (*month_name, *day_name) if name)


class LLMFactReader:
    """The port `FactReader` over a model. Of a line that a whole room hears at once it is asked once."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._asking: dict[str, asyncio.Future[str]] = {}
        self._waiting: Counter[str] = Counter()
        self._tries: Counter[str] = Counter()

    async def read(self, told: ToldLines, allowance: Allowance) -> tuple[UnderstoodFact, ...]:
        """The facts of the lines; none where it fails `TRIES` times while replies are answered.

        Raises `LLMError` if the model does not say them in time.
        """
        call = ModelCall(Task.FACTS, facts_prompt(told, KINDS), temperature=0.0, format=_format(told))
        key = prompt_hash(call)
        try:
            answer = await self._answer(key, call, allowance)
            if _LISTS not in answer:
                raise LLMError("it listed no facts")
        except LLMError as error:
            if self._tries[key] < TRIES or self._gateway.status.state is not ModelState.ANSWERS:
                raise
            log.warning("nothing is noted of a line, as the model failed %d times: %s", TRIES, error)
            answer = ""
        del self._tries[key]
        return facts_in(answer, told)

    async def _answer(self, key: str, call: ModelCall, allowance: Allowance) -> str:
        """The answer to a call that is made once for all who wait for it, and ends when nobody does."""
        if key not in self._asking:
            self._tries[key] += 1
            asked = self._gateway.ask(call, lambda answer: answer.text, allowance)
            self._asking[key] = asyncio.ensure_future(asked)
        self._waiting[key] += 1
        try:
            return await asyncio.shield(self._asking[key])
        except LLMError as error:
            raise LLMError(str(error)) from None  # the task keeps its own, which would keep who waits
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]
                self._asking.pop(key).cancel()


def _format(told: ToldLines) -> dict[str, Any]:
    """The `response_format` in which every line and every earlier fact has a valid number."""
    text = {"type": "string"}
    fact = strict_object(
        {
            "line": {"type": "integer", "enum": list(range(1, len(told.lines) + 1))},
            "about": text,
            "kind": {"type": "string", "enum": list(KINDS)},
            "quote": text,
            "fact": text,
            "replaces": {"type": "integer", "enum": list(range(len(told.known) + 1))},
        }
    )
    return answer_format("facts", {"facts": {"type": "array", "items": fact}})


def facts_in(text: str, told: ToldLines) -> tuple[UnderstoodFact, ...]:
    """The facts in a model's answer that their lines bear, at most `MOST` of each line.

    Of an answer that was cut off, what is complete counts: what a weak model babbles about is read, too.
    """
    found: dict[int, list[UnderstoodFact]] = {}
    for fact in _borne(objects_in(text), told):
        of_line = found.setdefault(fact.entry_id, [])
        if fact not in of_line and len(of_line) < MOST:
            of_line.append(fact)
    return tuple(fact for line in told.lines for fact in found.get(line.id, ()))


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that hold no other."""
    for found in _OBJECT.finditer(without_thinking(text)):
        with suppress(ValueError, RecursionError):
            yield json.loads(found[0])


def _borne(listed: Iterable[dict[str, Any]], told: ToldLines) -> Iterator[UnderstoodFact]:
    for fact in listed:
        line = numbered(fact.get("line"), told.lines)
        words, quote, about = (_text(fact.get(key)) for key in ("fact", "quote", "about"))
        if line is None or fact.get("kind") not in KINDS or not words or not about:
            continue
        kind = FactKind(fact["kind"])
        if about.casefold() in (*_SPEAKERS, told.speaker.casefold()):
            about = SPEAKER
        is_sentence = len(words) <= LONGEST_FACT and not words.endswith("?") and " " in words
        if is_sentence and _is_cited(quote, words, line) and _is_grounded(words, about, kind, line, told):
            replaced = numbered(fact.get("replaces"), told.known)
            if replaced and (given(replaced, ABOUT), given(replaced, FACT_KIND)) != (about, kind):
                replaced = None  # of another matter
            yield UnderstoodFact(line.id, about, kind, words, replaced.id if replaced else None)


def _text(given: Any) -> str:
    return clean(given) if isinstance(given, str) else ""


def numbered(number: Any, listed: Sequence[T]) -> T | None:
    """What has this number of a list that begins with 1; None where a model has made one up."""
    return listed[number - 1] if type(number) is int and 0 < number <= len(listed) else None


def _is_cited(quote: str, words: str, line: MemoryEntry) -> bool:
    """Whether a quotation stands in its line, says enough, and does not say the opposite."""
    said, cited = f" {folded_words(line.user_text)} ", folded_words(quote)
    if f" {cited} " not in said or max(map(len, cited.split()), default=0) < SHORTEST_CITED:
        return False
    near = [*said.partition(f" {cited} ")[0].split()[-1:], *cited.split()]
    return len(near) > SHORT_CITED or not denies(" ".join(near)) or denies(words)


def denies(text: str) -> bool:
    return any(word in _DENIALS or word.endswith("n't") for word in folded_words(text).split())


def _is_grounded(words: str, about: str, kind: FactKind, line: MemoryEntry, told: ToldLines) -> bool:
    """Whether the names and numbers of a fact, and whom it is about, were told."""
    texts = [told.speaker, told.listener, line.user_text]
    texts += [entry.user_text for entry in (*told.before, *told.lines, *told.known)]
    heard = heard_in(texts)
    if kind in _DATED:
        day = datetime.fromtimestamp(line.timestamp, UTC)
        heard |= _CALENDAR | {str(day.year), str(day.year + 1)} | {str(number) for number in range(1, 32)}
    who = {_owner(word) for word in _TOKEN.findall(about)} - {SPEAKER}
    return names_in(words) | who <= heard


def names_in(text: str) -> set[str]:
    """What may be a name or a number in a text, in small letters."""
    names = (
        word for word in _TOKEN.findall(text) if word[0].isupper() or not word.isascii() or word.isdigit()
    )
    return {_owner(word).lstrip("0") for word in names} - words_for("common")


def heard_in(texts: Iterable[str]) -> set[str]:
    """All words of some texts as they may stand for a name, in small letters."""
    return {form for text in texts for word in _TOKEN.findall(text) for form in _forms(word)}


def _owner(word: str) -> str:
    """ "hetty" of "Hetty's"."""
    return word.casefold().replace("’", "'").removesuffix("'s")


def _forms(word: str) -> tuple[str, str]:
    """A word as it may stand for a name: "hettys", typed in haste, also as "hetty"."""
    owner = _owner(word)
    return owner, owner.removesuffix("s")


def folded_words(text: str) -> str:
    return " ".join(_TOKEN.findall(text.casefold().replace("’", "'")))
