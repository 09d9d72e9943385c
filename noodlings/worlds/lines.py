"""What people in a world see happen: one line for one act, seen by whoever did it or by the others.

A line is a value; a host decides how to show it, and `view` is how a terminal would.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from rich.text import Text

from noodlings.errors import UserError
from noodlings.text import MAX_LINE, clean
from noodlings.values.percept import Kind

_BOLD = re.compile(r"\*\*+")
_STARRED = re.compile(r"\*([^*]*)\*")
_SENTENCE_ENDS = ".!?…,;:\"'”"
_NAME_COLOURS = ("cyan", "green", "magenta", "blue", "yellow")
_QUOTES = {'"': '"', "“": "”", "«": "»"}


@dataclass(frozen=True, slots=True)
class Line:
    """One act as it is seen.

    Attributes:
        kind: what sort of act.
        actor, name: id and shown name of whoever did it; both empty for something nobody did.
        text: the words said, or what was done ("waves"); empty for a whisper that was only overheard.
        manner: what the speaker did while speaking ("tilts its head"), or "".
        target, target_name: whom a whisper was for.
    """

    kind: Kind
    text: str
    actor: str = ""
    name: str = ""
    manner: str = ""
    target: str = ""
    target_name: str = ""

    def view(self, viewer: str = "") -> Text:
        """The line as `viewer` (an id) sees it: "You say" to whoever did it, the name to everybody else."""
        if self.kind in (Kind.EVENT, Kind.THOUGHT):
            return Text(self.text, style="dim")
        if self.kind in (Kind.EMOTE, Kind.ARRIVE, Kind.LEAVE):
            style = "italic" if self.kind is Kind.EMOTE else "dim"
            joint = "" if self.text.startswith(("'", "’")) else " "
            return Text.assemble(self._named(), (joint + ended(self.text), style))
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

    def _named(self) -> tuple[str, str]:
        colour = _NAME_COLOURS[zlib.crc32(self.actor.encode()) % len(_NAME_COLOURS)]
        return self.name, f"bold {colour}"


def heard(text: str) -> str:
    """What is heard of something that is said. Raises `UserError` when it is nothing, or too long."""
    text = clean(text)
    if not text:
        raise UserError("There is nothing to hear in that.")
    if len(text) > MAX_LINE:
        raise UserError(f"That has {len(text):,} characters; say it in pieces of at most {MAX_LINE:,}.")
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
