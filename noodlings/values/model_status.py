"""The status of the language model: whether it answers, and if not, why the offline voice speaks.

`sentence` is for whoever runs the world, and `plain`, without an address or what a server said, for everybody
else. Neither ever holds a key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class ModelState(StrEnum):
    """Whether a model answers."""

    OFFLINE = "offline voice"
    """None is configured."""
    ASKED = "asked"
    """It is not known yet whether it answers."""
    ANSWERS = "answers"
    REFUSES = "refuses"
    """The endpoint answers with an error."""
    SILENT = "silent"
    """There is no answer, or no usable one."""
    UNKNOWN = "unknown model"
    """The endpoint lists its models, and this one is not among them."""


_SAID = {
    ModelState.OFFLINE: "No language model is connected: the offline voice speaks.",
    ModelState.ASKED: "{who} has not answered yet.",
    ModelState.ANSWERS: "{who} answers.",
    ModelState.REFUSES: "{who} refuses requests{why}: the offline voice speaks until it answers.",
    ModelState.SILENT: "{who} does not answer{why}: the offline voice speaks until it does.",
    ModelState.UNKNOWN: "{who} is not listed by its endpoint{why}: the offline voice speaks unless it "
    "answers anyway.",
}


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The status of the model that speaks.

    Attributes:
        model, endpoint: its name and address as they may be shown; "" without one.
        words: why it is so, or "".
        since: when that began, in seconds since 1970-01-01 UTC by the wall clock.
    """

    state: ModelState = ModelState.OFFLINE
    model: str = ""
    endpoint: str = ""
    words: str = ""
    since: float = 0.0

    @property
    def away(self) -> bool:
        """Whether the offline voice speaks in its place."""
        return self.state in (ModelState.REFUSES, ModelState.SILENT)

    @property
    def sentence(self) -> str:
        """All of it in a sentence, for whoever runs the world."""
        if self.state is ModelState.ASKED and self.words:
            return f"The model {self.model} at {self.endpoint}: {self.words}."
        why = f" ({self.words})" if self.words else ""
        return _SAID[self.state].format(who=f"The model {self.model} at {self.endpoint}", why=why)

    @property
    def plain(self) -> str:
        """The same for everybody, without name, address and reason."""
        return _SAID[self.state].format(who="The language model", why="")


NO_MODEL = ModelStatus()

ModelWatcher = Callable[[ModelStatus, ModelStatus], None]
"""Called with the old status and the new one. Must return at once."""
