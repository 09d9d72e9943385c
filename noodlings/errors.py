"""The errors of noodlings: raised where they happen, turned into words once, at the edge.

Every message is written for the person who meets it: what was wrong, and what would be right.
"""


class NoodlingsError(Exception):
    """The root of everything noodlings raises on purpose."""


class UserError(NoodlingsError):
    """Somebody asked for something in a way that cannot be done; the message says what would work."""


class NotFound(UserError):
    """What was asked for does not exist; the message names what does."""


class Forbidden(UserError):
    """The caller has no right to this."""


class LLMError(NoodlingsError):
    """The language model failed, was late, or answered with something unusable."""


class StoreError(NoodlingsError):
    """The store could not be opened, read or written."""


class StoreBusy(StoreError):
    """Another process holds the store for writing."""
