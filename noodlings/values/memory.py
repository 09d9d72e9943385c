"""What is remembered: entries, vectors, importance, links, symbols and recall; its order and its archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from noodlings.errors import UserError
from noodlings.text import CleanText, clean
from noodlings.values.affect import Affect, FloatArray
from noodlings.values.audience import OPEN, Audience, Tier
from noodlings.values.circumstances import CIRCUMSTANCES, NOTHING, Circumstances, circumstances_in
from noodlings.values.fact import Tells
from noodlings.values.percept import PRIVATE, Kind, in_confidence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
else:
    Vector = Any


@dataclass(frozen=True, slots=True, eq=False)
class EntryVector:
    """The vector of an entry, or what became of the attempts to make one.

    Attributes:
        model: the name of the model; vectors of two models are never compared.
        vector: unit vector of shape (dimensions,), or None while there is none; float32 rounded to the
            precision of float16, so that what is searched now is what is read after a start.
        attempts: how often it failed so far, 0 where there is a vector.
        reason: why it failed last, in words, or "".
    """

    entry_id: int
    model: str
    vector: Vector | None = None
    attempts: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        if self.vector is not None:
            object.__setattr__(self, "vector", self.vector.astype("f2").astype("f4"))


@dataclass(frozen=True, slots=True)
class ImportanceParts:
    """The components of an importance, each 0…1.

    `significance` is how far the words are worth keeping, 0 if nobody appraised them. If somebody did,
    `intensity` counts only as far as it is about something significant.
    """

    surprise: float = 0.0
    intensity: float = 0.0
    salience: float = 0.0
    addressed: float = 0.0
    answered: float = 0.0
    remember: float = 0.0
    significance: float = 0.0


@dataclass(frozen=True)
class ImportanceWeights:
    """How much of the gap to 1 each component of an importance closes at its full strength, each 0…1."""

    surprise: float = 0.25
    intensity: float = 0.7
    salience: float = 0.5
    addressed: float = 0.06
    answered: float = 0.1
    remember: float = 0.9
    significance: float = 0.8

    def __post_init__(self) -> None:
        for name, weight in vars(self).items():
            if not 0.0 <= weight <= 1.0:  # NaN fails this too
                raise UserError(f"the weight of {name} is {weight!r}: it must lie between 0 and 1")


CORRECTION = "correction"
"""The source of an entry that an admin wrote in place of another, which is kept."""


class Hindsight(StrEnum):
    """Why a memory weighs more or less than when it was encoded, see `noodlings.reflection.hindsight`."""

    ANSWERED_WITH = "answered_with"
    """It came to mind for answers."""
    ASKED_ABOUT = "asked_about"
    """Somebody asked for what this person told."""
    OVER = "over"
    """It tells a plan that is over."""
    REPEATED = "repeated"
    """The same person said the same later."""
    SUPERSEDED = "superseded"
    """A later memory contradicts it, or came in its place."""
    TOLD_BY_OTHERS = "told_by_others"
    """Others told the same."""


MOST_SHIFTED = 0.2
"""By how much a weight differs from the importance at most."""


def weighed(importance: float, hindsight: Mapping[Hindsight, float]) -> float:
    """An importance with the shifts of its reasons, 0…1."""
    shift = min(max(sum(hindsight.values()), -MOST_SHIFTED), MOST_SHIFTED)
    return min(max(importance + shift, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A percept as remembered. A value: a change is a new one (`dataclasses.replace`).

    It can also be read as the row of a bridge: `entry["text"]`, `entry.get("user")`, `dict(entry)`.

    Attributes:
        id: number of the entry within its agent, rising with each percept.
        timestamp: world time in seconds since 1970-01-01 UTC.
        step: the agent's count of percepts when it was encoded.
        user_text: what was said or done.
        affect: what the agent felt; None where the host gave none.
        surprise: calibrated, 0…1.
        encoded_importance: 0…1, fixed at encoding.
        parts: what the importance was made of.
        override: importance set later (0…1) by a response or by hand, or None.
        override_by: "response", "hand" or "".
        response: what the agent answered, or None.
        identity_salience: how much it touches who the agent is, 0…1.
        phenomenal_state: of the agent at that moment, shape (40,), or None.
        audience: who witnessed it and may learn of it and of the answer to it.
        place: a room's id, or "".
        pinned: never leaves episodic memory.
        recall_count: how often it was recalled for a response.
        last_recalled: when it was last recalled for a response, world time, or None.
        stability: seconds; how slowly it fades. Grows with each recall, more when recalls are far apart.
        extra: whatever else the host gave.
        source: the name of the source that told it, see `noodlings.ingest.record`; "" for what was lived,
            `CORRECTION` for other words of it.
        hindsight: why it weighs more or less than its importance, each reason with its shift.
        tells: how likely it tells something about people; None where no model read it all when it was
            heard.
    """

    id: int
    timestamp: float
    step: int
    user_id: str
    user_text: CleanText
    affect: Affect | None
    surprise: float
    encoded_importance: float
    parts: ImportanceParts
    override: float | None = None
    override_by: str = ""
    response: str | None = None
    identity_salience: float = 0.0
    phenomenal_state: FloatArray | None = None
    kind: Kind = Kind.SAY
    audience: Audience = OPEN
    place: str = ""
    pinned: bool = False
    recall_count: int = 0
    last_recalled: float | None = None
    stability: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    hindsight: dict[Hindsight, float] = field(default_factory=dict)
    tells: Tells | None = None

    @property
    def weight(self) -> float:
        """The importance in force as it looks in hindsight, 0…1."""
        return weighed(self.importance, self.hindsight) if self.hindsight else self.importance

    @property
    def importance(self) -> float:
        """The importance in force, 0…1: the override where there is one, else the value at encoding."""
        return self.encoded_importance if self.override is None else self.override

    @property
    def held(self) -> bool:
        """Whether it may not be evicted, because it is pinned or somebody asked to keep it."""
        return self.pinned or self.parts.remember >= 1.0

    @property
    def fresh_at(self) -> float:
        """World time from which on it fades: when it was last recalled, else when it happened."""
        return self.timestamp if self.last_recalled is None else self.last_recalled

    @property
    def in_person(self) -> bool:
        """Whether the agent was there when it was said or done, in these words or as they were corrected."""
        return self.source in ("", CORRECTION)

    @property
    def private(self) -> bool:
        """Whether only those who witnessed it may know of it."""
        return self.audience.confined

    @property
    def confided(self) -> bool:
        """Whether it is private because somebody wanted it so, and not only because nobody else was there."""
        asked = self.tier > Tier.CONFINED or self.kind in PRIVATE or len(self.audience.witnesses) > 2
        return self.private and (asked or in_confidence(self.kind, self.user_text))

    @property
    def tier(self) -> Tier:
        return self.audience.tier

    def row(self) -> dict[str, Any]:
        """A row as a bridge would have made it."""
        row = {
            "user": self.user_id,
            "text": self.user_text,
            "affect": [] if self.affect is None else self.affect.as_list(),
            "surprise": self.surprise,
            "timestamp": self.timestamp,
            "identity_salience": self.identity_salience,
        }
        return row | ({} if self.response is None else {"response": self.response}) | self.extra

    def keys(self) -> Iterable[str]:
        return self.row().keys()

    def __getitem__(self, key: str) -> Any:
        return self.row()[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self.row().get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self.row()

    def __iter__(self) -> Iterator[str]:
        return iter(self.row())


def tags_of(entry: MemoryEntry) -> frozenset[str]:
    """The tags of an entry: the words given as "tags", `task:`, `goal:` and `place:` with those of its
    circumstances, and for hearsay `from:` with the id of each person through whom it came."""
    return tags_in(entry.extra)


def tags_in(extra: dict[str, Any]) -> frozenset[str]:
    tags = _given(extra, "tags")
    given = (tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list | tuple) else ()
    through = (f"{FROM}{one}" for chain in _hearsay(extra) for one in chain)
    return frozenset((*given, *circumstances_given(extra).tags, *through))


def circumstances_of(entry: MemoryEntry) -> Circumstances:
    """When and where it happened, and whatever else was given about it; see `Circumstances`."""
    return circumstances_given(entry.extra)


def told_words(entry: MemoryEntry) -> str:
    """What was said, and what else whoever tells of it may say."""
    return " ".join((entry.user_text, *circumstances_of(entry).texts))


def circumstances_given(extra: dict[str, Any]) -> Circumstances:
    data = _given(extra, CIRCUMSTANCES)
    return NOTHING if data is None else circumstances_in(data)


def given(entry: MemoryEntry, name: str) -> Any:
    """What a host or a world gave with an entry under a name, or None."""
    return _given(entry.extra, name)


WITHDRAWN = "withdrawn"
"""Key in the extra data of an entry that its source does not hold any more."""
KNOWN_BY = "known_by"
"""Key in the extra data of an entry that was written by hand: who wrote it."""


def written_by(entry: MemoryEntry) -> str:
    """Who wrote an entry by hand, as a fact about its user; "" for what was perceived."""
    by = _given(entry.extra, KNOWN_BY)
    return by if isinstance(by, str) else ""


def title_of(entry: MemoryEntry) -> str:
    """The title of the document that an entry was read in."""
    title = _given(entry.extra, "title")
    return (clean(title) if isinstance(title, str) else "") or clean(entry.place) or "a book"


HEARSAY = "hearsay"
"""Key in the extra data of hearsay, see `hearsay`."""
HEARSAY_OF = "hearsay_of"
"""Key in the extra data of an answer that a character was heard to give, see `hearsay_of`."""
CLIENT_KEY, CLIENT_BODY = "client_key", "client_body"
"""Where the data of a percept has the key that a client gave it, and a hash of what was sent with it."""
CLIENT_HISTORY = "client_history"
"""Where it has a hash of the conversation before, as a chat client sent it."""
CLIENT_WORLD = "client_world"
"""Where it has the id of the world that sent it, which hears the answer."""
OWN_MARKS = frozenset(
    {CLIENT_KEY, CLIENT_BODY, CLIENT_HISTORY, HEARSAY, HEARSAY_OF, KNOWN_BY, CLIENT_WORLD, WITHDRAWN}
)
"""Names in the data of a percept that noodlings uses itself, for ids and hashes and never for words."""
FROM = "from:"
"""Prefix of the tag for each person that hearsay came through."""


def hearsay(entry: MemoryEntry) -> tuple[tuple[str, ...], ...]:
    """Where the speaker had this from: for each source the ids from the first who told it to the last, from
    whom the speaker had it; empty for what they knew themselves."""
    return _hearsay(entry.extra)


def hearsay_of(entry: MemoryEntry) -> frozenset[str]:
    """Ids of all through whom it came, whom the speaker answered with it, and whose words it may hold. They
    are only there to forget by: not all of these may be known for its sources."""
    people = _given(entry.extra, HEARSAY_OF)
    marked = (one for one in people if isinstance(one, str)) if isinstance(people, list) else ()
    return frozenset((*marked, *(one for chain in hearsay(entry) for one in chain)))


def _hearsay(extra: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    chains = _given(extra, HEARSAY)
    return tuple(
        tuple(chain)
        for chain in (chains if isinstance(chains, list | tuple) else ())
        if isinstance(chain, list | tuple) and chain and all(isinstance(one, str) for one in chain)
    )


def _given(extra: dict[str, Any], name: str) -> Any:
    data, found = extra.get("data"), extra.get(name)
    return data.get(name) if found is None and isinstance(data, dict) else found


class LinkType(StrEnum):
    """How one entry came to be linked with another."""

    FOLLOWED = "followed"
    """The source came after the target, in the same talk."""
    RECALLED = "recalled"
    """The target came to mind for the answer to the source."""
    BY_HAND = "by_hand"
    REFLECTED = "reflected"
    """The source was made of the target when the agent thought things over."""
    REPLACED = "replaced"
    """The link's source is the newer version of the same record, or corrects the target."""
    REVERTS = "reverts"
    """The source is a commit that reverts the target."""
    FIXES = "fixes"
    """The source is a commit that says it fixes the target."""
    TOUCHED_AGAIN = "touched_again"
    """The source is a commit that changes files which the target, an earlier commit, changed too."""
    UNDERSTOOD = "understood"
    """The source is a fact that a model understood from the target, or a journal's sentence that cites it."""
    UNDERSTOOD_WITH = "understood_with"
    """The model was shown the target beside what it made the source of."""
    CONTRADICTS = "contradicts"
    """The source and the target, an earlier line of the same person, cannot both hold."""
    CAUSES = "causes"
    """By what the person said who told both, the source is the reason for the target."""


TELLING = frozenset({LinkType.BY_HAND, LinkType.CONTRADICTS, LinkType.CAUSES})
"""Links that bring an entry to mind beside the one that was asked for, and that can be taken away."""


@dataclass(frozen=True, slots=True)
class Link:
    """A directed edge between two entries of one agent. Raises `UserError` for a link that cannot be.

    Attributes:
        source, target: ids of two entries, never the same.
        type: how it came to be.
        strength: 0…1; of two links of one type between the same two, only the stronger is kept.
        created: world time.
        quoted: where the words that show it begin and end, in the text of the source and then of the target;
            None where no words do.
    """

    source: int
    target: int
    type: LinkType
    strength: float
    created: float
    quoted: tuple[int, int, int, int] | None = None

    def __post_init__(self) -> None:
        if self.source == self.target:
            raise UserError(f"a memory cannot be linked to itself ({self.source})")
        if not 0.0 <= self.strength <= 1.0:  # NaN fails this too
            raise UserError(f"strength is {self.strength!r}: it must lie between 0 and 1")
        if self.quoted is not None and not (len(self.quoted) == 4 and min(self.quoted) >= 0):
            raise UserError(f"quoted is {self.quoted!r}: it must be four places in two texts")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A metaphor of an intense moment, which comes back with its feeling.

    Attributes:
        id: number of the symbol within its agent, rising; never given twice.
        entry_id: the memory it was made of.
        timestamp: world time of that moment, seconds since 1970-01-01 UTC.
        literal_event: what happened.
        symbolic_encoding: the metaphor, one line.
        salience: how much it counts, 0…1; the least salient is evicted.
        made_by: which model made it; "images" for our own table.
        audience: who may learn of the moment itself.
    """

    id: int
    entry_id: int
    timestamp: float
    literal_event: str
    symbolic_encoding: str
    affect: Affect
    salience: float
    surprise: float
    made_by: str
    audience: Audience = OPEN


class Why(StrEnum):
    """Why an entry was recalled."""

    RECENT = "recent"
    IMPORTANT = "important"
    AFFECT = "affect"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    NEXT_TO = "next_to"
    """The words that were looked for stand in the lines around it."""
    DATE = "date"
    """It happened on the day, month or year that was named."""
    LINKED = "linked"
    DUE = "due"
    """Somebody present said that it would happen, and its time has come."""
    NAME = "name"
    """Whoever is answered told their name in it."""
    TOLD = "told"
    """The answer before told it, so what is asked now may go on with it."""
    ANSWER = "answer"
    """It answers the question: a score only, never a reason by itself."""
    TOUCHED = "touched"
    """The remark touches on it: a score only, too."""


TOUCHED = 0.06
"""The score `Why.TOUCHED` from which a line touches on a memory."""
NEWS = 0.5
"""How far a line is worth keeping, 0…1, from which it is news, and met by itself."""
SAME_TALK_SECONDS, SAME_TALK_ENTRIES = 3_600.0, 12
"""World time and entries of a talk in which all is near, so that likeness says nothing."""


def in_same_talk(entry: MemoryEntry, latest_id: int, now: float) -> bool:
    """Whether an entry is of the talk whose latest entry has this id."""
    lately = now - entry.timestamp < SAME_TALK_SECONDS
    return lately and latest_id - entry.id < SAME_TALK_ENTRIES


@dataclass(frozen=True, slots=True)
class Recalled:
    """An entry that was recalled, with why and how strongly.

    Attributes:
        why: every reason that chose it.
        score: of the first reason, 0…1 (recency, importance, likeness, match).
        scores: the score of each reason by its name.
        sources: ids of other entries in which the same person said the same, or the line of a fact.
        supersedes: ids of recalled entries that it corrects.
        superseded_by: the id of the entry that corrects it, or None.
        phrases: of a long line, each phrase with how far it answers the question, or how like it is in
            meaning, 0…1; see `noodlings.text.phrases`. Empty where that is not known.
        answer: its words that most likely answer the question, "" where that is not known.
    """

    entry: MemoryEntry
    why: tuple[Why, ...]
    score: float
    scores: dict[str, float] = field(default_factory=dict)
    sources: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    superseded_by: int | None = None
    phrases: tuple[tuple[str, float], ...] = ()
    answer: str = ""

    @property
    def audience(self) -> Audience:
        return self.entry.audience

    @property
    def entry_ids(self) -> frozenset[int]:
        """Ids of the entry and of all others that it is shown with, or as."""
        corrected_by = () if self.superseded_by is None else (self.superseded_by,)
        return frozenset((self.entry.id, *self.sources, *self.supersedes, *corrected_by))


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """How full an agent's memory is. Rates and averages are 0…1, 0 for an empty memory."""

    hierarchical: bool
    working: int
    working_capacity: int
    episodic: int
    episodic_capacity: int
    symbols: int
    symbol_capacity: int
    perceived: int
    consolidated: int
    consolidation_rate: float
    average_importance: float
    pinned: int


class Order(StrEnum):
    """What memories can be sorted by; of equals the later one counts as more."""

    WHEN = "when"
    IMPORTANCE = "importance"
    WHO = "who"
    """By the id of whoever said it; in mind, by the name as shown."""
    TEXT = "text"
    STRENGTH = "strength"
    """Computed when asked, so only what is in mind can be sorted by it."""
    FEELING = "feeling"
    """In mind only, like strength."""


STORED = (Order.WHEN, Order.IMPORTANCE, Order.WHO, Order.TEXT)
"""What everything that was ever perceived can be sorted by."""


@dataclass(frozen=True, slots=True)
class ArchivedAgent:
    """An agent without its memories.

    Attributes:
        last_id, last_symbol_id: the highest number that a memory or symbol of it ever had.
        state: see `noodlings.ports.AgentState.data`.
    """

    agent_id: str
    last_id: int = 0
    state: dict[str, Any] = field(default_factory=dict)
    last_symbol_id: int = 0


@dataclass(frozen=True, slots=True)
class ArchivedEntry:
    """A memory, whether it is in episodic memory, and whether it ever was."""

    entry: MemoryEntry
    episodic: bool = False
    consolidated: bool = False


@dataclass(frozen=True, slots=True)
class ArchivedSymbol:
    """A symbol, and whether it left the subconscious."""

    symbol: Symbol
    faded: bool = False
