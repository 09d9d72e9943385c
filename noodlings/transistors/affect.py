"""The affect transistor: what is felt gets into rhythm, punctuation and body, and is never announced."""

from __future__ import annotations

from noodlings.affect.feeling import family
from noodlings.transistors.base import CognitiveTransistor, ThoughtState
from noodlings.transistors.reading import felt
from noodlings.values.lens import Lens

_DIRECTIONS = {
    "joy": "Let the words be quick and light, with one small sign of gladness in the body.",
    "sorrow": "Let the words be slow and few, with a pause in them and one small sign of grief in the body.",
    "fear": "Let the sentences be short and watchful, with one small sign of fear in the body.",
    "anger": "Let the words be clipped and hard at the edges, with one small sign of anger in the body.",
    "boredom": "Let the words trail, as if they were hardly worth it, with one small sign of weariness.",
}


class AffectTransistor(CognitiveTransistor):
    """Nothing to add when neither affect nor mood is noticeable, or when what is felt is mere calm."""

    name = "affect"

    def lens(self, state: ThoughtState) -> Lens | None:
        """The stronger of affect and mood, as strong as it is."""
        found = felt(state)
        cue = family(found.affect)
        if cue not in _DIRECTIONS or not found.noticeable:
            return None
        return self.seen(f"{_DIRECTIONS[cue]} Never name the feeling.", found.strength, cue=cue)
