"""Steps 1 to 4 of an event: felt, taken to heart, compared with what was expected, remembered.

Taking in waits for nothing, and nothing is committed here: whoever calls it does that next.
"""

from __future__ import annotations

from typing import Any

from noodlings.agent.decision import decide
from noodlings.agent.events import event_in
from noodlings.agent.faculties import Faculties
from noodlings.agent.inner import Inner
from noodlings.agent.linking import followed
from noodlings.agent.salience import identity_salience
from noodlings.agent.turn import Turn, timed
from noodlings.memory.journal import Journal
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.memory import EntryVector, Vector
from noodlings.values.percept import Percept

GIVEN, BY_RULE = "given", "event"
"""How an affect is known that was not made of words: the world said it, or the rule of a game's event."""


async def understood(faculties: Faculties, percept: Percept) -> Vector | None:
    """What the words of a percept mean, for `take_in`; None where their sound must do."""
    return await faculties.meaning.vector(clean(percept.text))


def take_in(
    inner: Inner,
    journal: Journal,
    faculties: Faculties,
    percept: Percept,
    vector: Vector | None,
    milliseconds: dict[str, float],
) -> Turn:
    """A percept becomes a memory, and moves whoever perceives it; what to answer is still open.

    Args:
        vector: what it means, see `understood`.
        milliseconds: how long each step took so far; more are added.
    """
    degraded: list[str] = []
    text = clean(percept.text)
    event = event_in(percept.kind, percept.data)
    with timed(milliseconds, "appraise"):
        if faculties.meaning.failed:
            degraded.append(f"words alone: {faculties.meaning.failed}")
        inner.feelings, of_event = inner.feelings.after_event(faculties.rules, percept)
        inner.affect, appraised_by = _appraise(faculties, percept, of_event, text, vector)
    before = inner.feelings.mood
    by_words = appraised_by not in (GIVEN, BY_RULE)
    with timed(milliseconds, "mood"):
        # The words of an event are a name and facts: what it does to the mood, its rule alone says.
        if not (event and by_words):
            inner.feelings = inner.feelings.pushed(inner.affect, percept.timestamp)
    with timed(milliseconds, "predict"):
        meant = faculties.meaning.of(text, vector)
        heard_by = percept.heard_by.joined_by(inner.id)
        expectation = inner.mind.perceive(inner.affect, meant, percept.timestamp, heard_by, percept.listeners)
        surprise = expectation.surprise if percept.surprise is None else percept.surprise
        inner.feelings = inner.feelings.fed(faculties.drives, percept, inner.affect, surprise)
    inner.step += 1
    with timed(milliseconds, "remember"):
        entry = inner.memory.add(
            percept.timestamp,
            inner.step,
            percept.user_id,
            text,
            inner.affect,
            expectation.state,
            surprise,
            identity_salience=max(percept.identity_salience, identity_salience(text, inner.persona)),
            kind=percept.kind,
            addressed=percept.addressed,
            audience=heard_by,
            place=percept.place,
            data=percept.data,
        )
        if vector is not None and (inner.archive is None or inner.archive.model == faculties.meaning.model):
            journal.embedded(EntryVector(entry.id, faculties.meaning.model, vector))
        journal.linked(followed(entry, inner.memory.retrieve_working()))
        chance = inner.random(entry.id)
        decision = decide(percept, inner.persona, inner.affect, surprise, inner.last_spoke, chance)
    mood = inner.feelings.mood.current
    turn = Turn(
        percept, entry, inner.affect, appraised_by, mood, decision, milliseconds, degraded, entry.audience
    )
    if by_words and not event:
        turn.before = before
    return turn


def heard(faculties: Faculties, user_id: str, text: str) -> str:
    """Words as they sound: capitals are no shouting in somebody who never speaks otherwise."""
    return text.lower() if user_id in faculties.loud else text


def _appraise(
    faculties: Faculties, percept: Percept, of_event: Affect | None, text: str, vector: Any
) -> tuple[Affect, str]:
    """What is felt, and by what means it is known."""
    if percept.affect is not None:
        return percept.affect, GIVEN
    if of_event is not None:
        return of_event, BY_RULE
    words = heard(faculties, percept.user_id, text)
    appraisal = faculties.appraiser.appraise(words, addressed=percept.addressed, vector=vector)
    return appraisal.affect, appraisal.by
