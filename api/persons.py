"""What is kept of a person: seeing, exporting and deleting it. For admins, while the world runs."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from anyio import from_thread
from fastapi import Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from api.answers import documented, documented_text, shown
from api.authentication import MAX_ID
from api.parts import Actor, Reader, SocietyPart, parts_of, topic_router
from noodlings.portable.person import (
    PersonForgotten,
    PersonReport,
    export_person,
    find_person,
    forget_person,
    report,
)

NDJSON = "application/x-ndjson"
_LINES = """\
{"format": "noodlings-person", "version": 1, "ids": {"user_caity": {"name": "Caity", "place": "garden"}}, \
"accounts": []}
{"agent": "servnak", "id": 12, "timestamp": 1764000000.0, "user_id": "user_caity", "kind": "say", \
"place": "garden", "user_text": "My dog died yesterday", "response": "OH NO."}
"""
_READING, _DELETING = "see what is kept of a person", "have everything about a person deleted"

router = topic_router("/api/persons/{person:path}", tags=["persons"])  # a world's ids may have a /

Named = Annotated[
    str,
    Path(
        alias="person",
        min_length=1,
        max_length=MAX_ID,
        description="An id, the name of an account, or a shown name that nobody else has.",
        examples=["user_caity"],
    ),
]


@dataclass(frozen=True, slots=True)
class PersonDeletion:
    """What is, or would be, deleted.

    Attributes:
        report: what was kept before.
        done: what was deleted; null if nothing was, because `yes` was not given.
    """

    report: PersonReport
    done: PersonForgotten | None = None


# The first of those of one method that fits has the request, so the longer path stands first.
@router.get("/export", response_class=Response, responses=documented_text(NDJSON, "JSON lines.", _LINES))
async def person_export(person: Named, caller: Reader, society: SocietyPart) -> Response:
    """What a person told the characters and was answered, one JSON object a line. Admin only."""
    caller.require_admin(_READING)
    lines: list[str] = []
    found = await asyncio.to_thread(find_person, society, person)
    await asyncio.to_thread(export_person, society, found, lines.append)
    return Response("".join(lines), media_type=NDJSON)


@router.get("", responses=documented(PersonReport))
async def person_report(person: Named, caller: Reader, society: SocietyPart) -> Response:
    """What is kept of a person, and where. Admin only."""
    caller.require_admin(_READING)
    found = await asyncio.to_thread(find_person, society, person)
    return shown(await asyncio.to_thread(report, society, found))


@router.delete("", responses=documented(PersonDeletion))
async def person_forget(
    request: Request,
    person: Named,
    caller: Actor,
    society: SocietyPart,
    yes: Annotated[
        bool, Query(description="Without it, you only see what would be deleted.", examples=[True])
    ] = False,
) -> Response:
    """Delete everything about a person, for good. Admin only; whoever is in the rooms must leave first."""
    caller.require_admin(_DELETING)
    request.state.path = request.scope["route"].path_format  # the audit log must not name the person
    parts, found = parts_of(request), await asyncio.to_thread(find_person, society, person)
    kept = await asyncio.to_thread(report, society, found)
    if not yes:
        return shown(PersonDeletion(kept))

    async def taken_in() -> None:
        for agent in society.agents.awake:
            await agent.taken_in()

    with ExitStack() as until_done:
        for agent_id in list(society.personas):
            await society.take(agent_id)
            until_done.callback(society.hold(agent_id))
        parts.people.world.part_from(found.ids)
        until_done.enter_context(society.refusing(found.ids))
        await parts.people.world.settle()  # until the characters have noticed that they left
        society.clear_scrollbacks()
        parts.turns.forget(found.ids)
        parts.people.forget_lines()
        # What changes characters is called in the event loop, where everything else changes them.
        change, wait = from_thread.run_sync, partial(from_thread.run, taken_in)
        done = await run_in_threadpool(forget_person, society, caller, found, change, wait)
        society.clear_scrollbacks()  # what was said meanwhile
        parts.people.forget_lines()
    return shown(PersonDeletion(kept, done))
