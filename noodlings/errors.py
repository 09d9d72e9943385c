"""The errors of noodlings: raised where they happen, turned into words once, at the edge.

Every message is written for the person who meets it: what was wrong, and what would be right.
"""

from __future__ import annotations

from collections.abc import Sequence


class NoodlingsError(Exception):
    """The root of everything noodlings raises on purpose."""


class UserError(NoodlingsError):
    """Somebody asked for something in a way that cannot be done; the message says what would work."""


class NotFound(UserError):
    """What was asked for does not exist; the message names what does."""


class Busy(UserError):
    """The caller has asked for so much at once that this has to wait; asked again later, it is answered."""


class Forbidden(UserError):
    """The caller has no right to this."""


class LLMError(NoodlingsError):
    """The language model failed, was late, or answered with something unusable."""


class StoreError(NoodlingsError):
    """The store could not be opened, read or written."""


class StoreBusy(StoreError):
    """Another process holds the store for writing."""


class AgentElsewhere(StoreBusy):
    """An agent belongs to another worker, or was changed there; nothing was kept."""

    def __init__(self, agent_id: str) -> None:
        super().__init__(f"{agent_id} is busy at another worker; try again")
        self.agent_id = agent_id


def told(error: NoodlingsError) -> str:
    """What somebody who asks is told of it: which file, row or program failed is for the log alone."""
    if isinstance(error, StoreError):
        return (
            "The stored data cannot be read or written right now; the details are in the log."
            " On the server, the notes can be searched without the database: noodlings notes search WORD"
        )
    if isinstance(error, LLMError):
        return "The language model cannot be used right now; the details are in the log."
    return str(error)


def there_are(choices: Sequence[str]) -> str:
    """What there is, at least one, as a refusal names it: "there is a", "there are a, b"."""
    return f"there {'is' if len(choices) == 1 else 'are'} {', '.join(choices)}"
