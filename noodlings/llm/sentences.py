"""A reply that is said while the model is still writing it: each sentence as soon as the guard lets it pass.

What was said cannot be taken back. So the guard checks everything up to the end of a sentence before that is
said, and if it refuses a later sentence, the reply ends with what was said before.
"""

from __future__ import annotations

from collections.abc import Callable

from noodlings.llm.call import SENTENCE_END, CallFailed, Refused
from noodlings.llm.guard import LABEL, LONGEST_REPLY, SHORTEST_SENTENCE, passed
from noodlings.ports import Utterance

ENDED = "its later sentences are not usable"
LONGEST = 4 * LONGEST_REPLY
"""Characters; a longer answer is not streamed further, because each check reads all of it."""


class SentenceStream:
    """The sentences of one answer.

    Args:
        said: says a part of it, and tells whether it was said; if not, nothing more is streamed.

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
        """Say the sentences that are complete and allowed, of the answer as far as it has come.

        Raises:
            CallFailed: nothing more of it can be said, so waiting for the rest is useless.
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
            return  # once it has ended, the model may be asked once more
        part = self._after(line)
        if part is None or (self.spoken and not part):
            raise CallFailed(ENDED, ailing=False)
        if part and not _repeats(line) and not self._labelled(text[:end]):
            self._held = not self._said(part)
            self.spoken = self.spoken if self._held else line

    def _labelled(self, text: str) -> bool:
        """Whether a line begins with another's name, which may turn out to be another speaker's line."""
        own = self._utterance.persona.names
        return any(label[1].casefold() not in own for label in LABEL.finditer(text))

    def reply(self, line: str) -> str:
        """The whole reply, if the guard made this line of the whole answer."""
        return self.spoken if self._after(line) is None else line

    def _after(self, line: str) -> str | None:
        """The part of a line that was not said yet; None if something else was said."""
        if not self.spoken:
            return line
        rest = line.removeprefix(self.spoken)
        return rest.lstrip() if line.startswith(self.spoken) and rest[:1] in ("", " ") else None


def _repeats(line: str) -> bool:
    """Whether a sentence comes twice in it, which may become a loop."""
    sentences = [words.strip().casefold() for words in SENTENCE_END.split(line) if words.strip()]
    return len(set(sentences)) < len(sentences)


def _last_end(text: str) -> int:
    """Where the last complete sentence ends, outside of gestures and quotations; 0 for none.

    A full stop counts only if text follows: "..." may be a pause, and "3." a part of a number.
    """
    there = len(text.rstrip())
    for end in reversed([found.end() for found in SENTENCE_END.finditer(text)]):
        whole = text[:end]
        if end < there and text[end].isspace() and not whole.count("*") % 2 and not whole.count('"') % 2:
            return end
    return 0
