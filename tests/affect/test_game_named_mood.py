from noodlings.affect.game import MoodTracker
from noodlings.affect.game_rules import MoodRule, NamedMood

LASTS = 300.0
NERVOUS = MoodRule.model_validate({"become": "nervous"})
RELIEF = MoodRule.model_validate({"become": "hyped", "from": ["nervous"]})


def test_a_mood_lasts_five_minutes_to_the_second():
    tracker = MoodTracker().after(NERVOUS, 1_000.0, LASTS)
    assert tracker.at_time(1_299.999, LASTS) is NamedMood.NERVOUS
    assert tracker.at_time(1_300.0, LASTS) is NamedMood.CHILL


def test_every_event_that_calls_for_a_mood_keeps_it_up():
    tracker = MoodTracker().after(NERVOUS, 0.0, LASTS).after(NERVOUS, 200.0, LASTS)
    assert tracker.at_time(400.0, LASTS) is NamedMood.NERVOUS


def test_relief_needs_nerves_and_does_not_keep_another_mood_up():
    nervous = MoodTracker().after(NERVOUS, 0.0, LASTS)
    assert nervous.after(RELIEF, 10.0, LASTS) == MoodTracker(NamedMood.HYPED, 10.0)
    hyped = nervous.after(RELIEF, 10.0, LASTS)
    assert hyped.after(RELIEF, 100.0, LASTS) is hyped
    assert nervous.after(RELIEF, 300.0, LASTS) is nervous  # chill again by then


def test_a_clock_that_goes_back_ends_no_mood():
    tracker = MoodTracker(NamedMood.HYPED, 1e6)
    assert tracker.at_time(1e6 - LASTS / 2.0, LASTS) is NamedMood.HYPED
    assert tracker.at_time(0.0, LASTS) is NamedMood.CHILL  # a clock that was wrong keeps no mood for ever
