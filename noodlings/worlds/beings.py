"""Who is in a world, and what people and characters notice of what happens in their room.

Beings are characters with a persona or players with an outlet. One act is one line for whoever did it and one
for the others; a line is a value, a host decides how to show it, and `view` is how a terminal would. What a
character perceives of the same act is a percept.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from noodlings.errors import NotFound, UserError, there_are
from noodlings.text import MAX_LINE, clean, shorten
from noodlings.values.audience import Audience, Tier
from noodlings.values.floor import Floor
from noodlings.values.percept import Kind, Percept
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
        kind: what sort of act.
        actor, name: id and shown name of whoever did it; both empty for something nobody did.
        text: the words said, or what was done ("waves"); empty for a whisper that was only overheard.
        manner: what the speaker did while speaking ("tilts its head"), or "".
        target, target_name: whom a whisper was for.
        acted: whether a whisper is no words, but something done that only its target sees.
        tier: how far whoever perceives it keeps it from others, at least.
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
        """The line as `viewer` (an id) sees it: "You say" to whoever did it, the name to everybody else."""
        if self.kind in (Kind.EVENT, Kind.THOUGHT):
            return Text(self.text, style="dim")
        if self.kind in (Kind.EMOTE, Kind.ARRIVE, Kind.LEAVE):
            style = "italic" if self.kind is Kind.EMOTE else "dim"
            joint = "" if self.text.startswith(("'", "’")) else " "
            return Text.assemble(self._named(), (joint + ended(self.text), style))
        if self.acted:
            return Text.assemble(self._named(), (self._unseen_act(viewer), "italic"))
        mine = viewer != "" and viewer == self.actor
        seen = Text.assemble(("You", "bold") if mine else self._named())
        if self.manner:
            # In brackets: a gesture may be anything ("tilts its head", "soft whirring"), not only a verb.
            seen.append(f" ({self.manner})", style="italic")
        verb = "whisper" if self.kind is Kind.WHISPER else "say"
        seen.append(f" {verb}" if mine else f" {verb}s")
        if self.kind is Kind.WHISPER:
            to = "you" if viewer == self.target else self.target_name
            seen.append(f" to {to}" if self.text else f" something to {to}.")
        if self.text:
            seen.append(f', "{self.text}"')
        return seen

    def _unseen_act(self, viewer: str) -> str:
        to = "you" if viewer == self.target else self.target_name
        return f" {self.text.rstrip('.')}, for {to} alone to see." if self.text else f" makes a sign to {to}."

    def _named(self) -> tuple[str, str]:
        colour = _NAME_COLOURS[zlib.crc32(self.actor.encode()) % len(_NAME_COLOURS)]
        return self.name, f"bold {colour}"


def heard(text: str) -> str:
    """What is heard of something that is said. Raises `UserError` when it is nothing, or too long."""
    text = clean(text)
    if not text:
        raise UserError("There is nothing in that to hear.")
    if len(text) > MAX_LINE:
        raise UserError(f"That has {len(text):,} characters; say it in parts of at most {MAX_LINE:,}.")
    return text


def ended(sentence: str) -> str:
    """The sentence with a full stop, where it has no end of its own."""
    return sentence if sentence.endswith(tuple(_SENTENCE_ENDS)) else f"{sentence}."


def split_gestures(response: str, name: str) -> tuple[str, str]:
    """What was said and what was done meanwhile, from words with *gestures* in asterisks.

    Asterisks in the midst of a sentence are emphasis, and only the asterisks go.

    Args:
        response: as a voice made it.
        name: the speaker's; a gesture that begins with it loses it.

    Returns:
        The spoken words and the gestures ("whirrs, tilts its head"), either of which may be empty.
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
    """The words of an idle act that is a line in quotation marks, else None: then it is something done."""
    if len(act) > 2 and _QUOTES.get(act[0]) == act[-1]:
        return act[1:-1].strip() or None
    return None


MOST_WORDS = 4

_WORDS = re.compile(
    "you|(every|no|some|any)body|(every|some|any)one|here|all|me|myself|self|quit|exit|connect|create|server"
)
"""What a line means by itself, or whoever types one."""
_MIXED_WITH_OTHERS = frozenset(("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "MODIFIER", ""))
"""First words of Unicode's names of letters that are written beside others, and resemble none of them."""
_MARKS = ("Pi", "Pf", "Ps", "Pe", "Po", "Pd", "Sm", "Sk")
_WITHIN_A_WORD = re.compile(r"(?<=\w)['’.-](?=\w)")

Outlet = Callable[[RoomLine], None]
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
        if self.persona is not None:
            return self.persona.names
        return tuple(name.casefold() for name in (self.id, self.name, *self.aliases))

    @property
    def called(self) -> tuple[str, ...]:
        """`names`, and what else people call a character; see `Persona.called`."""
        if self.persona is None:
            return self.names
        return tuple(dict.fromkeys((*self.names, *map(str.casefold, self.persona.called))))

    def would_be_taken_for(self, being_id: str, names: Iterable[str]) -> str | None:
        """The name, if any, by which somebody of this id and these names could be taken for this one."""
        return next((name for name in names if self.id == being_id or name.casefold() in self.names), None)

    def named_in(self, text: str) -> bool:
        """Whether the text names it, as whole words in any case."""
        folded = text.casefold()
        return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) for name in self.called if name)


@dataclass(frozen=True, slots=True)
class RoomScene:
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
    raise NotFound(f"There is nobody called {shorten(wanted, 30)} {where}; {hint}")


def require_name(name: str) -> None:
    """Raise `UserError` when a name (NFKC) could be taken for more than a name, or for another one.

    It is no word for somebody, has no letters of two alphabets (one Cyrillic letter in a Latin word), and
    nothing that ends a sentence or quotes one, so that no line about whoever is called so could be somebody
    else's.
    """
    if _WORDS.fullmatch(name.casefold()):
        raise UserError(f"{name} has another meaning here; choose another name")
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    if len(scripts - _MIXED_WITH_OTHERS) > 1:
        raise UserError(f"{name} mixes letters of different alphabets; choose another name")
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


def perceived(
    line: RoomLine, actor: Being, hearer: Being, addressed: bool, present: frozenset[str],
    *, now: float, place: str, things: Sequence[str], depth: int, audience: Audience | None, floor: Floor,
) -> Percept | None:  # fmt: skip
    """The percept; None for whoever only sees that others whisper.

    Args:
        addressed: it was said to the hearer.
        present: who would hear an answer.
        things: what lies about, by name.
        audience: who may learn of it, where that does not follow from who is there.
    """
    whispered = line.kind is Kind.WHISPER
    if whispered and hearer.id != line.target:
        return None
    return Percept(
        user_id=actor.id,
        text=line.text,
        timestamp=now,
        kind=line.kind,
        addressed=addressed,
        audience=audience,
        present=frozenset({actor.id}) if whispered else present - {hearer.id},
        depth=depth,
        place=place,
        things=tuple(things),
        data={"manner": line.manner} if line.manner else {},
        floor=floor,
        tier=line.tier,
    )
