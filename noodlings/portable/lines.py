"""The lines of an export as they are read: what each may hold, and the value it becomes.

Every line is one JSON object with a `type`. It comes from outside, so pydantic models check its shape, types
and ranges, texts are cleaned, and whatever is wrong is a `UserError` that explains it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from itertools import chain
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from noodlings.agent.cards import refuse_constant
from noodlings.agent.hearsay import LONGEST_CHAIN, MOST_MARKED, MOST_SOURCES
from noodlings.agent.state import LINES_KEPT, check_state
from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.ingest.pipeline import LONGEST
from noodlings.text import clean
from noodlings.validation import Unit, explain
from noodlings.values.action import Action
from noodlings.values.affect import Affect, FloatArray
from noodlings.values.audience import Audience, Tier, confined_to
from noodlings.values.circumstances import CIRCUMSTANCES, require_circumstances
from noodlings.values.fact import Tells
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import (
    HEARSAY,
    HEARSAY_OF,
    ArchivedAgent,
    ArchivedEntry,
    ArchivedSymbol,
    Hindsight,
    ImportanceParts,
    Link,
    LinkType,
    MemoryEntry,
    Symbol,
)
from noodlings.values.percept import Kind, kept_audience
from noodlings.values.relationship import BOUND, Manner, Regard
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.trace import Modulation, RecalledTrace, Trace

LONGEST_ID = 2_000
"""Characters of a user's id: the API takes 80, an old bridge what its host has, and a name of 60 signs in a
source may become 1,085."""
MOST_LISTED = 10_000
"""Entries of a list, such as of those who were in a room."""
LARGEST_EXTRA = 200_000
"""Characters of what was added to a memory, as JSON; a commit with 200 files has about half as many."""
_MOST_ADDED = {"tags": 100, HEARSAY: MOST_SOURCES, HEARSAY_OF: MOST_MARKED}
"""Entries of the lists among that; the API takes 20 tags."""
MOST_RANGES = 10_000
"""Ranges of memories that were read for facts; there are few, as those that touch are joined."""
DEEPEST = 50
"""Levels of nesting in data without a fixed shape (a state, what a world added to a percept)."""

Value = TypeVar("Value")

STATE_SIZE = 40


def _plain(value: Any, depth: int = 0) -> Any:
    """Raise ValueError for what JSON can express and a store cannot keep."""
    if depth > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("it contains a number that is not finite")
    if isinstance(value, str) and not value.isascii() and value != value.encode("utf-8", "replace").decode():
        raise ValueError("it contains text that is not valid Unicode")
    if isinstance(value, dict):
        for name, inner in value.items():
            _plain(name)
            _plain(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _plain(inner, depth + 1)
    return value


def _as_added(extra: dict[str, Any]) -> None:
    """Raise `UserError` for what nobody can have added to a percept."""
    data = extra.get("data", {})
    if not isinstance(data, dict):
        raise UserError("data must be an object")
    for name, most in _MOST_ADDED.items():
        for listed in (extra.get(name), data.get(name)):
            if not isinstance(listed, list):
                continue
            if len(listed) > most:
                raise UserError(f"{name} has {len(listed):,} entries; it may have at most {most}")
            longest = max((len(one) for one in listed if isinstance(one, list)), default=0)
            if longest > LONGEST_CHAIN:
                raise UserError(f"an entry of {name} names {longest:,} people, not at most {LONGEST_CHAIN}")
    for kept in (extra.get(CIRCUMSTANCES), data.get(CIRCUMSTANCES)):
        if isinstance(kept, dict):  # what a host keeps under this name in another form is its own
            require_circumstances(kept, stored=True)
    size = len(json.dumps(extra, ensure_ascii=False))
    if size > LARGEST_EXTRA:
        raise UserError(f"it has {size:,} characters of JSON; it may have at most {LARGEST_EXTRA:,}")


def _accepted_by(check: Callable[[Any], object]) -> AfterValidator:
    """A validator for what a function does not refuse with a `UserError`."""

    def validate(value: Value) -> Value:
        try:
            check(value)
        except UserError as error:
            raise ValueError(str(error)) from None
        return value

    return AfterValidator(validate)


Text = Annotated[str, Field(max_length=LONGEST), AfterValidator(clean)]
"""At most as long as what a memory holds, because each question reads it."""
UserId = Annotated[str, Field(max_length=LONGEST_ID), AfterValidator(clean)]
Many = Annotated[list[Value], Field(max_length=MOST_LISTED)]
Plain = Annotated[dict[str, Any], AfterValidator(_plain)]
Moment = Annotated[float, _accepted_by(moment)]
TierNumber = Annotated[int, Field(ge=0, le=3)]
MOST_COUNTED = 2**52
"""The largest id or count. What counts on from it stays below 2**53, the largest that a state may have."""
Whole = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
AgentId = Annotated[str, Field(pattern=r"^\w{1,60}$")]
Score = Annotated[float, Field(ge=-1e6, le=1e6)]
Scores = dict[Text, Score]


class Strict(BaseModel):
    """An object with these keys, all of them and no others, whose values are of the right type already."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def made(self, value_type: Callable[..., Value], **changed: Any) -> Value:
        """A value with the fields that this has by the same names, but for those that are given."""
        names = [field.name for field in fields(value_type) if field.name not in changed]  # type: ignore[arg-type]
        return value_type(**{name: _value_of(getattr(self, name)) for name in names}, **changed)


class _Part(Strict):
    """A part of a line, with the fields of a value."""

    value_type: ClassVar[type[Any]]


def _value_of(parsed: Any) -> Any:
    """What a field holds in a value: parts made values, and lists made tuples."""
    if isinstance(parsed, _Part):
        return parsed.made(parsed.value_type)
    return tuple(map(_value_of, parsed)) if isinstance(parsed, list) else parsed


def state_array(numbers: list[float] | None) -> FloatArray | None:
    """A phenomenal state, shape (40,): in single precision where that keeps every number."""
    if numbers is None:
        return None
    exact = np.array(numbers, dtype=np.float64)
    with np.errstate(over="ignore"):
        short = exact.astype(np.float32)
    return short if (short == exact).all() else exact


FORMAT = "noodlings-export"
VERSION = 1


class _Affect(_Part):
    value_type = Affect

    valence: Annotated[float, Field(ge=-1, le=1)]
    arousal: Unit
    fear: Unit
    sorrow: Unit
    boredom: Unit


class _Parts(_Part):
    value_type = ImportanceParts

    surprise: Unit
    intensity: Unit
    salience: Unit
    addressed: Unit
    answered: Unit
    remember: Unit
    significance: Unit = 0.0


class RecordLine(Strict):
    """A line of something that belongs to an agent.

    Attributes:
        section: under which name it is counted, see `SECTIONS`.
        sorted_by: the fields by which the lines of a section are sorted.
        entry_ids: the fields that refer to memories.
    """

    section: ClassVar[str]
    sorted_by: ClassVar[tuple[str, ...]] = ("id",)
    entry_ids: ClassVar[tuple[str, ...]] = ("entry_id",)
    agent: AgentId


def _state_to_go_on_from(state: dict[str, Any]) -> None:
    """Raise `UserError` for a state that cannot be restored, or not be kept again after more percepts."""
    if not state:
        return  # of a new agent
    check_state(state)
    ranges = chain(*state.get("read", ()), *state.get("written", ()))
    if max(state["step"], state.get("related", 0), *ranges) > MOST_COUNTED:
        raise UserError(f"it counts to more than {MOST_COUNTED:,}")
    for name, most in (("read", MOST_RANGES), ("written", MOST_RANGES), ("said", LINES_KEPT)):
        if len(state.get(name, ())) > most:
            raise UserError(f"{name} has {len(state[name]):,} entries; it may have at most {most:,}")
    if max((len(str(line)) for line in state["said"]), default=0) > LARGEST_EXTRA:
        raise UserError(f"a line of said has more than {LARGEST_EXTRA:,} characters")


class AgentLine(Strict):
    """An agent."""

    type: Literal["agent"]
    id: AgentId
    last_id: Whole
    last_symbol_id: Whole = 0
    state: Annotated[Plain, _accepted_by(_state_to_go_on_from)]

    @property
    def agent(self) -> str:
        """The id, as the lines of its entries and traces call it."""
        return self.id

    def value(self) -> ArchivedAgent:
        return ArchivedAgent(self.id, self.last_id, self.state, self.last_symbol_id)


class EntryLine(RecordLine):
    """A memory, field by field as `MemoryEntry` has them."""

    section = "entries"
    entry_ids = ()
    type: Literal["entry"]
    id: Whole
    timestamp: Moment
    step: Whole
    user_id: UserId
    user_text: Text
    affect: _Affect | None
    surprise: Unit
    encoded_importance: Unit
    parts: _Parts
    override: Unit | None
    override_by: Literal["", "response", "hand"]
    response: Text | None
    identity_salience: Unit
    phenomenal_state: Annotated[list[float], Field(min_length=STATE_SIZE, max_length=STATE_SIZE)] | None
    kind: Annotated[Kind, Field(strict=False)]  # by its name
    audience: Many[UserId]
    confined: bool | None = None
    tier: TierNumber = 0
    place: Text
    pinned: bool
    recall_count: Whole
    last_recalled: Moment | None
    stability: Annotated[float, Field(gt=0)]
    extra: Annotated[Plain, _accepted_by(_as_added)]
    episodic: bool
    consolidated: bool
    source: Text = ""
    hindsight: dict[Annotated[Hindsight, Field(strict=False)], float] = Field(default_factory=dict)
    tells: Annotated[list[Unit], Field(min_length=2, max_length=2)] | None = None

    def value(self) -> ArchivedEntry:
        state = state_array(self.phenomenal_state)
        tells = None if self.tells is None else Tells(*self.tells)
        audience = kept_audience(self.kind, self.user_id, self.audience, self.confined, self.tier)
        entry = self.made(MemoryEntry, phenomenal_state=state, audience=audience, tells=tells)
        return ArchivedEntry(entry, self.episodic, self.consolidated)


class _Recalled(_Part):
    value_type = RecalledTrace

    entry_id: Whole
    why: Many[Text]
    score: Score
    scores: Scores
    used: bool
    sources: Many[Whole] = Field(default_factory=list)
    supersedes: Many[Whole] = Field(default_factory=list)
    superseded_by: Whole | None = None


class _Tone(_Part):
    value_type = Tone

    name: Annotated[ToneName, Field(strict=False)]
    why: Annotated[ToneSource, Field(strict=False)]
    entry_id: Whole | None = None


class _Regard(_Part):
    value_type = Regard

    manner: Annotated[Manner, Field(strict=False)] = Manner.PLAIN
    feeling: Annotated[float, Field(ge=-BOUND, le=BOUND)] = 0.0
    chance: Annotated[float, Field(ge=-BOUND, le=BOUND)] = 0.0
    evidence: Many[Whole] = Field(default_factory=list)


class _Modulation(_Part):
    value_type = Modulation

    transistor: Text
    gain: float
    before: Text
    after: Text
    how: Text = "passed"
    lens: Text = ""
    read: Many[Text]
    entries: Many[Whole] = Field(default_factory=list)
    symbols: Many[Whole] = Field(default_factory=list)


class _Action(_Part):
    value_type = Action

    name: Text
    arguments: dict[Text, bool | int | float | Text]
    by: Literal["rule", "llm"]


class TraceLine(RecordLine):
    """A turn, field by field as `Trace` has them."""

    section = "traces"
    sorted_by = ("entry_id",)
    type: Literal["trace"]
    entry_id: Whole
    timestamp: Moment
    affect: _Affect
    appraised_by: Text
    mood: _Affect
    surprise: Unit
    importance: Unit
    parts: _Parts
    recalled: Many[_Recalled]
    thought: Text
    modulations: Many[_Modulation]
    response: Text | None
    voice: Text
    decision: Text
    regard: _Regard = Field(default_factory=_Regard)
    tone: _Tone = Field(default_factory=lambda: _Tone(name=ToneName.PLAIN, why=ToneSource.SAID))
    milliseconds: dict[Text, float]
    calls: Whole = 0
    tokens: Whole = 0
    degraded: Many[Text]
    audience: Many[UserId] = Field(default_factory=list)
    confined: bool = False
    tier: TierNumber = 0
    action: _Action | None = None

    def value(self) -> Trace:
        audience = Audience(frozenset(self.audience), self.confined, Tier(self.tier))
        return self.made(Trace, agent_id=self.agent, audience=audience)


class LinkLine(RecordLine):
    """An edge between two memories; `kind` is the type of the link."""

    section = "links"
    sorted_by = ("source", "target", "kind")
    entry_ids = ("source", "target")
    type: Literal["link"]
    source: Whole
    target: Whole
    kind: Annotated[LinkType, Field(strict=False)]  # by its name
    strength: Unit
    created: Moment
    quoted: Annotated[list[Whole], Field(min_length=4, max_length=4)] | None = None

    @field_validator("target")
    @classmethod
    def _another(cls, target: int, info: ValidationInfo) -> int:
        if target == info.data.get("source"):
            raise ValueError("a memory cannot be linked to itself")
        return target

    @field_validator("kind")
    @classmethod
    def _newer_replaces(cls, kind: LinkType, info: ValidationInfo) -> LinkType:
        if kind is LinkType.REPLACED and info.data.get("source", 0) < info.data.get("target", 0):
            raise ValueError("a memory can only be replaced by a newer one, of a higher number")
        return kind

    def value(self) -> Link:
        return self.made(Link, type=self.kind)


class SymbolLine(RecordLine):
    """What a memory became, field by field as `Symbol` has them."""

    section = "symbols"
    type: Literal["symbol"]
    id: Whole
    entry_id: Whole
    timestamp: Moment
    literal_event: Text
    symbolic_encoding: Text
    affect: _Affect
    salience: Unit
    surprise: Unit
    made_by: Text
    circle: Many[UserId]
    tier: TierNumber = 0
    faded: bool

    def value(self) -> ArchivedSymbol:
        audience = confined_to(self.circle).at_least(Tier(self.tier))
        return ArchivedSymbol(self.made(Symbol, audience=audience), self.faded)


class TakenLine(RecordLine):
    """A record of a source, field by field as `IngestedRecord` has them."""

    section = "records"
    sorted_by = ("source", "id")
    type: Literal["record"]
    source: Text
    id: Annotated[str, AfterValidator(clean)]  # as long as in its source
    digest: Text
    entry_id: Whole | None
    user_id: UserId
    attempts: Whole
    reason: Text
    record: Plain | None

    def value(self) -> IngestedRecord:
        return self.made(IngestedRecord)


class EndLine(Strict):
    """The last line: how many of each there were, so that a file that was cut off is noticed."""

    type: Literal["end"]
    agents: Whole
    entries: Whole
    traces: Whole
    links: Whole
    symbols: Whole = 0
    records: Whole = 0


Record = EntryLine | TraceLine | LinkLine | SymbolLine | TakenLine
Line = AgentLine | Record | EndLine
_LINES: dict[str, type[Line]] = {
    "agent": AgentLine,
    "entry": EntryLine,
    "trace": TraceLine,
    "link": LinkLine,
    "symbol": SymbolLine,
    "record": TakenLine,
    "end": EndLine,
}


@dataclass(slots=True)
class Contents:
    """What an export holds: ids of agents, and how many of each kind of record, in the order of the lines."""

    agents: list[str] = field(default_factory=list)
    entries: int = 0
    traces: int = 0
    links: int = 0
    symbols: int = 0
    records: int = 0

    def add(self, section: str, count: int = 1) -> None:
        """Count some records of a section, such as "links"."""
        setattr(self, section, getattr(self, section) + count)

    def counts(self) -> dict[str, int]:
        """How many of each, agents among them."""
        return {"agents": len(self.agents)} | {name: getattr(self, name) for name in SECTIONS}


SECTIONS = ("entries", "traces", "links", "symbols", "records")
"""The records of an agent, in the order of their lines."""


def read_header(content: dict[str, Any]) -> None:
    """Raise `UserError` unless this is the first line of a file that can be read here."""
    if content.get("format") != FORMAT:
        raise UserError("this is not a noodlings export (noodlings export writes one)")
    version = content.get("version")
    if version != VERSION or isinstance(version, bool):
        raise UserError(f"it has version {version!r:.20}; this noodlings reads version {VERSION}")


def read_line(content: dict[str, Any]) -> Line:
    """The line that a JSON object is. Raises `UserError` for whatever is wrong with it."""
    sort = content.get("type")
    model = _LINES.get(sort) if isinstance(sort, str) else None
    if model is None:
        raise UserError(f"there is no type {sort!r:.40}; use one of: {', '.join(_LINES)}")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise UserError(explain(error, model)) from None


def read_object(raw: bytes) -> dict[str, Any]:
    """The JSON object in one line. Raises `UserError` when there is none, or not a whole one."""
    try:
        content = json.loads(raw.decode(), parse_constant=refuse_constant)
    except UnicodeDecodeError:
        raise UserError("it is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        cut = "" if raw.endswith(b"\n") else "; the file ends in the middle of a line"
        raise UserError(f"it is not JSON ({error}){cut}") from None
    if not isinstance(content, dict):
        raise UserError("it is not a JSON object")
    return content
