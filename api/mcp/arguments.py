"""What each tool takes: checked here, and described for the model that fills it in.

The rule it keeps: a value of the wrong type is refused and not bent into the right one.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.authentication import MAX_ID
from api.parts import LARGEST_ID
from noodlings.inspect.recall import Status
from noodlings.recall.focus import DEFAULT_LEVEL, LEVELS
from noodlings.text import MAX_LINE
from noodlings.values.affect import Affect, arousal_from_signed
from noodlings.values.percept import Kind

MOST_RESULTS = 100
MAX_QUERY = 1_000
"""Characters of a question."""

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUERY,
        description="What is looked for, in a few words or as a question; names and dates in it count.",
        examples=["what happened to Caity's dog"],
    ),
]
Who = Annotated[
    str,
    Field(
        max_length=MAX_ID,
        description="Only what this user said or did: an id, a name, or me. A player can name nobody else.",
        examples=["user_caity"],
    ),
]
Moment = Annotated[
    str,
    Field(
        max_length=40,
        description="How long ago (12h, 3d, 2wk) or a date or time in ISO 8601, in UTC.",
        examples=["3d", "2026-01-31"],
    ),
]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Signed = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]


class Arguments(BaseModel):
    """What every tool takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    agent: str = Field("", max_length=MAX_ID, examples=["servnak"])


class EmotionalContext(BaseModel):
    """A feeling in the valence–arousal plane; whatever else is given with it is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    valence: Signed = Field(0.0, description="Unpleasant −1 … 1 pleasant.")
    arousal: Signed = Field(0.0, description="Asleep −1 … 1 frantic; 0 is ordinarily awake.")

    def affect(self) -> Affect:
        """As it is felt here, with arousal from 0 to 1."""
        return Affect(self.valence, arousal_from_signed(self.arousal))


class SearchMemories(Arguments):
    """See `api.mcp.tools`."""

    query: Query
    n_results: int = Field(10, ge=1, le=MOST_RESULTS, description="Memories at most.")
    emotional_context: EmotionalContext | None = Field(
        None,
        description="A current feeling: among memories that fit the query about equally well, those that "
        "felt alike come first. Leave it out for no influence of mood.",
        examples=[{"valence": -0.7, "arousal": 0.2}],
    )
    include_emotion: bool = Field(
        False,
        description="Without emotional_context, the feeling is the character's own mood of now.",
    )
    emotion_weight: Share | None = Field(
        None,
        description="How much the feeling counts: 0 not at all, 1 the most; left out, as in the settings. "
        "Even at 1 a memory that fits the query clearly better stays in front.",
    )
    candidate_multiplier: int | None = Field(
        None,
        ge=1,
        le=5,
        description="So many times n_results takes part in what the feeling decides; left out, as in the "
        "settings.",
    )
    user_id: Who = ""
    since: Moment | None = Field(None, description="Only from then on.")
    until: Moment | None = Field(None, description="Only up to then.")
    kind: Kind | None = Field(None, strict=False, description="Only this sort of percept.")
    feeling: str = Field(
        "", max_length=40, description="Only what felt like this: sorrow, joy, afraid …", examples=["sorrow"]
    )
    tag: str = Field("", max_length=MAX_ID, description="Only what carries this tag.", examples=["quest"])
    min_importance: Share = Field(0.0, description="Only from this importance on.")
    status: Status | None = Field(
        None, strict=False, description="Only what is there: archive is what is in mind no longer."
    )
    min_score: Share = Field(0.0, description="Only from this score on.")


class StoreMemory(Arguments):
    """See `api.mcp.tools`."""

    content: str = Field(
        min_length=1,
        max_length=MAX_LINE,
        description="What the character is told, in the words of whoever tells it.",
        examples=["My dog died yesterday"],
    )
    user_id: str = Field(
        "",
        max_length=MAX_ID,
        description="Who tells it, by id. Leave it out to tell it as yourself; a player can do nothing else.",
        examples=["user_caity"],
    )
    kind: Literal["say", "whisper"] = Field(
        "say", description="whisper: in confidence; the character does not repeat it before others."
    )


class GetMemoryContext(Arguments):
    """See `api.mcp.tools`."""

    query: Query
    user_id: Who = ""
    focus_level: int = Field(
        DEFAULT_LEVEL,
        ge=0,
        le=len(LEVELS) - 1,
        description="How far to go back: "
        + "; ".join(
            f"{number}: {level.limit} memories of {level.hours:g} h, {level.depth} steps along links"
            for number, level in enumerate(LEVELS)
        )
        + ".",
    )


class GetPeople(Arguments):
    """See `api.mcp.tools`."""

    person: str = Field(
        "",
        max_length=MAX_ID,
        description="One of them alone, by id, name, or me.",
        examples=["caity", "Caity's sister"],
    )
    n_results: int = Field(10, ge=1, le=MOST_RESULTS, description="People at most.")


class GetJournal(Arguments):
    """See `api.mcp.tools`."""

    day: str = Field(
        "", max_length=20, description="One day alone, in UTC; left out, the latest.", examples=["2026-11-23"]
    )
    n_results: int = Field(7, ge=1, le=MOST_RESULTS, description="Days at most.")


class ForgetMemory(Arguments):
    """See `api.mcp.tools`."""

    memory_id: int | None = Field(
        None, ge=1, le=LARGEST_ID, description="The number of one memory, as other tools show it (#12)."
    )
    user_id: str = Field(
        "",
        max_length=MAX_ID,
        description="Everything that this user ever told the character; me is yourself.",
        examples=["user_caity"],
    )

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if (self.memory_id is None) != bool(self.user_id):
            raise ValueError("either memory_id (one memory) or user_id (everything from one user) is needed")
        return self
