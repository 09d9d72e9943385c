"""People: who is meant when a question names somebody."""

from __future__ import annotations

import re
from dataclasses import dataclass

from noodlings.recall.words import STOP_WORDS

_PREFIX = re.compile(r"^(?:user|agent|player|npc)_", re.I)
_TOKEN = re.compile(r"\w+(?:-\w+)*")


@dataclass(frozen=True, slots=True)
class Mention:
    """A person who is named in a text, from character `start` up to `end`."""

    user_id: str
    start: int
    end: int


class People:
    """Ids and the names they go by."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}

    def meet(self, user_id: str) -> None:
        """Know somebody by their id alone: "agent_fred_rogers" is called "fred rogers", or "fred"."""
        name = _PREFIX.sub("", user_id).replace("_", " ")
        self.name(user_id, name)
        self.name(user_id, name.split(" ")[0])

    def name(self, user_id: str, name: str) -> None:
        """Know somebody by a name, in any case. A name without a letter or digit is no name."""
        words = tuple(_TOKEN.findall(name.casefold()))
        if not words or (user_id, " ".join(words)) in self._known:
            return
        self._known.add((user_id, " ".join(words)))
        called = self._by_first.setdefault(words[0], [])
        called.append((words, user_id))
        called.sort(key=lambda entry: -len(entry[0]))

    def mentions(self, text: str, only: str | None = None) -> list[Mention]:
        """Everybody who is named, in order; the longest name at each place.

        A name that is also an everyday word ("Will") counts with a capital, past the first word.

        Args:
            only: the one user whose names count; None for everybody's.
        """
        tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
        found: list[Mention] = []
        at = 0
        while at < len(tokens):
            length = 0
            for words, user_id in self._by_first.get(tokens[at][0].casefold(), ()):
                if only not in (None, user_id):
                    continue
                if length and len(words) != length:
                    break
                here = tokens[at : at + len(words)]
                if tuple(token.casefold() for token, _, _ in here) != words:
                    continue
                if words[0] in STOP_WORDS and (at == 0 or not here[0][0][0].isupper()):
                    continue
                length = len(words)
                found.append(Mention(user_id, here[0][1], here[-1][2]))
            at += length or 1
        return found
