"""Descriptions and examples for the OpenAPI document, for all that has none of its own.

What a docstring says under `Attributes:` describes the fields. In the tables `Model.field` is for one model,
`field` for all, and `?name` for a parameter. Examples of answers are put together field by field.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_TABLE = """
agent: the character's id | name: the name as shown | id: the number of the memory
AgentView.id: the character's id | Listed.id: the character's id | SymbolView.id: the number of the symbol
hidden: how many the caller may not read | entry: the memory
hierarchical: false where memory is a plain list | affect: what was felt, in five numbers
entries: the memories | role: whose turn it is: system, user or assistant | content: the text
text: the words | pinned: whether it never fades | StatsView.pinned: how many memories are pinned
surprise: how unexpected it was, 0…1 | why: the reasons it was chosen
valence: −1 (unpleasant) to 1 (pleasant) | arousal: 0 (asleep) to 1 (frantic) | fear: 0 to 1 | sorrow: 0 to 1
boredom: 0 to 1 | family: the kind of feeling | feeling: the feeling, in a word | average_importance: 0 to 1
total: how many there are | species: what the character is | mood: the slow feeling
description: how it looks, or what it means | working: how many memories are in working memory
episodic: how many memories are in episodic memory | perceived: how many memories there are in all
encoded_importance: the importance it had at first | override_by: what changed it: response, hand or nothing
offset: how many to skip | response: what the character answered; null for silence | age: seconds since then
timestamp: seconds since 1970-01-01 UTC
kind: say, emote, whisper, arrive, leave, event, thought, read, known, fact or journal
forgotten: how many memories were deleted | FlowEntryView.forgotten: whether it has been deleted since
score: how well it fits, 0…1 | scores: the score of each reason, 0…1 | depth: how many links to follow
linked: the memories that links lead to | Health.status: always ok
Readiness.status: always ok | source: the memory the link starts from
EntryView.source: what told it, such as a log; empty for what was lived
target: the memory the link leads to | removed: the types of the links
replaces: the number of the memory with the former words
transistor: its name | type: the JSON type | symbols: the symbols
StatsView.symbols: how many symbols there are | count: how many | groups: one for each kind of feeling
agents: the characters | model: the language model | asleep: how many more characters are not in memory
similarity: 0…1 | current: the feeling compared with | min_similarity: the least similarity, 0…1
loaded: whether all of it is loaded | pending: how many wait for embedding
archive: how far the archive is loaded and embedded | commit: what git knows about it
prompts: the prompts, in the order in which they were sent | task: what the model was asked for
prompt: tokens that were sent | completion: tokens that were answered
Tone.entry_id: the memory that the tone comes from; null if what is answered decides alone
Action.arguments: the arguments by name | Action.by: who chose it: rule or llm
OfferedAction.parameters: the arguments it takes, as JSON schema
parked: how many could not be embedded | messages: the conversation, oldest first
stream: whether to stream the answer | stream_options: options for streaming
importance: how much it matters, 0…1 | override: the importance set later
event: the name of the event
private: whether only its witnesses may know of it
data: facts by name: text, numbers, true, false or null | about: who it is about
turn: the turn; null if there is none
recalled: the memories in mind, oldest first | left_out: what nearly came to mind | query: what to look for
limit: the most memories searched for | hours: how far back, in hours
searched: how many the search found | FocusView.linked: how many links led to
tokens: about how many tokens it takes | answers: how many answers were deleted too
erased: whether it is off the disk | days: the days, latest first | intensity: how strong the feeling is
salience: how closely it touches who the character is, 0…1 | addressed: whether it was said to the character
answered: whether it was answered | remember: asked to be remembered
significance: how far the words are worth keeping, 0…1 | least: the score it would have needed, 0…1
strength: of the link, 0…1 | own: whether it is in the data folder | state: in a word | words: in a sentence
baseline: the mood it settles back to | named_left: seconds until it is chill again
markdown: the note's text | expected: what it expects to feel next
usual: the level each drive settles back to | enum: the only values allowed
properties: each argument, by name | required: the arguments that must be given
additionalProperties: always false | people: one card per person | emotion_weight: how much mood counted, 0…1
recipes: all recipes | present: ids of listeners | tags: words to find it by
working_capacity: room in working memory | episodic_capacity: room in episodic memory
symbol_capacity: room for symbols | consolidated: how many became episodic
consolidation_rate: the share that became episodic | histogram: memories by importance, in ten bins
step: its name | milliseconds: how long it took | include_usage: whether to end with token counts
felt: what was felt | gain: its strength setting, 0…1 | last: what it last did; null for nothing yet
chain: fused, serial or offline | transistors: in the order they work
relationships: what it makes of people
percept: the memory; null if deleted since | voice: who spoke: llm, offline or nobody
decision: why it answered or kept silent | degraded: what failed, and the fallback
action: the action it chose, or null | line: the command
?back: which turn; 1 is the latest, 2 the one before | ?silent: also count turns in which it said nothing
?person: only this person, by id or name | ?day: only this day (UTC)
?level: how far back to look, and how many links to follow
?mood: prefer memories that felt like this: current, or -0.8,0.9 (valence, arousal), or all five axes
?emotion_weight: how much mood counts; by default retrieval.emotion_weight
?candidate_multiplier: mood may reorder this many times limit; by default retrieval.candidate_multiplier
?order: what to sort by | ?falling: sort in descending order (most, latest or Z first)
?everything: all it ever perceived, not just episodic memory
?similar: only what its present feeling brings back, most similar first
?current_affect: five numbers, valence (−1…1), arousal, fear, sorrow, boredom (0…1); by default its own
?min_similarity: by default memory.affect_threshold | ?depth: how many links to follow
?query: what to look for, in a few words or as a question | ?offset: how many to skip
?kind: only memories of this kind | ?feeling: only memories of this feeling, such as sorrow
?status: only memories kept here | ?tag: only memories with this tag
?containing: only memories with these words | ?min_importance: only memories at least this important
?min_score: only results with at least this score | ?user_id: whose memories to delete
?id: the new character's id
"""
_FIELDS = dict(one.split(": ", 1) for one in re.split(r" \| |\n", _TABLE.strip()))

_EXAMPLES = r"""
{agent: servnak, name: SERVNAK, id: 12, AgentView.id: servnak, Listed.id: servnak, species: robot,
description: A robot with a weathercock on its head., user: user_caity, EntryView.name: Caity, kind: say,
tier: 0, offset: 0, hidden: 0, used: true, erased: true, sources: [], supersedes: [],
text: My dog died yesterday, response: SISTER. I LOWER MY WEATHERCOCK., tags: [pets],
timestamp: 1767225600.0, when: '2026-01-01T00:00:00Z', met_when: '2026-01-01T00:00:00Z',
last_when: '2026-01-01T00:00:00Z', age: 3600.0, valence: -0.7, arousal: 0.6, fear: 0.1, sorrow: 0.9,
boredom: 0.0, feeling: grief, family: sorrow, override_by: response, view: working, why: [important],
LeftOutView.why: affect, Tone.why: said, scores: {important: 0.78}, status: episodic, Health.status: ok,
Readiness.status: ok, type: followed, transistor: affect, how: offline, before: I am sorry. No hurry.,
after: I am sorry … no hurry., read: [grief], lens: slowly and softly, thought: I am sorry. No hurry.,
chain: fused, voice: offline, step: think, FileChange.before: '', decision: it was meant for it,
appraised_by: words+vector, Tone.name: grave, goals: [find out more], appetites: {curiosity: 0.7},
usual: {curiosity: 0.5}, named: chill, image: an empty lead on a nail, event: My dog died yesterday,
made_by: images, query: my dog, histogram: [3, 8, 9, 12, 9, 7, 5, 4, 3, 1], state: answers,
ModelView.words: The language model answers., ArchiveView.model: all-MiniLM-L6-v2-int8,
SentPrompt.model: qwen3-8b, task: reply, role: user, content: 'Caity: My dog died yesterday',
of: user_caity, PersonCardView.name: Caity, told_by: Caity,
PlanView.words: I have my driving test tomorrow, FactView.words: My sister Ruth keeps bees,
FactView.kind: kin, day: '2026-11-23', JournalSentenceView.text: I talked with Caity.,
Action.name: follow, hash: 6dc97c498445df4a81b4ad756f9bd28a21a328e4, author: Caity, about: user_caity,
path: noodlings/host/backups.py, subject: A server makes and tries backups by itself, issues: ['#12'],
hierarchical: true, parked: 0, pending: 0, loaded: true, lost: 0, EntriesView.user: '', searched: 3,
StatsView.working: 20, working_capacity: 20, StatsView.episodic: 42, episodic_capacity: 200, perceived: 512,
StatsView.symbols: 5, symbol_capacity: 100, consolidated: 120, consolidation_rate: 0.23,
average_importance: 0.41, level: 4, limit: 15, hours: 72.0, ChronicleView.query: why are there backups,
CommitView.why: [semantic], CommitView.scores: {semantic: 0.6, message: 0.3},
markdown: "# My dog died yesterday\n", context: ['- an hour ago Caity told me: My dog died yesterday'],
shown_by: [I have no dog, I have a dog],
EntryView.circumstances: {when: {begins: 1767139200.0, duration: 86400.0, certainty: exact, words: yesterday},
where: the garden, distance: null, emotions: [], inferences: [], goals: [], task: '', source_id: ''},
source: 12, EntryView.source: '', target: 3,  ids: ['account:caity', user_caity], PersonReport.name: Caity,
accounts: {Caity: player}, introduced: [Caity], places: [garden],
characters: {servnak: {memories: 12, answers: 9}}, lines: {audit.log: 3}, AcquaintanceView.lines: 12,
RelationshipView.name: Caity, RelationshipView.words: fond of them, RelationshipView.lines: 12,
met: 1767225600.0, AcquaintanceView.last: 1767225600.0, last_age: 7200.0,
data: {kind: say, text: 'hello, servnak', to: ''}, CommandReply.text: 'You say, "hello, servnak"',
heard: ['SERVNAK says, "GREETINGS."'],
TokenRights.role: player, reads: own, speaks: itself, forgets: own}
"""
_BY_TYPE = {"string": "", "integer": 1, "number": 0.5, "boolean": False, "object": {}}
_SENTENCE = re.compile(r"(?<=\.) ")
_ATTRIBUTE = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)


def describe(schema: dict[str, Any]) -> None:
    """Give everything in an OpenAPI document a description, and every JSON answer an example."""
    for name, model in schema["components"]["schemas"].items():
        words, _, below = model.get("description", "").partition("Attributes:")
        told = {key: text for keys, text in _ATTRIBUTE.findall(below) for key in keys.split(", ")}
        model |= {"description": words.strip()} if below else {}
        for key, field in model.get("properties", {}).items():
            _add(field, _FIELDS.get(f"{name}.{key}") or told.get(key) or _FIELDS.get(key))
    known = yaml.safe_load(_EXAMPLES)
    for operation in (one for methods in schema["paths"].values() for one in methods.values()):
        # What is shown beside the path in a list: else it is the name of a function, such as "Night".
        does = " ".join(operation["description"].split())
        operation["summary"] = _SENTENCE.split(does, maxsplit=1)[0].removesuffix(".")
        for parameter in operation.get("parameters", ()):
            _add(parameter, _FIELDS.get(f"?{parameter['name']}"))
        for status, answer in operation["responses"].items():
            said = answer.get("content", {}).get("application/json")
            if status.startswith("2") and said:
                said.setdefault("example", _example(said["schema"], schema["components"]["schemas"], known))


def _add(described: dict[str, Any], words: str | None) -> None:
    if words and not described.get("description"):
        described["description"] = " ".join(f"{words[0].upper()}{words[1:]}".removesuffix(".").split()) + "."


def _example(shape: dict[str, Any], models: dict[str, Any], known: dict[str, Any]) -> Any:
    """A value of this JSON schema: of known fields as in the table, of others by their type."""
    shape = shape.get("anyOf", [shape])[0]  # the second is null
    name = shape.get("$ref", "").rpartition("/")[2]
    if name:
        shape = models[name]
    if "enum" in shape:
        return shape["enum"][0]
    if "properties" in shape:
        fields = shape["properties"]
        given = {key: known.get(f"{name}.{key}", known.get(key)) for key in fields}
        return {
            key: _example(field, models, known) if given[key] is None else given[key]
            for key, field in fields.items()
        }
    if shape.get("type") == "array":
        items = [_example(shape.get("items", {}), models, known)]
        return [] if items == [""] else items * max(shape.get("minItems", 1), 1)
    return _BY_TYPE.get(shape.get("type", ""))
