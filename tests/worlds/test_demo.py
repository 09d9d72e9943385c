from dataclasses import dataclass

from noodlings.clock import ManualClock
from noodlings.drawing.screen import Screen
from noodlings.worlds.demo import IDLE_LINES, START, DemoStage, demonstrate, idle_lines
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World
from tests.fakes import ScriptedMinds, make_persona


@dataclass
class Answer:
    view: object = ""
    leave: bool = False


def test_the_idle_lines_are_always_the_same_and_say_nothing_of_dogs():
    assert idle_lines() == idle_lines()
    assert len(idle_lines()) == IDLE_LINES
    assert all("dog" not in text for _, text in idle_lines())


async def test_the_demo_tells_asks_and_shows(capsys):
    minds, typed, clock = ScriptedMinds(), [], ManualClock(START)

    async def dispatch(line):
        typed.append(line)
        if line.startswith("say "):
            world.say("user_me", line.removeprefix("say "))
        if line.startswith("go "):
            world.go("user_me", line.removeprefix("go "))
        return Answer()

    world = World(load_places(), [make_persona("Phi", home="garden")], minds.perceive, minds.idle, clock)
    world.enter("user_me", "me", lambda line: None)
    await demonstrate(DemoStage(dispatch, world, "user_me", minds.perceive, clock, Screen(False)))
    heard = minds.texts("phi")
    assert heard[1] == "My dog died yesterday. Her name was Biscuit."
    assert heard[2 : 2 + IDLE_LINES] == [text for _, text in idle_lines()]
    assert "my dog" in heard[-1]
    assert typed[-2:] == ["@memories phi", "@memories phi --flow"]
    assert clock.now() > START + IDLE_LINES * 60
    captured = capsys.readouterr()
    assert "> say Phi, I keep thinking about my dog." in captured.out
    assert f"{IDLE_LINES}/{IDLE_LINES}" in captured.err
