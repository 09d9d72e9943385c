import pytest

from noodlings.errors import UserError
from noodlings.worlds.places import came_from, load_places


def test_the_rooms_that_come_with_noodlings_hang_together():
    places = load_places()
    assert {"workshop", "garden", "library"} <= set(places.rooms)
    for room in places.rooms.values():
        assert room.description
        assert room.exits
        assert room.things
        for thing in room.things:
            assert room.thing(thing.name) is thing
            for word in (thing.name, *thing.also):
                assert word == word.casefold()


def test_every_room_can_be_reached_from_the_start():
    places = load_places()
    reached, frontier = {places.start}, [places.start]
    while frontier:
        for target in places.rooms[frontier.pop()].exits.values():
            if target not in reached:
                reached.add(target)
                frontier.append(target)
    assert reached == set(places.rooms)


@pytest.mark.parametrize("way", ["north", "N", " garden", "the walled garden", "Walled Garden"])
def test_an_exit_has_many_names(way):
    places = load_places()
    assert places.exit(places.rooms["workshop"], way) == ("north", "garden")


def test_no_exit_of_that_name_lists_those_there_are():
    places = load_places()
    with pytest.raises(UserError, match="cannot go up from here; there is north to the Walled Garden, east"):
        places.exit(places.rooms["workshop"], "up")


def test_whoever_walks_north_arrives_from_the_south():
    assert came_from("north") == "the south"
    assert came_from("through the mirror") == "somewhere else"
