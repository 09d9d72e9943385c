"""What a character thinks by itself, without a model."""

from noodlings.values.affect import Affect
from noodlings.values.percept import Kind
from noodlings.voice.offline import think_alone
from noodlings.voice.words import load_yaml
from tests.voice.utterances import memory, utterance

HAPPY = Affect(valence=0.8, arousal=0.6)


def test_a_good_day_makes_no_good_memory_of_a_death() -> None:
    died = memory(1, "my dog died", affect=Affect(-0.8, 0.5, 0.1, 0.9))
    sorrowful = [line.replace("{memory}", "") for line in load_yaml("musings.yaml")["sorrow"]]
    for turn in range(8):
        speech = think_alone(utterance("", died, kind=Kind.THOUGHT, mood=HAPPY, turn=turn))
        assert speech.used == (1,)
        assert any(part.strip(" .") in speech.text for part in sorrowful)


def test_what_makes_no_sense_by_itself_is_not_mused_on() -> None:
    for text in ("she laughs at me", "a bed"):
        assert think_alone(utterance("", memory(1, text), kind=Kind.THOUGHT)).used == ()
