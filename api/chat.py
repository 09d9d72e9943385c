"""Characters as models for chat clients, in the form of OpenAI's chat completions.

Whoever speaks here is alone with the character, so what is said is confined to the two. See docs/chat.md.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import Path, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, BeforeValidator, Field, StrictBool, WithJsonSchema

from api.authentication import MAX_ID, AccessToken
from api.client_talk import ClientTalk, ClientTalks, Said
from api.parts import Held, OnBehalfOf, SocietyPart, only_one, parts_of, topic_router
from api.perceive import KeyHeader
from api.problem import chat_problem, status_of
from noodlings.agent.society import Society
from noodlings.agent.turn import trace_of
from noodlings.errors import NoodlingsError, NotFound, UserError, told
from noodlings.ports import Allowance
from noodlings.recall.narrative import token_count
from noodlings.text import clean
from noodlings.values.caller import Caller, Role, user_id_of
from noodlings.values.memory import CLIENT_HISTORY
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

ALIVE_SECONDS = 2.0
"""How often a stream without words shows that it is alive. Until the first time, errors are told by the
status of the answer; later by an event."""

router = topic_router("/v1", tags=["chat"])


def _words(content: object) -> object:
    """The words of a message, from text or parts that are text. Raises `ValueError` for other parts."""
    if content is None:
        return ""
    if isinstance(content, list):
        if not all(isinstance(part, dict) and part.get("type") == "text" for part in content):
            raise ValueError("a character reads text only: every part of a message must have the type text")
        content = [part.get("text") for part in content]
        if not all(isinstance(text, str) for text in content):
            raise ValueError("the text of every part must be a string")
        content = "\n".join(content)
    return content


_PART = {
    "type": "object",
    "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
    "required": ["type", "text"],
}
_CONTENT = {"anyOf": [{"type": "string"}, {"type": "array", "items": _PART}, {"type": "null"}]}
Words = Annotated[str, BeforeValidator(_words), WithJsonSchema(_CONTENT)]


class ChatMessage(BaseModel):
    """One message of a conversation. Tool messages are not supported."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Words = ""

    def said(self) -> Said:
        return ("system" if self.role == "developer" else self.role), self.content


class StreamOptions(BaseModel):
    """What to stream in addition to the answer."""

    include_usage: StrictBool | None = None


class ChatRequest(BaseModel):
    """The conversation so far, and who should answer. Other fields are ignored."""

    model: str = Field(min_length=1, max_length=MAX_ID, description="Id or name of a character.")
    messages: list[ChatMessage] = Field(min_length=1)
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1, strict=True)] | None = Field(
        None, description="Only 1: a character gives one answer."
    )
    user: str | None = Field(
        None, max_length=MAX_ID, description="Who speaks. Required only with a world token."
    )

    model_config = {
        "json_schema_extra": {
            "examples": [{"model": "servnak", "messages": [{"role": "user", "content": "Hello!"}]}]
        }
    }


_WRONG = chat_problem(404, "There is no character servank; did you mean SERVNAK?", "model", "model_not_found")
_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": "Refused.", "content": {"application/json": {"example": _WRONG}}}
    for status in ("4XX", "503")
}


def _shown(example: dict[str, Any], **also: Any) -> dict[int | str, dict[str, Any]]:
    content = {"application/json": {"schema": {"type": "object"}, "example": example}} | also
    return _RESPONSES | {200: {"description": "Success.", "content": content}}


def _model(agent_id: str) -> dict[str, Any]:
    return {"id": agent_id, "object": "model", "created": 0, "owned_by": "noodlings"}


def _completion(content: str, usage: dict[str, int], **same: Any) -> dict[str, Any]:
    """A complete answer."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return same | {"object": "chat.completion", "choices": [choice], "usage": usage}


def _usage(prompt: int, answer: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


_PIECE = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "GREETINGS."}}]}
_STREAM = f"data: {json.dumps(_PIECE)}\n\ndata: [DONE]\n\n"
_ANSWER = _completion("GREETINGS.", _usage(5, 3), id="chatcmpl-1f", created=1_767_225_600, model="servnak")


@router.get("/models", responses=_shown({"object": "list", "data": [_model("servnak")]}))
async def models(held: Held, society: SocietyPart) -> Response:
    """List all characters as models."""
    by_name = sorted(society.personas.values(), key=lambda persona: persona.name.casefold())
    return JSONResponse({"object": "list", "data": [_model(persona.id) for persona in by_name]})


@router.get("/models/{model}", responses=_shown(_model("servnak")))
async def model(
    model: Annotated[str, Path(max_length=MAX_ID, description="Id or name.", examples=["servnak"])],
    held: Held,
    society: SocietyPart,
) -> Response:
    """One character as a model."""
    return JSONResponse(_model(_character(society, model)))


@router.post(
    "/chat/completions",
    responses=_shown(_ANSWER, **{"text/event-stream": {"schema": {"type": "string"}, "example": _STREAM}}),
)
async def completions(
    request: Request, asked: ChatRequest, held: Held, user: OnBehalfOf, key: KeyHeader = ""
) -> Response:
    """Say something to a character in private: the user's last message, which it remembers.

    Sending the same message after the same history replaces its last answer; an edited message replaces both.
    A client's own requests to a model, such as for a title, are answered but not remembered.
    """
    society = parts_of(request).society
    caller = _speaker(held, asked.user or "", user, society)
    request.state.caller = caller
    agent_id = _character(society, asked.model)
    talks: ClientTalks = request.app.state.talks
    talk = await talks.read([message.said() for message in asked.messages], caller.user_id)
    reply = _Reply(request, caller, agent_id, talk)
    begun = asyncio.ensure_future(reply.task() if talk.is_task else reply.turn(held, clean(key)))
    begun.add_done_callback(reply.ended)
    if not asked.stream:
        await asyncio.shield(begun)  # it goes on if the client stops waiting
        headers = {"Idempotency-Replayed": "true"} if reply.replayed else None
        return JSONResponse(reply.completion(), headers=headers)
    first = await reply.part()
    if first == _END:
        await begun  # raises if it was refused
    options = asked.stream_options
    events = reply.events(first, begun, options is not None and bool(options.include_usage))
    return StreamingResponse(events, media_type="text/event-stream")


_END = ""
"""Marks the end of an answer in the queue of its parts."""


class _Reply:
    """An answer under way; `replayed` if it belongs to an earlier request with the same key."""

    def __init__(self, request: Request, caller: Caller, agent_id: str, talk: ClientTalk) -> None:
        self._state, self._parts = request.state, parts_of(request)
        self._talks: ClientTalks = request.app.state.talks
        self._caller, self._agent_id, self._talk = caller, agent_id, talk
        self._same = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": agent_id,
        }
        self._said = asyncio.Queue[str]()
        self._content, self._tokens = "", 0
        self.replayed = False

    async def turn(self, held: AccessToken, key: str) -> None:
        """Let the character hear the message and answer it."""
        society, agent_id, user_id = self._parts.society, self._agent_id, self._caller.user_id
        history = await self._talks.history(self._talk, agent_id, user_id)
        percept = Percept(
            user_id,
            self._talk.heard,
            society.clock.now(),
            addressed=True,
            present=frozenset({user_id}),
            data={CLIENT_HISTORY: history},
        )

        async def hear(percept: Percept) -> Trace:
            return await self._talks.hear(self._caller, self._talk, percept, agent_id, self._said.put_nowait)

        entry_id, self.replayed, _ = await self._parts.turns.perceive(
            agent_id, held.sent(percept), key, held.key, hear
        )
        self._state.turn = f"{agent_id}/{entry_id}"
        entry = society.agents[agent_id].entry(entry_id)
        if entry is not None:
            self._content = entry.response or ""
            trace = trace_of(society.store, agent_id, entry_id)
            self._tokens = trace.tokens if trace else 0

    async def task(self) -> None:
        """Let the model do a task of the client."""
        allowance = Allowance(self._caller.user_id)
        self._content = await self._talks.do_task(self._caller, self._talk, self._agent_id, allowance)
        self._tokens = allowance.tokens

    def ended(self, begun: asyncio.Future[None]) -> None:
        """Mark the end of the parts."""
        if not begun.cancelled():
            begun.exception()  # retrieved here, in case nobody waits for it any more
        self._said.put_nowait(_END)

    async def part(self) -> str | None:
        """The next part of the answer, `_END` after the last one, None if there is none for a while."""
        try:
            async with asyncio.timeout(ALIVE_SECONDS):
                return await self._said.get()
        except TimeoutError:
            return None

    def completion(self) -> dict[str, Any]:
        return _completion(self._content, self._cost(), **self._same)

    async def events(
        self, part: str | None, begun: asyncio.Future[None], with_usage: bool
    ) -> AsyncIterator[str]:
        """The answer as server-sent events, beginning with this part."""
        yield self._chunk({"role": "assistant", "content": ""})
        said = ""
        while part != _END:
            if part is None:
                yield ": thinking\n\n"
            else:
                yield self._chunk({"content": f" {part}" if said else part})
                said = part
            part = await self.part()
        try:
            await begun
        except NoodlingsError as error:
            yield _event(chat_problem(status_of(error), told(error)))
            return
        if self._content and not said:
            yield self._chunk({"content": self._content})
        yield self._chunk({}, "stop")
        if with_usage:
            yield _event(self._piece([]) | {"usage": self._cost()})
        yield "data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, str], finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _event(self._piece([choice]))

    def _piece(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return self._same | {"object": "chat.completion.chunk", "choices": choices}

    def _cost(self) -> dict[str, int]:
        """The tokens as the model's endpoint counted them, otherwise an estimate from the text."""
        answer = token_count(self._content)
        asked = token_count("".join(words for _, words in self._talk.messages))
        return _usage(max(self._tokens - answer, 0) if self._tokens else asked, answer)


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _speaker(held: AccessToken, in_body: str, in_header: str, society: Society) -> Caller:
    """The caller that speaks. Raises `UserError` if that is missing or ambiguous, or `Forbidden`."""
    named = only_one(in_body, in_header, "user")
    if not named and held.role is Role.WORLD:
        raise UserError("a world token must say who speaks: send the field user")
    own = user_id_of(society.settings.world.player) if held.role is Role.ADMIN else ""
    return held.actor(named or own)


def _character(society: Society, model: str) -> str:
    """The id of the character behind a model. Raises `NotFound`, also if the name is ambiguous."""
    try:
        return society.find(model).id
    except UserError as error:
        raise NotFound(str(error)) from None
