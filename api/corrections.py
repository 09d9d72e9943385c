"""Changing what an agent remembers: forget, pin, set importance, link, undo, and let it go over all of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from pydantic import BaseModel, Field

from api.answers import body_like, documented, shown
from api.authentication import MAX_ID
from api.parts import LARGEST_ID, Actor, AgentName, EntryId, InspectorPart, SocietyPart, topic_router
from noodlings.agent.corrections import KNOWING, LONGEST_CORRECTION, LONGEST_FACT
from noodlings.agent.night import REFLECTING
from noodlings.inspect.changes import (
    Corrected,
    FactKnown,
    Forgot,
    LinkAdded,
    LinksRemoved,
    NightView,
    Reworded,
)

router = topic_router("/api/agents/{agent}/memory", tags=["corrections"])


class NewImportance(BaseModel):
    """An importance set by hand."""

    model_config = body_like(importance=0.9)

    importance: float | None = Field(
        ge=0, le=1, allow_inf_nan=False, strict=True, description="Null restores the original importance."
    )


class LinkRequest(BaseModel):
    """Two memories to link."""

    model_config = body_like(source=12, target=3)

    source: int = Field(ge=1, le=LARGEST_ID, strict=True)
    target: int = Field(ge=1, le=LARGEST_ID, strict=True)


class NewText(BaseModel):
    """Other words for a memory."""

    model_config = body_like(text="my sister is called Ruth")

    text: str = Field(min_length=1, max_length=LONGEST_CORRECTION)


class FactRequest(BaseModel):
    """A fact about somebody."""

    model_config = body_like(about="user_caity", text="is allergic to nuts")

    about: str = Field(min_length=1, max_length=MAX_ID, description="Who it is about, by id or name.")
    text: str = Field(min_length=1, max_length=LONGEST_FACT)


@router.delete("/entries/{entry}", responses=documented(Forgot))
async def forget(agent: AgentName, entry: EntryId, caller: Actor, society: SocietyPart) -> Response:
    """Delete one memory for good. A player may only delete what it told the character itself."""
    await society.corrections.turn()
    forgotten = await society.corrections.erased(society.corrections.forget(caller, agent, [entry]))
    return shown(Forgot.of(society.find(agent).id, forgotten))


@router.delete("/entries", responses=documented(Forgot))
async def forget_user(
    agent: AgentName,
    caller: Actor,
    society: SocietyPart,
    user_id: Annotated[str, Query(min_length=1, max_length=80, examples=["user_caity"])],
) -> Response:
    """Delete everything from one user for good. A player may only name itself."""
    forgotten = await society.corrections.forget_user_in_parts(caller, agent, user_id)
    return shown(Forgot.of(society.find(agent).id, forgotten))


@router.put("/entries/{entry}/pin", responses=documented(Corrected))
async def pin(agent: AgentName, entry: EntryId, caller: Actor, society: SocietyPart) -> Response:
    """Pin a memory, so that it never fades. Admin only."""
    return shown(Corrected.of(society.find(agent).id, society.corrections.pin(caller, agent, entry)))


@router.delete("/entries/{entry}/pin", responses=documented(Corrected))
async def unpin(agent: AgentName, entry: EntryId, caller: Actor, society: SocietyPart) -> Response:
    """Unpin a memory, so that it may fade like any other. Admin only."""
    changed = society.corrections.pin(caller, agent, entry, pinned=False)
    return shown(Corrected.of(society.find(agent).id, changed))


@router.put("/entries/{entry}/importance", responses=documented(Corrected))
async def importance(
    agent: AgentName, entry: EntryId, weight: NewImportance, caller: Actor, society: SocietyPart
) -> Response:
    """Set the importance of a memory by hand. Admin only."""
    changed = society.corrections.set_importance(caller, agent, entry, weight.importance)
    return shown(Corrected.of(society.find(agent).id, changed))


@router.post("/links", status_code=201, responses=documented(LinkAdded, 201))
async def link(agent: AgentName, joint: LinkRequest, caller: Actor, society: SocietyPart) -> Response:
    """Link one memory to another by hand. Admin only."""
    made = society.corrections.link(caller, agent, joint.source, joint.target)
    return shown(LinkAdded(society.find(agent).id, made.source, made.target, made.strength), 201)


@router.delete("/links", responses=documented(LinksRemoved))
async def unlink(
    agent: AgentName,
    caller: Actor,
    society: SocietyPart,
    source: Annotated[int, Query(ge=1, le=LARGEST_ID, description="One memory.", examples=[12])],
    target: Annotated[int, Query(ge=1, le=LARGEST_ID, description="The other memory.", examples=[3])],
) -> Response:
    """Remove the links between two memories, in either direction. Admin only."""
    gone = society.corrections.unlink(caller, agent, source, target)
    return shown(LinksRemoved.of(society.find(agent).id, source, target, gone))


@router.put("/entries/{entry}/text", responses=documented(Reworded))
async def correct(
    agent: AgentName, entry: EntryId, words: NewText, caller: Actor, society: SocietyPart
) -> Response:
    """Correct the words of a memory. The former memory is kept, but no longer comes to mind. Admin only."""
    made = society.corrections.correct(caller, agent, entry, words.text)
    return shown(Reworded(society.find(agent).id, made.id, entry))


@router.post("/facts", status_code=201, responses=documented(FactKnown, 201))
async def know(
    agent: AgentName, fact: FactRequest, caller: Actor, society: SocietyPart, inspector: InspectorPart
) -> Response:
    """Add something the character knows about somebody, as if it had always known. Admin only."""
    caller.require_admin(KNOWING)
    about = inspector.user_id(caller, agent, fact.about)
    entry = await society.corrections.know(caller, agent, about, fact.text)
    return shown(FactKnown(society.find(agent).id, entry.id, about), 201)


@router.post("/undo", responses=documented(Corrected))
async def undo(agent: AgentName, caller: Actor, society: SocietyPart) -> Response:
    """Undo the last pin or importance set by hand, up to ten minutes later. Admin only."""
    entry, _ = society.corrections.undo(caller, agent)
    return shown(Corrected.of(society.find(agent).id, entry))


@router.post("/reflection", status_code=202, responses=documented(NightView, 202))
async def reflect(agent: AgentName, caller: Actor, society: SocietyPart) -> Response:
    """Let the character go over what it perceived, in the background. Admin only."""
    caller.require_admin(REFLECTING)
    await society.find(agent).begin_reflecting()
    return shown(NightView.of(society.find(agent)), 202)


@router.get("/reflection", responses=documented(NightView))
async def night(agent: AgentName, caller: Actor, society: SocietyPart) -> Response:
    """How far the character is with going over what it perceived, or how it last ended. Admin only."""
    caller.require_admin(REFLECTING)
    return shown(NightView.of(society.find(agent)))
