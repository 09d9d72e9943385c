"""One call to a model: what is asked, what came back, what it cost, and how it can fail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from noodlings.errors import LLMError

CHARACTERS_A_TOKEN = 4
"""Of English prose, about; less in most other languages, so that there an estimate is too low."""


class Task(StrEnum):
    """What a model is asked for; each may have a model and a limit of tokens of its own."""

    REPLY = "reply"
    MODULATE = "modulate"
    APPRAISE = "appraise"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Call:
    """What a model is asked.

    Attributes:
        task: what for.
        prompt: the system's message and the user's.
        temperature: 0 and above.
        tokens: at most so many in the answer, where the settings allow more; None leaves it to them.
        seed: makes the same call sound the same, at an endpoint that keeps seeds.
        format: the `response_format` of a structured answer, or None.
    """

    task: Task
    prompt: tuple[str, str]
    temperature: float
    tokens: int | None = None
    seed: int | None = None
    format: dict[str, Any] | None = None

    @property
    def streamed(self) -> bool:
        """Whether the answer comes word by word, so that one sees in time that it is late."""
        return self.task is Task.REPLY


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered: its text, and whether it came to an end before its tokens did."""

    text: str
    whole: bool = True


@dataclass(slots=True)
class Receipt:
    """What one attempt at a call costs, filled in while it runs, so that one broken off is counted too.

    Attributes:
        asked, answered: characters that were sent, and that came back.
        usage: tokens as the server says; 0 when it does not.
        refused: it never reached a model.
    """

    asked: int
    answered: int = 0
    usage: int = 0
    refused: bool = False

    @property
    def tokens(self) -> int:
        """As the server says. Where it does not (many do not for a stream, none for a call that was broken
        off) an estimate from the characters, prompt included; nothing for a call that was refused.
        """
        if self.usage or self.refused:
            return self.usage
        return math.ceil((self.asked + self.answered) / CHARACTERS_A_TOKEN)


class CallFailed(LLMError):
    """An attempt at a call failed at the endpoint.

    Attributes:
        passing: it may go well in a moment.
        ailing: it says something about the endpoint, and not about this call alone.
        wait: seconds the server asks to be left alone for, ≥ 0.
    """

    def __init__(self, words: str, *, passing: bool = False, ailing: bool = True, wait: float = 0.0) -> None:
        super().__init__(words)
        self.passing = passing
        self.ailing = ailing
        self.wait = wait
