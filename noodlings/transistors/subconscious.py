"""The subconscious transistor: images of old moments colour the words, and are never named."""

from __future__ import annotations

from noodlings.memory.likeness import likeness
from noodlings.transistors.base import CognitiveTransistor, ThoughtState
from noodlings.transistors.reading import READ, felt
from noodlings.values.lens import Lens

_DIRECTION = (
    "Let the images colour the choice of words: a verb, a comparison, a texture out of their world. Never "
    "mention an image as such, nor what it may stand for."
)


class SubconsciousTransistor(CognitiveTransistor):
    """Nothing to add when no symbol felt like this, or none that these listeners may hear of."""

    name = "subconscious"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The symbols most alike in feeling, as strong as the first of them is alike."""
        now = felt(state)
        if state["subconscious"] is None or not now.noticeable:
            return None
        found = state["subconscious"].retrieve_by_affect(now.affect, READ)
        if not found:
            return None
        return self.seen(_DIRECTION, likeness(now.affect, found[0].affect), cue="image", symbols=found)
