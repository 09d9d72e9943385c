"""Cleans text from outside before it is stored, printed or put into a prompt.

Control characters, terminal escapes and invisible characters are removed, line breaks become spaces, and
what is too long is cut with a visible sign.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import filterfalse
from typing import Any, NewType, ParamSpec, TypeVar

CleanText = NewType("CleanText", str)
"""Text that passed through `clean`."""

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
_SPACES = re.compile(r"[\s\u2800]+")
"""White space, and the cell of Braille that has no dots."""
# No marks and nothing hidden, as in most lines of European languages, Chinese, Japanese and Korean.
_PLAIN = re.compile(
    "[ -~\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3001-\u3029\u3041-\u3096\u30a1-\u30ff"
    "\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9f]*"
)
# Default_Ignorable_Code_Point of Unicode, and marks of annotation: a model reads them, a person does not see
# them. Bidirectional controls reorder a whole terminal line.
_HIDDEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Of Unicode's tag characters, only the flags of England, Scotland and Wales are ever drawn.
_FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_JOINERS = "\u200c\u200d"
_STYLES = "\ufe0e\ufe0f"
"""Whether the character before is drawn as text or as emoji."""
_FIRST_JOINED = "\u0600"
"""Scripts and emoji that need joiners begin here; before it a joiner only makes equal words differ."""

MARKS = 8
"""Combining marks on one character: Hebrew with cantillation has up to four, Tibetan up to eight."""

_NUMBERED = re.compile(r"&#0*([0-9]{1,8})[0-9]*")
"""A character of HTML by its number; Unicode ends at one of seven digits."""

P = ParamSpec("P")
T = TypeVar("T")
_forget: list[Callable[[], None]] = []


def cached_by_text(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Like `lru_cache`, for functions of what people said: `forget_texts` empties it."""

    def cached(function: Callable[P, T]) -> Callable[P, T]:
        kept = lru_cache(maxsize)(function)
        _forget.append(kept.cache_clear)
        return kept  # type: ignore[return-value]  # lru_cache loses the names of the parameters

    return cached


def forget_texts() -> None:
    """Empty all caches of what people said, because some of it is forgotten."""
    for forget in _forget:
        forget()


def clean(text: str) -> CleanText:
    """One printable line: no escapes, nothing invisible, white space folded, ends stripped; maybe "".

    Joiners stay where they can join something, and at most `MARKS` combining marks on a character. Lone
    surrogates become the replacement character, so that the result always encodes as UTF-8. Idempotent.
    """
    text = text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
    if not _PLAIN.fullmatch(text):
        text = _ESCAPES.sub("", text)
        text = _SPACES.sub(" ", text)
        text = "".join(_seen(text))
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return CleanText(text.strip())  # the only space that is left is " "


def with_texts(value: Any, changed: Callable[[str], str]) -> Any:
    """JSON-compatible data in which every text is changed, also where it is a key."""
    match value:
        case str():
            return changed(value)
        case list() | tuple():
            return type(value)(with_texts(part, changed) for part in value)
        case dict():
            return {with_texts(name, changed): with_texts(part, changed) for name, part in value.items()}
    return value


def one_line(text: str) -> str:
    """The text, cleaned. Raises ValueError if nothing is left of it."""
    text = clean(text)
    if not text:
        raise ValueError("must not be empty")
    return text


def _seen(text: str) -> Iterator[str]:
    """The characters that are visible, or shape visible ones."""
    base, before, joiner, marks = "", "", "", 0  # a mark is only where there is a base for it
    flags = {flag.end(): flag.group()[1:] for flag in _FLAGS.finditer(text)}
    position = 0
    while position < len(text):
        character = text[position]
        if " " <= character <= "~" and (plain := _PLAIN.match(text, position)):
            yield plain[0]  # most of most lines; a joiner before it is dropped
            position, before = plain.end(), plain[0][-1]
            base, joiner, marks = before.strip(), "", 0
            continue
        position += 1
        if character in _JOINERS:
            joiner = character if base >= _FIRST_JOINED else ""
            continue
        if position in flags:
            yield flags[position]
            continue
        styles = character in _STYLES and before not in _STYLES and _can_be_styled(base)
        if _HIDDEN.match(character) and not styles:
            continue
        sort = unicodedata.category(character)
        if sort[0] == "M":
            marks += 1
            if not base or marks > MARKS:
                continue
        elif sort in ("Cc", "Cs"):
            continue
        else:
            base, marks = character.strip(), 0
        if joiner and character >= _FIRST_JOINED:
            yield joiner
        joiner, before = "", character
        yield character


def unescape(text: str) -> str:
    """The text with the characters that are written as in HTML."""
    return html.unescape(with_short_numbers(text))


def with_short_numbers(text: str) -> str:
    """HTML that means the same, without numbers of more than 4,300 digits, of which `html` makes errors."""
    return _NUMBERED.sub(r"&#\1", text)


def _can_be_styled(base: str) -> bool:
    return bool(base) and not (base < _FIRST_JOINED and base.isalpha())


def folded(name: str) -> str:
    """A name for comparison, whatever its case and the form of its letters."""
    return unicodedata.normalize("NFKC", clean(name)).casefold()


@cache
def word_characters() -> str:
    """For a class of a regular expression: `\\w`, and the marks within words that it leaves out.

    These are vowels of Hindi, Thai and Arabic and accents that are characters of their own, not what encloses
    a character, or says how it is drawn.
    """
    beyond = filterfalse(_HIDDEN.match, map(chr, range(0x300, 0x1F000)))
    return r"\w" + "".join(one for one in beyond if unicodedata.category(one) in ("Mn", "Mc"))


_STROKES = str.maketrans("đłøıħŧĐŁØĦŦ", "dloihtDLOHT")


def without_accents(text: str) -> str:
    """A text without accents and strokes, however they are written: "José" is "Jose", "Đỗ" is "Do"."""
    if text.isascii():
        return text
    bare = "".join(filterfalse(unicodedata.combining, unicodedata.normalize("NFKD", text)))
    return unicodedata.normalize("NFC", bare).translate(_STROKES)  # Hangul in whole characters


def unaccented(text: str) -> str:
    """A text in small letters, without accents and strokes: "ЁЖ" is "еж"."""
    return without_accents(text.casefold())


def any_of(words: Iterable[str]) -> str:
    """A regular expression for one of these words, the longest first."""
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


def shorten(text: str, width: int) -> str:
    """At most `width` characters (≥ 1), with an ellipsis as the last one where something was cut."""
    return text if len(text) <= width else text[: max(width - 1, 0)].rstrip() + ELLIPSIS


def counted(count: int, one: str, more: str = "") -> str:
    """So many of something: "1 step", "2,000 memories"; `more` is a plural that is not made with an s."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


LONG_SENTENCE = 120
"""Characters of a sentence; a longer one is split at its commas."""
_SENTENCE = re.compile(r"(?:[^.!?…]|(?<=\d)\.(?=\d))+(?:[.!?…]+|$)")
_AT_COMMAS = re.compile(rf"[^,;].{{0,{LONG_SENTENCE - 1}}}(?:[,;](?=\s)|$)|[^,;]+(?:[,;]|$)")


_LEANING = re.compile(r"\W*(?:he|she|it|they|his|her|its|their)(?:['’](?:s|re|d|ll|ve))?(?![\w'’-])", re.I)


def goes_on(text: str) -> bool:
    """Whether a line continues the line before it: "his name is Rex"."""
    return _LEANING.match(text) is not None


def phrases(text: str) -> list[str]:
    """The sentences of a text, with the spaces before them; of a long one what lies between its commas."""
    found: list[str] = _SENTENCE.findall(text)
    parts = [
        part for one in found for part in ([one] if len(one) <= LONG_SENTENCE else _AT_COMMAS.findall(one))
    ]
    return [part for part in parts if any(map(str.isalnum, part))]


_BARE_VERB = (
    "be|go|come|get|take|look|see|ask|tell|bring|keep|make|have|do|find|try|let|buy|wait|meet|ride|walk|call|send|show"
    "|give|stay|leave|pay|put|think|know|check|help|start|pick|drop|text|write|read|run|sit|stand|sleep|eat|drink"
    "|pass|hold|miss|fight|play|watch|finish|carry|fetch|follow|lend|open|close|pull|push|remember|say|sell|speak"
    "|stop|throw|turn|use|visit|wear|win|work"
)
_ILL = re.compile(
    rf"(?:(?:^|(?<=[.,;:!?] ))ill (?=(?:(?:just|not|never|always|also|only|need) )?(?:{_BARE_VERB})\b)"
    r"|(?:(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bthen )|(?<=\bok )|(?<=\bmaybe )|(?<=\btomorrow )"
    rf"|(?<=\byeah )|(?<=\bthink )|(?<=\bgo ))ill (?=(?:{_BARE_VERB})\b))",
    re.IGNORECASE,
)


def without_hasty_will(text: str) -> str:
    """The text with "I'll" where it is written "ill": "ill be back" is no illness."""
    return _ILL.sub("I'll ", text) if "ill " in text.casefold() else text
