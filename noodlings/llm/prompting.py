"""Prompt templates, one file for each task, and how they are filled.

Text from outside is inserted as a JSON string without angle brackets, so that no line can close its fence.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from string import Template
from typing import Any

from noodlings.llm import prompts
from noodlings.llm.call import CHARACTERS_A_TOKEN, Prompt
from noodlings.ports import ToldDay, ToldLines, Utterance
from noodlings.text import clean, shorten
from noodlings.values.affect import Affect
from noodlings.values.lens import Lens
from noodlings.values.memory import (
    MemoryEntry,
    Recalled,
    Why,
    circumstances_of,
    hearsay,
    title_of,
    written_by,
)
from noodlings.values.percept import NOT_LIVED, Kind
from noodlings.values.persona import Persona
from noodlings.values.relationship import Relationship
from noodlings.values.sent_prompt import PromptMessage
from noodlings.values.tone import ToneName
from noodlings.values.wording import parse
from noodlings.voice.phrasebook import in_words
from noodlings.voice.reply_content import MOST_THINGS, self_topic, understood_line
from noodlings.voice.words import DAY, ago, shown

LONGEST_EVENT = 2_000
"""Characters of the line that is answered."""
LONGEST_MEMORY = 300
LONGEST_PASSAGE = 700
"""Characters of each passage that was read, and of each known fact."""
LONGEST_LINE = 240
"""Characters of each line of the earlier talk."""
LONGEST_TOLD = 600
"""Characters of each line that is read for facts; eight of them fit the context of a small model."""
LONGEST_NAME = 60
STEP = 5
"""Percepts of the earlier talk are left out in such groups, so that the rest stays the same for a while."""
LATELY = 5
"""How many images the model is told not to repeat."""
EXAMPLES = 3
"""How many lines of its own show how a character speaks."""
READ = 4
"""How many notes, memories and images of one lens are shown, of each kind."""

_STRENGTHS = ((1 / 3, "Faintly"), (2 / 3, "Clearly"))
"""Words for a lens whose gain times strength is below the number."""
_STRONGEST = "Strongly"

_DID = {
    Kind.SAY: "says to you",
    Kind.WHISPER: "whispers to you, so that nobody else hears it",
    Kind.EMOTE: "does this",
    Kind.ARRIVE: "arrives",
    Kind.LEAVE: "leaves",
    Kind.EVENT: "is there when this happens",
    Kind.THOUGHT: "is you, thinking this to yourself",
    Kind.READ: "gives you this to read",
    Kind.KNOWN: "lets you know this",
    Kind.FACT: "is known to you like this",
    Kind.JOURNAL: "is you, writing this in your journal",
}
_NONE = "(nothing)"
TONES = {
    ToneName.PLAIN: "",
    ToneName.GLAD: "\nThis is a glad matter for whoever speaks to you: be glad with them.",
    ToneName.GRAVE: "\nThis is a grave matter for whoever speaks to you: say nothing light, make no joke.",
}


def reply_prompt(utterance: Utterance, tokens: int = 3_000) -> Prompt:
    """The prompt of a reply: who the character is, the earlier talk in turns, and what it answers.

    The first message never changes, and the earlier talk stays the same, so that an endpoint with a cache
    reads little more than the last message anew.

    Args:
        tokens: a limit, estimated from the characters. Beyond it the oldest talk is left out, `STEP` percepts
            at a time, and then the oldest memories.
    """
    prompt = _reply_prompt(utterance)
    if sum(len(message.content) for message in prompt) <= tokens * CHARACTERS_A_TOKEN:
        return prompt
    if utterance.history:
        upto = (utterance.history[0].id - 1) // STEP * STEP + STEP
        later = tuple(entry for entry in utterance.history if entry.id > upto)
        return reply_prompt(replace(utterance, history=later), tokens)
    if utterance.recalled:
        return reply_prompt(replace(utterance, recalled=utterance.recalled[1:]), tokens)
    return prompt


def _reply_prompt(utterance: Utterance) -> Prompt:
    talk, since = _talk(utterance)
    shown_already = {entry.id for entry in utterance.history}
    # By when it happened: what a source told was stored late, and may be years old.
    by_time = sorted(utterance.recalled, key=lambda found: (found.entry.timestamp, found.entry.id))
    memories = [found for found in by_time if found.entry.id not in shown_already]
    slots = {
        "examples": _examples(utterance.persona),
        "since": since and f"{since}\n\n",
        "where": _where(utterance),
        "people": "".join(_known(one, utterance) for one in utterance.relationships),
        "mood": in_words(utterance.mood),
        "manner": _manner(utterance),
        "tone": TONES[utterance.tone.name],
        "memories": _section("memories", "\n".join(_in_mind(found, utterance) for found in memories)),
        "itself": _section("itself", _asked_about_itself(utterance)),
        "lens": _section("lens", _strongest(utterance)),
        "game": _game(utterance.blocks),
    }
    first, last = _messages("reply", _of_turn(utterance) | slots)
    return _in_kind((first, *talk, last), utterance.persona)


def _talk(utterance: Utterance) -> tuple[list[PromptMessage], str]:
    """The history in turns, and the lines since its last answer."""
    messages: list[PromptMessage] = []
    heard: list[str] = []
    for entry in utterance.history:
        heard.append(_line_of(entry, utterance))
        if entry.response:
            messages.append(PromptMessage("user", "\n".join(heard)))
            messages.append(PromptMessage("assistant", shorten(clean(entry.response), LONGEST_MEMORY)))
            heard = []
    return messages, "\n".join(heard)


def _line_of(entry: MemoryEntry, utterance: Utterance) -> str:
    """A line of the earlier talk, without its age, so that it is the same in every prompt."""
    who = fenced(shown(entry.user_id, utterance), LONGEST_NAME)
    return f"{who} {_DID[entry.kind]}: {fenced(entry.user_text, LONGEST_LINE)}"


def _where(utterance: Utterance) -> str:
    """Where the character is and who is there; "" if that is not known."""
    percept = utterance.percept
    there = percept.listeners - {percept.overheard_by}
    others = sorted(fenced(shown(who, utterance), LONGEST_NAME) for who in there)
    place = fenced(percept.place.replace("_", " "), LONGEST_NAME)
    things = [fenced(thing, LONGEST_NAME) for thing in percept.things[:MOST_THINGS]]
    told = [
        f"You are here: {place}." if percept.place else "",
        f"With you: {', '.join(others)}." if percept.place or len(others) > 1 else "",
        f"In sight: {', '.join(things)}." if things else "",
    ]
    line = " ".join(filter(None, told))
    return f"{line}\n" if line else ""


def _known(one: Relationship, utterance: Utterance) -> str:
    """What the character makes of somebody present, on a line."""
    who, now = fenced(shown(one.of, utterance), LONGEST_NAME), utterance.percept.timestamp
    if not one.lines:
        return f"{who}: a stranger to you.\n"
    days = max(int((now - one.met) // DAY) + 1, 1)
    known, last = "a day" if days == 1 else f"{days:,} days", ago(now - one.last) or "just now"
    return f"{who}: known for {known}, last talked with {last}; you are {one.words}.\n"


def _section(name: str, content: str) -> str:
    """A section of a message; "" without content."""
    return filled(name, **{name: content}) + "\n\n" if content else ""


def appraisal_prompt(text: str, addressed: bool) -> Prompt:
    toward = "This is meant for them" if addressed else "They hear or see this"
    return _messages("appraise", {"toward": toward, "heard": fenced(text, LONGEST_EVENT)})


def modulate_prompt(thought: str, lens: Lens, utterance: Utterance) -> Prompt:
    slots = {"lens": _lens(lens, utterance), "thought": fenced(thought, LONGEST_EVENT)}
    return _in_kind(_messages("modulate", _of_turn(utterance) | slots), utterance.persona)


def symbol_prompt(event: str, affect: Affect, avoid: Sequence[str], examples: Sequence[str]) -> Prompt:
    slots = {
        "examples": "\n".join(f"- {example}" for example in examples),
        "taken": _lines(avoid[-LATELY:]) or _NONE,
        "heard": fenced(event, LONGEST_EVENT),
        "felt": in_words(affect),
    }
    return _messages("symbol", slots)


def action_prompt(utterance: Utterance, response: str) -> Prompt:
    offered = [
        {"name": one.name, "description": one.description, "arguments": one.schema["properties"]}
        for one in utterance.percept.actions
    ]
    slots = {"actions": "\n".join(map(_bracketless, offered)), "said": fenced(response, LONGEST_EVENT)}
    return _messages("action", _of_turn(utterance) | slots)


def facts_prompt(told: ToldLines, kinds: Sequence[str]) -> Prompt:
    """The lines that are read, the talk before them, and the facts that are known of the speaker."""

    def numbered(entries: Sequence[MemoryEntry]) -> str:
        lines = (fenced(entry.user_text, LONGEST_TOLD) for entry in entries)
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))

    talk = []
    for entry in told.before:
        talk.append(f"{fenced(told.speaker, LONGEST_NAME)}: {fenced(entry.user_text, LONGEST_LINE)}")
        if entry.response:
            talk.append(f"{fenced(told.listener, LONGEST_NAME)}: {fenced(entry.response, LONGEST_LINE)}")
    slots = {
        "kinds": ", ".join(kinds),
        "earlier": _within("earlier", "\n".join(talk)),
        "known": _within("known", numbered(told.known)),
        "day": datetime.fromtimestamp(told.lines[-1].timestamp, UTC).strftime("%A, %d %B %Y"),
        "speaker": fenced(told.speaker, LONGEST_NAME),
        "lines": numbered(told.lines),
    }
    slots |= {name: f"{slots[name].strip()}\n\n" for name in ("earlier", "known") if slots[name]}
    return _messages("facts", slots)


def journal_prompt(told: ToldDay) -> Prompt:
    """What happened on a day, for the journal of a character."""
    lines = (fenced(line.text, LONGEST_TOLD) for line in told.lines)
    slots = {
        "identity": told.identity,
        "day": told.day.strftime("%A, %d %B %Y"),
        "lines": "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)),
    }
    return _messages("journal", slots)


def retry_prompt(prompt: Prompt, reason: str, advice: str) -> Prompt:
    """The same prompt, with what was wrong with the first answer at the end of its last message."""
    *before, last = prompt
    told = filled("retry", reason=reason, advice=advice)
    return *before, PromptMessage(last.role, f"{last.content}\n\n{told}")


def fenced(text: str, width: int) -> str:
    """Text from outside as one JSON string of at most `width` characters of text."""
    return _bracketless(shorten(clean(text), width))


def _bracketless(value: Any) -> str:
    """JSON in which nothing can close a fence."""
    quoted = json.dumps(value, ensure_ascii=False)
    return quoted.replace("<", "\\u003c").replace(">", "\\u003e")


def filled(file: str, /, **slots: str) -> str:
    """The text of a template with its slots filled."""
    return Template(template(file)).substitute(slots).strip()


@lru_cache(maxsize=16)
def template(name: str) -> str:
    return resources.files(prompts).joinpath(f"{name}.txt").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def all_templates() -> str:
    """The texts of all template files, one after another."""
    files = sorted(file.name for file in resources.files(prompts).iterdir() if file.name.endswith(".txt"))
    return "\n---\n".join(template(name.removesuffix(".txt")) for name in files)


def _messages(name: str, slots: dict[str, str]) -> Prompt:
    """The system's and the user's message of a template, filled."""
    parts = template(name).split("\n---\n", 1)
    system, user = (Template(part).substitute(slots).strip() for part in parts)
    return PromptMessage("system", system), PromptMessage("user", user)


def _in_kind(messages: Prompt, persona: Persona) -> Prompt:
    """The messages, with what to do instead of speaking for a character who does not speak."""
    if persona.verbal:
        return messages
    system, *others = messages
    told = filled("nonverbal", name=persona.name)
    return PromptMessage("system", f"{system.content}\n\n{told}"), *others


def _examples(persona: Persona) -> str:
    """The section with the character's example lines; "" if its recipe has none."""
    if not persona.examples:
        return ""
    return "\n\n" + filled("examples", name=persona.name, lines=_lines(persona.examples[:EXAMPLES]))


def _asked_about_itself(utterance: Utterance) -> str:
    """What its recipe tells about what the character is asked about itself, without choices."""
    persona, who = utterance.persona, utterance.speaker
    topic = self_topic(understood_line(utterance), utterance)
    told = () if topic is None else persona.voice.about_itself.get(topic, ())
    slots = {"name": who, "address": who, "me": persona.name, "species": persona.species, "percent": "all"}
    chance = random.Random(utterance.seed)  # noqa: S311 -- words, not secrets
    return _lines([parse(phrase).expand(chance, slots) for phrase in told])


def _manner(utterance: Utterance) -> str:
    """How the named mood sounds, on a line of its own; "" without a game."""
    if not utterance.manner:
        return ""
    return "\n" + filled("manner", named=utterance.named_mood, words=clean(utterance.manner))


def _game(blocks: tuple[str, ...]) -> str:
    """The blocks of a game; "" without a game."""
    # These lines have a format of their own, so they stay as they are, without brackets that close a fence.
    lines = [clean(line).replace("<", "").replace(">", "") for line in "\n".join(blocks).splitlines()]
    return _section("game", "\n".join(lines))


def _strongest(utterance: Utterance) -> str:
    """The strongest lens: a small model follows one, and none of five."""
    lens = max(utterance.lenses, key=lambda lens: lens.gain * lens.strength, default=None)
    return "" if lens is None else _lens(lens, utterance)


def _lens(lens: Lens, utterance: Utterance) -> str:
    """What a lens asks for and how strongly, on a line; then what was read for it, in fences."""
    product = lens.gain * lens.strength
    strength = next((word for below, word in _STRENGTHS if product < below), _STRONGEST)
    read = [fenced(note, LONGEST_MEMORY) for note in lens.notes[:READ]]
    read += [_memory(entry, utterance) for entry in lens.entries[:READ]]
    images = _lines([symbol.symbolic_encoding for symbol in lens.symbols[:READ]])
    shown_with = _within("read", "\n".join(read)) + _within("images", images)
    return f"- {strength}: {clean(lens.direction)}{shown_with}"


def _within(tag: str, lines: str) -> str:
    """Fenced lines between tags, on lines of their own; "" without any."""
    return f"\n<{tag}>\n{lines}\n</{tag}>" if lines else ""


def _lines(texts: Sequence[str]) -> str:
    """Each text as a JSON string on a line."""
    return "\n".join(fenced(text, LONGEST_MEMORY) for text in texts)


def _of_turn(utterance: Utterance) -> dict[str, str]:
    """The slots for who the character is, and for what it answers."""
    percept = utterance.percept
    in_game = percept.kind is Kind.EVENT and percept.data.get("event")
    did = f"{fenced(utterance.speaker, LONGEST_NAME)} {_DID[percept.kind]}"
    return {
        "identity": utterance.persona.prompt,
        "name": utterance.persona.name,
        "what": "In the game this happens" if in_game else did,
        "heard": fenced(percept.text, LONGEST_EVENT),
    }


def _in_mind(found: Recalled, utterance: Utterance) -> str:
    """A memory, with notes on repetition, correction and plans that are due."""
    said_again = found.sources and found.entry.kind is not Kind.FACT
    times = f" (and {len(found.sources)} times before)" if said_again else ""
    corrected = " (no longer so, it was corrected later)" if found.superseded_by is not None else ""
    due = " (its time has come: ask how it went)" if Why.DUE in found.why and not utterance.tone.grave else ""
    return _memory(found.entry, utterance, times + corrected + due)


def _memory(entry: MemoryEntry, utterance: Utterance, note: str = "") -> str:
    persona = utterance.persona
    own = entry.user_id in persona.own_ids
    if entry.kind in NOT_LIVED:
        told = f"read in “{title_of(entry)}”" if entry.kind is Kind.READ else "you know"
        told += f" from {shown(entry.user_id, utterance)}" if entry.kind is Kind.FACT else ""
        return fenced(f"{told}{note}: {entry.user_text}", LONGEST_PASSAGE)
    who = "you" if own else shown(entry.user_id, utterance)
    when = ago(utterance.percept.timestamp - entry.timestamp) or "just now"
    first = [shown(one, utterance) for chain in hearsay(entry) for one in reversed(chain)]
    note += f", had from {', '.join(dict.fromkeys(first))}" if first else ""
    happened = circumstances_of(entry).in_words(utterance.percept.timestamp)
    note += f", {happened}" if happened else ""
    told = f"known of {who}{note}" if written_by(entry) else f"{when}{note}, {who}"
    return fenced(f"{told}: {entry.user_text}", LONGEST_MEMORY)
