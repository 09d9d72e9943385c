"""What one character perceives of something that happens in its room."""

from __future__ import annotations

from collections.abc import Sequence

from noodlings.values.percept import Kind, Percept
from noodlings.worlds.beings import Being
from noodlings.worlds.lines import Line


def perceived(
    line: Line, actor: Being, hearer: Being, others: Sequence[Being], present: frozenset[str],
    *, now: float, place: str, depth: int,
) -> Percept | None:  # fmt: skip
    """The percept; None for whoever only sees that others whisper.

    Args:
        others: everybody in the room but the actor.
        present: who would hear an answer.
    """
    audience = frozenset({actor.id, line.target}) if line.kind is Kind.WHISPER else frozenset()
    if audience and hearer.id not in audience:
        return None
    speaks = line.kind in (Kind.SAY, Kind.EMOTE, Kind.WHISPER)
    return Percept(
        user_id=actor.id,
        text=line.text,
        timestamp=now,
        kind=line.kind,
        addressed=speaks and (bool(audience) or len(others) == 1 or hearer.named_in(line.text)),
        audience=audience,
        present=(audience or present) - {hearer.id},
        depth=depth,
        place=place,
        data={"manner": line.manner} if line.manner else {},
    )
