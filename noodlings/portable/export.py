"""Export: agents with all their memories and traces, one JSON object a line.

The same agents give the same bytes wherever they are. Each line is read back before it is written, because an
export that cannot be imported would be of no use.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from noodlings.agent.state import readable_state
from noodlings.errors import UserError
from noodlings.portable.lines import FORMAT, VERSION, Contents, read_line, read_object
from noodlings.ports import StoreSnapshot
from noodlings.text import clean
from noodlings.values.audience import Audience, Tier
from noodlings.values.memory import ArchivedAgent, ArchivedEntry, ArchivedSymbol, Link
from noodlings.values.relationship import NO_REGARD
from noodlings.values.trace import Trace

log = logging.getLogger(__name__)

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


@dataclass(slots=True)
class Exported(Contents):
    """What an export holds, and how many records could not be read, or are of a form that no import takes."""

    left_out: int = 0


def export(
    kept: StoreSnapshot, agents: Iterable[str], write: Callable[[str], object], importable: bool = True
) -> Exported:
    """Write these agents, line by line.

    Args:
        kept: where they are.
        agents: their ids, in the order in which they are to be written.
        write: is given each line, with its end.
        importable: leave out what no import takes.
    """
    done = Exported()

    def put(line: dict[str, Any]) -> bool:
        try:
            written = _written(line)
            if importable:
                read_line(read_object(written.encode()))
        except (UserError, ValueError) as error:
            log.warning("left out: %s", clean(str(error)))
            done.left_out += 1
            return False
        write(written)
        return True

    write(_written({"format": FORMAT, "version": VERSION}))
    for agent_id in agents:
        agent = kept.agent(agent_id)
        if not put(_agent_line(agent)) and not put(_agent_line(replace(agent, state={}))):
            raise UserError(f"{agent_id!r} is not an id that can be imported: use only letters, digits and _")
        done.agents.append(agent_id)
        entries = {entry.entry.id for entry in kept.entries(agent_id) if put(_entry_line(agent_id, entry))}
        done.add("entries", len(entries))
        turns = (trace for trace in kept.traces(agent_id) if trace.entry_id in entries)
        done.add("traces", sum(put(_trace_line(trace)) for trace in turns))
        links = (link for link in kept.links(agent_id) if {link.source, link.target} <= entries)
        done.add("links", sum(put(_link_line(agent_id, link)) for link in links))
        symbols = (made for made in kept.symbols(agent_id) if made.symbol.entry_id in entries)
        done.add("symbols", sum(put(_symbol_line(agent_id, made)) for made in symbols))
        taken = (
            record for record in kept.taken(agent_id) if record.entry_id is None or record.entry_id in entries
        )
        lines = ({"type": "record", "agent": agent_id, **asdict(record)} for record in taken)
        done.add("records", sum(map(put, lines)))
    counts = done.counts()
    if not done.records:
        del counts["records"]  # so that a noodlings without sources can read it
    write(_written({"type": "end", **counts}))
    done.left_out += kept.left_out
    return done


def _written(line: dict[str, Any]) -> str:
    return _JSON.encode(line) + "\n"


def _agent_line(agent: ArchivedAgent) -> dict[str, Any]:
    try:
        state = readable_state(agent.state)
    except UserError:
        state = agent.state  # empty, or refused with the line
    last = {"last_id": agent.last_id, "last_symbol_id": agent.last_symbol_id}
    return {"type": "agent", "id": agent.agent_id, **last, "state": state}


def _entry_line(agent_id: str, kept: ArchivedEntry) -> dict[str, Any]:
    entry = kept.entry
    state = entry.phenomenal_state
    line = {
        "type": "entry",
        "agent": agent_id,
        **{field.name: getattr(entry, field.name) for field in fields(entry)},
        "affect": None if entry.affect is None else asdict(entry.affect),
        "parts": asdict(entry.parts),
        "phenomenal_state": None if state is None else state.tolist(),
        "kind": entry.kind.value,
        **_audience(entry.audience),
        "episodic": kept.episodic,
        "consolidated": kept.consolidated,
    }
    for name in ("source", "hindsight", "tells"):
        if not line[name]:
            del line[name]  # so that a noodlings that knows nothing of them can read the line
    return line


def _trace_line(trace: Trace) -> dict[str, Any]:
    line = asdict(trace) | _audience(trace.audience)
    if trace.action is None:
        del line["action"]  # so that a noodlings without actions can read it
    if trace.regard == NO_REGARD:
        del line["regard"]
    return {"type": "trace", "agent": line.pop("agent_id"), **line}


def _audience(audience: Audience) -> dict[str, Any]:
    return {"audience": sorted(audience.witnesses), "confined": audience.confined, **_tier(audience)}


def _tier(audience: Audience) -> dict[str, int]:
    """The tier, unless it is one that a noodlings without tiers has too."""
    return {"tier": int(audience.tier)} if audience.tier > Tier.CONFINED else {}


def _link_line(agent_id: str, link: Link) -> dict[str, Any]:
    line = asdict(link)
    if link.quoted is None:
        del line["quoted"]  # so that an older noodlings can read it
    return {"type": "link", "agent": agent_id, "kind": line.pop("type"), **line}


def _symbol_line(agent_id: str, made: ArchivedSymbol) -> dict[str, Any]:
    line = asdict(made.symbol)
    audience = made.symbol.audience
    del line["audience"]
    circle = sorted(audience.witnesses) if audience.confined else []
    line |= {"circle": circle, **_tier(audience), "faded": made.faded}
    return {"type": "symbol", "agent": agent_id, **line}
