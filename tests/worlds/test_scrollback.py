from noodlings.values.percept import Kind
from noodlings.worlds.lines import Line
from noodlings.worlds.places import Room
from noodlings.worlds.scrollback import LINES, Scrollback

HALL, CELLAR = Room("The Hall", "Long."), Room("The Cellar", "Dark.")


def said(text, **more):
    return Line(more.pop("kind", Kind.SAY), text, "user_caity", "Caity", **more)


def test_each_room_has_its_own_last_lines():
    scrollback = Scrollback()
    for number in range(LINES + 5):
        scrollback.note(HALL, said(str(number)))
    scrollback.note(CELLAR, said("drip"))
    assert [line.text for line in scrollback.of(HALL, "user_ben")] == [str(n) for n in range(5, LINES + 5)]
    assert [line.text for line in scrollback.of(CELLAR, "user_ben")] == ["drip"]


def test_a_whisper_is_shown_again_to_the_two_alone_and_coming_and_going_to_nobody():
    scrollback = Scrollback()
    scrollback.note(HALL, said("secret", kind=Kind.WHISPER, target="user_ben", target_name="Ben"))
    scrollback.note(HALL, said("arrives", kind=Kind.ARRIVE))
    assert [line.text for line in scrollback.of(HALL, "user_ben")] == ["secret"]
    assert [line.text for line in scrollback.of(HALL, "user_caity")] == ["secret"]
    assert scrollback.of(HALL, "user_eve") == []
