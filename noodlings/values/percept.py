"""A percept: something an agent perceived, as the world hands it over."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from noodlings.clock import moment
from noodlings.errors import UserError
from noodlings.text import clean
from noodlings.values.action import OfferedAction, require_offer
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier
from noodlings.values.circumstances import CIRCUMSTANCES, require_circumstances
from noodlings.values.floor import Floor


class Kind(StrEnum):
    """What sort of thing was perceived."""

    SAY = "say"
    EMOTE = "emote"
    WHISPER = "whisper"
    ARRIVE = "arrive"
    LEAVE = "leave"
    EVENT = "event"
    THOUGHT = "thought"
    """The agent's own rumination."""
    READ = "read"
    """A passage of a document or a commit."""
    KNOWN = "known"
    """Lore: what everybody of that place or trade knows."""
    FACT = "fact"
    """What a model understood about somebody from a line that the user told."""
    JOURNAL = "journal"
    """A sentence of the agent's journal in a model's words."""


INNER = frozenset({Kind.THOUGHT, Kind.JOURNAL})
"""Kinds that the agent made of what it knows, which no player may read as their own."""
NOT_LIVED = frozenset({Kind.READ, Kind.KNOWN, Kind.FACT, Kind.JOURNAL})
"""Kinds that were not lived: they only come to mind when they are asked for, and a journal never does."""
NO_JOURNAL = frozenset(Kind) - {Kind.JOURNAL}
"""What is found where no kind is asked for: a journal only tells again what stands in other memories."""
LIVED = frozenset(Kind) - NOT_LIVED
SAID = frozenset({Kind.SAY, Kind.EMOTE, Kind.WHISPER})
"""Kinds of what one person says or does to another."""
SPOKEN = frozenset({Kind.SAY, Kind.WHISPER})
"""Kinds whose text is what somebody said, word for word."""
PRIVATE = frozenset({Kind.WHISPER, Kind.THOUGHT})
"""Kinds that are always confined to those who witnessed them."""
_TOLD = frozenset({Kind.SAY, Kind.EMOTE})
"""Kinds that are confined if nobody else is there: to be alone with a character is private."""
_US = r"between (?:us(?: two)?|(?:yo)?u(?: and|,) (?:me|i)|ourselves|the two of us)\b"
_ONLY = r"(?:(?:all|just|only|strictly|purely|safely|a secret)[ ,]{1,2}){0,2}"
_NAME = r"\w[\w'’]{0,29}"  # bounded, or a line of apostrophes would take long
_IT = r"(?:it|this|that)"
_NOBODY = r"(?:nobody|no[ -]?one|no soul)\b"
_ANYBODY = r"(?:any ?(?:body|one)|a(?:ny)? (?:living )?soul)\b(?! apart)"
_APART = r"(?:in (?:(?:the|full|strict(?:est)?|utmost) ){0,2}confidence|confidential(?:ly)?|off the record)\b"
_MINE = r"(?:\w{1,12} )?secret\b(?=\s?(?:[^\w\s]|$|(?:and|but|i|is that|so|that)\b))"  # no "secret door"
_CONFIDES = re.compile(
    # At the beginning of a clause, whoever is called by name, also without a comma.
    rf"(?:^|[,;:.!?…–—(\"“«'‘-])\s*(?:"
    r"(?:(?:and|but|so|this is|it['’]?s|keep (?:it|this)|just|strictly)\b[ ,]{0,2}){0,4}"
    rf"(?:{_US}|{_APART})|sh+\b|psst\b|privately ?[,:]|not a (?:word|soul)\b"
    rf"|(?:(?!(?:i|we|you|they|people|why)\b){_NAME} ){{0,2}}(?:tell {_NOBODY}(?!['’])"
    rf"|(?:don['’]?t|do not|(?:you must )?never|you must not) (?:ever )?(?:tell (?!me\b)\w"
    rf"|(?:repeat|share) {_IT}\b|mention (?:this|that|it to)\b|pass {_IT} on\b))"
    rf"|{_NAME} {_US}\s?[,:;–—-])"
    # Anywhere: "the wall between us" is no such thing, "it is between us" is.
    rf"|\b(?<!like ){_IT}(?:['’]s| is| (?:must|should|has to|will|can) be) {_ONLY}"
    rf"(?:{_US}|{_APART}|a {_MINE})"
    rf"|\b(?<!not )(?:just|only|strictly|secrets?|(?:stay|remain)(?:s|ing)?|kept) {_ONLY}{_US}"
    rf"|\bkeep(?:ing)? (?:it|this|that|all|everything|what)(?:[ ,]{{1,2}}[\w'’]+){{0,8}}[ ,]{{1,2}}"
    rf"(?:{_US}|under (?:wraps|your hat)\b)"
    rf"|\b(?:keep(?:ing)? {_IT}|be kept) (?:(?:a )?secret|to yourself|private|quiet|confidential)\b"
    rf"|\b(?:our|my|(?:here['’]s|here is|i have|i['’]ve got|keep|tell(?:ing)? you) a) {_MINE}"
    rf"|\b(?:you|me|speaking|{_IT}) {_APART}|\bis (?:strictly )?confidential\b"
    rf"|\b{_NOBODY} (?:else )?(?:knows (?:this|it|that|about (?:it|this)|yet|but you)"
    r"|(?:must|may|should) (?:ever )?(?:know|hear|learn|find out)|can (?:ever )?know)\b"
    rf"|\btell(?:ing)? you (?:something|a thing) (?:that )?{_NOBODY} (?:else )?knows\b"
    rf"|\bi(?:['’]ve| have)?(?: told {_NOBODY}|(?: never| not|n['’]?t) told {_ANYBODY})"
    rf"|\byou (?:can|must|should|wo)(?:n?['’]?t| ?not| never) tell (?:{_ANYBODY}|him|her|them|my)\b"
    r"|\b(?:promise|swear)(?: [\w'’]{1,8}){0,5} (?:not|never|won['’]?t) (?:to )?(?:tell|repeat|say|speak)\b"
    rf"|\byou (?:did(?:n['’]?t| not) hear|never heard) {_IT} from me\b|\bfor your ears (?:only|alone)\b"
    rf"|\b{_IT} (?:must|should|can)(?:n?['’]?t| ?not| never) leave this room\b"
    r"|\byou['’]re the only (?:one|person) (?:i|who)\b|\bmum['’]?s the word\b"
    r"|(?<!\bwe )\bdon['’]?t (?:say|breathe) a (?:word|soul)\b",
    re.I,
)


def in_confidence(kind: Kind, text: str) -> bool:
    """Whether words say that they are a secret: "between us", "keep it to yourself", "don't tell anyone".

    It depends on nothing but the words, so that all who hear them keep them alike.
    """
    return kind in SAID and _CONFIDES.search(text) is not None


_TITLE = r"(?:Dr|Mrs?|Ms|Prof)\b\.?"
_NAME_TOLD = re.compile(
    r"(?i)(?:\b(?:not|never|ever|nobody|no one|stop|why|(?:do|did) you)|n['’]t)\b[^.!?,;]{0,30}?\bcall me\b"
    r"|\b(?:(?:my name(?:['’]s| is)|i(?: a|['’])m (?:called|named)|call me)"
    r"(?: not \S+ but)?(?: really| actually)?"
    rf"(?: {_TITLE})? (?!(?:when|if|on|at|in|to|for|back|an?|the|later|up|out"
    r"|crazy|again|not|by|what|no|anything|whatever|names|maybe|it|hard|that|spel\w+|please|as|this|from"
    r"|before|after|until|now|soon|tonight|to-?day|tomorrow|yesterday|(?:any|some)(?:time|day))\b)"
    r"|(?:(?<![\w ])|(?<=[.,;:!?] )|(?<=hi )|(?<=hello )|(?<=hey )|(?<=and ))i(?: a|['’])?m "
    rf"(?:{_TITLE} )?(?!(?:Dutch|German|French|Welsh|Greek|Danish|Polish|English|Irish|British|Scottish"
    r"|Spanish|Italian|fine|ok(?:ay)?|sorry|back|here|home|good|great|well|bored|tired|sick|lost|new)\b)"
    r"(?=(?-i:[A-Z][a-z])[\w-]*(?: (?-i:[A-Z])[\w-]*)?(?:$|[.,;:!?)]| (?:and|but|from|here|i|the|by)\b)))"
    r"([^\W\d_][\w-]{0,30}(?:['’](?!s\b)\w{1,30})?(?: (?!please\b)(?-i:[A-Z])[\w'’-]{0,30})?)"
)
_CALLED = re.compile(
    r"(?:^|[.;!] |\bbut,? )(?i:every(?:one|body)|(?:most |my )?(?:people|folks?|friends)|they(?: all)?)"
    r" calls? me ([A-Z][\w'’-]{1,30}(?: [A-Z][\w'’-]{0,30})?)"
    r"|^(?i:(?:hi|hey|hello)[.,!]? )?(?i:name)(?:['’]?s| is) ([A-Z][\w'’-]{1,30})"
    r"(?![\w'’-]|,? (?:he|she|it)\b)"
)
"""What somebody is called by others, which goes before their name, and a name told in few words."""


def told_name(text: str) -> str:
    """The name that somebody tells of themselves: "call me Oda", "hello, I'm Oda"; "" in another line.

    Of two it is what others call them: "I'm Bernadette, but everyone calls me Bernie".
    """
    marks = ("name", "call", "i am ", "i'm ", "i’m ", "im ")  # in few lines, and soon looked for
    if not any(map(text.casefold().__contains__, marks)):
        return ""
    if called := _CALLED.search(text):
        return called[1] or called[2]
    name = next((one[1] for one in _NAME_TOLD.finditer(text) if one[1]), "")
    return " ".join(word[:1].upper() + word[1:] for word in name.split())


def audience_of(kind: Kind, user_id: str, audience: Audience) -> Audience:
    """Who may learn of something; of a whisper or a thought only its witnesses, and the user who did it."""
    confined = audience.confined or kind in PRIVATE
    return Audience(audience.witnesses | {user_id}, True, audience.tier) if confined else audience


def kept_audience(
    kind: Kind, user_id: str, witnesses: Collection[str], confined: bool | None, tier: int = Tier.OPEN
) -> Audience:
    """The stored audience of something; in old data `confined` is None, and it follows from the kind.

    Raises `ValueError` for a number that is no tier.
    """
    if confined is None:
        return audience_of(kind, user_id, Audience(frozenset(witnesses)))
    return Audience(frozenset(witnesses), bool(confined), Tier(tier))


@dataclass(frozen=True, slots=True)
class Percept:
    """Something an agent perceived.

    Attributes:
        user_id: who did it (a player, another agent, or the agent itself).
        text: what was said or done, without the name: "My dog died yesterday", "waves". It is cleaned here
            (`noodlings.text.clean`).
        timestamp: world time in seconds since 1970-01-01 UTC, see `noodlings.clock.moment`.
        addressed: it was meant for this agent (named, whispered to, alone together).
        present: who would hear the agent's answer, beside `user_id`; ids without the agent's own.
        audience: who may learn of it, or the ids of those who witnessed it; by default see `heard_by`.
        affect: what the agent feels about it, if the world knows; else it is appraised.
        surprise: 0…1, if the world knows; else it is compared with the forecast.
        identity_salience: how much it touches who the agent is, 0…1.
        depth: how many replies of other agents led to it, so that agents do not echo for ever.
        place: a room's id, or "".
        things: names of what lies about there; not stored.
        data: whatever else the world wants to have stored (JSON-compatible).
        floor: decides who of those who hear it answers; None if the agent decides alone. Not stored.
        actions: what the agent may do beside answering; not stored.
        tier: the least tier of it; a number of `Tier` will do. What is said `in_confidence` is confined.
        overheard_by: the id of a world that speaks as `user_id`, a character, and so hears what that one is
            told; else "".
    """

    user_id: str
    text: str
    timestamp: float
    kind: Kind = Kind.SAY
    addressed: bool = False
    audience: Audience | Collection[str] | None = None
    present: frozenset[str] = frozenset()
    affect: Affect | None = None
    surprise: float | None = None
    identity_salience: float = 0.0
    depth: int = 0
    place: str = ""
    things: tuple[str, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    floor: Floor | None = field(default=None, compare=False, repr=False)
    actions: tuple[OfferedAction, ...] = ()
    tier: Tier = Tier.OPEN
    overheard_by: str = ""

    def __post_init__(self) -> None:
        if not self.user_id:
            raise UserError("a percept needs a user_id: who said or did it")
        if not isinstance(self.text, str):
            raise UserError(f"the text of a percept must be text, not {self.text!r:.40}")
        object.__setattr__(self, "text", clean(self.text))
        if isinstance(self.things, str) or not all(isinstance(thing, str) for thing in self.things):
            raise UserError(f"the things of a percept must be a list of names, not {self.things!r:.40}")
        object.__setattr__(self, "things", tuple(filter(None, map(clean, self.things))))
        moment(self.timestamp, "a percept's timestamp")
        if isinstance(given := self.data.get(CIRCUMSTANCES), dict):
            require_circumstances(given, stored=True)
        if self.tier not in tuple(Tier):
            raise UserError(f"tier is {self.tier!r:.40}: it must be 0 (open), 1, 2 or 3 (sealed)")
        confided = Tier.CONFINED if in_confidence(self.kind, self.text) else Tier.OPEN
        object.__setattr__(self, "tier", max(Tier(self.tier), confided))
        for name in ("surprise", "identity_salience"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise UserError(f"{name} is {value!r}: it must lie between 0 and 1")
        if self.actions:
            require_offer(self.actions)

    def without(self, user_ids: Collection[str]) -> Percept:
        """The same as if these users had not been there."""
        given = self.audience
        if given is not None:
            given = given.without(user_ids) if isinstance(given, Audience) else {*given}.difference(user_ids)
        return replace(self, present=self.present.difference(user_ids), audience=given)

    @property
    def listeners(self) -> frozenset[str]:
        """Ids of those who hear the agent's answer; never empty."""
        return (self.present | {self.user_id, self.overheard_by}) - {""}

    @property
    def heard_by(self) -> Audience:
        """Who witnessed it and may learn of it, without the agent itself.

        A whisper, a thought, and what is told to a character with nobody else there, is confined to those who
        heard it. What is told before others is open, and so is what happens in the world. A tier above
        `Tier.OPEN` always confines it.
        """
        given = self.audience
        if given is not None:
            witnessed = given if isinstance(given, Audience) else Audience(frozenset(given))
            return audience_of(self.kind, self.user_id, witnessed.at_least(self.tier))
        alone = self.kind in _TOLD and self.present <= {self.user_id}
        return Audience(self.listeners, alone or self.kind in PRIVATE).at_least(self.tier)
