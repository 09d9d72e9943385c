"""Personal data in what people say: e-mail addresses, telephone, card and account numbers, keys, passwords.

Telephone numbers are found by what Google's libphonenumber knows of them, keys by the patterns of
detect-secrets; neither needs a model or a network. A number without a country code is looked for as one of
the United States or the United Kingdom. What only looks a little like it is left alone. A word begins and
ends for these patterns (`re.A`) also beside letters of other scripts, some of which have no spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from noodlings.errors import UserError
from noodlings.ports import PersonalDatum
from noodlings.text import cached_by_text

# A word is taken whole, so that it is not looked through again from each letter; without @ it is no address.
_EMAIL = re.compile(r"[\w.+-]++(?:@[\w-]+(?:\.[\w-]+)+)?")
_CARD = re.compile(r"(?<![\d-])\d(?:[ ./–-]?\d){12,18}(?![\d-])")
_IBAN = re.compile(
    r"\b(?:[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]{4}){2,7}(?:[ -]?[A-Z\d]{1,3})?"
    r"|[a-z]{2}\d{2}[ -]?[a-z\d]{4}(?:[ -]?\d{4}){1,6}(?:[ -]?\d{1,3})?)\b",  # words may follow
    re.A,
)
_PIN = re.compile(r"\bpin\W{1,3}(\d{4,8})\b", re.I | re.A)
_PASSWORD = re.compile(
    r"\b(?:pass(?:word|phrase|code)|api[ -]?key|pin|_authtoken)(?: (?:is|was)|:|=)+\s*[\"'“]?"
    r"([^\s\"'”,;]{3,}[^\s\"'”,;.!?])",
    re.I | re.A,
)
_KEY = re.compile(
    r"\b(?:(?:sk-(?:proj|svcacct|ant|or)-|hf_|AIza|github_pat_|gsk_|xai-|r8_|glpat-|npm_)[\w-]{20,}"
    r"|sk-[\w-]{45,})",
    re.A,
)
"""Keys of services, mostly of language models, that detect-secrets does not know or has slow patterns for."""
_TOKEN = re.compile(r"eyJ[\w=-]++(?:\.[\w=-]++(?:\.[\w=-]*)?)?", re.A)
"""JSON Web Tokens; without a dot it is none."""
_UNUSED = {"IPPublicDetector", "JwtTokenDetector", "NpmDetector", "OpenAIDetector"}
"""Detectors of detect-secrets: one for what is not personal, and three that take minutes for a long text."""
_DIGITS = re.compile(r"(?:\d\D{0,3}){7}")
_COUNTRIES = ("US", "GB")
_MOST_TRIES, _SHORTEST = 500, 7
"""Numbers that turn out to be none, after which no more are tried, and the fewest characters of one. To try
one takes a tenth of a millisecond, so a line of nothing but figures would keep everybody waiting."""


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
    keys = [pattern for one in known if one.__name__ not in _UNUSED for pattern in one().denylist]
    patterns: list[tuple[str, re.Pattern[str], int, Callable[[str], bool]]] = [
        ("e-mail address", _EMAIL, 0, lambda found: "@" in found),
        ("card number", _CARD, 0, _is_card),
        ("account number", _IBAN, 0, _is_iban),
        ("password", _PASSWORD, 1, bool),
        ("password", _PIN, 1, bool),
        ("key", _TOKEN, 0, lambda found: "." in found),
        *(("key", pattern, 0, bool) for pattern in (_KEY, *keys)),
    ]

    def candidates(text: str) -> Iterator[PersonalDatum]:
        for kind, pattern, group, fits in patterns:
            for found in pattern.finditer(text):
                if fits(found[group]):
                    yield PersonalDatum(kind, *found.span(group))
        for country in _COUNTRIES if _DIGITS.search(text) else ():
            for match in phonenumbers.PhoneNumberMatcher(
                text, country, max_tries=_MOST_TRIES, min_candidate_length=_SHORTEST
            ):
                yield PersonalDatum("telephone number", match.start, match.end)

    @cached_by_text(maxsize=16)  # everybody who hears a line looks it through
    def find(text: str) -> tuple[PersonalDatum, ...]:
        found: list[PersonalDatum] = []
        for one in sorted(candidates(_narrow(text)), key=lambda datum: (datum.start, -datum.end)):
            if not found or one.start >= found[-1].end:
                found.append(one)
        return tuple(found)

    return find


def _narrow(text: str) -> str:
    """The text with each wide character, such as "＠", in its usual form; as long as before."""
    forms = (unicodedata.normalize("NFKC", letter) for letter in text)
    return "".join(form if len(form) == 1 else letter for form, letter in zip(forms, text, strict=True))


def _is_iban(number: str) -> bool:
    """Whether its check digits fit (ISO 13616: the rearranged number is 1 modulo 97)."""
    plain = number.translate(dict.fromkeys(b" -"))
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _is_card(number: str) -> bool:
    """Whether its check digit fits (ISO/IEC 7812, Luhn)."""
    digits = [int(digit) for digit in reversed(number) if digit.isdigit()]
    return sum(digits[::2]) % 10 == -sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2]) % 10
