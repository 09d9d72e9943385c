"""The rules by which a line is heard: the tables in `hearing.yaml`, which explains their form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from noodlings.voice.words import load_yaml, words_for

_LIST = re.compile(r"\{(!?)([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A regular expression, and words of which a line must have one to match (none: any line)."""

    regex: re.Pattern[str]
    needs: frozenset[str]

    def fits(self, line: str, words: frozenset[str]) -> bool:
        if self.needs and self.needs.isdisjoint(words):
            return False
        if "listed" not in self.regex.groupindex:
            return self.regex.search(line) is not None
        before = (line[: found.start("listed")].split()[-3:] for found in self.regex.finditer(line))
        return any(words_for("negations").isdisjoint(last_words) for last_words in before)


@dataclass(frozen=True, slots=True)
class _Rule:
    act: str
    hears: tuple[_Pattern, ...]
    unless: tuple[_Pattern, ...]
    words: int

    def fits(self, line: str, words: frozenset[str]) -> bool:
        return (
            line.count(" ") < self.words
            and any(pattern.fits(line, words) for pattern in self.hears)
            and not any(pattern.fits(line, words) for pattern in self.unless)
        )


def first_match(table: str, line: str) -> str:
    """The act of the first rule of a table that fits a line in lower case, "" for none."""
    words = frozenset(line.split())
    return next((rule.act for rule in _tables()[table] if rule.fits(line, words)), "")


@lru_cache(maxsize=1)
def _tables() -> dict[str, tuple[_Rule, ...]]:
    tables: dict[str, list[dict[str, Any]]] = load_yaml("hearing.yaml")
    return {name: tuple(_rule(**rule) for rule in rules) for name, rules in tables.items()}


def _rule(unless: Sequence[str] = (), words: int = 1_000, **hears: list[str]) -> _Rule:
    ((act, patterns),) = hears.items()
    return _Rule(act, tuple(map(_pattern, patterns)), tuple(map(_pattern, unless)), words)


def _pattern(source: str) -> _Pattern:
    needs = frozenset(entry.split()[0] for _, name in _LIST.findall(source) for entry in words_for(name))
    return _Pattern(re.compile(_LIST.sub(_alternatives, source)), needs)


def _alternatives(found: re.Match[str]) -> str:
    entries = "|".join(sorted(map(re.escape, words_for(found[2])), reverse=True))
    return rf"(?P<listed>{entries})(?![\w'])" if found[1] else rf"(?:{entries})(?![\w'])"
