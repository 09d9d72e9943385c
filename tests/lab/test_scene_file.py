"""A file of scenes: what may stand in it, and what is said of what may not."""

import pytest
import yaml

from noodlings.agent.recipes import BUILT_IN, find_recipes
from noodlings.errors import LLMError, NoodlingsError, UserError
from noodlings.lab.scene import play
from noodlings.lab.scene_file import load_scenes
from noodlings.values.affect import Affect
from noodlings.voice.offline import OfflineVoice

RECIPES = find_recipes([BUILT_IN]).personas
SMALLEST = {"persona": "phi", "percept": "it rained"}
RECIPE = {"name": "Ada", "species": "owl", "description": "An owl.", "identity": "You are Ada."}


@pytest.fixture
def write(tmp_path):
    def write(text=None, **keys):
        path = tmp_path / "scene.yaml"
        path.write_text(yaml.safe_dump(SMALLEST | keys) if text is None else text, encoding="utf-8")
        return path

    return write


def test_two_keys_are_enough(write):
    [scene] = load_scenes(write())
    assert scene.percept.text == "it rained"
    assert (scene.memories, scene.symbols, scene.mood) == ((), (), None)


def test_what_stands_beside_the_scenes_holds_for_all_of_them(write):
    path = write(scenes=[{"name": "one"}, {"name": "two", "persona": "maren"}])
    assert [(scene.name, scene.persona) for scene in load_scenes(path)] == [("one", "phi"), ("two", "maren")]


@pytest.mark.parametrize(
    ("given", "affect"),
    [
        ({"sorrow": 0.8, "valence": -0.5}, Affect(-0.5, 0.5, 0.0, 0.8)),
        ([-0.5, 0.4, 0, 0.8, 0], Affect(-0.5, 0.4, 0.0, 0.8)),
    ],
)
def test_a_feeling_is_some_axes_or_all_five(write, given, affect):
    assert load_scenes(write(mood=given))[0].mood == affect


@pytest.mark.parametrize(
    ("ago", "seconds"), [(60, 60), ("3 days", 259_200), ("1 hour ago", 3_600), ("0.5 week", 302_400)]
)
def test_how_long_ago_is_seconds_or_words(write, ago, seconds):
    [scene] = load_scenes(write(memories=[{"who": "bob", "text": "hello", "ago": ago}]))
    assert scene.memories[0].ago == seconds


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"memorys": []}, "unknown key memorys; did you mean memories"),
        (
            {"memories": [{"who": "bob", "tekst": "hi"}]},
            "memories.0.text is missing; unknown key",
        ),
        ({"mood": {"sorow": 1}}, "mood: there is no axis sorow; there are valence"),
        ({"mood": {"sorrow": 3}}, "mood: an affect is out of range"),
        ({"mood": {"sorrow": 10**399}}, "mood: int too large"),
        ({"mood": [0, 0, 0]}, "mood: a feeling is numbers for some of"),
        ({"mood": {"sorrow": float("nan")}}, "mood: an affect is out of range"),
        ({"mood": {"sorrow": "much"}}, "mood: a feeling is numbers"),
        ({"memories": [{"who": "bob", "text": "x", "ago": "long"}]}, 'such as "3 days"'),
        ({"memories": [{"who": "bob", "text": " ", "ago": 1}]}, "memories.0.text: must not be empty"),
        ({"appetites": {"hunger": 1}}, "appetites.hunger"),
        ({"gains": {"memory": 2}}, "gains.memory: .*less than or equal to 1"),
        ({"gains": {"../wit": 1}}, "gains.../wit: a transistor is one of affect, .* or a file of your own"),
        ({"percept": {"who": "bob"}}, "percept.text is missing"),
        ({"scenes": []}, "scenes is a list of scenes"),
        ({"scenes": ["one"]}, "scenes is a list of scenes"),
        ({"scenes": [{}, {"seed": "x"}]}, "number 2: seed"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(write, wrong, words):
    with pytest.raises(UserError, match=words) as refused:
        load_scenes(write(**wrong))
    assert str(refused.value).startswith("scene ")
    assert "scene.yaml" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [("- a\n", "it has no keys"), ("a: [", "cannot be read as YAML"), ("\x00", "cannot be read as YAML")],
)
def test_what_is_no_scene_at_all(write, text, words):
    with pytest.raises(UserError, match=words):
        load_scenes(write(text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="cannot be read: No such file"):
        load_scenes(tmp_path / "none.yaml")


async def played(path, **gains):
    stage = RECIPES, path.parent
    return [await play(scene, *stage, gains=gains) for scene in load_scenes(path)]


async def test_a_whole_recipe_may_stand_in_a_scene(write):
    [done] = await played(write(persona=RECIPE, thought="So it is."))
    assert (done.persona.name, done.thought, done.final) == ("Ada", "So it is.", "So it is.")


@pytest.mark.parametrize(
    ("persona", "words"),
    [
        ("maran", "there is no recipe maran; did you mean maren"),
        ({"species": "owl"}, "the recipe in the scene: name is missing"),
        (RECIPE | {"transistors": {"../wit": 1}}, "a transistor is one of affect"),
        (RECIPE | {"transistors": {"wit": 1}}, "names a transistor wit, but there is no"),
    ],
)
async def test_a_persona_that_is_none(write, persona, words):
    with pytest.raises(NoodlingsError, match=words):
        await played(write(persona=persona))


async def test_gains_go_from_recipe_to_scene_to_whoever_asks(write):
    [done] = await played(write(gains={"affect": 0.1, "goal": 0.2}), goal=0.3)
    gains = {made.transistor: made.gain for made in done.modulations}
    assert (gains["affect"], gains["goal"]) == (0.1, 0.3)
    assert gains["memory"] == RECIPES["phi"].transistors["memory"]


async def test_a_model_that_cannot_think_leaves_it_to_the_offline_voice(write):
    class Broken(OfflineVoice):
        name = "llm"

        async def speak(self, utterance, allowance):
            raise LLMError("no answer in 2 s")

    [scene] = load_scenes(write())
    stage = RECIPES, BUILT_IN
    done = await play(scene, *stage, Broken())
    assert done.degraded == ("offline voice: no answer in 2 s",)
    assert done.thought == (await play(scene, *stage)).thought


async def test_what_a_scene_remembers_is_in_mind_and_the_same_scene_sounds_the_same(write):
    sad = {"valence": -0.7, "sorrow": 0.8}
    path = write(
        memories=[{"who": "bob", "text": "I lost my key", "importance": 0.3, "affect": sad}],
        percept={"who": "bob", "text": "the door is locked", "affect": sad},
    )
    [done] = await played(path, memory=1.0)
    assert "you lost your key" in done.final
    assert [again.as_dict() for again in await played(path, memory=1.0)] == [done.as_dict()]
