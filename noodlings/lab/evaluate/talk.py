"""Lived talk: is what players tell a character kept, does it come to mind when asked for, and is it said?

A case is a conversation with a character of its own. Each line is perceived as usual, and only the answer is
judged: what was in mind for it, and whether its words show that. A question for something that was never told
should be answered with not knowing; a line that tells something should be felt with the right sign, and what
is worth keeping should be more important than what is not.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from noodlings.agent.memory_question import subject
from noodlings.agent.recipes import read_recipe
from noodlings.agent.society import Society
from noodlings.clock import ManualClock
from noodlings.errors import UserError
from noodlings.ingest.record import SourceProblem
from noodlings.ingest.sources.talk import read_transcript
from noodlings.lab.evaluate.affect import auc
from noodlings.lab.replay import BEGINNING
from noodlings.memory.context import entry_tokens
from noodlings.recall.filters import Filters
from noodlings.text import clean
from noodlings.validation import yaml_of
from noodlings.values.percept import Kind, Percept

MOST = 12
"""Things in mind; with more of them, nothing counts as in mind."""
PACE = 5.0
"""World seconds between two lines; a step `pause` adds to them."""
ADDRESSED = 0.3
"""The share of idle lines that are said to the character."""
LONGEST = 200
"""Characters of an idle line."""

_SPOKEN = {"say": Kind.SAY, "emote": Kind.EMOTE, "whisper": Kind.WHISPER, "ask": Kind.SAY}
_IDLE = (
    "hm {n}", "ok", "brb", "back again", "the gutter is dripping", "anybody seen a lighter?", "haha", "mm",
    "the gate is stuck i think", "it is ten past {n}", "the barrel goes over there", "one moment", "done",
    "who took the stool", "{n} left", "raining again", "where is the map", "yes the blue one", "not a clue",
    "needs more salt", "afk", "cold in here", "my socks are wet", "up or down?", "one lamp is out",
)  # fmt: skip
_DENIES = re.compile(
    r"\b(not|n't|never|no|nobody|nothing|none|cannot|beyond|lost|wish|only|gaps?)\b.*\b(know|knew|remember|recall|told"
    r"|tell|say|said|heard|have|find|memory|record|card|sure|it|me)\b|no idea|make it up|got me|guess",
    re.S,
)
_QUOTES = re.compile(r"you (said|told me)|told me (that|their|his|her)|“")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A line that told or asked something, and its answer.

    Attributes:
        needs: ids of the entries that the answer needs; None for a line that asks nothing.
        size, tokens: how many things were in mind for the answer, and what they cost in a prompt.
        in_mind, found, said: whether they were in mind, were found by the search, and show in the answer;
            None if that does not apply.
    """

    case: str
    kind: str
    text: str
    reply: str | None
    importance: float
    valence: float
    tone: str | None
    keep: bool | None
    needs: list[int] | None = None
    size: int = 0
    tokens: int = 0
    unknown: bool = False
    in_mind: bool | None = None
    found: bool | None = None
    said: bool | None = None
    wrong: tuple[str, ...] = ()


@dataclass(slots=True)
class _Life:
    """One case as a character lives it; each case has people of its own."""

    agent_id: str
    number: int
    case: Mapping[str, Any]
    users: list[str]
    chance: random.Random
    marks: dict[str, int] = field(default_factory=dict)
    idled: int = 0


class Conversations:
    """Lets characters live through cases.

    Args:
        society: an empty one that keeps nothing.
        idle: lines of idle talk; None for a few of our own.
        busy: a factor for the amount of idle talk.
    """

    def __init__(
        self, society: Society, clock: ManualClock, idle: Sequence[str] | None = None, busy: int = 1
    ) -> None:
        self._society = society
        self._clock = clock
        self._idle = tuple(idle) if idle else _IDLE
        self._busy = busy

    async def run(
        self, cases: Sequence[Mapping[str, Any]], one: bool, progress: Callable[[], None]
    ) -> list[Exchange]:
        """All lines that tell or ask something.

        With `one`, one character lives all cases, and is told everything before it is asked anything.
        """
        self._clock.set(BEGINNING)
        only = self._somebody(0) if one else ""
        lives = [
            _Life(
                only or self._somebody(number),
                number,
                case,
                sorted({step["who"] for step in case["steps"] if "who" in step}) or ["ann"],
                random.Random(number),  # noqa: S311 -- idle talk, not secrets
            )
            for number, case in enumerate(cases, 1)
        ]
        exchanges = []
        for phase in ((False,), (True,)) if one else ((False, True),):
            for life in lives:
                for step in life.case["steps"]:
                    if ("ask" in step) in phase:
                        exchange = await self._live(life, step)
                        exchanges += [exchange] if exchange else []
                        progress()
        return exchanges

    def _somebody(self, number: int) -> str:
        name = f"Keeper{number}"
        recipe = {
            "name": name,
            "species": "innkeeper",
            "description": f"{name} wipes the counter.",
            "identity": f"You are {name}, who keeps a small inn. You listen well and speak plainly.",
        }
        persona = read_recipe(recipe, name.lower(), name)
        return self._society.create(persona).id

    async def _live(self, life: _Life, step: Mapping[str, Any]) -> Exchange | None:
        self._clock.set(self._clock.now() + float(step.get("pause", 0.0)))
        if "filler" in step:
            for _ in range(step["filler"] * self._busy):
                life.idled += 1
                text = life.chance.choice(self._idle).replace("{n}", str(life.idled))
                await self._tell(
                    life, life.chance.choice(life.users), text, Kind.SAY, life.chance.random() < ADDRESSED
                )
            return None
        spoken = next((name for name in _SPOKEN if name in step), None)
        if spoken is None:
            return None
        text = step[spoken]
        trace = await self._tell(life, step["who"], text, _SPOKEN[spoken], step.get("addressed", True))
        if "mark" in step:
            life.marks[step["mark"]] = trace.entry_id
        exchange = Exchange(
            case=life.case["id"],
            kind=life.case["kind"],
            text=text,
            reply=trace.response,
            importance=trace.importance,
            valence=trace.affect.valence,
            tone=step.get("tone"),
            keep=step.get("keep"),
        )
        if spoken != "ask":
            return exchange
        reply = (trace.response or "").lower()
        in_mind = {found.entry_id for found in trace.recalled}
        needs = [life.marks[mark] for mark in step.get("needs") or ()]
        unknown = bool(step.get("unknown"))
        said: bool | None = None
        if unknown:
            said = bool(_DENIES.search(reply)) and not _QUOTES.search(reply)
        elif step.get("expects"):
            said = any(_shows(word, reply) for word in step["expects"])
        return replace(
            exchange,
            needs=needs,
            size=len(trace.recalled),
            tokens=sum(map(entry_tokens, self._society.store.entries(life.agent_id, list(in_mind)).values())),
            unknown=unknown,
            in_mind=in_mind.issuperset(needs) and len(trace.recalled) <= MOST if needs else None,
            found=await self._found(life, text, needs) if needs else None,
            said=said,
            wrong=tuple(word for word in step.get("never") or () if _shows(word, reply)),
        )

    async def _tell(self, life: _Life, who: str, text: str, kind: Kind, addressed: bool) -> Any:
        self._clock.set(self._clock.now() + PACE)
        alone = kind is Kind.WHISPER or life.case["kind"] == "secret"
        ids = {user: f"user_{user}_{life.number}" for user in life.users}
        self._society.introduce(ids[who], who.capitalize())
        return await self._society.perceive(
            life.agent_id,
            Percept(
                user_id=ids[who],
                text=clean(text),
                timestamp=self._clock.now(),
                kind=kind,
                addressed=addressed,
                present=frozenset({ids[who]} if alone else ids.values()),
            ),
        )

    async def _found(self, life: _Life, text: str, needs: Sequence[int]) -> bool:
        archive = self._society.agents[life.agent_id].archive
        if archive is None:
            return False
        hits = await archive.search(subject(clean(text)), Filters(), limit=10)
        return {hit.entry_id for hit in hits}.issuperset(needs)


def read_cases(path: Path) -> list[dict[str, Any]]:
    """The cases of a file. Raises `UserError`, naming the file and what is wrong in it."""
    cases = yaml_of(path)
    try:
        steps = [step for case in cases for step in case["steps"]]
        whole = all({"id", "kind"} <= case.keys() for case in cases) and all(map(_is_step, steps))
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not a list of cases with steps: {error!s:.120}") from error
    if not whole or not steps:
        raise UserError(
            f"{path}: a case needs an id, a kind and steps; a step needs who, and say, emote, whisper or ask"
        )
    return list(cases)


def _is_step(step: Mapping[str, Any]) -> bool:
    if "filler" in step:
        return isinstance(step["filler"], int) and step["filler"] >= 0
    spoken = [step[name] for name in _SPOKEN if name in step]
    if not spoken:
        return "pause" in step
    return len(spoken) == 1 and isinstance(spoken[0], str) and isinstance(step.get("who"), str)


def read_idle(path: Path) -> list[str]:
    """Idle talk from a transcript, each line cut to `LONGEST` characters. Raises `UserError` for none."""
    lines = [line for line in read_transcript(path) if not isinstance(line, SourceProblem)]
    texts = [line.record.text.strip()[:LONGEST] for line in lines]
    if not any(texts):
        raise UserError(f"{path} has no talk in it")
    return list(filter(None, texts))


def steps(cases: Sequence[Mapping[str, Any]]) -> int:
    """How often `Conversations.run` calls its progress."""
    return sum(len(case["steps"]) for case in cases)


def figures(exchanges: Sequence[Exchange]) -> dict[str, Any]:
    """The figures; a share, 0…1, is [share, of how many].

    Returns:
        in_mind, found_at_10, said: of questions that need something; unknown_admitted: of questions for what
        was never told; wrong: answers with a word that must not be in them, of how many; context_entries,
        context_tokens: how many were in mind for a question and what they cost, on average; tone_felt: grave
        or glad lines whose valence has the right sign; importance_auc: the chance that what is worth keeping
        is more important than what is not; kept: the share of each of these above .3; by_kind.
    """
    asked = [exchange for exchange in exchanges if exchange.needs is not None]
    known = [exchange for exchange in asked if exchange.needs]
    kinds: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in known:
        kinds[exchange.kind].append(exchange)
    felt = [
        exchange.valence < -0.1 if exchange.tone == "grave" else exchange.valence > 0.1
        for exchange in exchanges
        if exchange.tone in ("grave", "glad")
    ]
    judged = [exchange for exchange in exchanges if exchange.keep is not None]
    importances = np.array([exchange.importance for exchange in judged])
    kept = np.array([exchange.keep for exchange in judged], np.bool_)
    return {
        "in_mind": _share([exchange.in_mind for exchange in known]),
        "found_at_10": _share([exchange.found for exchange in known]),
        "said": _share([exchange.said for exchange in known]),
        "unknown_admitted": _share([exchange.said for exchange in asked if exchange.unknown]),
        "wrong": [sum(bool(exchange.wrong) for exchange in asked), len(asked)],
        "context_entries": round(sum(exchange.size for exchange in asked) / max(len(asked), 1), 1),
        "context_tokens": round(sum(exchange.tokens for exchange in asked) / max(len(asked), 1), 1),
        "tone_felt": _share(felt),
        "importance_auc": round(auc(importances, kept) or 0, 3),
        "kept": {
            str(keep): _share([e.importance > 0.3 for e in exchanges if e.keep is keep])[0]
            for keep in (True, False)
        },
        "by_kind": {
            kind: {
                "n": len(some),
                "in_mind": _share([exchange.in_mind for exchange in some])[0],
                "said": _share([exchange.said for exchange in some])[0],
            }
            for kind, some in sorted(kinds.items())
        },
    }


def view(given: dict[str, Any]) -> Group:
    table = Table(box=None, pad_edge=False)
    for name in ("questions", "n", "in mind", "said"):
        table.add_column(name, justify="left" if name == "questions" else "right")
    overall = {"n": given["in_mind"][1], "in_mind": given["in_mind"][0], "said": given["said"][0]}
    for name, row in (("overall", overall), *given["by_kind"].items()):
        table.add_row(name, str(row["n"]), _shown(row["in_mind"]), _shown(row["said"]))
    found, unknown, tone = (given[name] for name in ("found_at_10", "unknown_admitted", "tone_felt"))
    wrong, answers = given["wrong"]
    return Group(
        table,
        Text(f"found by the search among ten {_shown(found[0])}"),
        Text(
            f"things in mind on average {given['context_entries']:g}, in {given['context_tokens']:g} tokens"
        ),
        Text(f"not knowing admitted {_shown(unknown[0])} of {unknown[1]}; wrong {wrong} of {answers}"),
        Text(f"tone felt {_shown(tone[0])} of {tone[1]}"),
        Text(f"importance of what is worth keeping above the rest: AUC {given['importance_auc']:.3f}"),
    )


def shown_exchanges(exchanges: Sequence[Exchange]) -> Iterator[Text]:
    """Every question with its answer, and what was missed."""
    for exchange in exchanges:
        if exchange.needs is None:
            continue
        marks = ["not in mind"] * (exchange.in_mind is False) + ["not said"] * (exchange.said is False)
        marks += [f"wrong: {', '.join(exchange.wrong)}"] if exchange.wrong else []
        yield Text.assemble(
            (f"{exchange.case} ", "dim"), exchange.text, "\n   → ", exchange.reply or "(silence)",
            (f"   [{'; '.join(marks)}]" if marks else "", "yellow"),
        )  # fmt: skip


def _shown(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _shows(word: object, reply: str) -> bool:
    """Whether a word or phrase, or its plural, is in a reply, in any case."""
    return re.search(rf"\b{re.escape(str(word).lower())}(?:'?s)?\b", reply) is not None


def _share(values: Sequence[bool | None]) -> list[Any]:
    known = [value for value in values if value is not None]
    return [round(sum(known) / len(known), 3) if known else None, len(known)]
