"""A prompt as it was sent to a model, and what it cost. It is only ever kept in the memory of the process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of a call.

    Attributes:
        cached: how many of the prompt the server had cached; None if it does not say.
        estimated: whether they are estimated from the text, because the server does not say.
    """

    total: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int | None = None
    estimated: bool = False


NO_COUNTS = TokenCounts()


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """Whose turn it is ("system", "user" or "assistant"), and what is said in it."""

    role: str
    content: str


@dataclass(slots=True)
class SentPrompt:
    """One attempt at a call.

    Attributes:
        failure: why its answer was of no use; "" while it is awaited, and if it was of use.
        tokens: None while it is awaited, and if it never reached a model.
    """

    task: str
    model: str
    messages: tuple[PromptMessage, ...]
    failure: str = ""
    tokens: TokenCounts | None = None

    @property
    def cost(self) -> str:
        """Its tokens in words."""
        if self.tokens is None:
            return "it never reached a model" if self.failure else "waiting for its answer"
        cost = self.tokens
        ready = "" if cost.cached is None else f" ({cost.cached:,} cached by the server)"
        if cost.estimated:
            return f"about {cost.prompt:,} tokens sent, {cost.completion:,} answered (estimated)"
        return f"{cost.prompt:,} tokens sent{ready}, {cost.completion:,} answered"
