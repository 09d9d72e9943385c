from noodlings.values.audience import OPEN, confined_to
from noodlings.values.percept import Kind
from noodlings.worlds.beings import RoomLine
from noodlings.worlds.places import Room
from noodlings.worlds.rooms import SCROLLBACK, Scrollback

HALL, CELLAR = Room("The Hall", "Long."), Room("The Cellar", "Dark.")


def said(text, **more):
    return RoomLine(more.pop("kind", Kind.SAY), text, "user_caity", "Caity", **more)


def test_each_room_has_its_own_last_lines():
    scrollback = Scrollback()
    for number in range(SCROLLBACK + 5):
        scrollback.note(HALL, said(str(number)), OPEN)
    scrollback.note(CELLAR, said("drip"), OPEN)
    assert [line.text for line in scrollback.of(HALL, "user_ben")] == [
        str(n) for n in range(5, SCROLLBACK + 5)
    ]
    assert [line.text for line in scrollback.of(CELLAR, "user_ben")] == ["drip"]


def test_what_is_between_two_is_shown_again_to_them_alone_and_coming_and_going_to_nobody():
    scrollback = Scrollback()
    between = confined_to({"user_caity", "user_ben"})
    scrollback.note(HALL, said("secret"), between)
    scrollback.note(HALL, said("arrives", kind=Kind.ARRIVE), OPEN)
    assert [line.text for line in scrollback.of(HALL, "user_ben")] == ["secret"]
    assert [line.text for line in scrollback.of(HALL, "user_caity")] == ["secret"]
    assert scrollback.of(HALL, "user_eve") == []
