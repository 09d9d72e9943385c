"""The five transistors that every character has: affect, goal, memory, subconscious and ego.

- Affect: a feeling shows in rhythm, punctuation and body, and is never named.
- Goal: what the character has long wanted shows in what it says. A memory speaks of a want by its words, or
  by what moves the drive behind it (`mind/appetites.yaml`).
- Memory: a moment that felt alike deepens what is said.
- Subconscious: images of old moments colour the words and are never named.
- Ego: the character stays itself, by the moments that touched who it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noodlings.affect.feeling import family
from noodlings.memory.likeness import likeness
from noodlings.mind.appetites import DriveTable, Goal, shipped_drives, signals
from noodlings.transistors.base import FAINT, HISTORY, READ, CognitiveTransistor, ThoughtState, felt, readable
from noodlings.values.lens import Lens
from noodlings.values.memory import MemoryEntry, Why

_DIRECTIONS = {
    "joy": "Let the words be quick and light, with one small sign of gladness in the body.",
    "sorrow": "Let the words be slow and few, with a pause in them and one small sign of grief in the body.",
    "fear": "Let the sentences be short and watchful, with one small sign of fear in the body.",
    "anger": "Let the words be clipped and hard at the edges, with one small sign of anger in the body.",
    "boredom": "Let the words trail, as if they were hardly worth it, with one small sign of weariness.",
}


class AffectTransistor(CognitiveTransistor):
    """Adds nothing when neither affect nor mood is noticeable, or when the feeling is calm."""

    name = "affect"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The stronger of affect and mood, with its strength."""
        found = felt(state)
        cue = family(found.affect)
        if cue not in _DIRECTIONS or not found.noticeable:
            return None
        return self.seen(f"{_DIRECTIONS[cue]} Never name the feeling.", found.strength, cue=cue)


AT_STAKE = 0.15
"""How much a moment must move a drive, 0…1, for it to be at stake."""

_TOWARDS = (
    "Let what the character wants show in what it says: a leaning, a question, a small condition; with what "
    "came of it before in mind. It does not explain the wish."
)
_OUTRIGHT = ("I still want to {want}.", "One day I will {want}.", "All I want is to {want}.")
"""For goals set by somebody in their own words."""
_WANT_WORDS = {
    appetite: re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for appetite, words in {
        "curiosity": "curious|wonder|secret|riddle|discover|explor|find out|myster",
        "status": "respect|famous|honou?r|admir|proud|pride|laughed at|promot",
        "mastery": "learn|practi[sc]|master|skill|improv|get better|succeed|fail",
        "novelty": r"new\b|never seen|adventur|journey|travel|different",
        "safety": "safe|danger|protect|guard|lock|shelter",
        "social_bond": r"friend|lonely|alone\b|together|visit|miss you|love|company",
        "comfort": r"warm|rest\b|soft|tired|co[sz]y|blanket|comfort|sleep",
        "autonomy": r"free\b|freedom|order|obey|own way|decide|choose",
    }.items()
}
"""Beginnings of words that speak of a want."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """A memory in which a drive was at stake: how much, and in which direction (below 0: fed)."""

    entry: MemoryEntry
    much: float
    net: float


class GoalTransistor(CognitiveTransistor):
    """Adds nothing to a grief, or without a goal that presses or was at stake in a memory.

    Args:
        drives: what moves each drive, and from which level on a goal presses.
    """

    name = "goal"

    def __init__(self, gain: float = 1.0, drives: DriveTable | None = None) -> None:
        super().__init__(gain)
        self._drives = drives or shipped_drives()

    def lens(self, state: ThoughtState) -> Lens | None:
        """The strongest goal at stake now, as strong as its drive; else the strongest goal, faintly.

        It comes with the moments in which it was most at stake.
        """
        percept = state["percept"]
        if not state["goals"] or state["utterance"].tone.grave:
            return None
        now = signals(state["affect"], state["surprise"], percept.addressed)
        past = readable(state["memory"].retrieve_episodic(limit=HISTORY), state)
        touched = {goal.appetite for goal in state["goals"] if self._moved(goal, percept.text, now)}
        for goal in sorted(state["goals"], key=lambda goal: goal.appetite not in touched):
            moments = self._moments(goal, past)
            if not moments and goal.level < self._drives.presses_from:
                continue
            moments.sort(key=lambda moment: (-moment.much, -moment.entry.id))
            return self.seen(
                _TOWARDS,
                goal.level if goal.appetite in touched else goal.level * FAINT,
                cue=goal.appetite,
                notes=(goal.text, came_of_it([moment.net for moment in moments])),
                entries=[moment.entry for moment in moments[:READ]],
                phrases=() if self._is_common(goal) else _OUTRIGHT,
            )
        return None

    def _is_common(self, goal: Goal) -> bool:
        """Whether it is the usual goal of this appetite, for which a voice has its own words."""
        drive = self._drives.appetites[goal.appetite]
        return goal.text in (drive.wants, drive.presses)

    def _moments(self, goal: Goal, past: Sequence[MemoryEntry]) -> list[_Moment]:
        found = ((entry, self._moved(goal, entry.user_text, _happened(entry))) for entry in past)
        return [_Moment(entry, *moved) for entry, moved in found if moved]

    def _moved(self, goal: Goal, text: str, signs: Mapping[str, float]) -> tuple[float, float] | None:
        """How much a moment moved a drive, and in which direction; None where it did not."""
        moved_by = self._drives.appetites[goal.appetite].moved_by
        shares = [part * signs.get(what, 0.0) for what, part in moved_by.items()]
        much = sum(map(abs, shares))
        spoken = _WANT_WORDS[goal.appetite].search(text)
        return (much, sum(shares)) if spoken or much >= AT_STAKE else None


def came_of_it(nets: Sequence[float]) -> str:
    """What came of a want, in words for a model; below 0 it was fed, above 0 sharpened."""
    fed, missed = any(net < 0.0 for net in nets), any(net > 0.0 for net in nets)
    if fed and missed:
        return "it came to something at times, and to nothing at others"
    return "it was given before" if fed else "so far nothing came of it"


def _happened(entry: MemoryEntry) -> dict[str, float]:
    """The signals in a remembered moment that can move a drive."""
    if entry.affect is None:
        return {}
    return signals(entry.affect, entry.surprise, entry.parts.addressed > 0.0)


ALIKE = 0.7
"""How alike in feeling a remembered moment must be, 0…1."""

_ANSWERS = (Why.SEMANTIC, Why.LEXICAL, Why.NEXT_TO, Why.DATE)
_DEEPER = (
    "Let the thought know of the remembered moment, which felt like this one: a glance at it, and no "
    "retelling. The meaning of the thought stays."
)


class MemoryTransistor(CognitiveTransistor):
    """Adds nothing when nothing is felt, or no memory felt alike.

    What was recalled because of the words is the answer already, and does not count.
    """

    name = "memory"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The most alike moments, as strong as the first of them is alike."""
        now = felt(state)
        if not now.noticeable:
            return None
        found = state["memory"].recall_by_affect(now.affect, HISTORY, ALIKE)
        answer = {recalled.entry.id for recalled in state["recalled"] if recalled.why[0] in _ANSWERS}
        scores = {r.entry.id: r.score for r in found if r.entry.affect and r.entry.id not in answer}
        alike = readable((r.entry for r in found if r.entry.id in scores), state)
        if not alike:
            return None
        return self.seen(_DEEPER, scores[alike[0].id], cue="alike", entries=alike[:READ])


_IMAGE = (
    "Let the images colour the choice of words: a verb, a comparison, a texture out of their world. Never "
    "mention an image as such, nor what it may stand for."
)


class SubconsciousTransistor(CognitiveTransistor):
    """Adds nothing to a sorrow, or when no symbol that the listeners may know felt alike."""

    name = "subconscious"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The symbols most alike in feeling, as strong as the first of them is alike."""
        now = felt(state)
        sorrow = state["utterance"].tone.grave and now.affect.sorrow > now.affect.fear
        if state["subconscious"] is None or not now.noticeable or sorrow:
            return None
        found = state["subconscious"].retrieve_by_affect(now.affect, READ)
        if not found:
            return None
        return self.seen(_IMAGE, likeness(now.affect, found[0].affect), cue="image", symbols=found)


DEFINING = 0.5
"""Identity salience of a defining moment, 0…1."""

_TRUE_TO_SELF = (
    "Let the thought be one that only this character would have: by what it stands for, and by the moments "
    "that touched who it is. It does not introduce itself."
)


class EgoTransistor(CognitiveTransistor):
    """Adds nothing when neither this moment nor a memory touches who it is."""

    name = "ego"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The defining moments and their identity words, as strong as the most defining one.

        Faint where only old moments count and this one touches nothing.
        """
        past = readable(state["memory"].retrieve_episodic(limit=HISTORY), state)
        defining = sorted(
            (entry for entry in past if entry.identity_salience >= DEFINING),
            key=lambda entry: (-entry.identity_salience, -entry.importance, -entry.id),
        )[:READ]
        percept, persona = state["percept"], state["persona"]
        names = frozenset(persona.names)
        # Being called is nothing.
        own = [word for word in persona.identity_words if word.casefold() not in names]
        words = _named(own, percept.text)
        now = max(percept.identity_salience, DEFINING if words else 0.0)
        if now < DEFINING and not defining:
            return None
        strength = max([now, *(entry.identity_salience for entry in defining)])
        if now < DEFINING:
            strength *= FAINT
        words += _named(own, " ".join(entry.user_text for entry in defining))
        notes = tuple(dict.fromkeys(words))
        return self.seen(
            _TRUE_TO_SELF, strength, cue=notes[0] if notes else "", notes=notes, entries=defining
        )


def _named(words: Sequence[str], text: str) -> list[str]:
    """Those of the words that stand in a text as whole words."""
    spaced = f" {''.join(c if c.isalnum() else ' ' for c in text.casefold())} "
    return [word for word in words if f" {word.casefold()} " in spaced]
