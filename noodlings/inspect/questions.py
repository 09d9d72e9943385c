"""Every question about agents in one table, shared by the inspector, the API and the studio.

The inspector answers each question, the API has a route for it, and the studio asks it. Arguments are
JSON-compatible and have the inspector's names, so they can be sent anywhere; an affect is a list of five
numbers in the order of `noodlings.values.affect.AXES`.

Nothing that reads memories is imported before an answer is read, so that a screen that asks appears at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from noodlings.errors import NoodlingsError, UserError
from noodlings.text import clean, shorten

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from noodlings.inspect.chronicle import ChronicleView
    from noodlings.inspect.journal import JournalView
    from noodlings.inspect.links import FocusView, LinksView
    from noodlings.inspect.mood import MoodView, ObserveView
    from noodlings.inspect.people import PeopleView
    from noodlings.inspect.recall import ArchiveView, RecallView
    from noodlings.inspect.symbols import SymbolsView
    from noodlings.inspect.views import (
        AffectGroupsView,
        AgentsView,
        AgentView,
        AlikeView,
        EntriesView,
        FlowView,
        StatsView,
    )
    from noodlings.inspect.why import PromptView, TransistorsView, WhyView

V = TypeVar("V")
Arguments = Mapping[str, Any]

ALL = 1_000
"""The most that one page of the API holds."""
_PARAMETERS = {"affect": "current_affect", "who": "user_id"}
"""What the API calls otherwise."""


@dataclass(frozen=True, slots=True)
class Question(Generic[V]):
    """One question.

    Attributes:
        name: of the method of `noodlings.inspect.inspector.Inspector` that answers it.
        view: what it answers with: module below `noodlings.inspect`, and class.
        path: of the API, below `/api`.
        values: makes of arguments what the inspector takes.
        whole: asked without a limit, it is answered whole.
    """

    name: str
    view: str
    path: str
    values: Callable[[Arguments], Arguments] = dict
    whole: bool = False

    def kind(self) -> type[V]:
        """The class of its view; imports it."""
        kind: type[V] = resolve_name(f"noodlings.inspect.{self.view}")
        return kind

    async def read(self, answer: Awaitable[Any]) -> V:
        """The view of an answer on its way, see `reader_of`; what that needs is imported meanwhile."""
        data, read = await asyncio.gather(answer, asyncio.to_thread(lambda: reader_of(self.kind())))
        view: V = read(data)
        return view

    def address(self, agent: str, how: Arguments) -> tuple[str, dict[str, Any]]:
        """Path and parameters with which the API is asked."""
        asked = {_PARAMETERS.get(name, name): value for name, value in how.items() if value is not None}
        path = self.path.format(agent=quote(agent, safe=""), entry=asked.pop("entry_id", ""))
        if "mood" in asked:
            asked["mood"] = ",".join(map(str, asked["mood"]))
        if self.whole:
            asked.setdefault("limit", ALL)
        return path, {name: str(one).lower() if isinstance(one, bool) else one for name, one in asked.items()}


def reader_of(kind: type[V]) -> Callable[[Any], V]:
    """Makes views of this class of what their `as_dict()` gave, and may have come through JSON.

    Keys that the class does not know are passed over, so that a newer server is understood as well. The
    reader raises `NoodlingsError` for what is no such view.
    """
    from pydantic import ValidationError

    by_kind: Any = kind
    adapter: TypeAdapter[V] = _adapter(by_kind)

    def read(data: Any) -> V:
        try:
            return adapter.validate_python(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except UserError as error:  # an affect that is out of range
            why = str(error)
        raise NoodlingsError(
            "the answer is not one that this version of noodlings understands "
            f"({kind.__name__}: {shorten(clean(why), 200)})"
        )

    return read


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _alike(how: Arguments) -> Arguments:
    from noodlings.values.affect import Affect

    return how if how.get("affect") is None else {**how, "affect": Affect.of(how["affect"])}


def _page(how: Arguments) -> Arguments:
    from noodlings.inspect.browse import Page

    return {"page": Page(**how)}


def _recall(how: Arguments) -> Arguments:
    """`mood` and how it counts stand beside the arguments of the inspector, which has them in one."""
    from noodlings.inspect.recall import RecallOptions
    from noodlings.values.affect import Affect

    asked = dict(how)
    names = ("mood", "emotion_weight", "candidate_multiplier")
    ways = {name: asked.pop(name) for name in names if asked.get(name) is not None}
    if "mood" in ways:
        ways["mood"] = Affect.of(ways["mood"])
    return {**asked, "how": RecallOptions(**ways)}


MEMORY = "/agents/{agent}/memory"

AGENTS: Question[AgentsView] = Question("agents", "views:AgentsView", "/agents")
"""Of all agents; every other question is about one."""
AGENT: Question[AgentView] = Question("agent", "views:AgentView", "/agents/{agent}")
MOOD: Question[MoodView] = Question("mood", "mood:MoodView", "/agents/{agent}/mood")
OBSERVE: Question[ObserveView] = Question("observe", "mood:ObserveView", "/agents/{agent}/state")
WHY: Question[WhyView] = Question("why", "why:WhyView", "/agents/{agent}/why")
TURN: Question[WhyView] = Question("turn", "why:WhyView", "/agents/{agent}/turns/{entry}")
PROMPT: Question[PromptView] = Question("prompt", "why:PromptView", "/agents/{agent}/turns/{entry}/prompt")
TRANSISTORS: Question[TransistorsView] = Question(
    "transistors", "why:TransistorsView", "/agents/{agent}/transistors"
)
PEOPLE: Question[PeopleView] = Question("people", "people:PeopleView", "/agents/{agent}/people", whole=True)
"""What it knows of people: cards, with the memories that are their evidence."""
JOURNAL: Question[JournalView] = Question(
    "journal", "journal:JournalView", "/agents/{agent}/journal", whole=True
)
"""What happened, day by day, in its own words, with the memories that each sentence rests on."""
CHRONICLE: Question[ChronicleView] = Question(
    "chronicle", "chronicle:ChronicleView", "/agents/{agent}/chronicle"
)
"""Which commits of the code bases that it read answer a question."""
FOCUS: Question[FocusView] = Question("focus", "links:FocusView", "/agents/{agent}/focus")
RECALL: Question[RecallView] = Question("recall", "recall:RecallView", "/agents/{agent}/recall", _recall)
ARCHIVE: Question[ArchiveView] = Question("archive", "recall:ArchiveView", "/agents/{agent}/archive")
"""How far everything that was ever perceived is loaded, for `RECALL` to find."""
STATS: Question[StatsView] = Question("stats", "views:StatsView", f"{MEMORY}/stats")
WORKING: Question[EntriesView] = Question("working", "views:EntriesView", f"{MEMORY}/working", whole=True)
EPISODIC: Question[EntriesView] = Question("episodic", "views:EntriesView", f"{MEMORY}/episodic", whole=True)
IMPORTANT: Question[EntriesView] = Question("important", "views:EntriesView", f"{MEMORY}/important")
BY_USER: Question[EntriesView] = Question("by_user", "views:EntriesView", f"{MEMORY}/by-user", whole=True)
BROWSE: Question[EntriesView] = Question("browse", "views:EntriesView", f"{MEMORY}/browse", _page)
"""One page of what is in mind or of everything that was ever perceived, sorted and filtered: a `Page`."""
SYMBOLS: Question[SymbolsView] = Question("symbols", "symbols:SymbolsView", f"{MEMORY}/symbols", whole=True)
AFFECT_GROUPS: Question[AffectGroupsView] = Question(
    "affect_groups", "views:AffectGroupsView", f"{MEMORY}/affect-groups"
)
ALIKE: Question[AlikeView] = Question("affect_alike", "views:AlikeView", f"{MEMORY}/by-affect", _alike)
FLOW: Question[FlowView] = Question("last_retrieval", "views:FlowView", f"{MEMORY}/last-retrieval")
LINKS: Question[LinksView] = Question("links", "links:LinksView", f"{MEMORY}/entries/{{entry}}/links")

_ALL: tuple[Question[Any], ...] = (
    *(AGENTS, AGENT, MOOD, OBSERVE, WHY, TURN, PROMPT, TRANSISTORS, PEOPLE, JOURNAL),
    *(CHRONICLE, FOCUS, RECALL, ARCHIVE, STATS),
    *(WORKING, EPISODIC, IMPORTANT, BY_USER, BROWSE, SYMBOLS, AFFECT_GROUPS, ALIKE, FLOW, LINKS),
)
QUESTIONS = {question.name: question for question in _ALL}
