"""`@people NAME "WHO"`: what a character knows of people, with the evidence behind each line."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from commands.memory_view import NAME
from commands.pages import PAGE_FLAGS, limit_and_offset, past_the_end, remaining
from commands.parse import Parsed, Spec
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import BLANK, TextColumn, TextRows, heading, hidden, nothing, quiet, stacked
from noodlings.agent.corrections import KNOWING
from noodlings.agent.night import REFLECTING
from noodlings.drawing.marks import LOUD, QUIET, ago, words
from noodlings.errors import UserError
from noodlings.inspect.changes import FactKnown, NightView
from noodlings.inspect.people import AcquaintanceView, FactView, PeopleView, PersonCardView, PlanView
from noodlings.inspect.relationships import ProfileView, RelationshipView
from noodlings.text import counted

PROFILE_PAGE = 15
"""Relationships shown at a time."""
MANNER = len("hardly acquainted with them")
"""Cells for what it is to somebody: the longest of `Relationship.words`."""
PAGE = 5
"""People shown at a time, each with a few facts, so that a page fits a terminal of 24 lines."""
MOST = 3
"""Facts of one person in the list of all."""
_PLANNED = ("plan", "promise", "told")
"""Kinds of facts that say no more than an open plan in the same line."""


@looking_inside(Spec('@people NAME ["WHO"] [--limit N] [--page N]', PAGE_FLAGS, text="WHO"))
async def people(context: CommandContext, parsed: Parsed) -> Reply:
    """See what a character knows about people.

    Without WHO, it lists everybody the character was told something about. With WHO, it shows a card: who
    they are and what they do, like, fear, plan and promise, in the words that were used, with when, by whom,
    and the numbers of the memories (for @links and @forget). Plans that are due or ahead come first, with
    their day; lines worth keeping that fit no heading follow as they were told; what was superseded comes
    last, dimmed. With two people ("ANN and BOB") it shows how they stand to each other.

      --limit N           how many people at a time
      --page N            which page

    What was told "(alone)" was told while nobody else was there, and "(in confidence)" as a secret.

    Without a language model only what was said plainly has a heading; with one, also what it implies.

    You see what follows from what you told a character yourself; an admin sees everything.

    Examples:
      @people servnak
      @people servnak me
      @people phi "Caity's sister"
      @people phi "Caity and Bob"
    """
    page = limit_and_offset(parsed, PAGE)
    view = await context.inspector.people(context.caller, parsed.name, parsed.rest or None, *page)
    return Reply(view.as_dict(), people_view(view, one=bool(parsed.rest)))


@looking_inside(Spec("@know NAME WHO = WHAT", text="WHAT"))
async def know(context: CommandContext, parsed: Parsed) -> Reply:
    """Give a character a fact about somebody.

    The fact appears on the card of @people and is found like any memory, and nothing that is said later
    replaces it. @forget removes it again. For admins.

    Examples:
      @know servnak caity = is allergic to nuts
      @know phi servnak = was built in Leeds
    """
    who, _, what = (part.strip() for part in parsed.rest.partition("="))
    if not who or not what:
        raise UserError(f"Who is it about, and what? Type it like this: {parsed.usage}")
    context.caller.require_admin(KNOWING)  # before looking for WHO, where a player is told how to read
    about = context.inspector.user_id(context.caller, parsed.name, who)
    entry = await context.society.corrections.know(context.caller, parsed.name, about, what)
    agent = context.society.find(parsed.name)
    known = FactKnown(agent.id, entry.id, about)
    return Reply(known.as_dict(), words(f"{agent.persona.name} now knows that, as memory {entry.id}."))


@looking_inside(Spec("@reflect NAME"))
async def reflect(context: CommandContext, parsed: Parsed) -> Reply:
    """Let a character go over what it perceived since it last did so.

    It links what contradicts or explains what the same person told; @links shows that. If a model is
    connected, it also notes what people told about themselves before there was one, or in logs that were
    ingested (@people shows that), and words the journal of days that are over (@journal shows it). It goes on
    in the background. For admins.

    Examples:
      @reflect servnak
    """
    context.caller.require_admin(REFLECTING)
    agent = context.society.find(parsed.name)
    await agent.begin_reflecting()
    what = counted(agent.night.new, "new memory", "new memories")
    said = f"{agent.persona.name} is going over {what} now, and then weighs all it has anew."
    return Reply(NightView.of(agent).as_dict(), words(said))


@looking_inside(Spec("@profile NAME [--limit N] [--page N]", PAGE_FLAGS))
async def profile(context: CommandContext, parsed: Parsed) -> Reply:
    """See what a character makes of people.

    Lists its relationships, the strongest first: how it feels about somebody, how many of their lines moved
    it for and against them, and the numbers of the memories that weigh most (for @links and @forget).

      --limit N           how many people at a time
      --page N            which page

    You see only what it makes of you; an admin sees everything.

    Examples:
      @profile servnak
    """
    page = limit_and_offset(parsed, PROFILE_PAGE)
    view = await context.inspector.profile(context.caller, parsed.name, *page)
    return Reply(view.as_dict(), profile_view(view))


def profile_view(view: ProfileView) -> RenderableType:
    if not view.relationships:
        none = past_the_end(view.total) if view.total else "It makes nothing of anybody yet."
        return stacked(heading(view.name, "profile"), BLANK, nothing(none, 0))
    made = view.relationships
    rows = [(words(one.name, LOUD), words(one.words), words(_counts(one), QUIET)) for one in made]
    return stacked(
        heading(view.name, "profile"),
        BLANK,
        TextRows((TextColumn("", NAME), TextColumn("it is", MANNER), TextColumn("because of", None)), rows),
        remaining(view.offset, len(made), view.total, PROFILE_PAGE),
    )


def people_view(view: PeopleView, one: bool = False) -> RenderableType:
    if not view.people:
        none = past_the_end(view.total) if view.total else "It knows nothing about anybody."
        return stacked(heading(view.name, "people"), BLANK, nothing(none, 0 if view.total else view.hidden))
    known: RenderableType | None = None
    if one:
        (card,) = view.people
        title, rows = f"what it knows of {card.name}", [_plan(plan) for plan in card.plans]
        open_plans = {plan.evidence for plan in card.plans}  # which are told once
        facts = (one for one in card.facts if one.kind not in _PLANNED or open_plans.isdisjoint(one.evidence))
        rows += map(_row, facts)
        rows += [_row(fact, QUIET) for fact in card.superseded]
        known = None if card.acquaintance is None else _known(card.acquaintance)
    else:
        title, rows = "people", [row for card in view.people for row in _first(card)]
    columns = (
        TextColumn("", NAME),
        TextColumn("what", leaves=True),
        TextColumn("how it was told", None),
        TextColumn("memories", optional=True),
        TextColumn("when", optional=True),
        TextColumn("by", NAME, optional=True),
    )
    return stacked(
        heading(view.name, title),
        known,
        BLANK,
        TextRows(columns, rows),
        remaining(view.offset, len(view.people), view.total, PAGE),
        hidden(view.hidden),
    )


def _first(card: PersonCardView) -> list[tuple[Text, ...]]:
    rows = [_row(fact) for fact in card.facts[:MOST]] or [_row(card.superseded[0], QUIET)]
    rows[0] = (words(card.name, LOUD), *rows[0][1:])
    more = len(card.facts) - MOST
    others = (BLANK, BLANK, words(f"{more} more", QUIET), BLANK, BLANK, BLANK)
    return [*rows, others] if more > 0 else rows


def _known(one: AcquaintanceView) -> RenderableType:
    met = quiet(
        f"first met on {one.met_when[:10]}, last talk {ago(one.last_age)}, {_lines(one.lines)},"
        f" in all {one.feeling}"
    )
    made = one.relationship
    return met if made is None else stacked(met, quiet(f"it is {made.words}: {_counts(made)}"))


def _counts(made: RelationshipView) -> str:
    if not (made.pleasant or made.unpleasant):
        return "no line moved it for or against them"
    evidence = f", most of all {' '.join(map(str, made.evidence))}" if made.evidence else ""
    return f"{_lines(made.pleasant)} for, {made.unpleasant} against{evidence}"


def _lines(count: int) -> str:
    return "one line" if count == 1 else f"{count:,} lines"


def _plan(plan: PlanView) -> tuple[Text, ...]:
    evidence, day = words(str(plan.evidence), QUIET), words(plan.when[:10], QUIET)
    return (BLANK, words(plan.state, LOUD), words(_told(plan)), evidence, day, BLANK)


def _row(fact: FactView, style: str = "") -> tuple[Text, ...]:
    told = _told(fact)
    return (
        BLANK,
        words(fact.kind, QUIET),
        words(told if not fact.superseded_by else f"{told} → {fact.superseded_by}", style),
        words(" ".join(map(str, fact.evidence)), QUIET),
        words(ago(fact.age), QUIET),
        words(fact.told_by, QUIET),
    )


def _told(one: PlanView | FactView) -> str:
    how = "(in confidence) " if one.confided else "(alone) " if one.private else ""
    return how + one.words
