from noodlings.recall.lexical import stems


def test_words_meet_whatever_their_case_and_ending():
    assert stems("The lantern was BURNING") == stems("lanterns burn") == ["lantern", "burn"]


def test_words_that_say_nothing_are_left_out():
    assert stems("what did you do with it, and why?") == []


def test_repeats_and_order_stay():
    assert stems("red apples, red doors") == ["red", "appl", "red", "door"]


def test_other_scripts_are_words_too():
    assert stems("Привет, мир") == ["привет", "мир"]
