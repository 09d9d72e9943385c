"""What one may see of feelings and of the state of a mind, and that looking changes nothing."""

import json
from dataclasses import replace

import pytest

from noodlings.agent.events import game_event
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import NotFound
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.mood import TURNS
from noodlings.mind.appetites import Appetites, goals_of
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import AXES
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept
from noodlings.values.persona import APPETITES

ADMIN = Caller("user_root", "root", Role.ADMIN)
VIEWER = Caller("user_eve", "eve", Role.VIEWER)
CAITY = Caller("user_caity", "caity")
WORLD = Caller("game", "game", Role.WORLD)


@pytest.fixture
def clock():
    return ManualClock(1_000_000.0)


@pytest.fixture
def society(tmp_path, clock):
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})
    return build(settings, clock=clock, store=MemoryStore())


@pytest.fixture
def inspector(society):
    return Inspector(society)


@pytest.fixture
def say(society, clock):
    async def say(text, **changes):
        clock.advance(10.0)
        fields = {"addressed": True} | changes
        return await society.perceive("phi", Percept("user_caity", text, clock.now(), **fields))

    return say


async def test_a_view_of_the_mood_is_what_the_agent_feels(society, inspector, say):
    traces = [await say(text) for text in ("you are lovely", "you are an idiot", "hm")]
    phi, view = society.agents["phi"], inspector.mood(ADMIN, "Phi")
    assert (view.agent, view.name) == ("phi", "Phi")
    assert (view.mood.affect, view.baseline.affect, view.affect.affect) == (
        phi.mood,
        phi.baseline,
        phi.affect,
    )
    assert view.valences == tuple(trace.mood.valence for trace in traces)
    assert view.goals == tuple(goal.text for goal in goals_of(phi.drives, phi.appetites))
    assert (view.named, view.named_left, view.game, view.hidden) == ("chill", 0.0, (), 0)


async def test_goals_tell_a_player_no_more_of_appetites_than_their_steps(society, inspector, clock):
    core = society.agents["phi"]._core
    seen: dict[Caller, set[tuple[str, ...]]] = {ADMIN: set(), CAITY: set()}
    for levels in ((0.70, 0.72), (0.72, 0.70)):
        hungry = Appetites((*levels, *[0.0] * 6), clock.now(), (0.5,) * 8)
        core.feelings = replace(core.feelings, appetites=hungry)
        for caller, goals in seen.items():
            goals.add(inspector.mood(caller, "phi").goals)
            assert inspector.observe(caller, "phi").goals in goals
    assert {caller: len(goals) for caller, goals in seen.items()} == {ADMIN: 2, CAITY: 1}


async def test_the_mood_of_now_is_not_that_of_the_last_turn(inspector, say, clock):
    await say("you are a worthless idiot and I hate you")
    hurt = inspector.mood(ADMIN, "phi")
    clock.advance(hurt.half_life)
    later = inspector.mood(ADMIN, "phi")
    assert later.valences == hurt.valences
    gap = hurt.baseline.affect.valence - hurt.mood.affect.valence
    assert later.baseline.affect.valence - later.mood.affect.valence == pytest.approx(gap / 2.0)


async def test_a_view_of_the_mind_is_its_state(society, inspector, say):
    traces = [await say(text) for text in ("hello", "you are an idiot")]
    phi, view = society.agents["phi"], inspector.observe(ADMIN, "phi")
    assert (len(view.fast), len(view.medium), len(view.slow)) == (16, 16, 8)
    assert [*view.fast, *view.medium, *view.slow] == phi.mind.state.tolist()
    assert (view.mood.affect, view.affect.affect, view.expected.affect) == (
        phi.mood,
        phi.affect,
        phi.mind.expects(),
    )
    assert view.surprises == tuple(trace.surprise for trace in traces)
    assert tuple(view.appetites) == tuple(view.usual) == APPETITES
    assert (view.appetites, view.usual) == (phi.appetites, phi.persona.appetites)


async def test_so_many_turns_back_and_no_more(inspector, say):
    for number in range(TURNS + 3):
        trace = await say(f"line {number}", depth=9)
    assert len(inspector.mood(ADMIN, "phi").valences) == TURNS
    surprises = inspector.observe(ADMIN, "phi").surprises
    assert len(surprises) == TURNS
    assert surprises[-1] == trace.surprise


@pytest.mark.parametrize("caller", [ADMIN, VIEWER, WORLD], ids=lambda caller: caller.role)
async def test_who_may_read_all_or_told_it_sees_what_a_game_left(society, inspector, clock, caller):
    await society.perceive("phi", game_event("health_critical", {"hp": 3}, clock.now()))
    clock.advance(61.0)
    view = inspector.mood(caller, "phi")
    assert (view.named, view.named_left, view.hidden) == ("nervous", 239.0, 0)
    assert view.game == (
        "[GAME STATE] Mood:nervous | HP:3/20",
        "[MEMORY]",
        "- 1 min ago: close call — HP dropped to 3",
    )


async def test_players_see_the_mood_and_how_much_is_kept_from_them(society, inspector, clock):
    for hp in (3, 2):
        await society.perceive("phi", game_event("health_critical", {"hp": hp}, clock.now()))
    view = inspector.mood(CAITY, "phi")
    assert (view.named, view.game, view.hidden) == ("nervous", (), 2)
    assert "HP" not in json.dumps(view.as_dict())


async def test_looking_changes_nothing(society, inspector, say, clock):
    await society.perceive("phi", game_event("creeper_nearby", {"hp": 9}, clock.now()))
    await say("hello")
    clock.advance(400.0)
    before = json.dumps(society.agents["phi"].state().data)
    for _ in range(3):
        inspector.mood(ADMIN, "phi")
        inspector.observe(ADMIN, "phi")
    assert json.dumps(society.agents["phi"].state().data) == before


async def test_views_are_json_for_somebody_to_whom_nothing_happened(inspector):
    for view in (inspector.mood(CAITY, "phi"), inspector.observe(CAITY, "phi")):
        data = view.as_dict()
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert set(data["mood"]["affect"]) == set(AXES)


def test_nobody_is_invented(inspector):
    for question in (inspector.mood, inspector.observe):
        with pytest.raises(NotFound, match="There is no character nobody"):
            question(ADMIN, "nobody")
