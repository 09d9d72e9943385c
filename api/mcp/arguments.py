"""The arguments of each tool, described for the model that fills them in.

A value of the wrong type is refused, not converted.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.authentication import MAX_ID
from api.parts import LARGEST_ID
from api.perceive import GivenCircumstances
from noodlings.affect.game_rules import Signed, Unit
from noodlings.inspect.recall import Status
from noodlings.recall.focus import DEFAULT_LEVEL, LEVELS
from noodlings.text import MAX_LINE
from noodlings.values.affect import Affect, arousal_from_signed
from noodlings.values.circumstances import NOTHING
from noodlings.values.percept import Kind

MOST_RESULTS = 100

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1_000,
        description="What to look for, in a few words or as a question; include names and dates.",
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
        description="How long ago (12h, 3d, 2wk), or an ISO 8601 date or time in UTC.",
        examples=["3d", "2026-01-31"],
    ),
]


class Arguments(BaseModel):
    """The arguments of every tool."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    agent: str = Field("", max_length=MAX_ID, examples=["servnak"])


class EmotionalContext(BaseModel):
    """A feeling as valence and arousal; other keys are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    valence: Signed = Field(0.0, description="From −1 (unpleasant) to 1 (pleasant).")
    arousal: Signed = Field(0.0, description="From −1 (asleep) to 1 (frantic); 0 is ordinary wakefulness.")

    def affect(self) -> Affect:
        """The same on our scale, with arousal from 0 to 1."""
        return Affect(self.valence, arousal_from_signed(self.arousal))


class SearchMemories(Arguments):
    query: Query
    n_results: int = Field(10, ge=1, le=MOST_RESULTS, description="The most memories to return.")
    emotional_context: EmotionalContext | None = Field(
        None,
        description="A present feeling: of memories that fit about equally well, those with a similar "
        "feeling come first. Leave it out to ignore mood.",
        examples=[{"valence": -0.7, "arousal": 0.2}],
    )
    include_emotion: bool = Field(
        False,
        description="Use the character's present mood as the feeling, unless emotional_context is given.",
    )
    emotion_weight: Unit | None = Field(
        None,
        description="How much the feeling counts, 0 (not at all) to 1. Default: retrieval.emotion_weight. "
        "Even at 1, a memory that clearly fits better stays in front.",
    )
    candidate_multiplier: int | None = Field(
        None,
        ge=1,
        le=5,
        description="How many candidates the feeling may reorder, as a multiple of n_results. Default: "
        "retrieval.candidate_multiplier.",
    )
    user_id: Who = ""
    since: Moment | None = Field(None, description="Only memories from this time on.")
    until: Moment | None = Field(None, description="Only memories up to this time.")
    kind: Kind | None = Field(None, strict=False, description="Only memories of this kind.")
    feeling: str = Field(
        "", max_length=40, description="Only memories of this feeling, such as joy.", examples=["sorrow"]
    )
    tag: str = Field("", max_length=MAX_ID, description="Only memories with this tag.", examples=["quest"])
    min_importance: Unit = Field(0.0, description="Only memories at least this important.")
    status: Status | None = Field(
        None, strict=False, description="Only memories kept here; archive: those no longer in mind."
    )
    min_score: Unit = Field(0.0, description="Only results with at least this score.")


class StoreMemory(Arguments):
    content: str = Field(
        min_length=1,
        max_length=MAX_LINE,
        description="What to tell the character, in the speaker's own words.",
        examples=["My dog died yesterday"],
    )
    user_id: str = Field(
        "",
        max_length=MAX_ID,
        description="Who is speaking, by id. Leave it out to speak as yourself, as a player must.",
        examples=["user_caity"],
    )
    kind: Literal["say", "whisper"] = Field(
        "say", description="whisper: in confidence; the character will not repeat it to others."
    )
    circumstances: GivenCircumstances = NOTHING


class GetMemoryContext(Arguments):
    query: Query
    user_id: Who = ""
    focus_level: int = Field(
        DEFAULT_LEVEL,
        ge=0,
        le=len(LEVELS) - 1,
        description="How far to go back: "
        + "; ".join(
            f"{number}: {level.limit} memories from {level.hours:g} h, {level.depth} links deep"
            for number, level in enumerate(LEVELS)
        )
        + ".",
    )


class GetPeople(Arguments):
    person: str = Field(
        "",
        max_length=MAX_ID,
        description="Only this person, by id or name, or me; or how two people stand to each other: A and B.",
        examples=["caity", "Caity's sister", "Caity and Bob"],
    )
    n_results: int = Field(10, ge=1, le=MOST_RESULTS, description="The most people to return.")


class GetJournal(Arguments):
    day: str = Field(
        "", max_length=20, description="Only this day (UTC). Default: the latest.", examples=["2026-11-23"]
    )
    n_results: int = Field(7, ge=1, le=MOST_RESULTS, description="The most days to return.")


class AskChronicle(Arguments):
    query: Query
    n_results: int = Field(5, ge=1, le=MOST_RESULTS, description="The most commits to return.")


class ForgetMemory(Arguments):
    memory_id: int | None = Field(
        None, ge=1, le=LARGEST_ID, description="The memory's number, as other tools show it (#12)."
    )
    user_id: str = Field(
        "",
        max_length=MAX_ID,
        description="Delete everything this user ever told the character; me is yourself.",
        examples=["user_caity"],
    )

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if (self.memory_id is None) != bool(self.user_id):
            raise ValueError("give either memory_id (one memory) or user_id (everything from one user)")
        return self
