"""Ports of language models, and what they are given: to appraise, to make images, to speak."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier, Witnessed, disclosed, of_all
from noodlings.values.caller import Names
from noodlings.values.fact import UnderstoodFact
from noodlings.values.lens import Lens
from noodlings.values.memory import MemoryEntry, Recalled
from noodlings.values.model_status import ModelStatus, ModelWatcher
from noodlings.values.page import Statement
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
from noodlings.values.reading import LineReading
from noodlings.values.relationship import Relationship
from noodlings.values.sent_prompt import SentPrompt
from noodlings.values.tone import PLAIN, Tone


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A line that an agent said itself, and who may learn of it."""

    text: str
    audience: Audience


@dataclass(frozen=True, slots=True)
class Utterance:
    """Everything a voice may build a reply from, as far as all who hear the reply may learn of it.

    Memories, own lines and lenses that one of `percept.listeners` may not learn of are left out when it is
    made, so that no prompt holds what must not be told.

    Attributes:
        percept: what is answered.
        speaker: the shown name of whoever is answered.
        mood: what the agent feels now.
        tone: what the answer must do justice to.
        importance: of what is answered, as it was encoded, 0…1.
        reading: what is answered, as a model reads it; None where none did.
        recalled: what is in mind, oldest to newest.
        names: user id → shown name, for everybody who is mentioned.
        everybody: the same for all who are known; a guard checks that a model speaks for none of them.
        characters: ids of those in `names` who are characters themselves.
        history: what the agent heard lately, each with its answer, oldest first; for a model.
        own_lines: the agent's own latest lines, oldest first; a voice does not repeat them.
        named_mood: "chill", "hyped", "nervous" or "frustrated", as a game left it; "" without a game.
        manner: how that mood sounds, in words for a model.
        blocks: what a game told, for a model: `[GAME STATE] …` and `[MEMORY] …`, of one or more lines. Their
            times are relative, so they are made anew for each turn.
        lenses: how to colour the reply, in order; for a voice that does it all in one call.
        seed: makes the same turn sound the same in a replay.
        relationships: what it makes of people present, the one who is answered first.
        reach: the highest tier that may be told to the voice; what is above it is left out, too.
    """

    persona: Persona
    percept: Percept
    speaker: str
    mood: Affect
    recalled: tuple[Recalled, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
    everybody: Names = field(default_factory=Names, repr=False, compare=False)
    characters: frozenset[str] = frozenset()
    history: tuple[MemoryEntry, ...] = ()
    own_lines: tuple[OwnLine, ...] = ()
    named_mood: str = ""
    manner: str = ""
    blocks: tuple[str, ...] = ()
    lenses: tuple[Lens, ...] = ()
    seed: int = 0
    tone: Tone = PLAIN
    importance: float = 0.0
    reading: LineReading | None = None
    relationships: tuple[Relationship, ...] = ()
    reach: Tier = Tier.SECRET

    def __post_init__(self) -> None:
        for name in ("recalled", "history", "own_lines", "lenses", "relationships"):
            told = disclosed(getattr(self, name), self.percept.listeners, self.reach)
            object.__setattr__(self, name, told)

    @property
    def said(self) -> tuple[str, ...]:
        """The text of `own_lines`."""
        return tuple(line.text for line in self.own_lines)

    @property
    def entry_ids(self) -> frozenset[int]:
        """Ids of the entries that a reply may be made of, beside the percept itself."""
        shown = {entry.id for entry in self.history}
        shown.update(number for one in self.recalled for number in one.entry_ids)
        shown.update(entry.id for lens in self.lenses for entry in lens.entries)
        shown.update(symbol.entry_id for lens in self.lenses for symbol in lens.symbols)
        shown.update(number for one in self.relationships for number in one.evidence)
        return frozenset(shown if self.tone.entry_id is None else shown | {self.tone.entry_id})

    @property
    def audience(self) -> Audience:
        """The audience of a reply: those who hear it, and nobody else if any part of it is confined."""
        made_of: list[Witnessed] = [*self.recalled, *self.history, *self.own_lines, *self.lenses]
        made_of += self.relationships
        tier = max(self.percept.heard_by.tier, of_all(made_of).tier)
        return Audience(self.percept.listeners, tier=tier)


@dataclass(frozen=True, slots=True)
class Speech:
    """What a voice made.

    Attributes:
        text: one printable line, never empty.
        used: ids of the entries whose content was put into words.
        cut: why the rest of it is missing; "" if it is whole.
        in_manner: whether a relationship chose the words.
    """

    text: str
    used: tuple[int, ...] = ()
    cut: str = ""
    in_manner: bool = False


@dataclass(slots=True)
class Allowance:
    """What one turn may spend on models, and what it has spent so far.

    Attributes:
        user_id: for whom it is spent; "" for nobody.
        until: the end of its time, by `time.monotonic`.
        late: called when the first word of a reply is late.
        said: says the next whole sentences of a reply while the rest is still made, and returns whether they
            were said; from then on the reply begins with them. None if only the whole reply will do.
        sent: called with each prompt as it is sent; the prompt is filled in later.
        calls, tokens: spent, including failed calls.
    """

    user_id: str = ""
    until: float = math.inf
    late: Callable[[], None] = lambda: None
    said: Callable[[str], bool] | None = None
    sent: Callable[[SentPrompt], None] = lambda prompt: None
    calls: int = 0
    tokens: int = 0


Ask = Callable[[Sequence[tuple[str, str]], Allowance], Awaitable[str | None]]
"""Messages (role and text) → the model's answer in printable lines, or None if it may not see them. Raises
`LLMError`."""


class LanguageModel(Protocol):
    """The one way to language models in a process; `watchers` are told when the status changes."""

    watchers: list[ModelWatcher]

    @property
    def status(self) -> ModelStatus:
        """The status of the model that speaks."""

    def warm(self) -> None:
        """Load what the first call would wait for. On any thread."""

    async def meet(self) -> None:
        """Ask once whether it is there, and update the status."""

    async def close(self) -> None:
        """Close open connections."""


class FeelingModel(Protocol):
    """Appraises a text better than the words alone, but later."""

    async def appraise(self, text: str, addressed: bool, allowance: Allowance) -> Affect:
        """The affect; `addressed` means that the text was meant for whoever feels it.

        Raises `LLMError` if it fails or is late; then the first appraisal stays.
        """


@dataclass(frozen=True, slots=True)
class ToldLines:
    """Lines of one person from which facts are to be understood, and what helps to understand them.

    Everything in it may be learned by everybody who may learn of the lines.

    Attributes:
        speaker: the shown name of who told them; listener: that of the character.
        lines: at least one, oldest first.
        before: earlier lines of the same talk, oldest first, each with its answer.
        known: facts that the speaker told earlier, oldest first.
    """

    speaker: str
    listener: str
    lines: tuple[MemoryEntry, ...]
    before: tuple[MemoryEntry, ...] = ()
    known: tuple[MemoryEntry, ...] = ()


class FactReader(Protocol):
    """Understands facts about people from what they tell."""

    async def read(self, told: ToldLines, allowance: Allowance) -> tuple[UnderstoodFact, ...]:
        """The facts, in the order of the lines. Raises `LLMError` if it fails or is late."""


@dataclass(frozen=True, slots=True)
class ToldDay:
    """What happened on one day, as far as the same people may learn of it.

    Attributes:
        name: of the character, as shown; identity: who it is, as its recipe says.
        lines: at least one, oldest first, each as its journal tells it without a model.
        tellers: the shown names of all who said or did these.
    """

    name: str
    identity: str
    day: date
    lines: tuple[Statement, ...]
    tellers: frozenset[str]


class JournalWriter(Protocol):
    """Words what happened on a day, as the journal of a character."""

    async def write(self, told: ToldDay, allowance: Allowance) -> tuple[Statement, ...]:
        """Sentences that the lines bear, each with the evidence of those that it cites.

        Raises `LLMError` if it fails or is late.
        """


class ActionChooser(Protocol):
    """Chooses which of the actions that a world offers goes with an answer."""

    async def choose(self, utterance: Utterance, response: str, allowance: Allowance) -> Action | None:
        """One of `utterance.percept.actions`, or None. The percept has the affect that was felt about it.

        Raises `LLMError` if it fails or is late; then the rule decides.
        """


class Symbolist(Protocol):
    """Makes metaphors of moments."""

    @property
    def name(self) -> str:
        """The name that its symbols carry: a model's name, or "images"."""

    async def imagine(self, event: str, affect: Affect, avoid: Sequence[str], allowance: Allowance) -> str:
        """One printable line for an event in the words of others, never empty, and none of `avoid`.

        Raises:
            LLMError: it fails or is late.
        """


class Voice(Protocol):
    """Puts a reply into words."""

    @property
    def name(self) -> str:
        """ "offline" or "llm"."""

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """The reply, coloured by the lenses of the utterance.

        Raises `LLMError` if it fails or is late; then another voice speaks.
        """

    async def modulate(self, thought: str, lens: Lens, utterance: Utterance, allowance: Allowance) -> str:
        """A thought as coloured by one lens, one printable line; unchanged if the lens has nothing to add.

        Raises `LLMError` if it fails or is late; then the thought stays as it was.
        """
