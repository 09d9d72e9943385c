"""Who is in a world, and what players and characters notice of what happens in their room.

Beings are characters with a persona or players with an outlet. Players see an act as a `RoomLine`, which a
host shows as it likes, or as `view` renders it; characters perceive the same act as a `Percept`.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.text import Text

from noodlings.errors import NotFound, UserError, there_are
from noodlings.lookalikes import looks, mixes_alphabets
from noodlings.text import MAX_LINE, clean, shorten
from noodlings.values.audience import Tier
from noodlings.values.percept import Kind
from noodlings.values.persona import Persona
from noodlings.worlds.places import Room

_BOLD = re.compile(r"\*\*+")
_STARRED = re.compile(r"\*([^*]*)\*")
_SENTENCE_ENDS = ".!?…,;:\"'”"
_NAME_COLOURS = ("cyan", "green", "magenta", "blue", "yellow")
_QUOTES = {'"': '"', "“": "”", "«": "»"}


@dataclass(frozen=True, slots=True)
class RoomLine:
    """One act as it is seen.

    Attributes:
        actor, name: id and shown name of whoever did it; both empty if nobody did.
        text: the words said, or what was done ("waves"); empty for an overheard whisper.
        manner: what the speaker did while speaking ("tilts its head"), or "".
        target, target_name: whom a whisper was for.
        acted: the whisper is not words, but something done that only its target sees.
        tier: the lowest tier at which those who perceive it keep it.
    """

    kind: Kind
    text: str
    actor: str = ""
    name: str = ""
    manner: str = ""
    target: str = ""
    target_name: str = ""
    acted: bool = False
    tier: Tier = Tier.OPEN

    def view(self, viewer: str = "") -> Text:
        """The line as `viewer` (an id) sees it: "You say" to the speaker, the name to everybody else."""
        if self.kind in (Kind.EVENT, Kind.THOUGHT):
            return Text(self.text, style="dim")
        if self.kind in (Kind.EMOTE, Kind.ARRIVE, Kind.LEAVE):
            style = "italic" if self.kind is Kind.EMOTE else "dim"
            joint = "" if self.text.startswith(("'", "’")) else " "
            return Text.assemble(self._named(), (joint + ended(self.text), style))
        to = "you" if viewer == self.target else self.target_name
        if self.acted:
            act = (
                f"{self.text.rstrip('.')}, for {to} alone to see." if self.text else f"makes a sign to {to}."
            )
            return Text.assemble(self._named(), (f" {act}", "italic"))
        mine = viewer != "" and viewer == self.actor
        seen = Text.assemble(("You", "bold") if mine else self._named())
        if self.manner:
            # In brackets: a gesture may be anything ("tilts its head", "soft whirring"), not only a verb.
            seen.append(f" ({self.manner})", style="italic")
        verb = "whisper" if self.kind is Kind.WHISPER else "say"
        seen.append(f" {verb}" if mine else f" {verb}s")
        if self.kind is Kind.WHISPER:
            seen.append(f" to {to}" if self.text else f" something to {to}.")
        if self.text:
            seen.append(f', "{self.text}"')
        return seen

    def _named(self) -> tuple[str, str]:
        colour = _NAME_COLOURS[zlib.crc32(self.actor.encode()) % len(_NAME_COLOURS)]
        return self.name, f"bold {colour}"


def heard(text: str) -> str:
    """The text that others hear. Raises `UserError` when it is empty or too long."""
    text = clean(text)
    if not text:
        raise UserError("There is nothing in that to hear.")
    if len(text) > MAX_LINE:
        raise UserError(f"That has {len(text):,} characters; say it in parts of at most {MAX_LINE:,}.")
    return text


def ended(sentence: str) -> str:
    """The sentence with a full stop, unless it already ends in a mark."""
    return sentence if sentence.endswith(tuple(_SENTENCE_ENDS)) else f"{sentence}."


def split_gestures(response: str, name: str) -> tuple[str, str]:
    """The words of a response and its *gestures* ("whirrs, tilts its head"), either of which may be empty.

    Asterisks within a sentence are emphasis, and only the asterisks go. A gesture that begins with the
    speaker's `name` loses it.
    """
    response = _BOLD.sub("", response)
    gestures: list[str] = []

    def take(starred: re.Match[str]) -> str:
        before = response[: starred.start()].rstrip()
        after = response[starred.end() :].strip()
        if before and after and not before.endswith(tuple(_SENTENCE_ENDS + "*")):
            return starred[1]
        gesture = starred[1].strip().rstrip(".")
        if gesture.lower().startswith(f"{name.lower()} "):
            gesture = gesture[len(name) :].strip()
        if gesture:
            gestures.append(gesture)
        return " "

    words = " ".join(_STARRED.sub(take, response).split())
    return words, ", ".join(gestures)


def spoken(act: str) -> str | None:
    """The words of an idle act that is a line in quotation marks; None if it is something done."""
    if len(act) > 2 and _QUOTES.get(act[0]) == act[-1]:
        return act[1:-1].strip() or None
    return None


MOST_WORDS = 4

_WORDS = re.compile(
    "you|(every|no|some|any)body|(every|some|any)one|here|all|quit|exit|connect|create|server"
    "|north|south|east|west|up|down"
    "|i|me|my|mine|myself|your|yours|yourself|he|him|his|himself|she|hers?|herself|it|its|itself|we|us|ours?"
    "|they|them|theirs?|themselves|this|that|these|those|who|self"
)
"""Words for somebody, commands, or ways."""
_MISREAD = re.compile(r"^\W|[=:;\"“”]|\s--|,$")
"""What commands take for something else than a part of a name."""
_LIKE_A_LINE = re.compile(
    r"you[\W_].*|.*[\W_](?:says|whispers|asks|tells|pages|shouts|thinks|makes|arrives|leaves)(?:[\W_].*)?"
)
"""A name, in small letters, that reads like the beginning of a line in a room: "you see", "nina says"."""
_MARKS = ("Pi", "Pf", "Ps", "Pe", "Po", "Pd", "Sm", "Sk")
_POSSESSIVE = re.compile(r"['’]s?(?!\w)", re.IGNORECASE)
_WITHIN_A_WORD = re.compile(r"(?<=\w)['’.-](?=\w)")

Outlet = Callable[[RoomLine], None]
"""Shows a line to a player. Must return at once."""


@dataclass(frozen=True, slots=True)
class Being:
    """Somebody in a world.

    Attributes:
        id: as in percepts ("user_caity", "servnak").
        persona: of a character; None for a player.
        outlet: of a player; None for a character.
        give_way: makes a player leave who came in without a password of their own; else None.
    """

    id: str
    name: str
    persona: Persona | None = None
    outlet: Outlet | None = None
    give_way: Callable[[], None] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it is called, folded for comparison."""
        if self.persona is not None:
            return self.persona.names
        return self.id.casefold(), self.name.casefold()

    @property
    def called(self) -> tuple[str, ...]:
        """`names`, and what else people call a character; see `Persona.called`."""
        if self.persona is None:
            return self.names
        return tuple(dict.fromkeys((*self.names, *map(str.casefold, self.persona.called))))

    def would_be_taken_for(self, being_id: str, names: Iterable[str], character: bool = False) -> str | None:
        """The one of these names, if any, that makes somebody with this id, maybe a `character`, look like
        this being.

        A character is taken for whoever has a name that looks like its own; two people may be Zoe and Zoë.
        """
        if self.id == being_id:
            return next(iter(names), None)
        if self.persona is None and not character:
            return next((name for name in names if name.casefold() in self.names), None)
        aliases = () if self.persona is None else self.persona.aliases
        mine = frozenset[str]().union(*map(looks, (self.id, self.name, *aliases)))
        return next((name for name in names if mine & looks(name)), None)

    def named_in(self, text: str) -> bool:
        """Whether the text names it, as a whole word in any case."""
        folded = text.casefold()
        return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) for name in self.called if name)


@dataclass(frozen=True, slots=True)
class RoomScene:
    """What somebody sees of their room."""

    room: Room
    exits: dict[str, str]
    """Direction → name of the room it leads to."""
    others: tuple[Being, ...]


def find_being(wanted: str, beings: Iterable[Being]) -> Being:
    """Somebody in the room by id, name, alias or unambiguous beginning of one.

    Raises:
        NotFound: the message names those who are near to it, or everybody there is.
    """
    among = tuple(beings)
    by_name = {name: being for being in among for name in being.names}
    short = [(name, being) for being in among for name in being.called if name not in by_name]
    by_name |= {name: being for name, being in short if [other for other, _ in short].count(name) == 1}
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
    raise NotFound(f"There is nobody called {shorten(wanted, 30)} here; {hint}")


def require_name(name: str, character: bool = False) -> None:
    """Raise `UserError` when a name (NFKC) could be taken for more than a name, or for another name.

    It may not be a word for somebody, say whose something is, read like a line ("Nina says"),
    mix alphabets, or hold what ends or quotes a sentence: then a line about its owner could pass for
    another's. That of a `character` may only not be what commands would take for something else.
    """
    stem = re.split("['’]", name)[0]  # of "They're", too
    if any(map(_WORDS.fullmatch, looks(stem) | looks(stem.replace("l", "I")))):
        raise UserError(f"{name} has another meaning here; choose another name")
    if character and _MISREAD.search(name):
        raise UserError(
            f"a command would misread {name!r}: a name begins with a letter, has no = : ; or quotation mark, "
            "and does not end with a comma"
        )
    if character:
        return
    if owned := _POSSESSIVE.search(name):
        raise UserError(f"{name} says whose something is; leave out {owned[0]}, or choose another name")
    if any(map(_LIKE_A_LINE.fullmatch, looks(name))):
        raise UserError(f"{name} reads like the beginning of a line; choose another name")
    if mixes_alphabets(name):
        raise UserError(f"{name} mixes letters of different alphabets; choose another name")
    wrong = [mark for mark in _WITHIN_A_WORD.sub("", name) if unicodedata.category(mark) in _MARKS]
    if wrong or len(name.split()) > MOST_WORDS:
        raise UserError(
            f"a name is up to {MOST_WORDS} words without quotation marks or punctuation, but for - _ ' and . "
            "within a word"
        )


def require_free(
    beings: Iterable[Being], being_id: str, names: Iterable[str], character: bool = False
) -> None:
    """Raise `UserError` when one of `beings` has this id or one of these names, of a `character` if given."""
    names = tuple(names)
    for being in beings:
        name = being.would_be_taken_for(being_id, names, character)
        if name is not None:
            raise UserError(f"there is already somebody called {name}, or much like it; choose another name")
