"""Which action a line asks for: the port `ActionChooser` without a model.

In doubt it does nothing. The line must be meant for the character, and a clause must begin with the name of
an action or one of its words, as a request ("follow me", "please …", "would you …", "let's …"). What is
denied, reported, asked about or meant for another time does not count. The choice depends on the line, on
what is felt about it and on the visible mood, never on memories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from noodlings.ports import Allowance, Utterance
from noodlings.text import any_of, folded
from noodlings.values.action import Action, Argument, OfferedAction, ParameterSchema
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind
from noodlings.values.wording import SpokenFeeling
from noodlings.voice.phrasebook import strengths
from noodlings.voice.question import SENTENCE_BREAK
from noodlings.voice.understanding import ATTENTION, understand
from noodlings.voice.words import called_other, in_words, listed, spoken_words, without_names

REFUSE = "refuse"
"""The action, or a word of it, that an unwilling character chooses instead."""
UNWILLING = 0.3
"""Fear or anger, 0…1, from which it is unwilling."""
MOOD_STEPS = 4
"""Steps from 0 to 1 of a visible mood, so that actions reveal nothing finer."""
NAME_WORDS = 4
"""Words of a name ("old iron key")."""

_QUOTED = re.compile(r"[\"“”«»][^\"“”«»]*(?:[\"“”«»]|$)|(?<!\w)['‘][^'’‘]*['’](?!\w)")
_CLAUSE = re.compile(r"[,;:]\s+|\s+[–—-]+\s+")
_ELSEWHEN = re.compile(
    r"^(?:and |but |so )?"
    r"(?:what|who|whom|whose|why|how|where|which|did|does|has|have|is|are|was|were|should|shall|after)\b"
    r"|\b(?:if|when|whenever|unless|until|till|(?<!at )once|tomorrow|tonight|later|someday|yesterday"
    r"|next (?:time|day|week|month|year|morning|evening)|said|says|saying|told|tells|telling|asked|asks"
    r"|asking|shouted|shouts|cried|whispered|whispers|wrote|writes|thought|thinks|wanted|wants|heard)\b",
    re.I,
)
"""A sentence with this asks for nothing now."""
_DENIED = re.compile(
    r"\b(?:not|never|no|nor|neither|nobody|nothing|none|without|is|are|was|were)\b|n['’]t\b", re.I
)
"""A clause with this asks for nothing."""
_LEAD = (
    r"(?:(?:please|kindly|just|now|then|so|and|but|well|ok|okay|alright|right|hey|oh|ah|yes|quick|quickly|hurry"
    r"|come on|come|go on|go|do{names})[\s!]+)*"
    r"(?P<asks>(?:(?:can|could|will|would) you|let['’]?s|let us)\s+"
    r"(?:(?:please|just|kindly|now|maybe|perhaps|also)\s+)*)?(?P<phrase>{phrases})"
    r"(?![\w'’-])(?!\s+(?:up|out|through)\b)"
)
_COUNTS = {in_words(count): count for count in range(2, 21)}
_NUMBER = re.compile(
    r"(?<![\w.,-])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w%]|[.,]\d)"
    rf"|\b(?:{'|'.join(sorted(_COUNTS, reverse=True))})\b",
    re.I,
)
_BEFORE_NAME = re.compile(r"^(?:(?:at|to|for|with)\s+)?(?:(?:the|an?|my|your|our|this|that)\s+)?", re.I)
_AFTER_NAME = re.compile(r"(?:\s+(?:please|now|right now|then|quickly|for me|with me|too|again))+$", re.I)
_SPEAKER = frozenset({"me", "us"})


class RuleChooser:
    async def choose(self, utterance: Utterance, response: str, allowance: Allowance) -> Action | None:
        """The first action asked for with all required arguments; None where that is unclear."""
        asked = list(_requests(utterance))
        if asked and _unwilling(utterance):
            offered = utterance.percept.actions
            refusals = [one for one in offered if REFUSE in (one.name, *map(folded, one.words))]
            asked = [(one, "") for one in refusals] or asked
        done = (_with_arguments(action, rest, utterance) for action, rest in asked)
        return next((action for action in done if action is not None), None)


def _requests(utterance: Utterance) -> Iterator[tuple[OfferedAction, str]]:
    """The actions asked for, each with the words after it."""
    percept, persona = utterance.percept, utterance.persona
    if not (percept.kind is Kind.WHISPER or (percept.kind is Kind.SAY and percept.addressed)):
        return
    said = _QUOTED.sub(" … ", spoken_words(percept.text[:ATTENTION]))
    other, line = called_other(without_names(said, persona), utterance)
    for sentence in SENTENCE_BREAK.split(line):
        if other or _ELSEWHEN.search(sentence):
            continue
        clauses = _CLAUSE.split(sentence)
        for at, clause in enumerate(clauses, 1):
            heard = [(_request_pattern(one, persona.names).match(clause), one) for one in percept.actions]
            found = [(match, one) for match, one in heard if match is not None and not _DENIED.search(clause)]
            if not found:
                continue
            match, action = max(found, key=lambda pair: len(pair[0]["phrase"]))
            politely = " you" in (match["asks"] or "").lower() or "please" in sentence.lower()
            if politely or at < len(clauses) or not sentence.endswith("?"):
                yield action, clause[match.end() :].strip(" .!?…")


def _request_pattern(action: OfferedAction, names: tuple[str, ...]) -> re.Pattern[str]:
    """How a clause begins that asks for the action."""
    own = "".join(rf"|@?{re.escape(name)}" for name in sorted(names, key=len, reverse=True))
    ways = sorted((action.name.replace("_", " "), *action.words), key=len, reverse=True)
    pattern = _LEAD.format(names=own, phrases="|".join(re.escape(way) for way in ways))
    alone = "" if action.parameters.properties else r"(?!\s+your\b)"  # "follow your heart"
    return re.compile(pattern + alone, re.I)


def _unwilling(utterance: Utterance) -> bool:
    """Whether it is insulted, afraid or angry."""
    if understand(utterance.percept, utterance.persona).feeling is SpokenFeeling.ANGER:
        return True
    mood = Affect(*(round(value * MOOD_STEPS) / MOOD_STEPS for value in utterance.mood.as_list()))
    feelings = [strengths(affect) for affect in (utterance.percept.affect, mood) if affect is not None]
    return any(max(felt[SpokenFeeling.FEAR], felt[SpokenFeeling.ANGER]) >= UNWILLING for felt in feelings)


def _with_arguments(action: OfferedAction, rest: str, utterance: Utterance) -> Action | None:
    """The action with arguments from the words; None where one is missing or unclear."""
    takes, required = action.parameters.properties, frozenset(action.parameters.required)
    arguments: dict[str, Argument] = {}
    free = [name for name, one in takes.items() if one.type == "string" and not one.enum]
    for name, parameter in takes.items():
        value, rest = (None, rest) if name in free else _only_value(parameter, rest, utterance)
        if value is not None:
            arguments[name] = value
    wanted = sorted(required - arguments.keys())
    if not arguments and len(wanted) == 1 and wanted[0] in free:
        name = _name(rest, utterance)
        arguments = {wanted[0]: name} if takes[wanted[0]].fits(name) else {}
    return action.chosen(arguments, "rule") if required <= arguments.keys() else None


def _only_value(parameter: ParameterSchema, rest: str, utterance: Utterance) -> tuple[Argument | None, str]:
    """The only value in the words, and the words without it; None for no value or several."""
    found = [(value, at) for value, at in _values(parameter, rest, utterance) if parameter.fits(value)]
    if len({value for value, _ in found}) != 1:
        return None, rest
    value, at = found[0]
    return value, f"{rest[: at.start()]} {rest[at.end() :]}"


def _values(
    parameter: ParameterSchema, rest: str, utterance: Utterance
) -> Iterator[tuple[Argument, re.Match[str]]]:
    """The possible values of a parameter in the words, with their positions."""
    if parameter.type in ("integer", "number"):
        for match in _NUMBER.finditer(rest):
            digits = match[0].replace(",", "").lower()
            number = float(_COUNTS.get(digits, digits))
            yield int(number) if number.is_integer() else number, match
        return
    table: dict[str, Argument] = {"true": True, "false": False}
    if parameter.type == "string":
        table = {choice.replace("_", " ").lower(): choice for choice in parameter.enum}
        speaker = table.get(utterance.speaker.lower())
        table = ({} if speaker is None else dict.fromkeys(_SPEAKER, speaker)) | table
    for match in re.finditer(rf"(?<!\w){any_of(table)}(?!\w)", rest, re.I):
        if match[0].lower() in table:
            yield table[match[0].lower()], match


def _name(rest: str, utterance: Utterance) -> str:
    """Whom or what the words name ("me" is the speaker); "" where they say more than a name."""
    name = _BEFORE_NAME.sub("", _AFTER_NAME.sub("", rest), count=1).strip()
    words = name.casefold().split()
    if len(words) == 1 and words[0] in _SPEAKER:
        return utterance.speaker
    vague = any(word in _SPEAKER or listed(word, "names_nothing") for word in words)
    return "" if vague or len(words) > NAME_WORDS or not re.fullmatch(r"[\w '’-]+", name) else name
