"""The tools: each asks `Inspector` or `Society` for one thing and puts the result into text.

An error in a call becomes a tool error of one sentence. For an unexpected error, the details are only in the
log.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as Offered
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from api.audit import DENIED, note
from api.mcp import telling
from api.mcp.access import READ_ONLY, Access, Asker, ToolCall, default_agent, names
from api.mcp.arguments import (
    Arguments,
    AskChronicle,
    ForgetMemory,
    GetJournal,
    GetMemoryContext,
    GetPeople,
    SearchMemories,
    StoreMemory,
)
from api.problem import status_of
from noodlings.agent.society import Society
from noodlings.errors import NoodlingsError, NotFound, UserError, told
from noodlings.inspect.changes import Forgot
from noodlings.inspect.chronicle import ChronicleView
from noodlings.inspect.journal import JournalView
from noodlings.inspect.links import FocusView
from noodlings.inspect.mood import MoodView
from noodlings.inspect.people import PeopleView
from noodlings.inspect.recall import RecallOptions, RecallView
from noodlings.inspect.views import StatsView
from noodlings.inspect.why import WhyView
from noodlings.recall.filters import Filters, moment_of
from noodlings.text import clean, shorten
from noodlings.validation import explain
from noodlings.values.percept import Kind, Percept


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool.

    Attributes:
        text: for a model to read.
        data: the complete view as JSON.
        turn: agent and entry of the new memory, for the audit log, or "".
    """

    text: str
    data: dict[str, Any]
    turn: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        result: the class of its data.
        writes: whether it changes memories.
        destroys: whether it deletes memories.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type
    run: Callable[[ToolCall, Any], Awaitable[ToolAnswer]]
    writes: bool = False
    destroys: bool = False


async def search_memories(call: ToolCall, wanted: SearchMemories) -> ToolAnswer:
    mood, now = wanted.emotional_context, call.society.clock.now()
    filters = Filters(
        since=None if wanted.since is None else moment_of(wanted.since, now),
        until=None if wanted.until is None else moment_of(wanted.until, now),
        kinds=frozenset() if wanted.kind is None else frozenset({wanted.kind}),
        tags=frozenset({wanted.tag} - {""}),
        min_importance=wanted.min_importance,
        feeling=wanted.feeling.lower() or None,
    )
    how = RecallOptions(
        filters=filters,
        status=wanted.status,
        mood=mood.affect() if mood else None,
        include_emotion=wanted.include_emotion,
        emotion_weight=wanted.emotion_weight,
        candidate_multiplier=wanted.candidate_multiplier,
        min_score=wanted.min_score,
    )
    view = await call.inspector.recall(
        call.reader(),
        call.agent(wanted.agent),
        wanted.query,
        wanted.n_results,
        wanted.user_id or None,
        how,
    )
    return ToolAnswer(telling.recalled(view), view.as_dict())


async def store_memory(call: ToolCall, wanted: StoreMemory) -> ToolAnswer:
    turns, caller = call.turns(), call.actor(wanted.user_id)
    text, agent, kind = clean(wanted.content), call.agent(wanted.agent), Kind(wanted.kind)
    if not text:
        raise UserError("The content is empty once control characters are removed; send some words.")
    percept = Percept(
        user_id=caller.user_id,
        text=text,
        timestamp=call.society.clock.now(),
        kind=kind,
        addressed=True,
        present=frozenset({caller.user_id}),
        overheard_by=call.access.asker.held.overhears(caller.user_id),
    )
    entry_id, _, _ = await turns.perceive(agent, percept, token=call.access.asker.held.key)
    view = call.inspector.turn(caller, agent, entry_id)
    return ToolAnswer(telling.stored(view, entry_id), view.as_dict(), f"{agent}/{entry_id}")


async def get_memory_context(call: ToolCall, wanted: GetMemoryContext) -> ToolAnswer:
    agent = call.agent(wanted.agent)
    view = await call.inspector.focus(
        call.reader(), agent, wanted.focus_level, wanted.query, wanted.user_id or None
    )
    return ToolAnswer(telling.context(view), view.as_dict())


async def get_memory_stats(call: ToolCall, wanted: Arguments) -> ToolAnswer:
    view = call.inspector.stats(call.reader(), call.agent(wanted.agent))
    return ToolAnswer(telling.stats(view), view.as_dict())


async def forget_memory(call: ToolCall, wanted: ForgetMemory) -> ToolAnswer:
    call.turns()  # raises if nothing can be changed
    corrections, agent = call.society.corrections, call.agent(wanted.agent)
    caller = call.actor()
    if wanted.memory_id is not None:
        forgotten = corrections.forget(caller, agent, [wanted.memory_id])
    else:
        who = caller.user_id if clean(wanted.user_id).casefold() == "me" else wanted.user_id
        forgotten = corrections.forget_user(caller, agent, who)
    name = clean(call.society.find(agent).persona.name)
    return ToolAnswer(telling.forgot(name, forgotten), Forgot.of(agent, forgotten).as_dict())


async def get_people(call: ToolCall, wanted: GetPeople) -> ToolAnswer:
    agent, person = call.agent(wanted.agent), wanted.person or None
    view = await call.inspector.people(call.reader(), agent, person, wanted.n_results)
    return ToolAnswer(telling.people(view), view.as_dict())


async def get_journal(call: ToolCall, wanted: GetJournal) -> ToolAnswer:
    agent = call.agent(wanted.agent)
    view = await call.inspector.journal(call.reader(), agent, wanted.day or None, wanted.n_results)
    return ToolAnswer(telling.journal(view), view.as_dict())


async def ask_chronicle(call: ToolCall, wanted: AskChronicle) -> ToolAnswer:
    agent = call.agent(wanted.agent)
    view = await call.inspector.chronicle(call.reader(), agent, wanted.query, wanted.n_results)
    return ToolAnswer(telling.chronicle(view), view.as_dict())


async def get_mood(call: ToolCall, wanted: Arguments) -> ToolAnswer:
    view = call.inspector.mood(call.reader(), call.agent(wanted.agent))
    return ToolAnswer(telling.mood(view), view.as_dict())


TOOLS = (
    Tool(
        "search_memories",
        "Search memories",
        "Search everything a character ever perceived, by words and by meaning, best first. Use it before you"
        " answer a question about the past, or to find the number (#12) of a memory. With emotional_context"
        " (or include_emotion, for the character's own mood), memories with a similar feeling come first"
        " among those that fit about equally well. The other arguments narrow the search. You only see what"
        " you may read: a player sees what it told the character itself.\n"
        'Example: {"agent": "servnak", "query": "what happened to Caity\'s dog", "n_results": 5,'
        ' "emotional_context": {"valence": -0.7, "arousal": 0.2}}',
        SearchMemories,
        RecallView,
        search_memories,
    ),
    Tool(
        "store_memory",
        "Tell a character something",
        "Tell a character something to remember. It takes this in like anything said to it: it feels"
        " something about it, decides how important it is, remembers it for good, and usually answers; you"
        " get the answer. Tell it one thing at a time, in the speaker's own words.\n"
        'Example: {"agent": "servnak", "content": "My dog died yesterday"}',
        StoreMemory,
        WhyView,
        store_memory,
        writes=True,
    ),
    Tool(
        "get_memory_context",
        "Get context for a question",
        "What a character remembers about a question, as one block of text, oldest to newest: the results of"
        " a search within a span of time, and memories linked to them. Use it to brief yourself before you"
        " speak for or with the character; use search_memories to look back further than a week.\n"
        'Example: {"agent": "servnak", "query": "Caity\'s dog", "focus_level": 4}',
        GetMemoryContext,
        FocusView,
        get_memory_context,
    ),
    Tool(
        "get_people",
        "What a character knows about people",
        "What a character was told about people: who they are, and what they do, like, fear, plan and"
        " promise, in the words it was told in, with the numbers of the memories that say so; how long it has"
        " known them, and which of their plans are still open. Use it before you speak to somebody as the"
        " character.\n"
        'Example: {"agent": "servnak", "person": "caity"}',
        GetPeople,
        PeopleView,
        get_people,
    ),
    Tool(
        "get_journal",
        "A character's journal",
        "What happened to a character, day by day, latest first: who it talked with, what mattered most and"
        " how that felt, with the numbers of the memories behind each sentence. Use it to catch up on a day;"
        " use search_memories for a single subject.\n"
        'Example: {"agent": "servnak", "day": "2026-11-23"}',
        GetJournal,
        JournalView,
        get_journal,
    ),
    Tool(
        "ask_chronicle",
        "Ask for the history of a code base",
        "Which commits of the code bases that a character read (noodlings chronicle) answer a question, best"
        " first: hash, date, author, message and files. Use it for why, when or by whom something in the code"
        " was changed, in your own words; a date, an author, a file or an issue in the question counts.\n"
        'Example: {"agent": "servnak", "query": "why was the retry queue changed"}',
        AskChronicle,
        ChronicleView,
        ask_chronicle,
    ),
    Tool(
        "get_memory_stats",
        "Memory statistics",
        "How much a character has perceived, and how full its working, episodic and symbolic memory is."
        " Figures only, no content.\n"
        'Example: {"agent": "servnak"}',
        Arguments,
        StatsView,
        get_memory_stats,
    ),
    Tool(
        "forget_memory",
        "Forget for good",
        "Delete one memory by its number, or everything one user told a character. It is deleted everywhere"
        " this character keeps it, together with answers that repeated it, and cannot be brought back: ask"
        " the user first. A player may only delete what it told the character itself.\n"
        'Example: {"agent": "servnak", "memory_id": 12}',
        ForgetMemory,
        Forgot,
        forget_memory,
        writes=True,
        destroys=True,
    ),
    Tool(
        "get_mood",
        "A character's mood",
        "What a character feels now, as a word and as numbers (valence −1…1, the others 0…1), how the last"
        " thing it perceived felt, and what it wants.\n"
        'Example: {"agent": "servnak"}',
        Arguments,
        MoodView,
        get_mood,
    ),
)


LONGEST = 500
"""The most characters of an error."""

_TOOLS = {tool.name: tool for tool in TOOLS}

log = logging.getLogger(__name__)


class Untitled(GenerateJsonSchema):
    """A schema without titles, which only repeat the names and cost tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def offers(access: Access) -> list[Offered]:
    """All tools as a client sees them."""
    with access.opened() as society:
        return [_offer(tool, society, access) for tool in TOOLS]


async def call(name: str, access: Access, arguments: dict[str, Any]) -> CallToolResult:
    """Run a tool, and note each change and each denial in the audit log.

    Raises:
        NotFound: there is no such tool.
    """
    tool = _TOOLS.get(name)
    if tool is None:
        raise NotFound(f"There is no tool {shorten(clean(name), 40)}. Tools: {', '.join(_TOOLS)}.")
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
        return _refusal("Something went wrong; the details are in the log.")
    _audit(tool, access.asker, HTTPStatus.OK, answer.turn)
    return CallToolResult(content=[TextContent(text=answer.text)], structured_content=answer.data)


async def _answer(tool: Tool, access: Access, arguments: dict[str, Any]) -> ToolAnswer:
    try:
        wanted = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise UserError(f"{tool.name}: {explain(error, tool.arguments)}") from None
    with access.opened() as society:
        return await tool.run(ToolCall(society, access), wanted)


def _offer(tool: Tool, society: Society, access: Access) -> Offered:
    takes = tool.arguments.model_json_schema(schema_generator=Untitled)
    for ours in ("title", "description"):  # of the class
        takes.pop(ours, None)
    default = default_agent(society, access)
    meant = f"Default: {default}." if default else ""
    takes["properties"]["agent"]["description"] = f"The character: {names(society)}. {meant}".rstrip()
    if not default:
        takes["required"] = ["agent", *takes.get("required", [])]
    busy = f"\n{READ_ONLY.format(access.busy)}" if tool.writes and access.busy else ""
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
            token=asker.held.key,
            role=asker.held.role.value,
            user=asker.user or asker.held.user_id,
            method="MCP",
            path=tool.name,
            turn=turn,
            status=int(status),
        )
