"""Frozen views of the inside of an agent, the same for a command, the API and the studio.

Every view has `as_dict()`, whose result comes back equal from `json.loads(json.dumps(…))`. Floats are rounded
to six digits, times are seconds since 1970-01-01 UTC with an ISO 8601 string beside them, and texts are one
printable line. `hidden` counts what the caller may not read.

A player sees figures that others had a part in (surprise, importance, strength, mood, state of mind) in steps
of a quarter, and no timing at all: with all their digits they would tell what others said.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any

from pydantic import Field

from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.circumstances import Circumstances
from noodlings.values.memory import ImportanceParts, MemoryStats

DIGITS = 6

_UNCHANGED = frozenset({str, int, bool, type(None)})


def plain(value: Any) -> Any:
    """A view, or anything inside one, as JSON-compatible data."""
    if type(value) in _UNCHANGED:  # most are
        return value
    if isinstance(value, float):
        return round(float(value), DIGITS)
    if isinstance(value, str):
        return str(value)  # an enum's member becomes its value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if is_dataclass(value):
        kind: Any = type(value)
        return {name: plain(getattr(value, name)) for name in _names(kind)}
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def iso(timestamp: float) -> str:
    """A moment in world time as ISO 8601 in UTC, to the second; "" beyond the calendar."""
    try:
        return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return ""


class View:
    """The base of every view."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = plain(self)
        return data


@dataclass(frozen=True, slots=True)
class ViewOfAgent(View):
    """A view of one agent: its id, and its name as shown."""

    agent: str
    name: str


@dataclass(frozen=True, slots=True)
class FeltView(View):
    """An affect and the word for it; `family` is one of `noodlings.affect.feeling.FAMILIES`."""

    affect: Affect
    feeling: str
    family: str


@dataclass(frozen=True, slots=True)
class AgentView(View):
    """Who an agent is and how it feels. Everybody may see it, because it tells nothing of its memories."""

    id: str
    name: str
    species: str
    description: str
    mood: FeltView
    affect: FeltView
    hierarchical: bool
    working: int
    episodic: int
    perceived: int


@dataclass(frozen=True, slots=True)
class ModelView(View):
    """The state of the language model (`noodlings.values.model_status.ModelState`), and in words.

    Only the words for a caller who sees everything name the model, its address, and what went wrong.
    """

    state: str
    words: str


@dataclass(frozen=True, slots=True)
class AgentsView(View):
    """All agents that are in memory, by name, and the language model (None from an older server).

    `asleep` counts the others, which are read from the store when they are named.
    """

    agents: tuple[AgentView, ...]
    model: ModelView | None = None
    asleep: int = 0


@dataclass(frozen=True, slots=True)
class StatsView(MemoryStats, View):
    """How full an agent's memory is: figures without content, so everybody may see them.

    A player sees only the importances of its own memories. `histogram` counts the entries in mind (working
    and episodic, each once) by importance, in ten bins of a tenth each; the last one includes 1.
    """

    agent: str
    name: str
    histogram: Annotated[tuple[int, ...], Field(min_length=10, max_length=10)]


@dataclass(frozen=True, slots=True)
class EntryView(View):
    """One memory as seen now.

    Attributes:
        user, name: id and shown name of whoever said or did it.
        when: `timestamp` as ISO 8601; age: seconds since then, at least 0.
        importance: the one in force, 0…1; encoded_importance: the one at encoding; override, override_by:
            what replaced that, and what did so.
        parts: what the importance is made of, each 0…1; `answered` is 1 only if an answer raised it.
        feeling, family: the word for the affect and its sort; "unknown" where there is none.
        strength: the importance, weakened by age and strengthened by recalls, 0…1.
        recall_count: how often it was recalled for a response. For a player it is 0, and the strength that of
            something never recalled, as others have a part in recalls.
        intensity: how much feeling there is in the affect, 0…1.
        tags: by name.
        tier: how far it is kept from others, 0 open … 3 sealed; a sealed one has no words here.
        source: the name of the source that told it; "" for what the agent lived through.
        weight: the importance as it looks in hindsight, 0…1; for a player, the importance.
        hindsight: the reasons for that, each with its shift; none for a player, as others may have a part in
            them.
        circumstances: when and where it happened and what else was given about it, None for nothing; for a
            player without what others felt and what was inferred, as others may have a part in that, too.
    """

    id: int
    user: str
    name: str
    text: str
    response: str | None
    timestamp: float
    when: str
    age: float
    affect: Affect | None
    feeling: str
    family: str
    surprise: float
    importance: float
    encoded_importance: float
    override: float | None
    override_by: str
    parts: ImportanceParts
    strength: float
    kind: str
    pinned: bool
    recall_count: int
    private: bool
    intensity: float | None = None
    tags: tuple[str, ...] = ()
    tier: Annotated[int, Field(ge=0, le=3)] = 0
    source: str = ""
    weight: float = 0.0
    hindsight: dict[str, float] = field(default_factory=dict)
    circumstances: Circumstances | None = None


@dataclass(frozen=True, slots=True)
class EntriesView(ViewOfAgent):
    """Some of an agent's memories.

    Attributes:
        view: "working" and "user" are oldest first, "episodic" and "important" by importance.
        user: whose they are, in the view "user"; else "".
        total: how many the caller may read; `entries` are those from `offset` on, counted from the latest or
            the most important.
    """

    view: str
    hierarchical: bool
    user: str
    entries: tuple[EntryView, ...]
    offset: int
    total: int
    hidden: int


@dataclass(frozen=True, slots=True)
class AffectGroupView(View):
    """The memories of one sort of feeling: their number, their average importance, the most important."""

    family: str
    count: int
    average_importance: float
    entries: tuple[EntryView, ...]


@dataclass(frozen=True, slots=True)
class AffectGroupsView(ViewOfAgent):
    """What an agent has in mind, by feeling, without empty groups."""

    hierarchical: bool
    groups: tuple[AffectGroupView, ...]
    total: int
    hidden: int


@dataclass(frozen=True, slots=True)
class AlikeEntryView(View):
    """A memory that felt like a given affect, and how alike, 0…1."""

    similarity: float
    entry: EntryView


@dataclass(frozen=True, slots=True)
class AlikeView(ViewOfAgent):
    """The memories that felt most like `current`, the most alike first."""

    hierarchical: bool
    current: FeltView
    min_similarity: float
    entries: tuple[AlikeEntryView, ...]
    total: int
    hidden: int


@dataclass(frozen=True, slots=True)
class FlowEntryView(View):
    """One memory that was in mind when an agent answered.

    Attributes:
        why, scores: the reasons that brought it to mind. If only a transistor brought it into the answer,
            `why` is the name of the transistor and `score` its gain.
        used: whether it was put into words, by the thought or by a transistor that read it.
        entry: None where it has been forgotten since.
        sources: ids of memories that it stands for: with the same words, or the line of a fact.
        supersedes, superseded_by: ids of what it corrects, and of what corrects it.
    """

    id: int
    forgotten: bool
    why: tuple[str, ...]
    score: float
    scores: dict[str, float]
    used: bool
    entry: EntryView | None
    sources: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True)
class TurnView(View):
    """One answer: to what, in which mood, by which voice, and why it was given.

    `percept` and `response` are None where the percept has been forgotten since. `degraded` says in words
    what failed. `action` is what the agent did in the world beside answering.
    """

    percept: EntryView | None
    response: str | None
    mood: FeltView
    voice: str
    decision: str
    degraded: tuple[str, ...]
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class LeftOutView(View):
    """A memory that nearly came to mind: for which reason, with what score, and what would have been enough.

    Both figures are 0…1, as of now; they are equal where the order alone decided.
    """

    why: str
    score: float
    least: float
    entry: EntryView


@dataclass(frozen=True, slots=True)
class FlowView(ViewOfAgent):
    """What the last answer was made of: the memories in mind, oldest to newest.

    `turn` is None while no turn has recalled anything. `left_out` are near misses, the nearest first.
    """

    hierarchical: bool
    turn: TurnView | None
    recalled: tuple[FlowEntryView, ...]
    left_out: tuple[LeftOutView, ...]
    hidden: int
