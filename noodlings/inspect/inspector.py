"""The only reader of agents: commands, API and studio ask all their questions here.

Each answer is a frozen view of what the caller may read, with a count of what was left out. Reading never
changes, reinforces or reorders anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import asdict
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from noodlings.inspect import views
from noodlings.inspect.browse import FIRST, Page, PageReader
from noodlings.inspect.chronicle import commits_of
from noodlings.inspect.journal import journal_of
from noodlings.inspect.links import focus_on, linked_with
from noodlings.inspect.mood import mind_of, mood_of
from noodlings.inspect.people import people_of
from noodlings.inspect.recall import archive_state, recalled_for
from noodlings.inspect.relationships import profile_of
from noodlings.inspect.symbols import symbols_of
from noodlings.inspect.turns import last_flow
from noodlings.inspect.viewpoint import Viewpoint, cut, felt, grouped
from noodlings.inspect.views import EntriesView
from noodlings.inspect.why import prompts_of, transistors_of, turn_of, why_said
from noodlings.text import clean
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller

if TYPE_CHECKING:
    from noodlings.agent.society import Society

BINS = 10

P = ParamSpec("P")
T = TypeVar("T")


def _about(
    topic: Callable[Concatenate[Viewpoint, P], T],
) -> Callable[Concatenate[Inspector, Caller, str, P], T]:
    """The method of `Inspector` for a question that a function answers from a viewpoint."""

    def ask(inspector: Inspector, caller: Caller, name: str, /, *args: P.args, **named: P.kwargs) -> T:
        return topic(inspector._viewpoint(caller, name), *args, **named)

    update_wrapper(ask, topic)  # for help and the types of the answers
    return ask


def _at_length_about(
    topic: Callable[Concatenate[Viewpoint, P], Awaitable[T]],
) -> Callable[Concatenate[Inspector, Caller, str, P], Coroutine[Any, Any, T]]:
    """The same for a function that reads a whole memory or searches it.

    A caller who waits for too many such answers already gets `Busy`.
    """

    async def ask(inspector: Inspector, caller: Caller, name: str, /, *args: P.args, **named: P.kwargs) -> T:
        with inspector._society.long_answers.admitted(caller.user_id):
            return await topic(inspector._viewpoint(caller, name), *args, **named)

    update_wrapper(ask, topic)
    return ask


class Inspector:
    """Reads the agents of one society. What a question means and raises is said by the function behind it.

    `name` is whatever `Society.find` understands; `NotFound` is raised for an agent that does not exist. A
    `limit` is at least 1, or None for all; `offset` counts from the first in the order of the view. Other
    values raise `UserError`. `who` is a user's id, a shown name, or "me"; errors as in `Viewpoint.user`. A
    search raises `UserError` where the memory is a plain list.
    """

    def __init__(self, society: Society) -> None:
        self._society = society
        self._pages = PageReader()

    archive = _about(archive_state)
    affect_groups = _about(grouped)
    chronicle = _at_length_about(commits_of)
    focus = _at_length_about(focus_on)
    journal = _at_length_about(journal_of)
    last_retrieval = _about(last_flow)
    links = _about(linked_with)
    mood = _about(mood_of)
    observe = _about(mind_of)
    people = _at_length_about(people_of)
    profile = _at_length_about(profile_of)
    prompt = _about(prompts_of)
    recall = _at_length_about(recalled_for)
    symbols = _about(symbols_of)
    transistors = _about(transistors_of)
    turn = _about(turn_of)
    user_id = _about(Viewpoint.user)
    why = _about(why_said)

    async def agents(self, caller: Caller) -> views.AgentsView:
        """The agents that are in memory, by name, how many are not, and the state of the language model."""
        agents = [self.agent(caller, agent_id) async for agent_id in self.in_turn(caller)]
        status = self._society.model_status
        model = views.ModelView(str(status.state), status.sentence if caller.sees_all else status.plain)
        listed = tuple(sorted(agents, key=lambda view: view.name.casefold()))
        return views.AgentsView(listed, model, len(self._society.agents) - len(agents))

    async def in_turn(self, caller: Caller, agent_id: str = "") -> AsyncIterator[str]:
        """This id, or those of all agents that are in memory; others have their turn before each of them.

        Who falls asleep meanwhile is left out: to wake one for a list could send the next to sleep.
        """
        agents = self._society.agents
        for one in [agent_id] if agent_id else list(agents.at_hand):
            await self._society.readers.turn(caller.user_id)
            if agent_id or one in agents.at_hand:
                yield one

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

    def stats(self, caller: Caller, name: str) -> views.StatsView:
        """How full an agent's memory is. A player sees only the importances of its own memories."""
        viewpoint = self._viewpoint(caller, name)
        stats = viewpoint.agent.memory.stats()
        histogram = [0] * BINS
        seen, _ = viewpoint.readable_entries(viewpoint.in_mind())
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
        """One page of episodic memory, or of everything, sorted and filtered.

        A caller who waits for too many answers that take long already gets `Busy`.
        """
        with self._society.long_answers.admitted(caller.user_id):
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
        least = viewpoint.settings.memory.affect_threshold if min_similarity is None else min_similarity
        # Rights come before the limits: others' memories must not take the places of the caller's own, and
        # how many of them felt alike would tell what they are.
        found = viewpoint.agent.memory.recall_by_affect(current, max(len(viewpoint.in_mind()), 1), 0.0)
        alike, hidden = viewpoint.readable_among(found, lambda recalled: recalled.entry)
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

    def _viewpoint(self, caller: Caller, name: str) -> Viewpoint:
        return Viewpoint(self._society, self._society.find(name), caller)
