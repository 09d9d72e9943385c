"""The tools: each asks `Inspector` or `Society` for one thing and puts the result into text.

An error in a call becomes a tool error of one sentence. For an unexpected error, the details are only in the
log.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, get_type_hints

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as Offered
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from api.audit import DENIED, note
from api.mcp import telling
from api.mcp.access import READ_ONLY, Access, Asker, ToolCall, agent_of, default_agent, names
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
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.journal import JournalView
from noodlings.inspect.links import FocusView
from noodlings.inspect.mood import MoodView
from noodlings.inspect.people import PeopleView
from noodlings.inspect.recall import RecallOptions, RecallView
from noodlings.inspect.views import StatsView, View
from noodlings.inspect.why import WhyView
from noodlings.recall.filters import Filters, moment_of
from noodlings.text import clean, shorten
from noodlings.validation import explain
from noodlings.values.caller import Role
from noodlings.values.circumstances import NOTHING
from noodlings.values.percept import Kind, Percept


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool.

    Attributes:
        text: for a model to read.
        data: the complete view.
        turn: agent and entry of the new memory, for the audit log, or "".
    """

    text: str
    data: View
    turn: str = ""


Run = Callable[[ToolCall, Any], Awaitable[ToolAnswer]]


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
    result: type[View]
    run: Run
    writes: bool = False
    destroys: bool = False


TOOLS: dict[str, Tool] = {}


def tool(title: str, result: type[View], **more: bool) -> Callable[[Run], Run]:
    """Declare a tool with the name of the function and its docstring as the description, a line a paragraph.
    Its arguments are of the class that the function says."""

    def declare(run: Run) -> Run:
        described = "\n".join(" ".join(part.split()) for part in (run.__doc__ or "").split("\n\n"))
        takes = get_type_hints(run)["wanted"]
        TOOLS[run.__name__] = Tool(run.__name__, title, described, takes, result, run, **more)
        return run

    return declare


@tool("Search memories", RecallView)
async def search_memories(call: ToolCall, wanted: SearchMemories) -> ToolAnswer:
    """Search everything a character ever perceived, by words and by meaning, best first. Use it before you
    answer a question about the past, or to find the number (#12) of a memory. With emotional_context (or
    include_emotion, for the character's own mood), memories with a similar feeling come first among those
    that fit about equally well. The other arguments narrow the search. You only see what you may read: a
    player sees what it told the character itself.

    Example: {"agent": "servnak", "query": "what happened to Caity's dog", "n_results": 5,
    "emotional_context": {"valence": -0.7, "arousal": 0.2}}
    """
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
    view = await call.ask(Inspector.recall, wanted.query, wanted.n_results, wanted.user_id or None, how)
    return ToolAnswer(telling.recalled(view), view)


@tool("Tell a character something", WhyView, writes=True)
async def store_memory(call: ToolCall, wanted: StoreMemory) -> ToolAnswer:
    """Tell a character something to remember. It takes this in like anything said to it: it feels something
    about it, decides how important it is, remembers it for good, and usually answers; you get the answer.
    Tell it one thing at a time, in the speaker's own words.

    Example: {"agent": "servnak", "content": "My dog died yesterday"}
    """
    turns, caller, held = call.turns(), call.access.asker.actor(wanted.user_id), call.access.asker.held
    if wanted.circumstances != NOTHING:
        held.require(Role.ADMIN, Role.WORLD, to="set circumstances")
    text = clean(wanted.content)
    if not text:
        raise UserError("The content is empty once control characters are removed; send some words.")
    percept = Percept(
        user_id=caller.user_id,
        text=text,
        timestamp=call.society.clock.now(),
        kind=Kind(wanted.kind),
        addressed=True,
        present=frozenset({caller.user_id}),
        data=wanted.circumstances.as_data(),
    )
    entry_id, _, _ = await turns.perceive(call.agent, held.sent(percept), token=held.key)
    view = Inspector(call.society).turn(caller, call.agent, entry_id)
    return ToolAnswer(telling.stored(view, entry_id), view, f"{call.agent}/{entry_id}")


@tool("Get context for a question", FocusView)
async def get_memory_context(call: ToolCall, wanted: GetMemoryContext) -> ToolAnswer:
    """What a character remembers about a question, as one block of text, oldest to newest: the results of a
    search within a span of time, and memories linked to them. Use it to brief yourself before you speak for
    or with the character; use search_memories to look back further than a week.

    Example: {"agent": "servnak", "query": "Caity's dog", "focus_level": 4}
    """
    view = await call.ask(Inspector.focus, wanted.focus_level, wanted.query, wanted.user_id or None)
    return ToolAnswer(telling.context(view), view)


@tool("What a character knows about people", PeopleView)
async def get_people(call: ToolCall, wanted: GetPeople) -> ToolAnswer:
    """What a character was told about people: who they are, and what they do, like, fear, plan and promise,
    in the words it was told in, with the numbers of the memories that say so; how long it has known them, and
    which of their plans are still open. Use it before you speak to somebody as the character.

    Example: {"agent": "servnak", "person": "caity"}
    """
    view = await call.ask(Inspector.people, wanted.person or None, wanted.n_results)
    return ToolAnswer(telling.people(view), view)


@tool("A character's journal", JournalView)
async def get_journal(call: ToolCall, wanted: GetJournal) -> ToolAnswer:
    """What happened to a character, day by day, latest first: who it talked with, what mattered most and how
    that felt, with the numbers of the memories behind each sentence. Use it to catch up on a day; use
    search_memories for a single subject.

    Example: {"agent": "servnak", "day": "2026-11-23"}
    """
    view = await call.ask(Inspector.journal, wanted.day or None, wanted.n_results)
    return ToolAnswer(telling.journal(view), view)


@tool("Ask for the history of a code base", ChronicleView)
async def ask_chronicle(call: ToolCall, wanted: AskChronicle) -> ToolAnswer:
    """Which commits of the code bases that a character read (noodlings chronicle) answer a question, best
    first: hash, date, author, message and files. Use it for why, when or by whom something in the code was
    changed, in your own words; a date, an author, a file or an issue in the question counts.

    Example: {"agent": "servnak", "query": "why was the retry queue changed"}
    """
    view = await call.ask(Inspector.chronicle, wanted.query, wanted.n_results)
    return ToolAnswer(telling.chronicle(view), view)


@tool("Memory statistics", StatsView)
async def get_memory_stats(call: ToolCall, wanted: Arguments) -> ToolAnswer:
    """How much a character has perceived, and how full its working, episodic and symbolic memory is. Figures
    only, no content.

    Example: {"agent": "servnak"}
    """
    view = call.ask(Inspector.stats)
    return ToolAnswer(telling.stats(view), view)


@tool("Forget for good", Forgot, writes=True, destroys=True)
async def forget_memory(call: ToolCall, wanted: ForgetMemory) -> ToolAnswer:
    """Delete one memory by its number, or everything one user told a character. It is deleted everywhere this
    character keeps it, together with answers that repeated it, and cannot be brought back: ask the user
    first. A player may only delete what it told the character itself.

    Example: {"agent": "servnak", "memory_id": 12}
    """
    call.turns()  # raises if nothing can be changed
    corrections, caller = call.society.corrections, call.access.asker.actor()
    if wanted.memory_id is not None:
        await corrections.turn()
        forgotten = corrections.forget(caller, call.agent, [wanted.memory_id])
        forgotten = await corrections.erased(forgotten)
    else:
        who = caller.user_id if clean(wanted.user_id).casefold() == "me" else wanted.user_id
        forgotten = await corrections.forget_user_in_parts(caller, call.agent, who)
    name = clean(call.society.personas[call.agent].name)
    return ToolAnswer(telling.forgot(name, forgotten), Forgot.of(call.agent, forgotten))


@tool("A character's mood", MoodView)
async def get_mood(call: ToolCall, wanted: Arguments) -> ToolAnswer:
    """What a character feels now, as a word and as numbers (valence −1…1, the others 0…1), how the last thing
    it perceived felt, and what it wants.

    Example: {"agent": "servnak"}
    """
    view = call.ask(Inspector.mood)
    return ToolAnswer(telling.mood(view), view)


LONGEST = 500
"""The most characters of an error."""

log = logging.getLogger(__name__)


class Untitled(GenerateJsonSchema):
    """A schema without titles, which only repeat the names and cost tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def offers(access: Access) -> list[Offered]:
    """All tools as a client sees them."""
    with access.opened() as society:
        return [_offer(tool, society, access) for tool in TOOLS.values()]


async def call(name: str, access: Access, arguments: dict[str, Any]) -> CallToolResult:
    """Run a tool, and note each change and each denial in the audit log.

    Raises:
        NotFound: there is no such tool.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise NotFound(f"There is no tool {shorten(clean(name), 40)}. Tools: {', '.join(TOOLS)}.")
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
    return CallToolResult(content=[TextContent(text=answer.text)], structured_content=answer.data.as_dict())


async def _answer(tool: Tool, access: Access, arguments: dict[str, Any]) -> ToolAnswer:
    try:
        wanted = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise UserError(f"{tool.name}: {explain(error, tool.arguments)}") from None
    with access.opened() as society:
        if not tool.writes:
            # Else everybody would wait for all that ask at once.
            await society.readers.turn(access.asker.reader().user_id)
        return await tool.run(ToolCall(society, access, agent_of(society, access, wanted.agent)), wanted)


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
