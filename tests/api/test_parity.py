"""One reader, three windows: what a command gives, what the API gives and what `Inspector` gives are equal.

A new question of `Inspector` that has no command and no route fails here.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import pytest

from commands import registry
from commands.registry import CommandContext
from noodlings.inspect.browse import Page
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.recall import RecallOptions, Status
from noodlings.inspect.views import View
from noodlings.recall.filters import Filters
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind
from tests.api.conftest import Site
from tests.ingest.repositories import read_history

pytestmark = pytest.mark.slow

QUERY = "what did I say about my dog"
M = "/api/agents/servnak/memory"
P = "/api/agents/servnak"


@dataclass(frozen=True)
class Window:
    """One question, asked in three ways.

    Attributes:
        command: the line in the world.
        path: of the API.
        arguments: of the inspector, behind the caller.
        params: of the path.
        part: where in the data of the command the view stands; empty for all of it.
    """

    command: str
    path: str
    arguments: tuple[Any, ...] = ("servnak",)
    params: dict[str, Any] = field(default_factory=dict)
    part: tuple[str, ...] = ()


def memory(view: str, flags: str, *arguments: Any, **params: Any) -> Window:
    line, path = f"@memories servnak {flags}".strip(), f"/api/agents/servnak/memory/{view}"
    return Window(line, path, ("servnak", *arguments), params)


WINDOWS: dict[str, list[Window]] = {
    "agents": [Window("@agents", "/api/agents", ())],
    "agent": [Window("@agents servnak", "/api/agents/servnak")],
    "mood": [Window("@mood servnak", "/api/agents/servnak/mood")],
    "observe": [Window("@observe servnak", "/api/agents/servnak/state")],
    "stats": [memory("stats", "--stats")],
    "working": [
        memory("working", "--working", 20),
        memory("working", "--working --limit 2", 2, limit=2),
    ],
    "episodic": [
        memory("episodic", "--episodic", 20),
        memory("episodic", "--episodic --limit 1", 1, limit=1),
    ],
    "important": [memory("important", "--important", 10)],
    "by_user": [memory("by-user", "--user me", "me", 10, user_id="me")],
    "browse": [
        Window("@browse servnak", f"{M}/browse", ("servnak", Page(limit=20))),
        Window(
            '@browse servnak "dog" --sort when --rising --everything --limit 1 --page 2',
            f"{M}/browse",
            ("servnak", Page("when", False, "dog", True, 1, 1)),
            {"order": "when", "falling": False, "containing": "dog", "everything": True, "limit": 1,
             "offset": 1},
        ),
    ],
    "journal": [
        Window("@journal servnak", f"{P}/journal", ("servnak", None, 3), {"limit": 3}),
        Window(
            "@journal servnak 1999-12-31",
            f"{P}/journal",
            ("servnak", "1999-12-31", 3),
            {"day": "1999-12-31", "limit": 3},
        ),
    ],
    "people": [
        Window("@people servnak", f"{P}/people", ("servnak", None, 5), {"limit": 5}),
        Window("@people servnak me", f"{P}/people", ("servnak", "me", 5), {"person": "me", "limit": 5}),
    ],
    "profile": [
        Window("@profile servnak", f"{P}/profile", ("servnak", 15), {"limit": 15}),
        Window("@profile servnak --limit 1 --page 2", f"{P}/profile", ("servnak", 1, 1),
               {"limit": 1, "offset": 1}),
    ],
    "symbols": [
        Window("@symbols servnak", f"{M}/symbols", ("servnak", 8), {"limit": 8}),
        Window("@symbols servnak --similar --limit 1", f"{M}/symbols", ("servnak", 1, 0, True),
               {"limit": 1, "similar": True}),
    ],
    "affect_groups": [memory("affect-groups", "--affect", 2, limit=2)],
    "affect_alike": [memory("by-affect", "--affect-similar --current", None, 5)],
    "last_retrieval": [memory("last-retrieval", "--flow")],
    "why": [
        Window("@why servnak", "/api/agents/servnak/why"),
        Window("@why servnak 2 --silent", "/api/agents/servnak/why", ("servnak", 2, True),
               {"back": 2, "silent": True}),
    ],
    "turn": [Window("@why servnak --id 1", "/api/agents/servnak/turns/1", ("servnak", 1))],
    "prompt": [
        Window("@why servnak --id 1 --prompt", "/api/agents/servnak/turns/1/prompt", ("servnak", 1))
    ],
    "transistors": [Window("@transistors servnak", "/api/agents/servnak/transistors")],
    "links": [
        Window("@links servnak --id 1", f"{M}/entries/1/links", ("servnak", 1)),
        Window("@links servnak --id 1 --depth 3", f"{M}/entries/1/links", ("servnak", 1, 3), {"depth": 3}),
    ],
    "focus": [
        Window(f'@focus servnak 4 "{QUERY}"', "/api/agents/servnak/focus", ("servnak", 4, QUERY),
               {"level": 4, "query": QUERY}),
        Window(f'@focus servnak 5 "{QUERY}" --user me', "/api/agents/servnak/focus",
               ("servnak", 5, QUERY, "me"), {"level": 5, "query": QUERY, "user_id": "me"}),
    ],
    "chronicle": [
        Window('@chronicle servnak "why was the pier changed"', f"{P}/chronicle",
               ("servnak", "why was the pier changed", 5), {"query": "why was the pier changed"}),
        Window('@chronicle servnak "the pier" --limit 1', f"{P}/chronicle", ("servnak", "the pier", 1),
               {"query": "the pier", "limit": 1}),
    ],
    "recall": [
        Window(f'@recall servnak "{QUERY}"', "/api/agents/servnak/recall", ("servnak", QUERY, 8),
               {"query": QUERY, "limit": 8}),
        Window(
            f'@recall servnak "{QUERY}" --user me --kind say --status working --mood -0.8,0.9 --weight 0.5'
            " --multiplier 3 --score 0.1 --importance 0.1 --limit 3",
            "/api/agents/servnak/recall",
            ("servnak", QUERY, 3, "me", RecallOptions(
                Filters(kinds=frozenset({Kind.SAY}), min_importance=0.1),
                Status.WORKING, Affect(-0.8, 0.9), emotion_weight=0.5, candidate_multiplier=3,
                min_score=0.1,
            )),
            {"query": QUERY, "limit": 3, "user_id": "me", "kind": "say", "status": "working",
             "mood": "-0.8,0.9", "emotion_weight": 0.5, "candidate_multiplier": 3, "min_score": 0.1,
             "min_importance": 0.1},
        ),
        Window(f'@recall servnak "{QUERY}" --mood current --tag pets', "/api/agents/servnak/recall",
               ("servnak", QUERY, 8, None,
                RecallOptions(Filters(tags=frozenset({"pets"})), include_emotion=True)),
               {"query": QUERY, "limit": 8, "mood": "current", "tag": "pets"}),
    ],
    "archive": [
        Window(f'@recall servnak "{QUERY}"', "/api/agents/servnak/archive", part=("archive",))
    ],
}  # fmt: skip

CALLERS = {
    "admin": Caller("user_caity", "caity", Role.ADMIN),
    "caity": Caller("user_caity", "caity", Role.PLAYER),
    "toad": Caller("user_toad", "toad", Role.PLAYER),
}


@pytest.fixture
async def lived(guarded: Site) -> Site:
    """A society in which two people said this and that."""
    await guarded.tell("My dog died yesterday", tags=["pets"])
    await guarded.tell("I am so happy, I won the race!", user="user_toad")
    await guarded.tell("lol", addressed=False)
    await guarded.tell("my dog would have loved this")
    await guarded.tell("a secret about the well", user="user_toad", kind="whisper")
    read_history(guarded.society, "Mend the pier", "Paint the pier")
    return guarded


def test_every_question_has_a_window():
    questions = {
        name
        for name, method in inspect.getmembers(Inspector, inspect.isfunction)
        if not name.startswith("_") and _gives_a_view(method)
    }
    assert questions == set(WINDOWS)


def _gives_a_view(method: Any) -> bool:
    answers = inspect.unwrap(method)
    known = vars(inspect.getmodule(answers)) | {"Society": object, "Agent": object}
    given = get_type_hints(answers, known)["return"]
    return isinstance(given, type) and issubclass(given, View)


@pytest.mark.parametrize(
    ("question", "window"),
    [
        pytest.param(name, one, id=f"{name}{at}")
        for name, all_ in WINDOWS.items()
        for at, one in enumerate(all_)
    ],
)
async def test_all_windows_show_the_same(lived: Site, question: str, window: Window):
    for who in CALLERS:
        await _same(lived, who, question, window)


async def _same(lived: Site, who: str, question: str, window: Window) -> None:
    caller, society = CALLERS[who], lived.society
    inspector = Inspector(society)
    reply = await registry.dispatch(window.command, CommandContext(caller, society, inspector))
    headers = {"Noodlings-User": caller.user_id} if caller.role is Role.ADMIN else {}
    answer = await lived.get(window.path, who, params=window.params, headers=headers)
    if question in ("links", "turn") and who == "toad":  # somebody else's memory
        assert reply.error
        assert answer.status_code == 404
        return
    if question == "prompt" and who != "admin":
        assert reply.error
        assert answer.status_code == 403
        assert "prompt also holds what others said" in f"{reply.data} {answer.json()}"
        return
    given = getattr(inspector, question)(caller, *window.arguments)
    view = await given if inspect.isawaitable(given) else given
    data = reply.data
    for key in window.part:
        data = data[key]
    assert not reply.error, reply.data
    assert answer.status_code == 200
    assert answer.json() == data == view.as_dict()
