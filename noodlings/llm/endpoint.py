"""How an OpenAI-compatible endpoint is named to users: its address, and why a call failed.

No key, user name or password is ever shown.
"""

from __future__ import annotations

from socket import gaierror
from types import ModuleType
from urllib.parse import urlsplit

from noodlings.errors import UserError
from noodlings.text import clean, shorten

NO_KEY = "none"
"""Sent if there is no key: local servers need none, and without it the library would read the environment."""
LONGEST_SAID = 20_000
"""How many characters of a server's message are read."""

_MEANS = {
    401: "the API key was refused; check api_key",
    403: "this API key may not do that; check api_key",
    404: "no such model, or not an OpenAI-compatible address; check the model and base_url",
    429: "too many requests, or the account has run out of credit",
}


def address(base_url: str, setting: str) -> str:
    """The endpoint as it may be shown: without user name, password and query.

    Raises:
        UserError: it is not a web address; `setting` is where it was given.
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


def failure(error: Exception, library: ModuleType) -> str:
    """Why a call of the `openai` library failed, in words, without any of the server's."""
    if isinstance(error, library.APIStatusError):
        return refusal(error.status_code)
    if isinstance(error, library.APIConnectionError):
        return f"it cannot be reached{_cause(error)}"
    return f"its answer broke off ({type(error).__name__})"


def _cause(error: BaseException | None) -> str:
    """The system's reason why there is no connection, if it is a common one."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return ": connection refused"
        if isinstance(error, gaierror):
            return ": its host name is unknown"
        error = error.__cause__ or error.__context__
    return ""


def refusal(status: int, message: str = "", key: str = "") -> str:
    """The meaning of a status. The server's own message is used only where it cannot be about the key."""
    if status in _MEANS:
        return f"it answered {status}: {_MEANS[status]}"
    if status >= 500:
        return f"it answered {status}, an error on its side"
    if 300 <= status < 400:
        return f"it answered {status}, a redirect: set base_url to the address it redirects to"
    said = clean_words(message, key)
    return f"it answered {status}: {said}" if said else f"it answered {status}"


def clean_words(message: str, key: str = "") -> str:
    """A server's own message as one short line without the key."""
    said = clean(message[:LONGEST_SAID])
    return shorten(said.replace(key, "…") if key else said, 160)
