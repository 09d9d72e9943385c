"""A reply that is said while the model still makes it: each sentence as soon as the guard lets it pass.

What was said cannot be taken back. So the guard looks at everything up to the end of a sentence before that
is said, and a later sentence that it refuses ends the reply with what was said before.
"""

from __future__ import annotations

from collections.abc import Callable

from noodlings.llm.call import SENTENCE_END, CallFailed
from noodlings.llm.guard import LABEL, LONGEST_REPLY, SHORTEST_SENTENCE, Refused, passed
from noodlings.ports import Utterance

ENDED = "its later sentences are not usable"
LONGEST = 4 * LONGEST_REPLY
"""Characters; of a longer answer no more is said before its end: each look goes through all that is there."""


class SentenceStream:
    """The sentences of one answer.

    Args:
        utterance: what is answered.
        said: says some of it, and tells whether it was said; else the whole answer is waited for.

    Attributes:
        spoken: what was said so far; the reply begins with it.
    """

    def __init__(self, utterance: Utterance, said: Callable[[str], bool]) -> None:
        self.spoken = ""
        self._utterance = utterance
        self._said = said
        self._looked_at = 0
        self._held = False

    def hear(self, text: str) -> None:
        """Say what may be said of an answer that has come this far.

        Raises:
            CallFailed: nothing more of it can be said, so there is no use in waiting for the rest.
        """
        if self._held or len(text) > LONGEST:
            return
        end = _last_end(text)
        self._looked_at = min(self._looked_at, end)  # another attempt begins anew
        if len(text[self._looked_at : end].split()) < SHORTEST_SENTENCE:
            return
        self._looked_at = end
        try:
            line = passed(text[:end], self._utterance)
        except Refused as refused:
            if self.spoken:
                raise CallFailed(str(refused), ailing=False) from None
            return  # the model may be asked once more, when it has ended
        part = self._after(line)
        if part is None or (self.spoken and not part):
            raise CallFailed(ENDED, ailing=False)
        if part and not _repeats(line) and not self._labelled(text[:end]):
            self._held = not self._said(part)
            self.spoken = self.spoken if self._held else line

    def _labelled(self, text: str) -> bool:
        """Whether a line begins with a name: where it comes again, these are lines of other speakers."""
        own = self._utterance.persona.names
        return any(label[1].casefold() not in own for label in LABEL.finditer(text))

    def reply(self, line: str) -> str:
        """The whole reply, where the guard made this line of the whole answer."""
        return self.spoken if self._after(line) is None else line

    def _after(self, line: str) -> str | None:
        """What of a line was not said yet; None where something else was said."""
        if not self.spoken:
            return line
        rest = line.removeprefix(self.spoken)
        return rest.lstrip() if line.startswith(self.spoken) and rest[:1] in ("", " ") else None


def _repeats(line: str) -> bool:
    """Whether a sentence comes twice in it: this may become a loop, so it is waited for."""
    sentences = [words.strip().casefold() for words in SENTENCE_END.split(line) if words.strip()]
    return len(set(sentences)) < len(sentences)


def _last_end(text: str) -> int:
    """Where the last sentence ends that certainly does, outside of gestures and quotations; 0 for none.

    A full stop is certain when something stands after it: "..." may be a pause, and "3." a part of a number.
    """
    there = len(text.rstrip())
    for end in reversed([found.end() for found in SENTENCE_END.finditer(text)]):
        whole = text[:end]
        if end < there and text[end].isspace() and not whole.count("*") % 2 and not whole.count('"') % 2:
            return end
    return 0
