"""Wit: now and then a dry remark, more of them the less there is to feel.

Put this file into the folder `transistors` beside the database, and a line into a recipe:

    transistors: {wit: 0.6}
"""

from noodlings.transistors.base import CognitiveTransistor, ThoughtState
from noodlings.values.lens import Lens


class Wit(CognitiveTransistor):
    """Nothing to add to something sad or frightening."""

    def lens(self, state: ThoughtState) -> Lens | None:
        """The lighter the moment, the stronger."""
        weight = max(state["affect"].sorrow, state["affect"].fear)
        if weight > 0.3:
            return None
        return self.seen(
            "Add a dry, friendly remark of a few words, at nobody's expense.",
            strength=1.0 - weight,
            phrases=(
                "I have seen it done with less effort.",
                "History will be brief about it.",
                "It had to be somebody.",
                "Let us not tell the chairs.",
            ),
        )
