"""The only reader of agents: commands, API and studio ask all their questions here.

Each answer is a frozen view of what the caller may read, with a count of what was left out. Reading never
changes, reinforces or reorders anything.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING

from noodlings.errors import Forbidden
from noodlings.inspect import views
from noodlings.inspect.browse import FIRST, Page, PageReader
from noodlings.inspect.chronicle import ChronicleView, chronicle
from noodlings.inspect.journal import JournalView, journal_of
from noodlings.inspect.links import DEPTH, FocusView, LinksView, focus_on, linked_with
from noodlings.inspect.mood import MoodView, ObserveView, mind_of, mood_of
from noodlings.inspect.people import PeopleView, people_of
from noodlings.inspect.recall import (
    PLAINLY,
    ArchiveView,
    RecallOptions,
    RecallView,
    archive_state,
    recall,
)
from noodlings.inspect.relationships import ProfileView, profile_of
from noodlings.inspect.symbols import SymbolsView, symbols_of
from noodlings.inspect.turns import last_flow, turns
from noodlings.inspect.viewpoint import Viewpoint, cut, felt, grouped, readable, readable_entries
from noodlings.inspect.views import EntriesView
from noodlings.inspect.why import (
    OFFLINE,
    PromptView,
    TransistorsView,
    WhyView,
    prompts_of,
    transistors,
    turn,
    why,
)
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller
from noodlings.values.trace import Trace

if TYPE_CHECKING:
    from noodlings.agent.society import Society

BINS = 10
TURNS = 40
"""How many turns back mood and surprise are shown."""


class Inspector:
    """Reads the agents of one society.

    `name` is whatever `Society.find` understands; `NotFound` is raised for an agent that does not exist. A
    `limit` is at least 1, or None for all; `offset` counts from the first in the order of the view. Other
    values raise `UserError`. `who` is a user's id, a shown name, or "me"; errors as in `Viewpoint.user`. A
    search raises `UserError` where the memory is a plain list.
    """

    def __init__(self, society: Society) -> None:
        self._society = society
        self._pages = PageReader()

    def agents(self, caller: Caller) -> views.AgentsView:
        """The agents that are in memory, by name, how many are not, and the state of the language model."""
        at_hand = self._society.agents.at_hand
        agents = (self.agent(caller, agent_id) for agent_id in at_hand)
        status = self._society.model_status
        model = views.ModelView(str(status.state), status.sentence if caller.sees_all else status.plain)
        listed = tuple(sorted(agents, key=lambda view: view.name.casefold()))
        return views.AgentsView(listed, model, len(self._society.agents) - len(at_hand))

    def agent(self, caller: Caller, name: str) -> views.AgentView:
        """Who an agent is and how it feels. Everybody may see it."""
        viewpoint = self._viewpoint(caller, name)
        persona, stats = viewpoint.agent.persona, viewpoint.agent.memory.stats()
        return views.AgentView(
            id=viewpoint.agent_id,
            name=viewpoint.name,
            species=clean(persona.species),
            description=clean(persona.description),
            mood=viewpoint.state(viewpoint.agent.mood),
            affect=felt(viewpoint.affect()),
            hierarchical=stats.hierarchical,
            working=stats.working,
            episodic=stats.episodic,
            perceived=stats.perceived,
        )

    def mood(self, caller: Caller, name: str) -> MoodView:
        """What an agent feels now. Everybody may see it, except for what a game told the agent."""
        viewpoint = self._viewpoint(caller, name)
        return mood_of(viewpoint, self._turns(viewpoint))

    def observe(self, caller: Caller, name: str) -> ObserveView:
        """The state of an agent's mind. Everybody may see it."""
        viewpoint = self._viewpoint(caller, name)
        return mind_of(viewpoint, self._turns(viewpoint))

    def stats(self, caller: Caller, name: str) -> views.StatsView:
        """How full an agent's memory is. A player sees only the importances of its own memories."""
        viewpoint = self._viewpoint(caller, name)
        stats = viewpoint.agent.memory.stats()
        histogram = [0] * BINS
        seen, _ = readable_entries(caller, viewpoint.in_mind())
        own = [viewpoint.figure(one.importance) for one in seen if viewpoint.agent.memory.is_episodic(one.id)]
        average = stats.average_importance if caller.sees_all else sum(own) / max(len(own), 1)
        for entry in seen:
            histogram[min(int(viewpoint.figure(entry.importance) * BINS), BINS - 1)] += 1
        figures = asdict(stats) | {
            "symbols": len(viewpoint.agent.subconscious),
            "average_importance": average,
        }
        return views.StatsView(
            agent=viewpoint.agent_id, name=viewpoint.name, histogram=tuple(histogram), **figures
        )

    def working(self, caller: Caller, name: str, limit: int | None = None, offset: int = 0) -> EntriesView:
        """Working memory, oldest first; the limit and the offset count from the latest."""
        viewpoint = self._viewpoint(caller, name)
        return viewpoint.latest_page("working", viewpoint.agent.memory.retrieve_working(), limit, offset)

    def episodic(
        self,
        caller: Caller,
        name: str,
        limit: int | None = None,
        offset: int = 0,
        min_importance: float = 0.0,
        who: str | None = None,
    ) -> EntriesView:
        """Episodic memory, the most important first; with `who`, only that of one user."""
        viewpoint = self._viewpoint(caller, name)
        user = None if who is None else viewpoint.user(who)
        # Rights come before the limit, so that no figure tells how many memories of others pass it.
        entries = viewpoint.agent.memory.retrieve_episodic(user, limit=None)
        least = viewpoint.least(min_importance)
        return viewpoint.page("episodic", entries, limit, offset, user or "", least)

    async def browse(self, caller: Caller, name: str, page: Page = FIRST) -> EntriesView:
        """One page of episodic memory, or of everything, sorted and filtered."""
        return await self._pages.page(self._viewpoint(caller, name), page)

    def important(self, caller: Caller, name: str, limit: int | None = 10, offset: int = 0) -> EntriesView:
        """The most important entries of working and episodic memory, each once."""
        viewpoint = self._viewpoint(caller, name)
        return viewpoint.page("important", viewpoint.in_mind(), limit, offset, least=0.0)

    def by_user(
        self, caller: Caller, name: str, who: str, limit: int | None = None, offset: int = 0
    ) -> EntriesView:
        """What one user shared, oldest first; the limit and the offset count from the latest."""
        viewpoint = self._viewpoint(caller, name)
        user = viewpoint.user(who)
        entries = [entry for entry in viewpoint.in_mind() if entry.user_id == user]
        return viewpoint.latest_page("user", entries, limit, offset, user)

    def affect_groups(self, caller: Caller, name: str, limit: int | None = 3) -> views.AffectGroupsView:
        """What is in mind, by sort of feeling; of each sort the `limit` most important."""
        return grouped(self._viewpoint(caller, name), limit)

    def affect_alike(
        self,
        caller: Caller,
        name: str,
        affect: Affect | None = None,
        limit: int | None = 5,
        min_similarity: float | None = None,
    ) -> views.AlikeView:
        """Memories that felt like an affect, the most alike first.

        Args:
            affect: what to compare with; None means what the agent feels now.
            min_similarity: 0…1; None means as in the settings.
        """
        viewpoint = self._viewpoint(caller, name)
        current = viewpoint.affect() if affect is None else affect
        least = self._society.settings.memory.affect_threshold if min_similarity is None else min_similarity
        # Rights come before the limits: others' memories must not take the places of the caller's own, and
        # how many of them felt alike would tell what they are.
        found = viewpoint.agent.memory.recall_by_affect(current, max(len(viewpoint.in_mind()), 1), 0.0)
        alike, hidden = readable(caller, found, lambda recalled: recalled.entry)
        kept = [recalled for recalled in alike if recalled.score >= least]
        return views.AlikeView(
            *viewpoint.of_agent,
            hierarchical=viewpoint.agent.memory.hierarchical,
            current=felt(current),
            min_similarity=least,
            entries=tuple(
                views.AlikeEntryView(recalled.score, viewpoint.entry(recalled.entry))
                for recalled in cut(kept, limit)
            ),
            total=len(kept),
            hidden=hidden,
        )

    def last_retrieval(self, caller: Caller, name: str) -> views.FlowView:
        """What the last answer was made of; for a player, its own last answer."""
        settings = self._society.settings.memory
        return last_flow(self._viewpoint(caller, name), settings.affect_threshold)

    def why(self, caller: Caller, name: str, back: int = 1, silent: bool = False) -> WhyView:
        """Why an agent said what it said: its last turn with words, or the one `back` turns ago.

        Turns without words count with `silent`. A player sees the turns with itself only.
        """
        return why(self._viewpoint(caller, name), back, silent)

    def turn(self, caller: Caller, name: str, entry_id: int) -> WhyView:
        """The turn in which a memory was perceived. Raises `NotFound` if the caller may not read it."""
        return turn(self._viewpoint(caller, name), entry_id)

    def prompt(self, caller: Caller, name: str, entry_id: int) -> PromptView:
        """What models were asked in the turn of a memory, word for word.

        Raises:
            Forbidden: the caller does not see everything, and a prompt holds what others said as well.
            NotFound: there is no such memory.
        """
        if not caller.sees_all:
            raise Forbidden("a prompt also holds what others said, so only an admin may see one")
        viewpoint = self._viewpoint(caller, name)
        told = turn(viewpoint, entry_id)
        return prompts_of(told, viewpoint.agent.prompts.get(entry_id, ()))

    def transistors(self, caller: Caller, name: str) -> TransistorsView:
        """The transistors of an agent with their gains, and the last effect of each."""
        viewpoint = self._viewpoint(caller, name)
        settings = self._society.settings
        chain = settings.thought.chain if settings.llm.base_url else OFFLINE
        return transistors(viewpoint, viewpoint.agent.gains, chain)

    def symbols(
        self, caller: Caller, name: str, limit: int | None = None, offset: int = 0, similar: bool = False
    ) -> SymbolsView:
        """Symbols, the latest first; with `similar`, those that its feeling brings back, most alike first."""
        return symbols_of(self._viewpoint(caller, name), limit, offset, similar)

    def links(self, caller: Caller, name: str, entry_id: int, depth: int = DEPTH) -> LinksView:
        """A memory and what its links lead to within `depth` (1…3) steps; see `linked_with`."""
        return linked_with(self._viewpoint(caller, name), entry_id, depth)

    async def focus(
        self, caller: Caller, name: str, level: int, query: str, who: str | None = None
    ) -> FocusView:
        """What an agent remembers about a question; with `who`, only of what this user said or did.

        Args:
            level: how far it goes back, 0…5, see `noodlings.recall.focus.LEVELS`.
        """
        return await focus_on(self._viewpoint(caller, name), query, level, who)

    async def people(
        self, caller: Caller, name: str, person: str | None = None, limit: int | None = None, offset: int = 0
    ) -> PeopleView:
        """What an agent knows of people, from what the caller may read; see `people_of`."""
        return await people_of(self._viewpoint(caller, name), person, limit, offset)

    async def journal(
        self, caller: Caller, name: str, day: str | None = None, limit: int | None = None, offset: int = 0
    ) -> JournalView:
        """What happened to an agent, day by day, as far as the caller may read it; see `journal_of`."""
        return await journal_of(self._viewpoint(caller, name), day, limit, offset)

    async def profile(
        self, caller: Caller, name: str, limit: int | None = None, offset: int = 0
    ) -> ProfileView:
        """What an agent makes of people; see `profile_of`."""
        return await profile_of(self._viewpoint(caller, name), limit, offset)

    async def chronicle(self, caller: Caller, name: str, query: str, limit: int = 5) -> ChronicleView:
        """Which commits of the code bases that an agent read answer a question, best first."""
        return await chronicle(self._viewpoint(caller, name), query, limit)

    async def recall(
        self,
        caller: Caller,
        name: str,
        query: str,
        limit: int = 10,
        who: str | None = None,
        how: RecallOptions = PLAINLY,
    ) -> RecallView:
        """Search everything an agent ever perceived; with `who`, only what this user said or did.

        A player's own memories are found as if there were no others. Where the archive is still being loaded,
        what there is of it is searched, and the view says so.
        """
        viewpoint = self._viewpoint(caller, name)
        if who is not None:
            how = replace(how, filters=replace(how.filters, user=viewpoint.user(who)))
        return await recall(viewpoint, query, limit, how)

    def archive(self, caller: Caller, name: str) -> ArchiveView:
        """How far an agent's archive is loaded and embedded. Everybody may see it."""
        return archive_state(self._viewpoint(caller, name))

    def user_id(self, caller: Caller, name: str, who: str) -> str:
        """The id of whoever is meant by `who`."""
        return self._viewpoint(caller, name).user(who)

    def _turns(self, viewpoint: Viewpoint) -> list[Trace]:
        """The latest turns that the caller may know of, oldest first."""
        latest = islice(turns(viewpoint, lambda trace: True), TURNS)
        return [trace for trace, _ in latest][::-1]

    def _viewpoint(self, caller: Caller, name: str) -> Viewpoint:
        return Viewpoint(self._society, self._society.find(name), caller)
