"""What one sees of a search through everything an agent ever perceived. See `noodlings.inspect.views`."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.inspect.views import EntryView, FeltView, View


@dataclass(frozen=True, slots=True)
class ArchiveView(View):
    """How far the archive of an agent is: figures without content, so everybody may see them.

    Attributes:
        perceived: entries there are in all; of these `entries` can be found by their words so far, all where
            it is `loaded`.
        model: by which model they are embedded, "" for none.
        embedded: those that can be found by their meaning; `pending` will be, `parked` could not be embedded,
            however often it was tried.
        reason: why something could not be embedded last, or ""; for those who may see everything.
    """

    agent: str
    name: str
    perceived: int
    entries: int
    loaded: bool
    model: str
    embedded: int
    pending: int
    parked: int
    reason: str


@dataclass(frozen=True, slots=True)
class FoundView(View):
    """A memory that was found.

    Attributes:
        score: 0…1, what the list is ranked by.
        why: semantic, lexical, next_to, date: what found it, the strongest first; affect, for mood, last.
            lexical: it shares words with the question; next_to: the lines around it do.
        scores: each component, 0…1: meaning (of the line among those around it), words (that stand in the
            line itself), next_to (what those of the lines around it add), and as far as the question has
            them speaker, date, time; length (how much is said); mood: the part of the score that mood added.
        status: working, episodic or archive: the nearest to mind of the places where it is.
    """

    score: float
    why: tuple[str, ...]
    scores: dict[str, float]
    status: str
    entry: EntryView


@dataclass(frozen=True, slots=True)
class RecallView(View):
    """What an agent's archive holds on a question, as far as the caller may read it.

    Attributes:
        query: what was looked for.
        mood: in which mood, or None; `emotion_weight` is how much that counted.
        memories: best first.
        by_meaning: whether meaning was compared, or words alone.
        archive: how far the archive is.
    """

    agent: str
    name: str
    query: str
    mood: FeltView | None
    emotion_weight: float
    by_meaning: bool
    memories: tuple[FoundView, ...]
    archive: ArchiveView
