import pytest

from noodlings.values.percept import Kind
from noodlings.worlds.beings import RoomLine, split_gestures, spoken


def seen(viewer: str = "", **fields) -> str:
    return RoomLine(**({"actor": "phi", "name": "Phi"} | fields)).view(viewer).plain


def test_speech_is_seen_from_both_sides():
    said = {"kind": Kind.SAY, "text": "Hello."}
    assert seen(**said) == 'Phi says, "Hello."'
    assert seen("phi", **said) == 'You say, "Hello."'
    assert seen(**said, manner="bows") == 'Phi (bows) says, "Hello."'


def test_a_whisper_is_heard_by_two_and_seen_by_all():
    whisper = {"kind": Kind.WHISPER, "target": "toad", "target_name": "Toad"}
    assert seen("toad", text="psst", **whisper) == 'Phi whispers to you, "psst"'
    assert seen("phi", text="psst", **whisper) == 'You whisper to Toad, "psst"'
    assert seen("servnak", text="", **whisper) == "Phi whispers something to Toad."


@pytest.mark.parametrize(
    ("text", "shown"),
    [("waves", "Phi waves."), ("waves!", "Phi waves!"), ("'s eyes glow", "Phi's eyes glow.")],
)
def test_a_pose_reads_as_a_sentence(text, shown):
    assert seen(kind=Kind.EMOTE, text=text) == shown
    assert seen("phi", kind=Kind.EMOTE, text=text) == shown


def test_markup_in_words_stays_as_it_was_typed():
    assert seen(kind=Kind.SAY, text="[bold]x[/bold]") == 'Phi says, "[bold]x[/bold]"'


@pytest.mark.parametrize(
    ("response", "words", "manner"),
    [
        ("HELLO.", "HELLO.", ""),
        ("*tilts its head*", "", "tilts its head"),
        ("*tilts its head.* HELLO.", "HELLO.", "tilts its head"),
        ("HELLO. *SERVNAK whirrs* GOODBYE.", "HELLO. GOODBYE.", "whirrs"),
        ("HELLO! *beeps* *spins*", "HELLO!", "beeps, spins"),
        ("I *really* mean it.", "I really mean it.", ""),
        ("That is **important**.", "That is important.", ""),
        ("2 * 3 is six", "2 * 3 is six", ""),
        ("**", "", ""),
        ("", "", ""),
    ],
)
def test_gestures_are_told_from_words(response, words, manner):
    assert split_gestures(response, "SERVNAK") == (words, manner)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ('"Fine weather."', "Fine weather."),
        ("“Fine weather.”", "Fine weather."),
        ("polishes a lens", None),
        ('"half', None),
        ('""', None),
        ('"', None),
        ("", None),
    ],
)
def test_an_idle_act_in_quotation_marks_is_spoken(act, words):
    assert spoken(act) == words
