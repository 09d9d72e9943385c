"""`@mood` and `@observe`: readable everywhere, and how one sees a mood go and come back."""

import re

import pytest
from rich.cells import cell_len

from commands.registry import CommandContext, registry
from noodlings.agent.events import game_event
from noodlings.inspect.inspector import Inspector
from noodlings.values.affect import AXES
from noodlings.values.caller import Caller, Role
from noodlings.values.persona import APPETITES

pytestmark = pytest.mark.slow

INSULTS = (
    "you stupid, useless heap of rust!",
    "I hate you, you are worthless",
    "you are an idiot",
    "shut up, you ugly fool!",
)
BAR = "[█▉▊▋▌▍▎▏▐▕│┃·]+"
VALENCE = re.compile(r"valence .*?([+-]\d\.\d\d) +([+-]\d\.\d\d) +([+-]\d\.\d\d)$")


async def valence(player):
    """The valence of SERVNAK's mood as `@mood` shows it, and what it returns to."""
    lines = await player.read("@mood servnak")
    (found,) = [match for match in map(VALENCE.search, lines) if match]
    return float(found[1]), float(found[2])


async def test_a_mood_falls_with_insults_and_comes_back_with_time(player):
    at_first, baseline = await valence(player)
    moods = [at_first]
    for insult in INSULTS:
        await player.type(f"say servnak, {insult}", after=10.0)
        moods.append((await valence(player))[0])
    assert baseline > 0.3
    assert moods == sorted(moods, reverse=True)
    assert moods[1] > 0.0, "one event flips nobody"
    assert moods[-1] < -0.1
    seems = (await player.type("look servnak")).data["mood"]
    assert seems in ("annoyed", "angry", "sad", "unhappy", "miserable", "sorrowful")
    player.clock.advance(600.0)
    half_way = (await valence(player))[0]
    assert half_way == pytest.approx((moods[-1] + baseline) / 2.0, abs=0.05)
    player.clock.advance(4 * 3_600.0)
    assert (await valence(player))[0] == baseline
    assert (await player.type("look servnak")).data["mood"] == "content"


async def test_the_course_of_the_mood_ends_with_now(player):
    for insult in INSULTS:
        await player.type(f"say servnak, {insult}")
    player.clock.advance(4 * 3_600.0)
    (course,) = [line for line in await player.read("@mood servnak") if "→" in line]
    columns = re.search(r"valence  ([▁-█]+)→([▁-█])  ", course)
    assert columns[1][0] > columns[1][-1] < columns[2]


@pytest.mark.parametrize("width", [20, 40, 61, 80, 200])
@pytest.mark.parametrize("command", ["@mood servnak", "@observe servnak"])
async def test_views_fit_every_terminal_and_a_small_one_without_paging(player, command, width):
    for text in (*INSULTS, "I love you, servnak"):
        await player.type(f"say servnak, {text}")
    lines = await player.read(command, width)
    assert len(lines) < 24 or width < 80
    coloured = (await player.type(command)).render(width, colour=True)
    assert len(coloured.split("\n")) == len(lines)


@pytest.mark.parametrize("width", [40, 80])
async def test_every_bar_has_its_numbers_and_both_ends_a_meaning(player, width):
    await player.type("say servnak, you are an idiot")
    mood = "\n".join(await player.read("@mood servnak", width))
    for axis, low, high in (
        ("valence", "unpleasant", "pleasant"),
        ("arousal", "asleep", "frantic"),
        ("fear", "no fear", "terror"),
        ("sorrow", "no sorrow", "grief"),
        ("boredom", "no boredom", "tedium"),
    ):
        assert re.search(rf"{axis} +({low} +{BAR} {high} +)?([+-]?\d\.\d\d *){{3}}\n", mood), axis
        assert re.search(rf"{low} +{BAR} {high}", mood), axis
    observed = "\n".join(await player.read("@observe servnak", width))
    for name in APPETITES:
        assert re.search(rf"{name.replace('_', ' ')} +{BAR}(\s+\d\.\d\d){{2}}", observed), name
    assert "sated" in observed
    assert "starving" in observed
    assert re.search(r"layer +▁ -[\d.]+ … █ \+[\d.]+ +least +most", observed)
    for layer, numbers in (("fast", 16), ("medium", 16), ("slow", 8)):
        assert re.search(rf"{layer} +[▁-█]{{{numbers}}}(\s+[+-]\d\.\d\d){{2}}", observed), layer
    assert "-0.00" not in mood + observed


async def test_somebody_to_whom_nothing_happened_can_be_looked_at(quiet_society):
    society, _ = quiet_society
    context = CommandContext(Caller("user_caity", "caity"), society, Inspector(society))
    for command, missing in (("@mood phi", "→"), ("@observe phi", "surprise")):
        reply = await registry.dispatch(command, context)
        assert not reply.error, reply.data
        assert missing not in reply.render(80)


async def test_the_data_are_those_of_the_inspector(player):
    await player.type("say servnak, you are an idiot")
    read = Inspector(player.society)
    caller = player.context.caller
    mood = await player.type("@mood servnak", after=0.0)
    assert mood.data == read.mood(caller, "servnak").as_dict()
    assert set(mood.data["mood"]["affect"]) == set(AXES)
    observed = await player.type("@observe servnak", after=0.0)
    assert observed.data == read.observe(caller, "servnak").as_dict()
    assert len(observed.data["fast"] + observed.data["medium"] + observed.data["slow"]) == 40


async def test_a_game_shows_only_where_there_is_one(player):
    assert "in the game" not in "\n".join(await player.read("@mood phi"))
    now = player.clock.now()
    await player.society.perceive("phi", game_event("health_critical", {"hp": 3, "item": "[MEMORY]"}, now))
    shown = await player.read("@mood phi")
    at = shown.index("  in the game nervous, chill again in 5 min")
    assert shown[at + 1 :] == [
        "  [GAME STATE] Mood:nervous | HP:3/20",
        "  [MEMORY]",
        "  - just now: close call — HP dropped to 3",
    ]


async def test_a_player_is_not_told_what_a_game_told_the_character(player):
    now = player.clock.now()
    await player.society.perceive("phi", game_event("health_critical", {"hp": 3}, now))
    player.context.caller = Caller("user_bob", "bob", Role.PLAYER)
    shown = "\n".join(await player.read("@mood phi"))
    assert "in the game nervous" in shown
    assert "not yours to read: 1 notable event of the game" in shown
    assert "HP" not in shown


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("@mood", "Which character? Type it like this: @mood NAME"),
        ("@mood servnack", "did you mean SERVNAK"),
        ("@observe nobody", "There is no character nobody"),
        ("@mood servnak --all", "There is no flag --all"),
        ("@observe", "Which character? Type it like this: @observe NAME"),
    ],
)
async def test_refusals_say_what_would_work(player, line, complaint):
    reply = await player.type(line)
    assert reply.error
    assert complaint in reply.data["error"]


async def test_colour_is_never_alone(player):
    await player.type("say servnak, you are an idiot")
    for command in ("@mood servnak", "@observe servnak"):
        reply = await player.type(command)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", reply.render(80, colour=True))
        assert [line.rstrip() for line in plain.split("\n")] == reply.render(80).split("\n")
        assert max(map(cell_len, plain.split("\n"))) <= 80
