"""Facts about people, understood by a language model from what somebody told.

Every fact cites the words of the line that tell it. A fact whose citation is not in that line, that names
somebody or a number that the line and the talk before it do not contain, or that is no plain sentence, is
refused alone; the others of the answer stay.
"""

from __future__ import annotations

import asyncio
import json
import re
from calendar import day_name, month_name
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from noodlings.llm.call import ModelCall, Prompt, Task, answer_format, strict_object
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import without_thinking
from noodlings.llm.prompting import facts_prompt
from noodlings.ports import Allowance, ToldLines
from noodlings.text import clean
from noodlings.values.fact import SPEAKER, FactKind, UnderstoodFact
from noodlings.values.memory import MemoryEntry
from noodlings.voice.words import words_for

LONGEST_FACT = 160
"""Characters of a fact."""
MOST = 6
"""Facts of one line."""
KINDS = tuple(kind.value for kind in FactKind if kind is not FactKind.KNOWN)

_OBJECT = re.compile(r"\{[^{}]*\}")
_TOKEN = re.compile(r"\w+")
_NAME_OR_NUMBER = re.compile(r"\b(?:[A-Z]\w+|\d+)")
_CALENDAR = frozenset(name.casefold() for name in (*month_name, *day_name) if name)


class LLMFactReader:
    """The port `FactReader` over a model. Of a line that a whole room hears at once it is asked once."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._asking: dict[Prompt, asyncio.Task[str]] = {}

    async def read(self, told: ToldLines, allowance: Allowance) -> tuple[UnderstoodFact, ...]:
        """The facts of the lines. Raises `LLMError` if the model does not say them in time."""
        prompt = facts_prompt(told, KINDS)
        call = ModelCall(Task.FACTS, prompt, temperature=0.0, format=_format(told))
        asked = self._asking.get(prompt)
        if asked is None:
            asked = asyncio.ensure_future(self._gateway.ask(call, lambda answer: answer.text, allowance))
            self._asking[prompt] = asked
            asked.add_done_callback(partial(self._answered, prompt))
        # Whoever stops waiting leaves the call to the others.
        return facts_in(await asyncio.shield(asked), told)

    def _answered(self, prompt: Prompt, asked: asyncio.Task[str]) -> None:
        del self._asking[prompt]
        if not asked.cancelled():
            asked.exception()  # where nobody waits any more, nobody else would look


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
    for fact in _borne(_objects(text), told):
        of_line = found.setdefault(fact.entry_id, [])
        if fact not in of_line and len(of_line) < MOST:
            of_line.append(fact)
    return tuple(fact for line in told.lines for fact in found.get(line.id, ()))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that hold no other."""
    for found in _OBJECT.finditer(without_thinking(text)):
        with suppress(ValueError):
            yield json.loads(found[0])


def _borne(listed: Iterable[dict[str, Any]], told: ToldLines) -> Iterator[UnderstoodFact]:
    for given in listed:
        line = _numbered(given.get("line"), told.lines)
        words, quote, about = (_text(given.get(key)) for key in ("fact", "quote", "about"))
        if line is None or given.get("kind") not in KINDS or not words or not about:
            continue
        said = _folded(line.user_text)
        is_sentence = len(words) <= LONGEST_FACT and not words.endswith("?") and " " in words
        is_cited = bool(_folded(quote).strip()) and _folded(quote) in said
        if not is_sentence or not is_cited or not _is_grounded(words, about, line, told):
            continue
        replaced = _numbered(given.get("replaces"), told.known)
        yield UnderstoodFact(
            line.id,
            SPEAKER if about.casefold() in (SPEAKER, told.speaker.casefold()) else about,
            FactKind(given["kind"]),
            words,
            None if replaced is None else replaced.id,
        )


def _text(given: Any) -> str:
    return clean(given) if isinstance(given, str) else ""


def _numbered(number: Any, entries: Sequence[MemoryEntry]) -> MemoryEntry | None:
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return entries[number - 1] if is_number and 0 < number <= len(entries) else None


def _is_grounded(words: str, about: str, line: MemoryEntry, told: ToldLines) -> bool:
    """Whether the names and numbers of a fact, and whom it is about, were told."""
    texts = [told.speaker, told.listener, line.user_text, *(entry.user_text for entry in told.before)]
    texts += [entry.user_text for entry in (*told.lines, *told.known)]
    day = datetime.fromtimestamp(line.timestamp, UTC)
    heard = {word.casefold() for text in texts for word in _TOKEN.findall(text)}
    heard |= _CALENDAR | {str(day.year), str(day.year + 1)} | {str(number) for number in range(1, 32)}
    named = {word.casefold().lstrip("0") for word in _NAME_OR_NUMBER.findall(words)} - words_for("common")
    who = {word.casefold() for word in _TOKEN.findall(about)} - {SPEAKER}
    return named | who <= heard


def _folded(text: str) -> str:
    return " ".join(_TOKEN.findall(text.casefold().replace("’", "'")))
