"""The memory transistor: a moment that felt alike comes along, and deepens what is said."""

from __future__ import annotations

from noodlings.transistors.base import CognitiveTransistor, ThoughtState
from noodlings.transistors.reading import HISTORY, READ, felt, readable
from noodlings.values.lens import Lens
from noodlings.values.memory import Why

ALIKE = 0.7
"""How alike in feeling a remembered moment must be, 0…1."""

_ANSWERS = (Why.SEMANTIC, Why.LEXICAL, Why.NEXT_TO, Why.DATE)
_DIRECTION = (
    "Let the thought know of the remembered moment, which felt like this one: a glance at it, and no "
    "retelling. The meaning of the thought stays."
)


class MemoryTransistor(CognitiveTransistor):
    """Nothing to add when nothing is felt, or nothing it remembers felt like that.

    What was recalled because of the words that are answered is the answer already, and does not count.
    """

    name = "memory"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The moments most alike, as strong as the first of them is alike."""
        now = felt(state)
        if not now.noticeable:
            return None
        found = state["memory"].recall_by_affect(now.affect, HISTORY, ALIKE)
        answer = {recalled.entry.id for recalled in state["recalled"] if recalled.why[0] in _ANSWERS}
        scores = {r.entry.id: r.score for r in found if r.entry.affect and r.entry.id not in answer}
        alike = readable((r.entry for r in found if r.entry.id in scores), state)
        if not alike:
            return None
        return self.seen(_DIRECTION, scores[alike[0].id], cue="alike", entries=alike[:READ])
