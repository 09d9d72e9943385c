import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.clock import LATEST, ManualClock
from noodlings.errors import NotFound, StoreError, UserError
from noodlings.host.visit import shown_in
from noodlings.values.audience import Audience, Tier
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import TurnEvent
from noodlings.worlds.beings import Being, RoomLine, find_being
from noodlings.worlds.floor import RoomFloor
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import MAX_DEPTH, Scrollback, World
from tests.fakes import ScriptedMinds, make_persona

PLACES = load_places()
SERVNAK = make_persona("SERVNAK", home="workshop", aliases=("tin man",))
PHI = make_persona("Phi", home="workshop")
TOAD = make_persona("Toad", home="garden")


class Stage:
    """A world with three characters, a player whose lines are kept, and scripted minds."""

    def __init__(self, answer=lambda agent_id, percept: None, personas=(SERVNAK, PHI, TOAD), **options):
        self.minds = ScriptedMinds(answer)
        self.lines = []
        self.states = []
        self.away = False
        self.world = World(
            PLACES,
            personas,
            self.minds.perceive,
            self.minds.idle,
            ManualClock(1000.0),
            changed=self.changed,
            **options,
        )

    def changed(self, state):
        if self.away:
            raise StoreError("the database is away")
        self.states.append(state)

    def enter(self, name="caity"):
        self.world.enter(f"user_{name}", name, self.lines.append)
        return self

    def seen(self, viewer="user_caity"):
        return [line.view(viewer).plain for line in self.lines]

    def heard(self, agent_id, kind=Kind.SAY):
        return [percept for who, percept in self.minds.heard if who == agent_id and percept.kind is kind]


async def test_what_is_said_is_heard_by_the_characters_in_the_room_alone():
    stage = Stage().enter()
    stage.world.say("user_caity", "Good morning")
    await stage.world.settle()
    for agent_id in ("servnak", "phi"):
        [percept] = stage.heard(agent_id)
        assert (percept.text, percept.user_id, percept.timestamp) == ("Good morning", "user_caity", 1000.0)
        assert (percept.addressed, percept.depth, percept.place) == (False, 0, "workshop")
        assert percept.present == {"user_caity", "servnak", "phi"} - {agent_id}
        assert percept.things == ("workbench", "clocks", "skylight")
    assert stage.heard("toad") == []


@pytest.mark.parametrize(
    ("text", "addressed"),
    [
        ("servnak, hello", {"servnak"}),
        ("Hello, SERVNAK!", {"servnak"}),
        ("oh Tin Man?", {"servnak"}),
        ("servnak and phi: come", {"servnak", "phi"}),
        ("the philosopher is here", set()),
        ("toad is in the garden", set()),
    ],
)
async def test_whoever_is_named_as_a_whole_word_is_addressed(text, addressed):
    stage = Stage().enter()
    stage.world.say("user_caity", text)
    await stage.world.settle()
    assert {who for who, percept in stage.minds.heard if percept.addressed} == addressed


async def test_alone_together_every_word_is_meant_for_the_other():
    stage = Stage().enter()
    stage.world.go("user_caity", "north")
    stage.world.say("user_caity", "nice pond")
    stage.world.emote("user_caity", "sits down")
    await stage.world.settle()
    assert [percept.addressed for percept in stage.heard("toad")] == [True]
    assert [percept.addressed for percept in stage.heard("toad", Kind.EMOTE)] == [True]
    assert [percept.addressed for percept in stage.heard("toad", Kind.ARRIVE)] == [False]


async def test_coming_and_going_is_perceived_on_both_sides():
    stage = Stage().enter()
    stage.world.go("user_caity", "north")
    stage.world.leave("user_caity")
    await stage.world.settle()
    assert [percept.text for percept in stage.heard("phi", Kind.ARRIVE)] == ["arrives"]
    assert [percept.text for percept in stage.heard("phi", Kind.LEAVE)] == ["leaves to the north"]
    assert [percept.text for percept in stage.heard("toad", Kind.ARRIVE)] == ["arrives from the south"]
    assert [percept.text for percept in stage.heard("toad", Kind.LEAVE)] == ["leaves"]


async def test_an_answer_is_shown_and_heard_one_deeper():
    def answer(agent_id, percept):
        return "*whirrs* HELLO." if agent_id == "servnak" and percept.addressed else None

    stage = Stage(answer).enter()
    stage.world.say("user_caity", "servnak!")
    await stage.world.settle()
    assert stage.seen()[-1] == 'SERVNAK (whirrs) says, "HELLO."'
    [percept] = [heard for heard in stage.heard("phi") if heard.user_id == "servnak"]
    assert (percept.text, percept.depth, percept.data) == ("HELLO.", 1, {"manner": "whirrs"})


async def test_an_answer_that_is_all_gesture_is_an_emote():
    stage = Stage(lambda agent_id, percept: "*nods*" if percept.addressed else None).enter()
    stage.world.say("user_caity", "phi?")
    await stage.world.settle()
    assert "Phi nods." in stage.seen()
    assert [heard.text for heard in stage.heard("servnak", Kind.EMOTE)] == ["nods"]


async def test_talk_among_characters_who_always_answer_ends():
    stage = Stage(lambda agent_id, percept: "AND YOU, PHI, SERVNAK?").enter()
    stage.world.say("user_caity", "hello")
    await asyncio.wait_for(stage.world.settle(), 30)
    assert max(percept.depth for _, percept in stage.minds.heard) == MAX_DEPTH


async def test_a_whisper_is_known_to_two():
    other_lines = []
    stage = Stage(lambda agent_id, percept: "I KEEP IT.").enter()
    stage.world.enter("user_bob", "bob", other_lines.append)
    stage.world.whisper("user_caity", "phi", "the key is under the pear tree")
    await stage.world.settle()
    [percept] = stage.heard("phi", Kind.WHISPER)
    assert percept.addressed
    assert percept.heard_by == Audience(frozenset({"user_caity"}), confined=True)
    assert percept.present == {"user_caity"}
    assert stage.heard("servnak", Kind.WHISPER) == []
    assert 'Phi whispers to you, "I KEEP IT."' in stage.seen()
    overheard = [line.view("user_bob").plain for line in other_lines if line.kind is Kind.WHISPER]
    assert overheard == ["caity whispers something to Phi.", "Phi whispers something to caity."]


async def test_the_answer_to_a_whisper_is_not_shouted_after_whoever_left():
    gate = asyncio.Event()
    stage = Stage(lambda agent_id, percept: "SECRET" if percept.kind is Kind.WHISPER else None).enter()
    perceive = stage.minds.perceive

    async def slowly(agent_id, percept):
        if percept.kind is Kind.WHISPER:
            await gate.wait()
        return await perceive(agent_id, percept)

    world = World(PLACES, (SERVNAK, PHI), slowly, stage.minds.idle, ManualClock())
    world.enter("user_caity", "caity", stage.lines.append)
    world.whisper("user_caity", "phi", "psst")
    world.leave("user_caity")
    gate.set()
    await world.settle()
    assert all("SECRET" not in percept.text for _, percept in stage.minds.heard)
    await world.close()


async def test_a_secret_that_two_characters_hear_in_an_answer_stays_one():
    stage = Stage().enter()
    told = await stage.minds.perceive("phi", Percept("user_caity", "psst", 1000.0, Kind.WHISPER))
    confined = Audience(frozenset({"user_caity", "phi", "servnak"}), confined=True)
    asked = Percept("user_caity", "Phi?", 1000.0, present=frozenset({"servnak"}))
    stage.world.answered("phi", asked, replace(told, response="it lies in the mill", audience=confined))
    await stage.world.settle()
    [percept] = stage.heard("servnak")
    assert percept.heard_by == confined
    assert 'Phi says, "it lies in the mill"' in stage.seen()


async def test_a_secret_that_is_whispered_to_a_character_is_none_of_those_who_came_in():
    stage = Stage().enter()
    asked = Percept("servnak", "Phi?", 1000.0)
    told = await stage.minds.perceive("phi", asked)
    secret = Audience(frozenset({"phi", "servnak"}), tier=Tier.SECRET)
    stage.world.answered("phi", asked, replace(told, response="it lies in the mill", audience=secret))
    await stage.world.settle()
    [percept] = stage.heard("servnak", Kind.WHISPER)
    assert percept.heard_by == Audience(frozenset({"phi"}), tier=Tier.SECRET)


async def test_a_gesture_that_tells_a_secret_is_seen_by_whoever_asked_alone():
    stage, others = Stage(personas=(PHI,)).enter(), []
    stage.world.enter("user_bob", "bob", others.append)
    asked = Percept("user_caity", "Phi?", 1000.0)
    told = await stage.minds.perceive("phi", asked)
    confined = Audience(frozenset({"user_caity", "phi"}), confined=True)
    for response in ("*points at the mill*", "*winks* in the mill"):
        stage.world.answered("phi", asked, replace(told, response=response, audience=confined))
    assert sum("mill" in line for line in stage.seen()) == 2
    assert not any("mill" in line.view("user_bob").plain for line in others)


async def test_who_comes_in_is_not_shown_what_was_private_among_those_who_were_there():
    scrollback = Scrollback()
    stage = Stage(shown=scrollback.note).enter()
    world, room = stage.world, stage.world.room_of("user_caity")
    for line in ("good evening", "servnak, between us, it lies in the mill"):
        world.say("user_caity", line)
    await world.settle()
    assert {percept.heard_by.tier for percept in stage.heard("phi")[1:] + stage.heard("servnak")[1:]} == {1}
    assert [line.text for line in scrollback.of(room, "user_eve")] == ["good evening"]
    assert len(scrollback.of(room, "user_caity")) == 2
    await world.close()


async def test_who_comes_back_is_not_shown_what_was_told_alone():
    scrollback = Scrollback()

    def answer(agent_id, percept):
        return "I KEEP IT." if percept.kind is Kind.SAY else None

    stage = Stage(answer, personas=(PHI,), shown=scrollback.note).enter()
    world, room = stage.world, stage.world.room_of("user_caity")
    world.say("user_caity", "I killed the baker")
    await world.settle()
    world.enter("user_bob", "bob", lambda line: None)
    world.say("user_caity", "good evening")
    world.whisper("user_caity", "bob", "psst")
    await world.settle()
    assert [line.text for line in scrollback.of(room, "user_eve")] == ["good evening", "I KEEP IT."]
    assert "psst" in [line.text for line in scrollback.of(room, "user_bob")]
    assert [line.text for line in scrollback.of(room, "user_caity")][:2] == [
        "I killed the baker",
        "I KEEP IT.",
    ]
    await world.close()


async def test_a_whisper_to_somebody_who_has_gone_does_not_go_to_a_longer_name():
    stage, heard = Stage().enter(), []
    stage.world.enter("user_benny", "Benny", heard.append)
    with pytest.raises(NotFound, match="Nobody here is called ben; did you mean Benny"):
        stage.world.whisper("user_caity", "ben", "for Ben only")
    assert heard == []
    stage.world.whisper("user_caity", "BENNY", "for you")
    stage.world.whisper("user_caity", "serv", "characters answer to less")
    assert [line.text for line in heard if line.target == "user_benny"] == ["for you"]


async def test_a_whisper_to_somebody_who_is_away_does_not_go_to_a_character_whose_name_holds_theirs():
    captain = make_persona("Captain Gustav", id="captain")
    stage = Stage(personas=(captain,), known=lambda name: name.casefold() == "gustav").enter()
    for name in ("gustav", "GUSTAV"):
        with pytest.raises(NotFound, match=f"Nobody here is called {name}; did you mean Captain Gustav"):
            stage.world.whisper("user_caity", name, "for Gustav only")
    stage.world.whisper("user_caity", "captain gustav", "for you")
    stage.world.whisper("user_caity", "cap", "and this")
    await stage.world.settle()
    assert [percept.text for _, percept in stage.minds.heard][1:] == ["for you", "and this"]


async def test_a_mind_that_fails_is_seen_to():
    stage = Stage(lambda agent_id, percept: 1 / 0).enter()
    stage.world.say("user_caity", "phi?")
    await stage.world.settle()
    assert "Phi loses the thread for a moment; the log says why." in stage.seen()


async def test_a_mind_that_is_told_nothing_has_lost_no_thread():
    def refuse(agent_id, percept):
        raise UserError("user_caity is being forgotten")

    stage = Stage(refuse).enter()
    stage.world.say("user_caity", "phi?")
    await stage.world.settle()
    assert not any("loses the thread" in line for line in stage.seen())


async def test_who_could_not_be_seen_to_come_in_is_not_here_and_may_try_again(monkeypatch):
    stage = Stage()
    stage.world.rest("phi")
    with monkeypatch.context() as broken:
        broken.setattr(stage.world._clock, "now", lambda: LATEST + 1.0)
        for comes_in in (stage.enter, lambda: stage.world.wake(PHI)):
            with pytest.raises(UserError, match="timestamp"):
                comes_in()
    assert {being.id for being, _ in stage.world.who()} == {"servnak", "toad"}
    stage.world.wake(PHI)
    stage.enter()


async def test_who_could_not_be_seen_to_leave_is_gone(monkeypatch):
    stage = Stage().enter()
    monkeypatch.setattr(stage.world._clock, "now", lambda: LATEST + 1.0)
    with pytest.raises(UserError, match="timestamp"):
        stage.world.leave("user_caity")
    assert not stage.world.has("user_caity")


async def test_acting_never_waits_for_a_mind(monkeypatch):
    monkeypatch.setattr("noodlings.worlds.minds.CAPACITY", 3)
    gate = asyncio.Event()

    async def never(agent_id, percept):
        await gate.wait()

    world = World(PLACES, (PHI,), never, ScriptedMinds().idle, ManualClock())
    world.enter("user_caity", "caity", lambda line: None)
    for _ in range(10):
        world.say("user_caity", "hello?")
    world.go("user_caity", "east")
    assert world.room_of("user_caity").name == "The Library"
    await world.close()


@pytest.mark.parametrize("text", ["", "   ", "\x00\x1b[31m", "x" * 4001])
async def test_what_cannot_be_heard_is_refused(text):
    stage = Stage().enter()
    with pytest.raises(UserError):
        stage.world.say("user_caity", text)


async def test_who_is_elsewhere_is_named_with_where():
    stage = Stage().enter()
    with pytest.raises(NotFound, match="Toad is not here, but in the Walled Garden"):
        stage.world.whisper("user_caity", "toad", "psst")
    with pytest.raises(NotFound, match="nobody called servnack here; did you mean SERVNAK"):
        stage.world.whisper("user_caity", "servnack", "psst")
    with pytest.raises(NotFound, match="there are Phi, SERVNAK"):
        stage.world.whisper("user_caity", "zzzzzz", "psst")


async def test_a_beginning_finds_whoever_it_fits_alone():
    beings = [Being("a", "Anna"), Being("b", "Annabel"), Being("c", "Carl")]
    assert find_being("car", beings).id == "c"
    assert find_being("ANNA", beings).id == "a"
    with pytest.raises(NotFound, match="did you mean Anna or Annabel"):
        find_being("ann", beings)


@pytest.mark.parametrize("name", ["", " ", "x" * 31, "Servnak", "tin man", "caity"])
async def test_a_player_needs_a_name_of_its_own(name):
    stage = Stage().enter()
    with pytest.raises(UserError):
        stage.world.enter(f"user_2{name}", name, stage.lines.append)


@pytest.mark.parametrize(
    "name",
    [
        'Cid says, "yes!" Ann',
        "Cid says ''yes'' Ann",
        "Cid waves. Ann",
        "Cid: yes",
        "Cid “yes” Ann",
        "Cid — Ann",
        "Cid leaves to the north Ann",
        "You",
        "Ｙou",
        "somebody",
        "P\u04bbi",
    ],
)
async def test_a_name_that_a_world_gives_is_no_line_and_nobody_else(name):
    stage = Stage().enter()
    with pytest.raises(UserError):
        stage.world.enter("user_2", name, stage.lines.append, lambda: None)
    assert [being.id for being, _ in stage.world.who()].count("user_2") == 0


@pytest.mark.parametrize("name", ["Caity May", "steve-1b9d6bcd", "Mr.Smith_2", "D'Artagnan", "अनीता", "Анна"])
async def test_a_name_that_a_world_gives_may_be_any_other(name):
    stage = Stage().enter()
    stage.world.enter("user_2", name, stage.lines.append, lambda: None)
    assert stage.world.being("user_2").name == name


async def test_who_could_not_be_kept_did_not_come_in_and_may_try_again():
    def refuse(state):
        raise StoreError("the database is away")

    stage = Stage()
    stage.world._changed = refuse
    with pytest.raises(StoreError):
        stage.enter()
    assert not stage.world.has("user_caity")
    await stage.world.settle()
    assert stage.heard("servnak", Kind.ARRIVE) == []
    stage.world._changed = stage.states.append
    assert stage.enter().world.has("user_caity")


async def test_everybody_is_where_they_were_when_the_world_comes_back():
    stage = Stage().enter()
    stage.world.go("user_caity", "north")
    state = json.loads(json.dumps(stage.states[-1]))
    again = Stage(state=state).enter()
    assert again.world.room_of("user_caity").name == "The Walled Garden"


async def test_a_character_follows_its_recipe_to_a_new_home():
    stage = Stage().enter()
    moved = make_persona("Toad", home="library")
    again = Stage(personas=(SERVNAK, PHI, moved), state=stage.states[-1])
    assert again.world.room_of("toad").name == "The Library"


async def test_rooms_that_are_gone_are_left_for_the_start():
    stage = Stage(personas=(make_persona("Lost", home="attic"),), state={"rooms": {"user_caity": "cellar"}})
    stage.enter()
    assert stage.world.room_of("lost").name == stage.world.room_of("user_caity").name == "The Workshop"


async def test_idle_life_is_fair_seeded_and_only_where_somebody_watches():
    def turns(seed):
        stage = Stage(seed=seed)
        stage.minds.idle_acts = ["polishes a lens"]
        return stage.enter()

    async def take(stage, count):
        taken = []
        for _ in range(count):
            await stage.world.settle()
            taken.append(await stage.world.live(0.0))
        return taken

    first = await take(turns(7), 8)
    assert first == await take(turns(7), 8)
    assert {first.count(who) for who in ("servnak", "phi")} == {4}
    assert "toad" not in first
    assert all(set(first[pair : pair + 2]) == {"servnak", "phi"} for pair in range(0, 8, 2))


async def test_nobody_acts_where_nobody_watches():
    stage = Stage()
    stage.minds.idle_acts = ["polishes a lens"]
    assert await stage.world.live(0.0) is None


async def test_an_idle_line_in_quotation_marks_is_spoken_the_rest_done():
    stage = Stage(personas=(PHI, make_persona("Ada", home="workshop"))).enter()
    await stage.world.settle()
    stage.minds.idle_acts = ['"Fine weather."', "yawns"]
    for _ in range(2):
        await stage.world.live(0.0)
        await stage.world.settle()
    names = {line.name for line in stage.lines}
    assert names == {"Phi", "Ada"}
    assert [line.kind for line in stage.lines] == [Kind.SAY, Kind.EMOTE]
    assert {percept.depth for _, percept in stage.minds.heard if percept.kind is not Kind.ARRIVE} == {1}


async def test_whoever_thinks_is_left_in_peace():
    stage = Stage(personas=(PHI,)).enter()
    stage.minds.idle_acts = ["yawns"]
    assert await stage.world.live(0.0) is None
    await stage.world.settle()
    assert await stage.world.live(0.0) == "phi"


@given(st.text(max_size=60))
def test_names_in_any_text_are_looked_for_without_failing(text):
    persona = make_persona("C++ (old)", aliases=("",))
    being = Being(persona.id, persona.name, persona)
    assert being.named_in(f"hey C++ (OLD) {text}") or text[:1].isalnum() or text[:1] == "_"
    being.named_in(text)


async def test_what_is_announced_is_told_to_every_player_and_no_mind_and_stays_while_it_lasts():
    stage = Stage().enter()
    stage.world.go("user_caity", "north")
    stage.world.announce("It is dark", lasting=True)
    assert stage.seen()[-1] == "It is dark"
    late = []
    stage.world.enter("user_dan", "dan", late.append)
    assert [line.view().plain for line in late] == ["It is dark"]
    stage.world.leave("user_dan")
    stage.world.announce("It is light again")
    stage.world.enter("user_dan", "dan", late.append)
    await stage.world.settle()
    assert [line.view().plain for line in late] == ["It is dark"]
    assert stage.seen().count("It is dark") == stage.seen().count("It is light again") == 1
    told = {percept.text for _, percept in stage.minds.heard}
    assert told.isdisjoint({"It is dark", "It is light again"})


async def test_whoever_is_long_about_an_answer_is_seen_thinking_by_players_alone():
    stage = Stage().enter()
    await stage.world.settle()
    heard = len(stage.minds.heard)
    stage.world.thinking("servnak")
    stage.world.thinking("toad")  # in another room
    stage.world.thinking("nobody")
    await stage.world.settle()
    assert stage.seen()[-1] == "SERVNAK is thinking…"
    assert "Toad is thinking…" not in stage.seen()
    assert len(stage.minds.heard) == heard


async def test_whoever_tells_something_to_a_character_that_cannot_keep_up_is_told_so(monkeypatch):
    monkeypatch.setattr("noodlings.worlds.minds.CAPACITY", 1)
    stage = Stage().enter()
    await stage.world.settle()
    for number in range(2):
        stage.world.whisper("user_caity", "phi", f"number {number}", Tier.SEALED)
    assert stage.seen()[-1].startswith("Phi has too much to hear, and kept nothing of that")
    await stage.world.settle()
    assert [percept.text for percept in stage.heard("phi", Kind.WHISPER)] == ["number 0"]


@pytest.mark.parametrize("in_a_room", [True, False])
async def test_nobody_sees_that_a_character_thinks_about_what_was_told_elsewhere(in_a_room):
    stage = Stage().enter()
    await stage.world.settle()
    percept = Percept("user_dan", "a secret", 1000.0, floor=FLOOR if in_a_room else None)
    trace = await stage.minds.perceive("servnak", percept)
    shown_in(stage.world)(TurnEvent("servnak", 1, "thinking", trace, percept))
    assert ("SERVNAK is thinking…" in stage.seen()) is in_a_room


async def test_a_character_at_rest_is_in_no_room_and_wakes_where_it_was():
    stage = Stage().enter()
    stage.world.rest("phi")
    assert [being.id for being, _ in stage.world.who()] == ["servnak", "toad", "user_caity"]
    assert stage.seen()[-1] == "Phi falls silent and fades away."
    stage.world.say("user_caity", "Phi, are you there?")
    await stage.world.settle()
    assert stage.heard("phi") == []
    assert stage.world.wake(PHI).name == PLACES.rooms["workshop"].name
    assert stage.seen()[-1] == "Phi comes to life."
    with pytest.raises(UserError, match="already somebody called"):
        stage.world.wake(PHI)


@pytest.mark.parametrize(
    ("act", "seen"),
    [
        (lambda world: world.enter("user_bo", "Bo", lambda line: None), "Bo arrives."),
        (lambda world: world.go("user_dan", "north"), "dan leaves to the north."),
        (lambda world: world.go("servnak", "north"), "SERVNAK leaves to the north."),
        (lambda world: world.rest("phi"), "Phi falls silent and fades away."),
        (lambda world: world.wake(TOAD), "Toad comes to life."),
    ],
)
async def test_who_cannot_be_saved_has_not_moved_and_may_try_again(act, seen):
    stage = Stage().enter("dan").enter()
    world = stage.world
    world.go("toad", "south")
    world.rest("toad")
    await world.settle()
    before, shown, perceived = world.who(), len(stage.lines), len(stage.minds.heard)
    stage.away = True
    for _ in range(2):
        with pytest.raises(StoreError):
            act(world)
    await world.settle()
    assert (world.who(), len(stage.lines), len(stage.minds.heard)) == (before, shown, perceived)
    assert not world.has_been("user_bo")
    stage.away = False
    act(world)
    assert seen in stage.seen()[shown:]
    again = Stage(state=json.loads(json.dumps(stage.states[-1]))).world
    here = {being.id: room for being, room in world.who() if being.persona}
    assert {being.id: room for being, room in again.who()} == here
    await world.settle()


async def test_rest_outlives_the_program():
    stage = Stage()
    stage.world.rest("phi")
    again = Stage(state=json.loads(json.dumps(stage.states[-1])))
    with pytest.raises(NotFound):
        again.world.being("phi")
    again.world.wake(PHI)
    assert Stage(state=again.states[-1]).world.being("phi").name == "Phi"
    assert "resting" not in again.states[-1]


async def test_an_answer_that_comes_after_a_character_went_to_rest_is_let_go(caplog):
    stage = Stage(answer=lambda agent_id, percept: "too late").enter()
    stage.world.say("user_caity", "Phi, a word")
    stage.world.rest("phi")
    await stage.world.settle()
    assert not any(line.startswith("Phi say") for line in stage.seen())
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_nobody_wakes_into_a_name_that_somebody_here_has():
    stage = Stage(personas=(SERVNAK,)).enter("phi")
    with pytest.raises(UserError, match="already somebody called"):
        stage.world.wake(PHI)
    assert stage.states[-1].get("resting") is None


async def test_lines_are_shown_with_their_room_to_whoever_keeps_them():
    kept = []
    stage = Stage(shown=lambda room, line, audience: kept.append((room.name, line.text))).enter()
    stage.world.say("user_caity", "hello")
    assert kept[-1] == (PLACES.rooms["workshop"].name, "hello")


# -- sentence by sentence

FLOOR = RoomFloor({}, 1000.0)
"""Of a line in a room."""


def turn_of(stage, agent_id, percept, response=None, audience=None):
    trace = stage.minds.trace(agent_id, percept, response)
    return trace if audience is None else replace(trace, audience=audience)


async def test_sentences_are_seen_one_by_one_and_heard_by_minds_as_a_whole():
    stage = Stage(by_sentence=True).enter()
    asked = Percept(
        "user_caity", "what do you see?", 1000.0, present=frozenset({"user_caity", "phi"}), floor=FLOOR
    )
    for part in ("A boat lies there.", "*points* Nobody is in it."):
        stage.world.speaking("servnak", asked, turn_of(stage, "servnak", asked), part)
    stage.world.answered(
        "servnak", asked, turn_of(stage, "servnak", asked, "A boat lies there. *points* Nobody is in it.")
    )
    await stage.world.settle()
    assert stage.seen() == [
        'SERVNAK says, "A boat lies there."',
        'SERVNAK (points) says, "Nobody is in it."',
    ]
    assert [percept.text for percept in stage.heard("phi")] == ["A boat lies there. Nobody is in it."]


async def test_sentences_are_whispered_where_somebody_may_not_hear_them():
    stage = Stage(by_sentence=True).enter().enter("ben")
    asked = Percept(
        "user_caity", "what did I tell you?", 1000.0, present=frozenset({"user_caity"}), floor=FLOOR
    )
    told = turn_of(
        stage, "servnak", asked, None, Audience(frozenset({"user_caity", "servnak"}), confined=True)
    )
    stage.world.speaking("servnak", asked, told, "That your boat is called Rosalind.")
    assert "Rosalind" not in str([line for line in stage.lines if line.target == ""])
    assert [line.kind for line in stage.lines[1:]] == [Kind.WHISPER, Kind.WHISPER]


async def test_a_world_that_wants_whole_answers_sees_no_part_twice():
    stage = Stage().enter()
    asked = Percept("user_caity", "what do you see?", 1000.0, floor=FLOOR)
    stage.world.speaking("servnak", asked, turn_of(stage, "servnak", asked), "A boat lies there.")
    stage.world.answered("servnak", asked, turn_of(stage, "servnak", asked, "A boat lies there. Go."))
    await stage.world.settle()
    assert stage.seen() == ['SERVNAK says, "A boat lies there. Go."']


async def test_what_was_asked_elsewhere_is_not_answered_in_the_room():
    stage = Stage(by_sentence=True).enter()
    asked = Percept("user_caity", "what do you see?", 1000.0, present=frozenset({"user_caity", "user_bob"}))
    stage.world.speaking("servnak", asked, turn_of(stage, "servnak", asked), "A boat lies there.")
    assert stage.lines == []


async def test_a_player_who_was_let_in_is_parted_from_and_was_never_here():
    stage, left = Stage(), []
    stage.world.enter("user_ann", "ann", lambda line: None, lambda: leave("user_ann"))

    def leave(user_id):
        left.append(user_id)
        stage.world.leave(user_id)

    stage.enter()
    with pytest.raises(UserError, match="caity is in the rooms now"):
        stage.world.part_from({"user_ann", "user_caity"})
    assert left == []
    stage.world.part_from({"user_ann"})
    assert left == ["user_ann"]
    assert not stage.world.has_been("user_ann")
    assert "user_ann" not in stage.states[-1]["rooms"]
    await stage.world.settle()


def test_nothing_that_was_said_is_shown_again_once_it_is_cleared():
    scrollback, room = Scrollback(), PLACES.rooms["garden"]
    scrollback.note(room, RoomLine(Kind.SAY, "hello", "user_ann", "ann"), Audience())
    assert scrollback.of(room, "user_bob")
    scrollback.clear()
    assert scrollback.of(room, "user_bob") == []
