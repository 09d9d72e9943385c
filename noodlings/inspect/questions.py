"""All questions about agents in one table, which the inspector, the API and the studio share.

The inspector answers each question, the API has a route for it, and the studio asks it. Arguments are
JSON-compatible and have the inspector's names. An affect is a list of five numbers in the order of
`noodlings.values.affect.AXES`.

The views are imported when an answer is read and not before, so that the studio's screen appears at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote, urljoin

from noodlings.errors import NoodlingsError, UserError
from noodlings.text import clean, shorten

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from noodlings.inspect import (
        chronicle,
        journal,
        links,
        mood,
        people,
        recall,
        relationships,
        symbols,
        views,
        why,
    )

V = TypeVar("V")
Arguments = Mapping[str, Any]

ALL = 1_000
"""The most that one page of the API holds."""
LARGEST_NUMBER = 2**53
"""No number of an answer is beyond it: JSON carries whole ones up to here, and time ends long before."""
_PARAMETERS = {"affect": "current_affect", "who": "user_id"}
"""Arguments that have another name in the API."""


@dataclass(frozen=True, slots=True)
class Question(Generic[V]):
    """One question.

    Attributes:
        name: the method of `noodlings.inspect.inspector.Inspector` that answers it.
        view: the class of the answer, with its module below `noodlings.inspect`.
        where: its path in the API, relative to `/api/agents/{agent}/`.
        values: turns the arguments into those of the inspector.
        whole: whether a question without a limit means everything.
    """

    name: str
    view: str
    where: str
    values: Callable[[Arguments], Arguments] = dict
    whole: bool = False

    @property
    def path(self) -> str:
        """The path in the API, below `/api`."""
        return urljoin("/agents/{agent}/", self.where)

    def kind(self) -> type[V]:
        kind: type[V] = resolve_name(f"noodlings.inspect.{self.view}")
        return kind

    async def read(self, answer: Awaitable[Any]) -> V:
        """Await an answer and read it; what that needs is imported meanwhile."""
        data, read = await asyncio.gather(answer, asyncio.to_thread(lambda: reader_of(self.kind())))
        view: V = read(data)
        return view

    def address(self, agent: str, how: Arguments) -> tuple[str, dict[str, Any]]:
        """The path and the parameters of a request to the API."""
        asked = {_PARAMETERS.get(name, name): value for name, value in how.items() if value is not None}
        path = self.path.format(agent=quote(agent, safe=""), entry=asked.pop("entry_id", ""))
        if "mood" in asked:
            asked["mood"] = ",".join(map(str, asked["mood"]))
        if self.whole:
            asked.setdefault("limit", ALL)
        return path, {name: str(one).lower() if isinstance(one, bool) else one for name, one in asked.items()}


def reader_of(kind: type[V]) -> Callable[[Any], V]:
    """A function that turns the result of a view's `as_dict()` back into the view.

    It ignores unknown keys, so that a newer server is understood, too, and raises `NoodlingsError` for
    anything that is not such a view.
    """
    from pydantic import ValidationError

    from noodlings.inspect.views import plain

    by_kind: Any = kind
    adapter: TypeAdapter[V] = _adapter(by_kind)

    def read(data: Any) -> V:
        try:
            view = adapter.validate_python(data)
            if not _has_odd_number(plain(view)):
                return view
            why = "a number is none, or too large"
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except UserError as error:  # an affect that is out of range, or a day that is none
            why = str(error)
        raise NoodlingsError(
            "the answer is not one that this version of noodlings understands "
            f"({kind.__name__}: {shorten(clean(why), 200)})"
        )

    return read


def _has_odd_number(data: Any) -> bool:
    """Whether a number is NaN or beyond `LARGEST_NUMBER`; whoever draws with it would not expect that."""
    if isinstance(data, dict | list):
        return any(map(_has_odd_number, data.values() if isinstance(data, dict) else data))
    return isinstance(data, int | float) and not abs(data) <= LARGEST_NUMBER


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
    """The inspector takes the mood and its weight as one `RecallOptions`."""
    from noodlings.inspect.recall import RecallOptions
    from noodlings.values.affect import Affect

    asked = dict(how)
    names = ("mood", "emotion_weight", "candidate_multiplier")
    ways = {name: asked.pop(name) for name in names if asked.get(name) is not None}
    if "mood" in ways:
        ways["mood"] = Affect.of(ways["mood"])
    return {**asked, "how": RecallOptions(**ways)}


AGENTS: Question[views.AgentsView] = Question("agents", "views:AgentsView", "/agents")
"""About all agents; every other question is about one."""
AGENT: Question[views.AgentView] = Question("agent", "views:AgentView", "/agents/{agent}")
MOOD: Question[mood.MoodView] = Question("mood", "mood:MoodView", "mood")
OBSERVE: Question[mood.ObserveView] = Question("observe", "mood:ObserveView", "state")
WHY: Question[why.WhyView] = Question("why", "why:WhyView", "why")
TURN: Question[why.WhyView] = Question("turn", "why:WhyView", "turns/{entry}")
PROMPT: Question[why.PromptView] = Question("prompt", "why:PromptView", "turns/{entry}/prompt")
TRANSISTORS: Question[why.TransistorsView] = Question("transistors", "why:TransistorsView", "transistors")
PEOPLE: Question[people.PeopleView] = Question("people", "people:PeopleView", "people", whole=True)
"""What it knows of people, as cards, with the memories that are their evidence."""
PROFILE: Question[relationships.ProfileView] = Question(
    "profile", "relationships:ProfileView", "profile", whole=True
)
"""What it makes of people, with the memories that weigh most."""
JOURNAL: Question[journal.JournalView] = Question("journal", "journal:JournalView", "journal", whole=True)
"""What happened, day by day, in its own words, with the memories that each sentence rests on."""
CHRONICLE: Question[chronicle.ChronicleView] = Question("chronicle", "chronicle:ChronicleView", "chronicle")
"""Which commits of the code bases that it read answer a question."""
FOCUS: Question[links.FocusView] = Question("focus", "links:FocusView", "focus")
RECALL: Question[recall.RecallView] = Question("recall", "recall:RecallView", "recall", _recall)
ARCHIVE: Question[recall.ArchiveView] = Question("archive", "recall:ArchiveView", "archive")
"""How far the archive that `RECALL` searches is loaded."""
STATS: Question[views.StatsView] = Question("stats", "views:StatsView", "memory/stats")
WORKING: Question[views.EntriesView] = Question("working", "views:EntriesView", "memory/working", whole=True)
EPISODIC: Question[views.EntriesView] = Question(
    "episodic", "views:EntriesView", "memory/episodic", whole=True
)
IMPORTANT: Question[views.EntriesView] = Question("important", "views:EntriesView", "memory/important")
BY_USER: Question[views.EntriesView] = Question("by_user", "views:EntriesView", "memory/by-user", whole=True)
BROWSE: Question[views.EntriesView] = Question("browse", "views:EntriesView", "memory/browse", _page)
"""One page of episodic memory or of everything that was ever perceived, sorted and filtered."""
SYMBOLS: Question[symbols.SymbolsView] = Question(
    "symbols", "symbols:SymbolsView", "memory/symbols", whole=True
)
AFFECT_GROUPS: Question[views.AffectGroupsView] = Question(
    "affect_groups", "views:AffectGroupsView", "memory/affect-groups"
)
ALIKE: Question[views.AlikeView] = Question("affect_alike", "views:AlikeView", "memory/by-affect", _alike)
FLOW: Question[views.FlowView] = Question("last_retrieval", "views:FlowView", "memory/last-retrieval")
LINKS: Question[links.LinksView] = Question("links", "links:LinksView", "memory/entries/{entry}/links")

QUESTIONS = {one.name: one for one in list(globals().values()) if isinstance(one, Question)}
