import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.parse import Flag, HelpAsked, Parsed, Spec, parse_flags, split_assignment, split_words
from noodlings.errors import UserError

SPEC = Spec(
    "@memories NAME [--flow] [--user WHO] [--limit N] [--above X]",
    (
        Flag("flow"),
        Flag("affect-similar"),
        Flag("user", "WHO"),
        Flag("limit", "N", int, 1, 200),
        Flag("above", "X", float, 0, 1),
    ),
)


def refusal(line: str, spec: Spec = SPEC) -> str:
    with pytest.raises(UserError) as caught:
        parse_flags(line, spec)
    return str(caught.value)


def test_a_name_and_its_flags():
    parsed = parse_flags("servnak --flow --limit 5 --user caity --above=.5", SPEC)
    assert parsed == Parsed("servnak", {"flow": True, "limit": 5, "user": "caity", "above": 0.5})
    assert parsed.has("flow")
    assert not parsed.has("affect-similar")
    assert (parsed.whole("limit", 10), parsed.text("user"), parsed.number("above", 0)) == (5, "caity", 0.5)


def test_what_is_not_given_has_its_default():
    parsed = parse_flags("servnak", SPEC)
    assert parsed.whole("limit", 10) == 10
    assert parsed.text("user", "all") == "all"
    assert parsed.number("above", 0.25) == 0.25


def test_the_name_may_come_last_and_have_several_words():
    assert parse_flags("--flow old tom", SPEC).name == "old tom"
    assert parse_flags('--user "mad hatter" old tom', SPEC) == Parsed("old tom", {"user": "mad hatter"})


def test_flags_are_read_in_any_case():
    assert parse_flags("servnak --FLOW", SPEC).has("flow")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("servnak --flwo", ("--flwo", "--flow")),
        ("servnak --affect-similr", ("--affect-similar",)),
        ("servnak -flow", ("-flow", "did you mean --flow")),
        ("servnak --zzz", ("there are", "--limit", "--help")),
        ("servnak --zzz=3", ("--zzz;",)),
        ("servnak --limit", ("--limit N", "1 to 200")),
        ("servnak --limit --flow", ("--limit N",)),
        ("servnak --limit ten", ("whole number from 1 to 200", "'ten'")),
        ("servnak --limit 0", ("1 to 200", "'0'")),
        ("servnak --limit -3", ("1 to 200", "'-3'")),
        ("servnak --limit 2.5", ("whole number",)),
        (f"servnak --limit 1{'0' * 400}", ("1 to 200",)),
        ("servnak --above nan", ("number from 0 to 1",)),
        ("servnak --above inf", ("number from 0 to 1",)),
        ("servnak --user", ("--user WHO",)),
        ("servnak --user=", ("--user WHO",)),
        ("servnak --flow=3", ("takes no value",)),
        ("servnak --flow --flow", ("twice",)),
        ("servnak --user old tom", ("'tom'", "double quotes")),
        ("--flow", ("Which character", "@memories NAME")),
        ("", ("Which character", "@memories NAME")),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(line, words):
    said = refusal(line)
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    "line",
    [
        'servnak "my dog" --limit 3',
        "servnak my dog --limit=3",
        "servnak --limit 3 my dog",
        '"servnak" my --limit 3 dog',
    ],
)
def test_words_behind_the_name_are_a_text_where_one_is_wanted(line):
    spec = Spec('@recall NAME "WHAT" [--limit N]', (Flag("limit", "N", int),), text="WHAT")
    assert parse_flags(line, spec) == Parsed("servnak", {"limit": 3}, "my dog")


@pytest.mark.parametrize("line", ['""', '"  " --flow', '"" ""'])
def test_nothing_in_quotes_is_no_name(line):
    assert "Which character?" in refusal(line)


def test_a_spec_may_do_without_a_name():
    assert parse_flags("", Spec("who [--flow]", (Flag("flow"),), named=False)) == Parsed()


@pytest.mark.parametrize("line", ["--help", "servnak --help", "servnak --limit 5 -h"])
def test_help_is_understood_everywhere(line):
    with pytest.raises(HelpAsked):
        parse_flags(line, SPEC)


def test_apostrophes_are_letters_and_quotes_hold_together():
    assert split_words('o\'brien "two words" "" tail "open end') == [
        "o'brien",
        "two words",
        "",
        "tail",
        "open end",
    ]


@given(st.text())
def test_every_line_is_read_or_refused(line):
    try:
        parsed = parse_flags(line, SPEC)
    except (UserError, HelpAsked):
        return
    assert parsed.name
    assert 1 <= parsed.whole("limit", 1) <= 200


@given(st.lists(st.text(st.characters(exclude_characters='"'), min_size=1)))
def test_quoted_words_come_back_whole(words):
    assert split_words(" ".join(f'"{word}"' for word in words)) == words


def test_an_assignment_splits_at_its_first_sign():
    assert split_assignment("phi = 1 + 1 = 2", "whisper NAME = text") == ("phi", "1 + 1 = 2")


@pytest.mark.parametrize("line", ["", "phi", "phi =", "= hello", "="])
def test_half_an_assignment_is_refused_with_the_usage(line):
    with pytest.raises(UserError, match="whisper NAME = text"):
        split_assignment(line, "whisper NAME = text")
