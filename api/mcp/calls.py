"""Tools as they are offered and called: what a client sees of them, and how a refusal sounds.

The rule it keeps: whatever goes wrong in a call is told as a tool's error in one sentence; what was not meant
to go wrong only says so, and the log has the details.
"""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from typing import Any

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as Offered
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from api.audit import note
from api.mcp.access import DENIED, Access, Asker, Call, default_agent, names
from api.mcp.tools import TOOLS, Answer, Tool
from api.problem import status_of
from noodlings.agent.society import Society
from noodlings.errors import NoodlingsError, NotFound, UserError, told
from noodlings.text import clean, shorten
from noodlings.validation import explain

LONGEST = 500
"""Characters of a refusal."""

_TOOLS = {tool.name: tool for tool in TOOLS}

log = logging.getLogger(__name__)


class Untitled(GenerateJsonSchema):
    """Leaves out titles, which only repeat the names: whatever a model reads costs tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False


def offers(access: Access) -> list[Offered]:
    """All tools as a client sees them, with the characters that there are."""
    with access.opened() as society:
        return [_offer(tool, society, access) for tool in TOOLS]


async def call(name: str, access: Access, arguments: dict[str, Any]) -> CallToolResult:
    """Run a tool; each change and each denial is in the audit log.

    Raises:
        NotFound: there is no such tool.
    """
    tool = _TOOLS.get(name)
    if tool is None:
        raise NotFound(f"There is no tool {shorten(clean(name), 40)}; there are {', '.join(_TOOLS)}.")
    try:
        answer = await _answer(tool, access, arguments)
    except NoodlingsError as error:
        if told(error) != str(error):
            log.error("%s: %s", name, error)
        _audit(tool, access.asker, status_of(error))
        return _refusal(told(error))
    except Exception:
        log.exception("%s broke", name)
        _audit(tool, access.asker, HTTPStatus.INTERNAL_SERVER_ERROR)
        return _refusal("Something broke here; the log has the details.")
    _audit(tool, access.asker, HTTPStatus.OK, answer.turn)
    return CallToolResult(content=[TextContent(text=answer.text)], structured_content=answer.data)


async def _answer(tool: Tool, access: Access, arguments: dict[str, Any]) -> Answer:
    try:
        wanted = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise UserError(f"{tool.name}: {explain(error, tool.arguments).removeprefix(': ')}") from None
    with access.opened() as society:
        return await tool.run(Call(society, access), wanted)


def _offer(tool: Tool, society: Society, access: Access) -> Offered:
    takes = tool.arguments.model_json_schema(schema_generator=Untitled)
    for ours in ("title", "description"):  # of the class
        takes.pop(ours, None)
    default = default_agent(society, access)
    meant = f"Left out, {default} is meant." if default else ""
    takes["properties"]["agent"]["description"] = f"Whose memory: {names(society)}. {meant}".rstrip()
    if not default:
        takes["required"] = ["agent", *takes.get("required", [])]
    busy = (
        f"\nNothing can be changed from here, only read: {access.busy}."
        if tool.writes and access.busy
        else ""
    )
    return Offered(
        name=tool.name,
        title=tool.title,
        description=tool.description + busy,
        input_schema=takes,
        output_schema=TypeAdapter(tool.result).json_schema(schema_generator=Untitled, mode="serialization"),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.destroys or not tool.writes,
            open_world_hint=False,
        ),
    )


def _refusal(why: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=shorten(clean(why), LONGEST))], is_error=True)


def _audit(tool: Tool, asker: Asker, status: HTTPStatus, turn: str = "") -> None:
    if tool.writes or status in DENIED:
        note(
            at=round(time.time(), 3),
            token=asker.held.key,
            role=asker.held.role.value,
            user=asker.user or asker.held.user_id,
            method="MCP",
            path=tool.name,
            turn=turn,
            status=int(status),
        )
