"""What the token in hand lets one do: for a client that has to know before it offers something."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from api import examples
from api.answers import documented
from api.parts import Held, Reader, parts_of
from noodlings.values.caller import Role

router = APIRouter(tags=["server"])


class Rights(BaseModel):
    """Who asks, and what they may; the table is in docs/api.md."""

    role: Literal["admin", "world", "viewer", "player"]
    user: str = Field(description="Whose history alone is read: a player's own id, or whom a world names.")
    reads: Literal["everything", "own", "figures"] = Field(
        description="Everything; what this user told or did; or figures without words."
    )
    speaks: Literal["anybody", "itself", "nobody"] = Field(
        description="As whom it says something and types commands."
    )
    forgets: Literal["anything", "own", "nothing"] = Field(
        description="What it may have forgotten: own is what the user told for whom it asks."
    )
    corrects: bool = Field(description="It pins, weighs and links memories, and takes corrections back.")
    events: bool = Field(description="It lets a game's events happen.")
    creates: bool = Field(description="It lets characters come to life, and reads the server's figures.")
    tokens: bool = Field(description="There are tokens; without any, everybody on this machine is admin.")


@router.get("/whoami", responses=documented(Rights, examples.RIGHTS))
async def whoami(request: Request, held: Held, caller: Reader) -> Rights:
    """Who asks, and what they may do here."""
    role = held.role
    admin, named = role is Role.ADMIN, caller.role is Role.PLAYER
    return Rights(
        role=role.value,
        user=caller.user_id if named else "",
        reads="everything" if caller.sees_all else "own" if named else "figures",
        speaks={Role.VIEWER: "nobody", Role.PLAYER: "itself"}.get(role, "anybody"),
        forgets={Role.ADMIN: "anything", Role.VIEWER: "nothing"}.get(role, "own"),
        corrects=admin,
        events=role in (Role.ADMIN, Role.WORLD),
        creates=admin,
        tokens=not parts_of(request).doorkeeper.open,
    )
