"""A persona: who an agent is. Read from a YAML recipe (`noodlings.agent.recipes`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from noodlings.errors import UserError
from noodlings.values.affect import NEUTRAL, Affect

ID = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""Ids of characters and transistors, which become file names."""

APPETITES = ("curiosity", "status", "mastery", "novelty", "safety", "social_bond", "comfort", "autonomy")
"""The eight drives, 0…1 each."""

TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
"""The five traits of personality, 0…1 each."""

TRANSISTORS = ("affect", "goal", "memory", "subconscious", "ego")
"""The transistors that everybody has, in their order."""

COOL_DOWN = 20.0
"""World seconds after its last words in which an agent does not butt in, unless its recipe says otherwise."""


@dataclass(frozen=True, slots=True)
class PersonaVoice:
    """How an agent sounds when no model speaks for it. Texts are phrases, see `noodlings.values.wording`.

    Attributes:
        case: "plain", "upper" or "lower".
        address: what it calls people it talks to; empty for their names.
        interjections: short outbursts by `SpokenFeeling`.
        mannerisms: complete sentences it likes to insert.
        lines: its own words by `DialogueAct`; preferred to the shared ones.
        about_itself: what it says when it is asked about itself, by `SelfTopic`.
        on_topics: what it says to what it is told, by `ToldTopic`; preferred to the shared words.
        gestures: what it does instead of speaking, without its name ("tilts its head").
        idle: what it does or says when nobody speaks; a line in quotation marks is spoken.
        colours: by what colours a reply, see `COLOURS`; preferred to the shared ones.
        sounds: noises it must make ("honk"): every reply of every voice holds one of them.
    """

    case: str = "plain"
    address: tuple[str, ...] = ()
    interjections: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mannerisms: tuple[str, ...] = ()
    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    about_itself: dict[str, tuple[str, ...]] = field(default_factory=dict)
    on_topics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gestures: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    colours: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sounds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model samples an answer, beside the temperature; None is not sent to it.

    Attributes:
        stop: where an answer ends, up to three.
        frequency_penalty, presence_penalty: on words that were there before, -2…2.
        min_p: the least probability of a word, as a part of the most probable one's, 0…1.
    """

    stop: tuple[str, ...] | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    min_p: float | None = None


_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        "the a an of von van de der la le du and old young big little great good mad black white red mr mrs "
        "ms miss dr sir dame lord lady king queen prince princess captain sergeant master mistress father "
        "mother brother sister uncle aunt saint st",
    )
)
"""Words that nobody is called by alone."""


@dataclass(frozen=True, slots=True)
class Persona:
    """Who an agent is.

    Attributes:
        id: "servnak": lower case, the name in commands, URLs and the database.
        name: as shown, "SERVNAK".
        description: what one sees when looking.
        identity: the prompt that tells a model who it is, second person; the offline voice says nothing
            of it.
        story: what it tells about itself to anybody who asks, second person, or ""; a model is told it, too.
        personality: trait → 0…1, all of `TRAITS`.
        appetites: appetite → 0…1, all of `APPETITES`.
        aliases: other names it listens to.
        home: the room it starts in.
        profession: such as "guard", or "".
        factions: such as guilds; with the profession they decide which lore is for it.
        baseline: the affect its mood returns to.
        identity_words: a percept that names one of these has identity salience.
        transistors: name → gain 0…1.
        max_tokens: the longest reply a model may give.
        moodiness: how far what it feels moves its mood, 0 (never) … 1.
        verbal: whether it speaks; otherwise it answers with acts alone.
        examples: lines of its own, which show a model how it speaks.
        temperature: of a model that speaks for it, 0 … 2; None leaves it to the voice.
        sampling: what is None in it is up to the settings.
        response_cooldown: world seconds after its last words in which it does not speak unasked, ≥ 0.
        extra: unused parts of its recipe (JSON-compatible), not cleaned.
    """

    id: str
    name: str
    species: str
    description: str
    identity: str
    personality: dict[str, float]
    appetites: dict[str, float]
    voice: PersonaVoice = PersonaVoice()
    aliases: tuple[str, ...] = ()
    home: str = ""
    profession: str = ""
    factions: tuple[str, ...] = ()
    baseline: Affect = NEUTRAL
    identity_words: tuple[str, ...] = ()
    transistors: dict[str, float] = field(default_factory=dict)
    max_tokens: int = 200
    moodiness: float = 1.0
    verbal: bool = True
    examples: tuple[str, ...] = ()
    temperature: float | None = None
    sampling: Sampling = Sampling()
    response_cooldown: float = COOL_DOWN
    extra: Mapping[str, Any] = field(default_factory=dict)
    story: str = ""

    @property
    def prompt(self) -> str:
        """What a model is told about who it is, second person."""
        return f"{self.story} {self.identity}".lstrip()

    @property
    def own_ids(self) -> tuple[str, str]:
        """The ids under which its own lines may be kept: "servnak", and as the first bridges had it."""
        return self.id, f"agent_{self.id}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are its own, folded for comparison: no two characters share one."""
        return tuple(name.casefold() for name in (*self.own_ids, self.name, *self.aliases))

    def require_unused_names(self, others: Iterable[Persona]) -> None:
        """Raise `UserError` if one of its `names` already belongs to one of the others."""
        for other in others:
            if shared := {*self.names} & {*other.names}:
                raise UserError(
                    f"{min(shared)!r} is already a name of the character {other.id}; choose another"
                )

    @property
    def called(self) -> tuple[str, ...]:
        """What people call it: its name, its aliases, and single words of its name, as "Tom" for "Old Tom".

        Two characters may share such a word; whoever looks for one looks among `names` first.
        """
        words = self.name.split()
        short = [word for word in words if len(words) > 1 and word.casefold() not in _NO_NAMES]
        return tuple(dict.fromkeys((self.name, *self.aliases, *short)))
