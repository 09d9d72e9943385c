"""What one character perceives of something that happens in its room."""

from __future__ import annotations

from collections.abc import Sequence

from noodlings.values.audience import Audience
from noodlings.values.percept import Kind, Percept
from noodlings.worlds.beings import Being
from noodlings.worlds.lines import Line


def perceived(
    line: Line, actor: Being, hearer: Being, others: Sequence[Being], present: frozenset[str],
    *, now: float, place: str, depth: int, audience: Audience | None,
) -> Percept | None:  # fmt: skip
    """The percept; None for whoever only sees that others whisper.

    Args:
        others: everybody in the room but the actor.
        present: who would hear an answer.
        audience: who may learn of it, where that does not follow from who is there.
    """
    whispered = line.kind is Kind.WHISPER
    if whispered and hearer.id != line.target:
        return None
    speaks = line.kind in (Kind.SAY, Kind.EMOTE, Kind.WHISPER)
    return Percept(
        user_id=actor.id,
        text=line.text,
        timestamp=now,
        kind=line.kind,
        addressed=speaks and (whispered or len(others) == 1 or hearer.named_in(line.text)),
        audience=audience,
        present=frozenset({actor.id}) if whispered else present - {hearer.id},
        depth=depth,
        place=place,
        data={"manner": line.manner} if line.manner else {},
    )
