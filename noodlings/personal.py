"""Personal data in what people say: e-mail addresses, telephone and card numbers, keys and passwords.

Telephone numbers are found by what Google's libphonenumber knows of them, keys by the patterns of
detect-secrets; neither needs a model or a network. A number without a country code is looked for as one of
the United States or the United Kingdom. What only looks a little like it is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from noodlings.errors import UserError
from noodlings.ports import PersonalDatum

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
_PASSWORD = re.compile(
    r"\b(?:pass(?:word|phrase|code)|api[ -]?key|pin)(?: (?:is|was)|:|=)+\s*[\"'“]?"
    r"([^\s\"'”,;]{3,}[^\s\"'”,;.!?])",
    re.I,
)
_DIGITS = re.compile(r"(?:\d\D{0,3}){7}")
_COUNTRIES = ("US", "GB")


def personal_finder() -> Callable[[str], Sequence[PersonalDatum]]:
    """What finds personal data in a text, in the order of the text, none within another.

    Raises:
        UserError: what it needs is not installed.
    """
    try:
        import phonenumbers
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
        from detect_secrets.plugins.base import RegexBasedDetector
    except ImportError:
        raise UserError("privacy.personal needs more: pip install 'noodlings[privacy]'") from None
    detectors: dict[str, Any] = get_mapping_from_secret_type_to_class()
    known = [one for one in detectors.values() if issubclass(one, RegexBasedDetector)]
    keys = [pattern for one in known if one.__name__ != "IPPublicDetector" for pattern in one().denylist]

    def candidates(text: str) -> Iterator[PersonalDatum]:
        for kind, pattern in (("e-mail address", _EMAIL), ("card number", _CARD)):
            for found in pattern.finditer(text):
                if pattern is _EMAIL or _is_card(found[0]):
                    yield PersonalDatum(kind, *found.span())
        for found in _PASSWORD.finditer(text):
            yield PersonalDatum("password", *found.span(1))
        for pattern in keys:
            for found in pattern.finditer(text):
                yield PersonalDatum("key", *found.span())
        for country in _COUNTRIES if _DIGITS.search(text) else ():
            for match in phonenumbers.PhoneNumberMatcher(text, country):
                yield PersonalDatum("telephone number", match.start, match.end)

    def find(text: str) -> list[PersonalDatum]:
        found: list[PersonalDatum] = []
        for one in sorted(candidates(text), key=lambda datum: (datum.start, -datum.end)):
            if not found or one.start >= found[-1].end:
                found.append(one)
        return found

    return find


def _is_card(number: str) -> bool:
    """Whether its check digit fits (ISO/IEC 7812, Luhn)."""
    digits = [int(digit) for digit in reversed(number) if digit.isdigit()]
    return sum(digits[::2]) % 10 == -sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2]) % 10
