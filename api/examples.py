"""What answers look like, for the documentation: views made by hand, so that none is of a wrong shape."""

from __future__ import annotations

from noodlings.ingest.commit import Commit, FileChange
from noodlings.inspect.chronicle import ChronicleView, CommitView
from noodlings.inspect.journal import JournalDayView, JournalSentenceView, JournalView
from noodlings.inspect.links import FocusEntryView, FocusView, LinkedEntryView, LinksView
from noodlings.inspect.mood import MoodView, ObserveView
from noodlings.inspect.people import AcquaintanceView, FactView, PeopleView, PersonCardView, PlanView
from noodlings.inspect.recall import ArchiveView, FoundView, RecallView
from noodlings.inspect.symbols import SymbolsView, SymbolView
from noodlings.inspect.views import (
    AffectGroupsView,
    AffectGroupView,
    AgentsView,
    AgentView,
    AlikeEntryView,
    AlikeView,
    EntriesView,
    EntryView,
    FeltView,
    FlowEntryView,
    FlowView,
    LeftOutView,
    ModelView,
    StatsView,
    TurnView,
    iso,
)
from noodlings.inspect.why import (
    ModulationView,
    PromptView,
    StepView,
    TransistorsView,
    TransistorView,
    WhyView,
)
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts
from noodlings.values.sent_prompt import PromptMessage, SentPrompt, TokenCounts
from noodlings.values.tone import Tone, ToneName, ToneSource

_WHO = ("servnak", "SERVNAK")
_AT = 1_767_225_600.0
_GRIEF = Affect(-0.7, 0.6, 0.1, 0.9, 0.0)
_CALM = Affect(0.1, 0.45, 0.0, 0.1, 0.05)
_FELT = FeltView(_CALM, "calm", "calm")
_PARTS = ImportanceParts(surprise=0.4, intensity=0.9, salience=0.0, addressed=1.0, answered=1.0)

_ENTRY = EntryView(
    id=12,
    user="user_caity",
    name="caity",
    text="My dog died yesterday",
    response="SISTER. I LOWER MY WEATHERCOCK.",
    timestamp=_AT,
    when=iso(_AT),
    age=3_600.0,
    affect=_GRIEF,
    feeling="grief",
    family="sorrow",
    surprise=0.41,
    importance=0.78,
    encoded_importance=0.74,
    override=0.78,
    override_by="response",
    parts=_PARTS,
    strength=0.77,
    kind="say",
    pinned=False,
    recall_count=1,
    private=False,
    intensity=_GRIEF.intensity,
    tags=("pets",),
)
_RECALLED = FlowEntryView(12, False, ("important",), 0.78, {"important": 0.78}, True, _ENTRY)
_TURN = TurnView(_ENTRY, _ENTRY.response, _FELT, "offline", "it was meant for it", ())
_MODULATION = ModulationView(
    transistor="affect",
    gain=0.5,
    how="offline",
    before="I am sorry. No hurry.",
    after="I am sorry … no hurry.",
    lens="slowly and softly",
    read=("grief",),
    entries=(12,),
    symbols=(),
    hidden=0,
)


def _entries(view: str, user: str = "") -> EntriesView:
    return EntriesView(*_WHO, view, True, user, (_ENTRY,), 0, 1, 3)


WORKING, EPISODIC, IMPORTANT = map(_entries, ("working", "episodic", "important"))
BY_USER = _entries("user", "user_caity")
STATS = StatsView(
    agent="servnak",
    name="SERVNAK",
    hierarchical=True,
    working=20,
    working_capacity=20,
    episodic=42,
    episodic_capacity=200,
    symbols=3,
    symbol_capacity=100,
    perceived=512,
    consolidated=60,
    consolidation_rate=0.117188,
    average_importance=0.52,
    pinned=1,
    histogram=(3, 8, 9, 12, 9, 7, 5, 4, 3, 1),
)
GROUPS = AffectGroupsView(*_WHO, True, (AffectGroupView("sorrow", 1, 0.78, (_ENTRY,)),), 1, 3)
ALIKE = AlikeView(
    *_WHO, True, FeltView(_GRIEF, "grief", "sorrow"), 0.7, (AlikeEntryView(0.93, _ENTRY),), 1, 0
)
FLOW = FlowView(*_WHO, True, _TURN, (_RECALLED,), (LeftOutView("affect", 0.66, 0.7, _ENTRY),), 0)
SYMBOLS = SymbolsView(
    *_WHO,
    similar=False,
    current=_FELT,
    threshold=0.7,
    symbols=(
        SymbolView(
            id=1,
            entry_id=12,
            image="an empty lead on a nail",
            event="My dog died yesterday",
            timestamp=_AT,
            when=iso(_AT),
            age=3_600.0,
            felt=FeltView(_GRIEF, "grief", "sorrow"),
            salience=0.8,
            surprise=0.41,
            made_by="images",
            private=False,
            likeness=0.35,
        ),
    ),
    offset=0,
    total=1,
    capacity=100,
    hidden=0,
)
LINKS = LinksView(*_WHO, _ENTRY, (LinkedEntryView(12, 1, "followed", True, 0.5, _ENTRY),), 0)

AGENT = AgentView(*_WHO, "robot", "A robot with a weathercock on its head.", _FELT, _FELT, True, 20, 42, 512)
AGENTS = AgentsView((AGENT,), ModelView("answers", "The model qwen3-8b at http://localhost:1234/v1 answers."))
MOOD = MoodView(
    *_WHO,
    mood=_FELT,
    baseline=_FELT,
    affect=FeltView(_GRIEF, "grief", "sorrow"),
    half_life=1_800.0,
    valences=(0.1, -0.1, -0.3),
    goals=("find out more",),
    named="chill",
    named_left=0.0,
    game=(),
    hidden=0,
)
STATE = ObserveView(
    *_WHO,
    fast=(0.0,) * 16,
    medium=(0.0,) * 16,
    slow=(0.0,) * 8,
    mood=_FELT,
    affect=_FELT,
    expected=_FELT,
    surprises=(0.2, 0.4),
    appetites={"curiosity": 0.7},
    usual={"curiosity": 0.5},
    goals=("find out more",),
)
_ASKED = (PromptMessage("system", "You are SERVNAK."), PromptMessage("user", "caity: My dog died yesterday"))
PROMPT = PromptView(
    *_WHO, 12, 3_600.0, (SentPrompt("reply", "qwen3-8b", _ASKED, "", TokenCounts(845, 812, 33, 640)),), ""
)
WHY = WhyView(
    *_WHO,
    back=1,
    turn=_TURN,
    affect=FeltView(_GRIEF, "grief", "sorrow"),
    appraised_by="words+vector",
    surprise=0.41,
    importance=0.74,
    parts=_PARTS,
    thought="I am sorry. No hurry.",
    recalled=(_RECALLED,),
    modulations=(_MODULATION,),
    steps=(StepView("appraise", 4.1), StepView("think", 0.6)),
    calls=0,
    tokens=0,
    hidden=0,
    tone=Tone(ToneName.GRAVE, ToneSource.SAID),
)
TRANSISTORS = TransistorsView(*_WHO, "fused", (TransistorView("affect", 0.5, _MODULATION, 60.0),))

ARCHIVE = ArchiveView(*_WHO, 512, 512, True, "all-MiniLM-L6-v2-int8", 512, 0, 0, "")
RECALL = RecallView(
    *_WHO,
    "my dog",
    None,
    0.3,
    True,
    (FoundView(0.81, ("semantic", "lexical"), {"meaning": 0.7, "words": 0.9}, "episodic", _ENTRY),),
    ARCHIVE,
)
PEOPLE = PeopleView(
    *_WHO,
    people=(
        PersonCardView(
            of="user_caity",
            name="Caity",
            also=(),
            acquaintance=AcquaintanceView(12, _AT, iso(_AT), _AT, iso(_AT), 3_600.0, "content"),
            plans=(PlanView("I have my driving test tomorrow", 41, _AT, iso(_AT), -3_600.0, private=False),),
            facts=(
                FactView(
                    kind="kin",
                    words="My sister Ruth keeps bees",
                    told_by="Caity",
                    timestamp=_AT,
                    when=iso(_AT),
                    age=3_600.0,
                    evidence=(12, 40),
                    superseded_by="",
                    private=False,
                ),
            ),
            superseded=(),
        ),
    ),
    offset=0,
    total=1,
    hidden=0,
)
JOURNAL = JournalView(
    *_WHO,
    days=(
        JournalDayView(
            day="2026-11-23",
            sentences=(
                JournalSentenceView("I talked with Caity.", (12,), private=False),
                JournalSentenceView('Caity told me: "My dog died." I felt sad.', (14, 15), private=False),
            ),
            perceived=4,
        ),
    ),
    offset=0,
    more=True,
    hidden=0,
)
CHRONICLE = ChronicleView(
    *_WHO,
    query="why were backups changed",
    by_meaning=True,
    commits=(
        CommitView(
            score=0.52,
            why=("semantic", "lexical"),
            scores={"meaning": 0.7, "words": 0.6, "message": 0.8},
            linked_to="",
            id=310,
            when=iso(_AT),
            commit=Commit(
                hash="6dc97c498445df4a81b4ad756f9bd28a21a328e4",
                parents=("b666716dcec1b3aac7d25f91deef322cd9daab31",),
                author="Caity",
                author_hash="address:c9ffa7804c16",
                authored=_AT,
                committed=_AT,
                subject="A server makes and tries backups by itself",
                body="A backup that nobody has read is a hope.",
                files=(FileChange("noodlings/host/backups.py", 114, 0),),
                file_count=1,
                added=114,
                removed=0,
                issues=("#12",),
                reverts=(),
                fixes=(),
                names=("ScheduledBackups",),
                shown=("# Each copy is read before the oldest one is removed.",),
            ),
        ),
    ),
    archive=ARCHIVE,
)
FOCUS = FocusView(
    *_WHO,
    query="my dog",
    level=4,
    limit=15,
    hours=72.0,
    depth=3,
    memories=(FocusEntryView(0.81, ("semantic",), {"semantic": 0.7}, None, None, None, 0, _ENTRY),),
    searched=1,
    linked=0,
    context=("- an hour ago caity told me: My dog died yesterday",),
    tokens=14,
)

PERSON = {
    "ids": ["account:caity", "user_caity"],
    "name": "Caity",
    "accounts": {"Caity": "player"},
    "tokens": 0,
    "introduced": ["Caity"],
    "places": ["garden"],
    "characters": {"servnak": {"memories": 12, "answers": 9, "traces": 12, "notes": 3, "heard": 1}},
    "lines": {"audit.log": 3, "noodlings.log": 24},
}
PERSON_LINES = """\
{"format": "noodlings-person", "version": 1, "ids": {"user_caity": {"name": "Caity", "place": "garden"}}, \
"accounts": []}
{"agent": "servnak", "id": 12, "timestamp": 1764000000.0, "user_id": "user_caity", "kind": "say", \
"place": "garden", "user_text": "My dog died yesterday", "response": "OH NO."}
"""
PERSON_DELETION = {
    "report": PERSON,
    "done": {
        "memories": 14,
        "answers": 2,
        "lines": {"audit.log": 3, "noodlings.log": 24},
        "remains": {"words": 5, "found": {}, "copies": []},
        "erased": True,
    },
}
FORGOT = {"agent": "servnak", "forgotten": 1, "answers": 0, "erased": True}
CORRECTED = {
    "agent": "servnak",
    "id": 12,
    "pinned": True,
    "importance": 0.78,
    "encoded_importance": 0.74,
    "override_by": "response",
}
NOTE = {"agent": "servnak", "id": 12, "markdown": "# My dog died yesterday\n"}
KNOWN = {"agent": "servnak", "id": 42, "about": "user_caity"}
LINKED = {"agent": "servnak", "source": 12, "target": 3, "strength": 1.0}
ANSWERED = {
    "data": {"kind": "say", "text": "hello, servnak", "to": ""},
    "text": 'You say, "hello, servnak"',
    "error": False,
    "leave": False,
    "heard": ['SERVNAK says, "GREETINGS."'],
    "lost": 0,
}
RECIPES = {"recipes": [{"id": "servnak", "name": "SERVNAK", "species": "robot", "own": False}]}
RIGHTS = {
    "role": "player",
    "user": "user_caity",
    "reads": "own",
    "speaks": "itself",
    "forgets": "own",
    "corrects": False,
    "events": False,
    "creates": False,
    "tokens": True,
}
