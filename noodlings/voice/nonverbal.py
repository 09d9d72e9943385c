"""The replies of a nonverbal character: acts from its recipe and from a shared table."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from noodlings.ports import Utterance
from noodlings.values.acting import acts_of
from noodlings.voice.composition import Draft
from noodlings.voice.phrasebook import OWN_REST, Phrasebook
from noodlings.voice.reply_content import IN_MANNER, decide, slots
from noodlings.voice.understanding import UnderstoodLine
from noodlings.voice.words import load_yaml

ANY = "any"


@lru_cache(maxsize=1)
def shared_acts() -> dict[str, list[str]]:
    """Phrases by `DialogueAct`, from `acts.yaml`."""
    table: dict[str, list[str]] = load_yaml("acts.yaml")
    return table


def act(understood: UnderstoodLine, utterance: Utterance, seed: int) -> Draft:
    """A draft of what is done in answer; another seed gives other acts.

    Its own lines for the occasion come first, if there are acts in them; then its gestures.
    """
    book = Phrasebook(utterance.persona, utterance.said, seed)
    voice, table = utterance.persona.voice, shared_acts()
    content = decide(understood, utterance, book)
    book.fill(slots(understood, content, utterance, book))
    own_line = book.one_of(voice.lines.get(content.act.value, ()), rest=OWN_REST)
    gesture = book.one_of(voice.gestures) if content.light else ""
    fitting = book.one_of(table.get(content.act.value, ()))
    found = [acts_of(own_line).strip("*"), fitting, gesture, book.one_of(table[ANY])]
    done = list(dict.fromkeys(filter(None, found))) or [book.one_of(table[ANY], rest=0)]
    acts = ", ".join(done[: 2 if book.chance(0.35) else 1])
    return Draft(f"*{acts}*", in_manner=content.act in IN_MANNER, case=voice.case)


def more(draft: Draft, utterance: Utterance, seed: int) -> Draft:
    """The draft with one more act, for when everything was done before."""
    book = Phrasebook(utterance.persona, utterance.said, seed)
    body = draft.body.strip("*")
    return replace(draft, body=f"*{body}, {book.one_of(shared_acts()[ANY], rest=0)}*")
