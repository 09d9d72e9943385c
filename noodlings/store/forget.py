"""What forgetting leaves behind of turns that remembered: which words go, and which may stay.

A trace refers to memories by id, but the thought and the answer of that turn were made with them. So in every
trace that recalled a forgotten entry the reference goes and the words are replaced, and an entry loses its
response when that repeats what was forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from noodlings.values.trace import Trace

FORGOTTEN = "[forgotten]"
"""Stands where words were."""

_WORD = re.compile(r"[^\W\d_]{4,}")
# Of four letters and more; shorter words never count as content.
_STOP_WORDS = frozenset(
    """
    about above across after again against almost alone along already also although always among another
    anybody anyone anything around away back because been before behind being below between both came
    cannot come comes coming could didn does doesn doing done down during each either else enough even
    ever every everybody everyone everything from gave gets getting give gives goes going gone good gotten
    hardly have having hello hers herself himself hold into isn itself just keep kept knew know known
    knows least less like little look made make makes many maybe might more most much must myself near
    need neither never next nobody none nothing often once only onto other others ours ourselves over
    perhaps please quite rather really said same says seem seems shall should since some somebody someone
    something sometimes somewhere soon still such sure take takes tell than thank thanks that their theirs
    them themselves then there therefore these they thing things think this those though thought through
    thus till together told took toward towards under until upon very want wants wasn well went were what
    whatever when where whether which while whoever whole whom whose will with within without word words
    would yeah your yours yourself yourselves
    """.split()  # noqa: SIM905 (quotes around each would fill a page)
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a store forgot.

    Attributes:
        count: entries that are gone.
        redacted: ids of entries whose response went with them; whoever holds such an entry drops it too.
        erased: whether their bytes have left the disk already. False when another process was reading, or
            the disk was full; then it is done when the store is next opened for writing.
    """

    count: int = 0
    redacted: tuple[int, ...] = ()
    erased: bool = True


def without(trace: Trace, forgotten: frozenset[int]) -> Trace:
    """The trace with neither a reference to these entries nor the words that were made with them in mind.

    The very same trace when it recalled none of them.
    """
    kept = tuple(recalled for recalled in trace.recalled if recalled.entry_id not in forgotten)
    if len(kept) == len(trace.recalled):
        return trace
    return replace(
        trace,
        recalled=kept,
        thought=FORGOTTEN if trace.thought else "",
        modulations=tuple(
            replace(made, before=FORGOTTEN, after=FORGOTTEN, read=()) for made in trace.modulations
        ),
        response=None if trace.response is None else FORGOTTEN,
    )


def content_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of four letters and more, folded, without those that say nothing by themselves."""
    words = (word for text in texts for word in _WORD.findall(text.casefold()))
    return frozenset(words) - _STOP_WORDS


def repeats(response: str, forgotten: frozenset[str]) -> bool:
    """Whether a response may repeat what was forgotten, given as its content words.

    Where there are no such words ("my dog") nothing can be compared, and the answer is yes.
    """
    return not forgotten or not forgotten.isdisjoint(content_words([response]))
