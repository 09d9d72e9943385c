"""What a model is asked, and what it is given for it: to feel, to imagine, to speak."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from noodlings.values.action import Action
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier, Witnessed, disclosed, of_all
from noodlings.values.caller import Names
from noodlings.values.lens import Lens
from noodlings.values.memory import MemoryEntry, Recalled
from noodlings.values.model_status import ModelStatus, ModelWatcher
from noodlings.values.percept import Percept
from noodlings.values.persona import Persona
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

    Whoever makes one may hand it too much: memories, own lines and lenses that one of `percept.listeners` may
    not learn of are left out. So there is no utterance, and no prompt, that holds what must not be told.

    Attributes:
        persona: who speaks.
        percept: what is answered.
        speaker: the shown name of whoever is answered.
        mood: what the agent feels now.
        tone: what the answer must do justice to.
        importance: of what is answered, as it was encoded, 0…1.
        recalled: what is in mind, oldest to newest.
        names: user id → shown name, for everybody that is mentioned.
        everybody: the same of all who are known; a guard looks among them for whom a model speaks.
        characters: ids of those in `names` who are characters themselves.
        history: what was said lately in its hearing, each with its answer, oldest first; for a model.
        own_lines: the agent's own latest lines, oldest first; a voice does not repeat them.
        named_mood: "chill", "hyped", "nervous" or "frustrated", as a game's events left it; "" where there
            is no game.
        manner: how that mood sounds, in words for a model.
        blocks: what a game told, for a model: `[GAME STATE] …` and `[MEMORY] …`, of one or more lines. Made
            anew for each turn, for their times are relative; a voice keeps none of it.
        lenses: how the reply is to be coloured, in order; for a voice that does it all in one go.
        seed: makes the same turn sound the same in a replay.
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
    reach: Tier = Tier.SECRET

    def __post_init__(self) -> None:
        for name in ("recalled", "history", "own_lines", "lenses"):
            told = disclosed(getattr(self, name), self.percept.listeners, self.reach)
            object.__setattr__(self, name, told)

    @property
    def said(self) -> tuple[str, ...]:
        """The words of `own_lines`."""
        return tuple(line.text for line in self.own_lines)

    @property
    def audience(self) -> Audience:
        """Of what is said out of it: those who hear it, and nobody else where any of it is confined."""
        made_of: list[Witnessed] = [*self.recalled, *self.history, *self.own_lines, *self.lenses]
        tier = max(self.percept.heard_by.tier, of_all(made_of).tier)
        return Audience(self.percept.listeners, tier=tier)


@dataclass(frozen=True, slots=True)
class Speech:
    """What a voice made.

    Attributes:
        text: what is said, one printable line, never empty.
        used: ids of the entries whose content was put into words.
        cut: why the rest of it is missing, in words; "" where it is whole.
    """

    text: str
    used: tuple[int, ...] = ()
    cut: str = ""


@dataclass(slots=True)
class Allowance:
    """What one turn may spend on models, and what it has spent so far.

    Attributes:
        user_id: for whom it is spent; "" for nobody.
        until: the end of its time, by `time.monotonic`.
        late: called when the first word of a reply lets itself be waited for.
        said: says the next whole sentences of a reply while the rest is still made, and tells whether they
            were said; from then on the reply begins with them. None where only the whole will do.
        sent: called with each prompt as it is sent; it is filled in later.
        calls, tokens: spent, failed calls included; whoever asks a model adds to them.
    """

    user_id: str = ""
    until: float = math.inf
    late: Callable[[], None] = lambda: None
    said: Callable[[str], bool] | None = None
    sent: Callable[[SentPrompt], None] = lambda prompt: None
    calls: int = 0
    tokens: int = 0


Ask = Callable[[Sequence[tuple[str, str]], Allowance], Awaitable[str]]
"""Messages (role and words) as they are → what a model answers, in printable lines; raises `LLMError`."""


class LanguageModel(Protocol):
    """What everybody in a process who asks a model asks through.

    Attributes:
        watchers: whoever is told when it begins or ceases to answer.
    """

    watchers: list[ModelWatcher]

    @property
    def status(self) -> ModelStatus:
        """How things stand with whoever speaks."""

    def warm(self) -> None:
        """Load what the first call would wait for. On any thread."""

    async def meet(self) -> None:
        """Ask once whether it is there; the status tells."""

    async def close(self) -> None:
        """Let go of open connections."""


class FeelingModel(Protocol):
    """Knows better, and later, what is felt about a text."""

    async def appraise(self, text: str, addressed: bool, allowance: Allowance) -> Affect:
        """The affect; `addressed` says that the text was meant for whoever feels it.

        Raises `LLMError` when it cannot say, or not in time; then what was felt at first stands.
        """


class ActionChooser(Protocol):
    """Says which of the actions that a world offers goes with an answer."""

    async def choose(self, utterance: Utterance, response: str, allowance: Allowance) -> Action | None:
        """One of `utterance.percept.actions`, None for none of them.

        Raises `LLMError` when it cannot say, or not in time; then the rule decides.

        Args:
            utterance: what was answered; its percept has the affect that was felt about it.
            response: what was said.
        """


class Symbolist(Protocol):
    """Makes metaphors of moments."""

    @property
    def name(self) -> str:
        """What a symbol says it was made by: a model's name, or "images"."""

    async def imagine(self, event: str, affect: Affect, avoid: Sequence[str], allowance: Allowance) -> str:
        """One printable line, never empty, that is none of `avoid`.

        Args:
            event: what happened, in the words of others.
            affect: what was felt.
            avoid: the agent's latest images, the last one last.

        Raises:
            LLMError: it cannot, or not in time.
        """


class Voice(Protocol):
    """Puts a reply into words."""

    @property
    def name(self) -> str:
        """ "offline" or "llm"."""

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """The reply, coloured by the lenses of the utterance if there are any.

        Raises `LLMError` when it cannot, or not in time; then another voice speaks.
        """

    async def modulate(self, thought: str, lens: Lens, utterance: Utterance, allowance: Allowance) -> str:
        """A thought as seen through one lens: one printable line, never empty; the thought itself where
        the lens has nothing to change.

        Raises `LLMError` when it cannot, or not in time; then the thought stays as it was.
        """
