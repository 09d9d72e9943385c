"""The offline voice: replies without a model, from who speaks, how it feels and what it remembers.

It hears what sort of line it was (`hear`), looks whether a memory belongs to it (`remind`), and puts a reply
together from the character's own words (`phrasebook`). Deterministic: the same utterance gives the same
speech in every process. It never claims to know what it was not told.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

from noodlings.ports import Allowance, Speech, Utterance
from noodlings.values.percept import Kind
from noodlings.values.trace import Lens
from noodlings.voice.colour import colour
from noodlings.voice.compose import Draft, longer, reply
from noodlings.voice.content import stable
from noodlings.voice.hear import hear
from noodlings.voice.manner import in_manner
from noodlings.voice.musing import muse

ATTEMPTS = 24
"""Drafts that are tried before a line that was said already is made new by saying more."""


class OfflineVoice:
    """The port `Voice` without a model."""

    name = "offline"

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """A reply that differs from every line in `utterance.said`, letter case aside.

        Where the percept is a thought of its own, it is what it thinks by itself.
        """
        if utterance.percept.kind is Kind.THOUGHT:
            return muse(utterance)
        draft = self.draft(utterance)
        text = draft.text
        for lens in utterance.lenses:
            text = colour(text, lens, utterance)
        return Speech(text, tuple(told.entry.id for told in draft.told))

    async def modulate(self, thought: str, lens: Lens, utterance: Utterance, allowance: Allowance) -> str:
        """The thought as it sounds through a lens; see `noodlings.voice.colour`."""
        return colour(thought, lens, utterance)

    def draft(self, utterance: Utterance) -> Draft:
        """The reply in its parts."""
        heard = hear(utterance.percept, utterance.persona)
        said = {line.casefold() for line in utterance.said}
        seeds = _seeds(utterance)
        for seed in islice(seeds, ATTEMPTS):
            draft = in_manner(reply(heard, utterance, seed), utterance.named_mood, heard)
            if draft.text.casefold() not in said:
                return draft
        for seed in seeds:
            draft = longer(draft, utterance, seed)
            if draft.text.casefold() not in said:
                break
        return draft


def _seeds(utterance: Utterance) -> Iterator[int]:
    """Seeds for one draft after another, the same for the same utterance in every process."""
    percept = utterance.percept
    last = utterance.said[-1] if utterance.said else ""
    first = stable(
        utterance.seed, utterance.persona.id, percept.user_id, percept.timestamp, percept.text, last
    )
    return (stable(first, attempt) for attempt in count())
