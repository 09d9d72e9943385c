"""Reading what follows a command: `NAME = text` and `NAME --flag VALUE`.

It is strict on purpose: an unknown flag, a missing value or a number out of range is refused in one sentence
that says what would work. Nothing is guessed, and nothing is silently ignored.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from noodlings.errors import UserError
from noodlings.text import shorten

_SPACE = re.compile(r"\s")
_WORD = re.compile(r'(?:[^\s"]|"[^"]*"?)+')

FlagValue = str | int | float | bool


class HelpAsked(Exception):
    """`--help` was among the flags; the registry answers with the command's help."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag that a command understands.

    Attributes:
        name: without the dashes.
        metavar: the name of its value in a usage line ("N", "WHO"); empty for a flag that takes no value.
        low, high: the range of a number, both ends included.
    """

    name: str
    metavar: str = ""
    kind: type[str] | type[int] | type[float] = str
    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        return f"--{self.name} {self.metavar}".rstrip()


@dataclass(frozen=True, slots=True)
class Spec:
    """What may follow a command.

    Attributes:
        usage: the whole line as one types it, shown when something is missing.
        flags: all flags but `--help`.
        named: whether a name must be given.
        text: what the words after the name are called ("WHAT"); empty if all words are the name.
    """

    usage: str
    flags: tuple[Flag, ...] = ()
    named: bool = True
    text: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read: the name and the words after it ("" for none), and the value of each flag.

    Attributes:
        usage: of the `Spec`.
    """

    name: str = ""
    flags: dict[str, FlagValue] = field(default_factory=dict)
    rest: str = ""
    usage: str = field(default="", compare=False)

    def has(self, flag: str) -> bool:
        return flag in self.flags

    def text(self, flag: str, default: str = "") -> str:
        return str(self.flags.get(flag, default))

    def whole(self, flag: str, default: int) -> int:
        return int(self.flags.get(flag, default))

    def number(self, flag: str, default: float) -> float:
        return float(self.flags.get(flag, default))


ID = Flag("id", "N", int, 1)
"""The flag of `memory_number`."""


def parse_flags(line: str, spec: Spec) -> Parsed:
    """Read `NAME --flag --other VALUE` (the name may also come last), or `NAME WORDS --flag`.

    Args:
        line: as typed, where double quotes hold words together.
        spec: what may be there. `--flag=VALUE` means the same as `--flag VALUE`.

    Raises:
        UserError: an unknown flag (the nearest right one is named), a missing or wrong value, a flag given
            twice, a missing name, words left over.
        HelpAsked: `--help` or `-h` was among them.
    """
    waiting = deque(split_words(line))
    known = {flag.name: flag for flag in spec.flags}
    flags: dict[str, FlagValue] = {}
    names: list[str] = []
    name_closed = False
    while waiting:
        word = waiting.popleft()
        if word in ("--help", "-h"):
            raise HelpAsked
        if not _looks_like_flag(word):
            if name_closed and not spec.text:
                raise UserError(
                    f"{_quoted(word)} is one word too many; put a name of several words in double quotes."
                )
            names.append(word)
            continue
        name_closed = bool(names)
        name, given, value = word.lstrip("-").partition("=")
        flag = known.get(name.lower()) if word.startswith("--") else None
        if flag is None:
            raise UserError(
                f"There is no flag {shorten(word.partition('=')[0], 30)}{_nearest_flag(name, known)}"
            )
        if flag.name in flags:
            raise UserError(f"--{flag.name} is given twice.")
        if not flag.metavar:
            if given:
                raise UserError(f"--{flag.name} takes no value.")
            flags[flag.name] = True
            continue
        if not given:
            if not waiting or waiting[0].startswith("--"):
                raise UserError(f"--{flag.name} needs {_wanted(flag)} after it: {flag}")
            value = waiting.popleft()
        flags[flag.name] = _value(flag, value)
    behind = 1 if spec.text else len(names)
    parsed = Parsed(" ".join(names[:behind]).strip(), flags, " ".join(names[behind:]).strip(), spec.usage)
    if spec.named and not parsed.name:
        raise UserError(f"Which character? Type it like this: {spec.usage}")
    return parsed


def split_words(line: str) -> list[str]:
    """The words of a line; double quotes hold words together, and an unclosed one holds to the end.

    An apostrophe is a letter here (unlike in a shell), because people are called O'Brien.
    """
    return [word.replace('"', "") for word in _WORD.findall(line)]


def joined(words: Sequence[str]) -> str:
    """One line of words that a shell has split, as `split_words` reads it. Double quotes are left out."""
    plain = [word.replace('"', "") for word in words]
    return " ".join(word if word and not _SPACE.search(word) else f'"{word}"' for word in plain)


def split_assignment(arguments: str, usage: str) -> tuple[str, str]:
    """Read `NAME = text`. Raises `UserError` with the usage when one of the two is missing."""
    name, sign, text = (part.strip() for part in arguments.partition("="))
    if not (name and sign and text):
        raise UserError(f"Type it like this: {usage}")
    return name, text


def memory_number(parsed: Parsed) -> int:
    """The value of `--id`. Raises `UserError` with the usage when it is missing."""
    if not parsed.has("id"):
        raise UserError(f"Which memory? @memories shows their numbers. Type it like this: {parsed.usage}")
    return parsed.whole("id", 0)


def _looks_like_flag(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not word[1:].replace(".", "", 1).isdigit()


def _value(flag: Flag, value: str) -> FlagValue:
    if flag.kind is str:
        if not value:
            raise UserError(f"--{flag.name} needs {_wanted(flag)} after it: {flag}")
        return value
    with suppress(ValueError, OverflowError):
        number = flag.kind(value)
        if flag.low <= float(number) <= flag.high:  # NaN is refused, too
            return number
    raise UserError(f"--{flag.name} needs {_wanted(flag)}, not {_quoted(value)}.")


def _wanted(flag: Flag) -> str:
    if flag.kind is str:
        return f"a value ({flag.metavar})"
    sort = "a whole number" if flag.kind is int else "a number"
    if math.isfinite(flag.low) and math.isfinite(flag.high):
        return f"{sort} from {flag.low:g} to {flag.high:g}"
    return f"{sort} of at least {flag.low:g}" if math.isfinite(flag.low) else sort


def _nearest_flag(wrong: str, known: dict[str, Flag]) -> str:
    near = difflib.get_close_matches(wrong.lower(), known, n=1, cutoff=0.5)
    if not near and len(wrong) > 1:
        near = [name for name in known if name.startswith(wrong.lower())][:1]
    if near:
        return f"; did you mean --{near[0]}?"
    return f"; there are {', '.join(f'--{name}' for name in (*known, 'help'))}."


def _quoted(word: str) -> str:
    return f"'{shorten(word, 30)}'"
