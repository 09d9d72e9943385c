"""Where a text begins to repeat itself without end, as small models do.

Laughter, a goose's honks and a word said three times for effect are no loop: a loop comes again and again and
makes up most of the rest.
"""

from __future__ import annotations

import re

LONGEST_PERIOD = 40
"""Words that are repeated as one."""
MOST_WORDS = 1_000
"""How many words of a text are read."""
VARIED = 0.25
"""The least part of different words in a text of `MANY` words or more; with less it is a loop."""
MANY = 40

_TIMES = ((1, 10), (3, 5), (7, 4), (LONGEST_PERIOD, 3))
"""(longest period, times): how often a period must come in a row to be a loop."""
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_END = re.compile(r"[.!?…\n]")
_STUTTER = re.compile(r"(\S{1,8}?)\1{39,}")


def loop_at(text: str) -> int | None:
    """Where the loop begins that makes up most of the rest of a text; None without one.

    Whole sentences are no part of the loop when they come for the first time.
    """
    found = list(WORD.finditer(text))[:MOST_WORDS]
    words = [word.group().casefold() for word in found]
    begins = [found[_aligned(text, found, *loop)].start() for loop in _loops(words)]
    if stutter := _STUTTER.search(text):
        begins.append(stutter.start())
    if not begins and len(words) >= MANY and len(set(words)) < VARIED * len(words):
        begins.append(0)
    return min(begins, default=None)


def _aligned(text: str, words: list[re.Match[str]], begin: int, period: int) -> int:
    """The first word of a loop, or of the sentence that begins soon after it."""

    def begins_sentence(at: int) -> bool:
        return not at or _END.search(text, words[at - 1].end(), words[at].start()) is not None

    first = next(filter(begins_sentence, range(begin, begin + period)), begin)
    return first + period if begins_sentence(first) and begins_sentence(first + period) else first


def _loops(words: list[str]) -> list[tuple[int, int]]:
    """Loops as (first word, period), at most one for each period."""
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
