"""What every adapter of an OpenAI-compatible endpoint says of it: its address and its refusals.

The rule it keeps: no key, name or password is ever shown.
"""

from __future__ import annotations

from socket import gaierror
from types import ModuleType
from urllib.parse import urlsplit

from noodlings.errors import UserError
from noodlings.text import clean, shorten

NO_KEY = "none"
"""Sent where there is no key: local servers want none, and the library would read the environment."""

LONGEST_SAID = 20_000
"""Characters of what a server says that are looked at."""

_MEANS = {
    401: "the API key was refused; check api_key",
    403: "this API key may not do that; check api_key",
    404: "no such model, or not an OpenAI-compatible address; check the model and base_url",
    429: "too many requests, or the account has run out of credit",
}


def address(base_url: str, setting: str) -> str:
    """The endpoint as it may be shown: without a name, a password or a query in it.

    Raises:
        UserError: it is no web address; `setting` is where it was given.
    """
    try:
        url = urlsplit(base_url)
        sound = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:
        sound = False
    if not sound or not base_url.isprintable() or " " in base_url:
        raise UserError(
            f"{setting} is {shorten(clean(base_url), 80)!r}, but must be a web address such as "
            "http://localhost:1234/v1"
        )
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"


def failure(error: Exception, library: ModuleType, key: str | None = None) -> str:
    """Why a call of the `openai` library failed, in words.

    Args:
        key: taken out of what the server says of a refusal; None leaves all of that out.
    """
    if isinstance(error, library.APIStatusError):
        said = "" if key is None else error.message
        return refusal(error.status_code, said, key or "")
    if isinstance(error, library.APIConnectionError):
        return f"it cannot be reached{_cause(error)}"
    return f"its answer broke off ({type(error).__name__})"


def _cause(error: BaseException | None) -> str:
    """What the system says of a connection that was not made, where that is plain."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return ": connection refused"
        if isinstance(error, gaierror):
            return ": its host name is unknown"
        error = error.__cause__ or error.__context__
    return ""


def refusal(status: int, message: str = "", key: str = "") -> str:
    """What a status means; what the server says itself only where it cannot be about the key."""
    if status in _MEANS:
        return f"it answered {status}: {_MEANS[status]}"
    if status >= 500:
        return f"it answered {status}, an error on its side"
    if 300 <= status < 400:
        return f"it answered {status}, a redirect: set base_url to the address it redirects to"
    said = clean_words(message, key)
    return f"it answered {status}: {said}" if said else f"it answered {status}"


def clean_words(message: str, key: str = "") -> str:
    """What a server says itself, fit to be shown: one line, not long, without the key."""
    said = clean(message[:LONGEST_SAID])
    return shorten(said.replace(key, "…") if key else said, 160)
