"""The offline voice: replies without a model, from who speaks, how it feels and what it remembers.

It finds out what kind of line it got (`understanding`), looks for a memory that belongs to it (`selection`),
and makes a reply from the character's own words (`phrasebook`). The same utterance gives the same speech in
every process. It never claims to know what it was not told.

- A game's mood colours the reply a little, but not memories or comfort: nervous is short, hyped is loud,
  frustrated is dry, and chill changes nothing.
- A thought of its own is about one of its memories and how that felt. The feeling of the memory goes before
  the mood, so that nobody enjoys thinking of a death on a good day.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import count, islice

from noodlings.ports import Allowance, Speech, Utterance
from noodlings.text import clean, goes_on
from noodlings.values.lens import Lens
from noodlings.values.percept import NOT_LIVED, Kind
from noodlings.values.wording import SpokenFeeling
from noodlings.voice.colour import colour
from noodlings.voice.composition import Draft, longer, reply
from noodlings.voice.nonverbal import act, more
from noodlings.voice.phrasebook import feeling
from noodlings.voice.reply_content import stable, understood_line
from noodlings.voice.reported_speech import report
from noodlings.voice.understanding import UnderstoodLine
from noodlings.voice.words import load_yaml

NERVOUS_WORDS = 8
"""Words of somebody nervous; the first sentence may have more."""

_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"”')*]*+(?=\s|$)")
_LOUD = re.compile(r"(?<![.…])\.(?=[\"”']?$)")
_ASKED_LOUDLY = re.compile(r"\?!+|!+\?")
_EXCLAIMED = re.compile(r"!+")


def in_manner(draft: Draft, named_mood: str, understood: UnderstoodLine) -> Draft:
    """The draft as it sounds in a named mood; unchanged for a mood without a manner."""
    colour = _COLOURS.get(named_mood)
    return draft if colour is None or draft.told or understood.heavy else colour(draft)


def _nervous(draft: Draft) -> Draft:
    ends = [end.end() for end in _SENTENCE_END.finditer(draft.body)]
    whole = [draft.body[:end] for end in ends if draft.body.count("*", 0, end) % 2 == 0] or [draft.body]
    short = [said for said in whole if len(said.split()) <= NERVOUS_WORDS]
    return replace(draft, body=short[-1] if short else whole[0], closing="")


def _hyped(draft: Draft) -> Draft:
    return replace(draft, body=_LOUD.sub("!", draft.body), closing=_LOUD.sub("!", draft.closing))


def _frustrated(draft: Draft) -> Draft:
    body = _EXCLAIMED.sub(".", _ASKED_LOUDLY.sub("?", draft.body))
    return replace(draft, body=body, opening="", closing="", gesture="")


_COLOURS: dict[str, Callable[[Draft], Draft]] = {
    "nervous": _nervous,
    "hyped": _hyped,
    "frustrated": _frustrated,
}


def think_alone(utterance: Utterance) -> Speech:
    """A thought, and the one memory it is about; the same for the same utterance in every process."""
    chance = random.Random(utterance.seed)  # noqa: S311 -- words, not secrets
    lines = _lines()
    tellable = [
        memory
        for found in utterance.recalled
        if found.entry.kind not in NOT_LIVED
        and (memory := report(found.entry, utterance, frozenset())) is not None
        and not memory.quoted
        # Who "she" is in "she laughs" nobody would know.
        and (found.entry.kind is Kind.EMOTE or not goes_on(found.entry.user_text))
    ]
    if not tellable:
        return Speech(chance.choice(lines["nothing"]))
    memory = chance.choice(tellable)
    then = memory.entry.affect
    felt = feeling(then) if then else SpokenFeeling.CALM
    if felt is SpokenFeeling.CALM:
        felt = feeling(utterance.mood)
    line = chance.choice(lines.get(felt.value, lines[SpokenFeeling.CALM.value]))
    clause = memory.clause
    if line.startswith("{memory}"):
        clause = clause[:1].upper() + clause[1:]
    return Speech(clean(line.replace("{memory}", clause)), (memory.entry.id,))


@lru_cache(maxsize=1)
def _lines() -> dict[str, list[str]]:
    lines: dict[str, list[str]] = load_yaml("musings.yaml")
    return lines


ATTEMPTS = 24
"""Drafts to try before one is made new by saying more."""


class OfflineVoice:
    name = "offline"

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """A reply that differs from every line in `utterance.said`, letter case aside.

        For a percept that is a thought, it is what the character thinks by itself.
        """
        if utterance.percept.kind is Kind.THOUGHT:
            return think_alone(utterance)
        draft = self.draft(utterance)
        text = draft.text
        for lens in utterance.lenses:
            text = colour(text, lens, utterance)
        told = tuple(report.entry.id for report in draft.told)
        return Speech(text, told, in_manner=draft.in_manner)

    async def modulate(self, thought: str, lens: Lens, utterance: Utterance, allowance: Allowance) -> str:
        """See `noodlings.voice.colour`."""
        return colour(thought, lens, utterance)

    def draft(self, utterance: Utterance) -> Draft:
        understood = understood_line(utterance)
        said = {line.casefold() for line in utterance.said}
        seeds = _seeds(utterance)
        begin, go_on = (reply, longer) if utterance.persona.verbal else (act, more)
        for seed in islice(seeds, ATTEMPTS):
            draft = in_manner(begin(understood, utterance, seed), utterance.named_mood, understood)
            if draft.text.casefold() not in said:
                return draft
        for seed in seeds:
            draft = go_on(draft, utterance, seed)
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
