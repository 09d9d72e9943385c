"""Where a text begins to repeat itself without end, as small models do.

Laughter, a goose's honks and a word said three times for effect are none: only what comes again and again and
makes up most of the rest is.
"""

from __future__ import annotations

import re

LONGEST_PERIOD = 40
"""Words of what is repeated."""
MOST_WORDS = 1_000
"""Words of a text that are looked at."""
VARIED = 0.25
"""The part of its words that is new in a text of many words; with less it goes round in circles."""
MANY = 40

_TIMES = ((1, 10), (3, 5), (7, 4), (LONGEST_PERIOD, 3))
"""How often so many words, or fewer, come in a row in a loop."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_END = re.compile(r"[.!?…\n]")
_STUTTER = re.compile(r"(\S{1,8}?)\1{39,}")


def loop_at(text: str) -> int | None:
    """Where the loop begins that makes up most of the rest of a text; None without one.

    What is repeated is no part of it the first time where it is one or more whole sentences.
    """
    found = list(_WORD.finditer(text))[:MOST_WORDS]
    words = [word.group().casefold() for word in found]
    begins = [found[_aligned(text, found, *loop)].start() for loop in _loops(words)]
    if stutter := _STUTTER.search(text):
        begins.append(stutter.start())
    if not begins and len(words) >= MANY and len(set(words)) < VARIED * len(words):
        begins.append(0)
    return min(begins, default=None)


def _aligned(text: str, words: list[re.Match[str]], begin: int, period: int) -> int:
    """The first word of a loop, or that of a sentence soon after: the one before may end like those in it."""

    def begins_sentence(at: int) -> bool:
        return not at or _END.search(text, words[at - 1].end(), words[at].start()) is not None

    first = next(filter(begins_sentence, range(begin, begin + period)), begin)
    return first + period if begins_sentence(first) and begins_sentence(first + period) else first


def _loops(words: list[str]) -> list[tuple[int, int]]:
    """The first words of loops, and how many are repeated; one for each number of these at most."""
    begins = []
    for period in range(1, min(LONGEST_PERIOD, len(words) // 2) + 1):
        times = next(times for longest, times in _TIMES if period <= longest)
        run = 0
        for at in range(period, len(words) + 1):
            if at < len(words) and words[at] == words[at - period]:
                run += 1
                continue
            begin = at - run - period
            if run >= (times - 1) * period and 2 * (run + period) >= len(words) - begin:
                begins.append((begin, period))
                break
            run = 0
    return begins
