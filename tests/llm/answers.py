"""Answers of models, good and bad, and whoever says them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import yaml

from noodlings.agent.recipes import load_recipe
from noodlings.ports import Utterance
from noodlings.text import clean
from noodlings.values.persona import Persona
from tests.voice.utterances import memory, utterance

HERE = Path(__file__).parent
EDDA = HERE / "edda.yaml"
"""Somebody whose recipe has no gestures."""
GOOSE = HERE.parent / "agent" / "old_recipes" / "goose.yaml"
TOLD = "My dog died yesterday, I am so sad and so afraid"


@dataclass(frozen=True, slots=True)
class BadAnswer:
    """An answer that nobody may say, as `bad_answers.yaml` explains it; `said` is what is left."""

    kind: str
    text: str
    who: str = "maren"
    repeat: int = 1
    telling: str = ""
    said: str = ""

    @property
    def whole(self) -> str:
        """The answer as the model gives it."""
        return self.text * self.repeat

    @property
    def nowhere(self) -> str:
        """What must turn up nowhere."""
        return self.telling or clean(self.whole)


def _read(name: str) -> object:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


BAD = tuple(BadAnswer(**one) for one in _read("bad_answers.yaml"))  # type: ignore[attr-defined]
GOOD = tuple((who, line) for who, lines in _read("good_answers.yaml").items() for line in lines)  # type: ignore[attr-defined]


def asked_of(who: str, line: str = TOLD, *, told: str = "I like soup") -> Utterance:
    """Caity says it to somebody, one of ours or of those above."""
    if who not in others():
        return utterance(line, memory(1, told), who=who)
    return replace(utterance(line, memory(1, told)), persona=others()[who])


@lru_cache(maxsize=1)
def others() -> dict[str, Persona]:
    """Who is only here, by id."""
    return {persona.id: persona for persona in map(load_recipe, (EDDA, GOOSE))}
