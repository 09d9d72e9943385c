"""What somebody says, as a listener takes it."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.values.fact import FactKind, Tells
from noodlings.values.topic import SelfTopic, ToldTopic
from noodlings.values.wording import DialogueAct

ACTS = (
    DialogueAct.STATEMENT, DialogueAct.QUESTION, DialogueAct.AVAILABILITY, DialogueAct.REQUEST,
    DialogueAct.PERMISSION, DialogueAct.OFFER, DialogueAct.WARNING, DialogueAct.GREETING,
    DialogueAct.FAREWELL, DialogueAct.THANKS, DialogueAct.APOLOGY, DialogueAct.PRAISE, DialogueAct.INSULT,
    DialogueAct.TEASING, DialogueAct.GRUMBLE, DialogueAct.SHORT, DialogueAct.REMARK, DialogueAct.EMOTE,
)  # fmt: skip
"""What a model tells apart, in its order."""

FINE_ACTS = (
    DialogueAct.STATEMENT, DialogueAct.GLAD, DialogueAct.PLEASURE, DialogueAct.AMUSING, DialogueAct.SAD,
    DialogueAct.GRUMBLE, DialogueAct.WORRIED, DialogueAct.WRONGED, DialogueAct.PLAN, DialogueAct.AWAY,
    DialogueAct.ORDER, DialogueAct.MESSAGE, DialogueAct.KEEP, DialogueAct.SECRET, DialogueAct.REMARK,
    DialogueAct.SURPRISE, DialogueAct.UNWELL, DialogueAct.EMERGENCY, DialogueAct.OFFER, DialogueAct.WARNING,
    DialogueAct.ASIDE, DialogueAct.GREETING, DialogueAct.FAREWELL, DialogueAct.THANKS,
    DialogueAct.APOLOGY, DialogueAct.PRAISE, DialogueAct.INSULT, DialogueAct.QUESTION,
)  # fmt: skip
"""What a kind listener hears in it, more finely told apart, in the order of the model. What the acts tell
better is among them so that the others are told from it."""

FACT_KINDS = (
    FactKind.NAME, FactKind.KIN, FactKind.AGE, FactKind.TRADE, FactKind.HOME, FactKind.HEALTH, FactKind.LIKES,
    FactKind.DISLIKES, FactKind.FEAR, FactKind.SKILL, FactKind.HAS, FactKind.BELIEF, FactKind.BETWEEN,
    FactKind.EVENT, FactKind.PLAN, FactKind.PROMISE,
)  # fmt: skip
"""The kinds of facts that a line may tell, in the order of the model: of the speaker, then of others."""


@dataclass(frozen=True, slots=True)
class LineTopics:
    """What a line asks or tells of.

    Attributes:
        itself: what it asks the listener about themselves; None where it does not.
        told: what it tells of; None where that is unclear.
    """

    itself: SelfTopic | None = None
    told: ToldTopic | None = None


@dataclass(frozen=True, slots=True)
class LineReading:
    """A line as a model reads it.

    Attributes:
        valence: how bad or good what it tells is for whoever says it, −1…1.
        significance: how far it is worth keeping, 0…1.
        acts: what has to be answered, with the probability of each; together 1.
        fine_acts: the same as a kind listener hears it, more finely told apart; together 1.
        tells: how likely it tells something about people; None where that is not known.
        echo: a few of its words that a listener might say back, as they stand there; "" where none are.
        topics: what it asks or tells of.
        response_embedding: what a good answer is like, to be compared with the embeddings of phrases
            (`noodlings.voice.response_selection`); none where that is not known.
    """

    valence: float
    significance: float
    acts: tuple[tuple[DialogueAct, float], ...] = ()
    fine_acts: tuple[tuple[DialogueAct, float], ...] = ()
    tells: Tells | None = None
    echo: str = ""
    topics: LineTopics = LineTopics()
    response_embedding: tuple[float, ...] = ()


def likeliest(acts: tuple[tuple[DialogueAct, float], ...]) -> tuple[DialogueAct, float]:
    """The likeliest of these acts, and its probability; a statement if there are none."""
    return max(acts, key=lambda act: act[1], default=(DialogueAct.STATEMENT, 0.0))
