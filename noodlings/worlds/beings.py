"""Who is in a world, and how they are called: characters with a persona, players with an outlet."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from noodlings.errors import NotFound, UserError, there_are
from noodlings.text import shorten
from noodlings.values.persona import Persona
from noodlings.worlds.lines import Line
from noodlings.worlds.places import Room

MOST_WORDS = 4

_WORDS = re.compile(
    "you|(every|no|some|any)body|(every|some|any)one|here|all|me|myself|self|quit|exit|connect|create|server"
)
"""What a line means by itself, or whoever types one."""
_MIXED_WITH_OTHERS = frozenset(("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "MODIFIER", ""))
"""First words of Unicode's names of letters that are written beside others, and resemble none of them."""
_MARKS = ("Pi", "Pf", "Ps", "Pe", "Po", "Pd", "Sm", "Sk")
_WITHIN_A_WORD = re.compile(r"(?<=\w)['’.-](?=\w)")

Outlet = Callable[[Line], None]
"""Where a player sees what happens. Must return at once."""


@dataclass(frozen=True, slots=True)
class Being:
    """Somebody in a world.

    Attributes:
        id: as in percepts ("user_caity", "servnak").
        name: as shown.
        aliases: other names.
        persona: of a character; None for a player.
        outlet: of a player; None for a character.
        give_way: has a player leave whom somebody else vouched for; None for who came in with a password.
    """

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    persona: Persona | None = None
    outlet: Outlet | None = None
    give_way: Callable[[], None] | None = None

    @classmethod
    def character(cls, persona: Persona) -> Being:
        """The body of a persona."""
        return cls(persona.id, persona.name, persona.aliases, persona)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it is called, folded for comparison."""
        return tuple(name.casefold() for name in (self.id, self.name, *self.aliases))

    def would_be_taken_for(self, being_id: str, names: Iterable[str]) -> str | None:
        """The name, if any, by which somebody of this id and these names could be taken for this one."""
        return next((name for name in names if self.id == being_id or name.casefold() in self.names), None)

    def named_in(self, text: str) -> bool:
        """Whether the text names it, as whole words in any case."""
        folded = text.casefold()
        return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) for name in self.names if name)


@dataclass(frozen=True, slots=True)
class Scene:
    """What somebody sees of the room they are in."""

    room: Room
    exits: dict[str, str]
    """Direction → name of the room it leads to."""
    others: tuple[Being, ...]


def find_being(wanted: str, beings: Iterable[Being], where: str) -> Being:
    """Somebody by id, name, alias or unambiguous beginning of one.

    Args:
        wanted: as typed.
        beings: whom it may be.
        where: finishes the sentence "There is nobody called … {where}".

    Raises:
        NotFound: names the nearest, or who there is.
    """
    by_name = {name: being for being in beings for name in being.names}
    folded = wanted.casefold().strip()
    if folded in by_name:
        return by_name[folded]
    begun = {being.id: being for name, being in by_name.items() if folded and name.startswith(folded)}
    if len(begun) == 1:
        return next(iter(begun.values()))
    near = [by_name[name] for name in difflib.get_close_matches(folded, by_name, n=1, cutoff=0.6)]
    choices = list(begun.values()) or near
    if choices:
        hint = f"did you mean {' or '.join(being.name for being in choices)}?"
    else:
        present = sorted({being.name for being in by_name.values()}, key=str.casefold)
        hint = f"{there_are(present)}." if present else "there is nobody at all."
    raise NotFound(f"There is nobody called {shorten(wanted, 30)} {where}; {hint}")


def require_name(name: str) -> None:
    """Raise `UserError` when a name (NFKC) could be taken for more than a name, or for another one.

    It is no word for somebody, has no letters of two alphabets (one Cyrillic letter in a Latin word), and
    nothing that ends a sentence or quotes one, so that no line about whoever is called so could be somebody
    else's.
    """
    if _WORDS.fullmatch(name.casefold()):
        raise UserError(f"{name} means somebody else here; choose another name")
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    if len(scripts - _MIXED_WITH_OTHERS) > 1:
        raise UserError(f"{name} has letters of more than one alphabet; choose another name")
    wrong = [mark for mark in _WITHIN_A_WORD.sub("", name) if unicodedata.category(mark) in _MARKS]
    if wrong or len(name.split()) > MOST_WORDS:
        raise UserError(
            f"a name is up to {MOST_WORDS} words without quotation marks or punctuation, but for - _ ' and . "
            "within a word"
        )


def require_free(beings: Iterable[Being], being_id: str, names: Iterable[str]) -> None:
    """Raise `UserError` when one of `beings` has this id, or is called by one of these names."""
    names = tuple(names)
    for being in beings:
        name = being.would_be_taken_for(being_id, names)
        if name is not None:
            raise UserError(f"somebody called {name} is already here; choose another name")
