"""The table of questions: each has a method of the inspector and a route, and both answer with one view."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from api import agents, memory
from api.server import make_app
from noodlings.inspect import questions
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.questions import QUESTIONS, Question, reader_of
from noodlings.values.caller import Caller, Role
from tests.api.conftest import MakeSite

HOW: dict[str, dict[str, Any]] = {
    "turn": {"entry_id": 1},
    "prompt": {"entry_id": 1},
    "links": {"entry_id": 1, "depth": 3},
    "chronicle": {"query": "pier", "limit": 2},
    "focus": {"level": 2, "query": "dog", "who": "user_caity"},
    "recall": {
        "query": "dog",
        "limit": 3,
        "mood": [-0.5, 0.5, 0.0, 0.9, 0.0],
        "emotion_weight": 0.4,
        "candidate_multiplier": 3,
    },
    "affect_alike": {"affect": [-0.5, 0.5, 0.1, 0.9, 0.0], "limit": 3},
    "by_user": {"who": "user_caity"},
    "episodic": {"min_importance": 0.1, "who": "user_caity"},
    "browse": {"order": "when", "falling": False, "everything": True, "limit": 5},
    "symbols": {"similar": False},
    "why": {"back": 1, "silent": True},
}
"""Arguments of those that need some, or make something else of theirs."""


def test_each_question_has_a_method_and_a_route() -> None:
    constants = {name: one for name, one in vars(questions).items() if isinstance(one, Question)}
    assert set(constants.values()) == set(QUESTIONS.values())
    for name, question in constants.items():
        assert get_type_hints(getattr(Inspector, question.name))["return"] is question.kind()
        assert questions.__annotations__[name] == f"Question[{question.view.replace(':', '.')}]"
    routes = [route.path for part in (agents, memory) for route in part.router.routes]  # type: ignore[attr-defined]
    paths = [one.path for one in QUESTIONS.values()] + ["/agents/{agent}/memory/entries/{entry}/note"]
    assert sorted(routes) == sorted(f"/api{path}" for path in paths)


async def test_an_application_takes_the_routes_of_a_topic_as_they_are(make_site: MakeSite) -> None:
    # FastAPI works out anew what it includes, and the first request would wait for all of it.
    taken = make_app(make_site().parts).router.routes
    assert all(route in taken for part in (agents, memory) for route in part.router.routes)


@pytest.mark.slow
async def test_what_a_route_answers_is_the_view_that_the_inspector_gives(make_site: MakeSite) -> None:
    site = make_site()
    await site.tell("My dog died yesterday")
    await site.tell("do you remember my dog?")
    inspector, viewer = site.parts.inspector, Caller("viewer", "viewer", Role.VIEWER)
    for question in QUESTIONS.values():
        how = HOW.get(question.name, {})
        path, parameters = question.address("servnak", how)
        answer = await site.get(f"/api{path}", params=parameters)
        assert answer.status_code == 200, (question.name, answer.text)
        about = () if question is questions.AGENTS else ("servnak",)
        view = getattr(inspector, question.name)(viewer, *about, **question.values(how))
        view = await view if hasattr(view, "__await__") else view
        read = reader_of(question.kind())(answer.json())
        assert type(read) is type(view) is question.kind()
        assert read.as_dict() == view.as_dict() == answer.json(), question.name


@pytest.mark.parametrize("agent", ["a/b", "../phi", "Ä ?#"])
def test_the_name_of_an_agent_stays_in_its_part_of_the_path(agent: str) -> None:
    path, _ = questions.STATS.address(agent, {})
    assert path.count("/") == questions.STATS.path.count("/")
    assert path.isascii()
    assert "?" not in path
