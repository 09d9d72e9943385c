"""Text from outside is hostile until it passed through here.

Control characters and terminal escapes are taken out, line breaks become spaces, and what is too long is
cut with a visible sign. Everything that stores, prints or prompts uses these functions and no others.
"""

import re
import unicodedata

MAX_LINE = 4_000
"""Characters of one line that a character can hear; a longer one is refused where a person can be told."""

ELLIPSIS = "…"

# CSI and OSC sequences whole, so that no "[31m" or "0;title" is left lying about; then single escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\Z)"
    r"|\x1b[@-Z\\-_]?"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_SPACES = re.compile(r"\s+")
# Bidirectional overrides reorder a whole terminal line; zero-width joiners stay, emoji need them.
_HIDDEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u2028\u2029")


def clean(text: str) -> str:
    """One printable line: no escapes, no control characters, white space folded, ends stripped.

    Lone surrogates become the replacement character, so that the result always encodes as UTF-8.
    Idempotent: `clean(clean(x)) == clean(x)`.
    """
    text = text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
    if not text.isprintable():
        text = _ESCAPES.sub("", text)
        text = _SPACES.sub(" ", text)
        text = "".join(c for c in text if c not in _HIDDEN and unicodedata.category(c) not in ("Cc", "Cs"))
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return text.strip()  # the only space that is printable is " "


def shorten(text: str, width: int) -> str:
    """At most `width` characters (≥ 1), with an ellipsis as the last one where something was cut."""
    return text if len(text) <= width else text[: max(width - 1, 0)].rstrip() + ELLIPSIS
