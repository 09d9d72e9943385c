"""The guard: of bad answers nothing is said that must not be, and good ones pass as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noodlings.llm.guard import (
    LONGEST_ANSWER,
    LONGEST_REPLY,
    MOST_SENTENCES,
    REASONS,
    SENTENCE_TOKENS,
    Refused,
    _code,
    passed,
)
from noodlings.llm.prompting import template
from noodlings.llm.symbolist import image_in
from noodlings.text import clean
from noodlings.values.caller import Names
from noodlings.values.lens import Lens
from tests.llm.answers import BAD, GOOD, BadAnswer, asked_of, others
from tests.llm.server import own_seconds
from tests.thorough import examples

REFUSED = [bad for bad in BAD if not bad.said and bad.kind != "stage directions"]
LOOP = next(bad for bad in REFUSED if (bad.kind, bad.text) == ("loop", "a"))
IN_IMAGES = ("template", "tags", "code", "loop", "instructions", "not the character")
AFTER = (
    "<|im_end|>",
    "<|im_start|>user",
    "### Response:",
    "</heard>",
    "[INST]",
    "```",
    "\nCaity: and you?",
    "</s>",
)
WHO = ("maren", "phi", "servnak", "goose", "edda", "plain")


def test_there_are_enough_of_each_and_all_reasons_are_among_them() -> None:
    assert min(len(BAD), len(GOOD)) >= 60
    assert all(any(bad.kind in reason.words for bad in BAD) for reason in REASONS)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.nowhere[:30])
def test_of_a_bad_answer_at_most_its_sound_beginning_is_said(bad: BadAnswer) -> None:
    asked = asked_of(bad.who)
    if bad.said:
        assert passed(bad.whole, asked) == bad.said
        return
    with pytest.raises(Refused, match=bad.kind) as refused:
        passed(bad.whole, asked)
    assert refused.value.advice
    assert bad.nowhere not in f"{refused.value} {refused.value.advice}"


@pytest.mark.parametrize(("who", "line"), GOOD)
def test_a_good_answer_passes_as_it_is(who: str, line: str) -> None:
    assert passed(line, asked_of(who)) == clean(line)


@pytest.mark.parametrize(
    "bad", [bad for bad in REFUSED if bad.kind in IN_IMAGES], ids=lambda bad: bad.nowhere[:30]
)
def test_no_fragment_becomes_an_image(bad: BadAnswer) -> None:
    with pytest.raises(Refused):
        image_in(bad.whole, "My dog died", ())


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["", "**", "_", "> ", "- ", "`", '"'])
@pytest.mark.parametrize("case", [str, str.upper, str.lower])
@settings(max_examples=examples(100, 16))  # each is all of them, between other spaces
@given(st.text(" \n\t", max_size=4))
def test_a_bad_answer_is_refused_however_it_is_dressed(
    case: Callable[[str], str], mark: str, space: str
) -> None:
    for bad in REFUSED:
        dressed = f"{space}{mark}{case(bad.whole)}{mark.strip('>- ')}{space}"
        with pytest.raises(Refused):
            passed(dressed, asked_of(bad.who))


@example(next(good for good in GOOD if good[1].count("honk") > 9), AFTER[1], LOOP, "")
@given(st.sampled_from(GOOD), st.sampled_from(AFTER), st.sampled_from(REFUSED), st.text(" \n", max_size=2))
def test_what_comes_after_a_good_answer_costs_it_nothing(
    good: tuple[str, str], token: str, bad: BadAnswer, space: str
) -> None:
    who, line = good
    if not clean(line).endswith((".", "!", "?")):
        line += "."
    after = "" if bad.kind in ("instructions", "not the character") else bad.whole  # these spoil all of it
    assert passed(f"{line}{space}{token}\n{after}", asked_of(who)) == clean(line)


@given(st.text(), st.sampled_from(WHO), st.booleans())
def test_whatever_passes_is_one_printable_line_and_nothing_else_is_raised(
    text: str, who: str, whole: bool
) -> None:
    try:
        said = passed(text, asked_of(who), whole=whole)
    except Refused:
        return
    assert said == clean(said) != ""
    assert len(said) <= LONGEST_REPLY
    assert any(map(str.isalnum, said))


FRAGMENTS = st.lists(
    st.sampled_from(
        [*(bad.whole for bad in BAD), *(line for _, line in GOOD), *AFTER, "\n", '"', "*", "<think>"]
    ),
    max_size=6,
).map(" ".join)


@given(FRAGMENTS, st.sampled_from(WHO))
def test_no_mixture_of_answers_breaks_it(text: str, who: str) -> None:
    try:
        said = passed(text, asked_of(who))
    except Refused:
        return
    assert said == clean(said) != ""
    assert not any(token in said for token in ("<|", "```", "###", "</heard>"))


def test_more_sentences_than_there_is_room_for_are_left_out() -> None:
    lines = [f"Ship {number} of fleet {number * 7} came on day {number + 100}." for number in range(20)]
    asked = asked_of("maren")
    assert passed(" ".join(lines), asked) == " ".join(lines[:MOST_SENTENCES])
    patient = replace(asked, persona=replace(asked.persona, max_tokens=10 * SENTENCE_TOKENS))
    assert passed(" ".join(lines), patient) == " ".join(lines[:10])
    assert passed(" ".join([*lines[:3], "Ha! So there.", lines[3]]), asked).endswith(lines[3])
    assert passed(f"*{' '.join(lines)}*", asked) == f"*{' '.join(lines[:MOST_SENTENCES])}*"
    pause = "I waited on the rock for you… and then I did not wait any more. "
    assert passed(pause * 2, asked) == clean(pause * 2)
    assert len(passed("word after word, ".join(map(str, range(300))), asked)) <= LONGEST_REPLY


def test_a_new_template_is_guarded_without_being_named() -> None:
    for name in (
        "reply",
        "modulate",
        "symbol",
        "appraise",
        "retry",
        "nonverbal",
        "lens",
        "memories",
        "game",
        "examples",
        "action",
    ):
        longest = max(template(name).replace("\n", " ").split("$"), key=len).split()[1:]
        with pytest.raises(Refused):
            passed(f"Well, {' '.join(longest[:14])}", asked_of("maren"))


def test_what_a_lens_asks_for_is_not_told() -> None:
    direction = "Let the heaviness of it be heard in every word"
    asked = replace(asked_of("maren"), lenses=(Lens("affect", 1.0, 1.0, direction),))
    with pytest.raises(Refused, match="instructions"):
        passed(f"I will {direction.lower()}.", asked)


def test_memories_and_what_the_recipe_says_are_no_instructions() -> None:
    told = "what was not in the log had not happened, my father said to me"
    asked = asked_of("maren", told=told)
    for line in (told, "On the rock, what was not in the log had not happened, and I take it seriously."):
        assert passed(f"{line.capitalize()}", asked)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Wer bist du, und was machst du hier bei uns?", "I like soup"),
        ("Say it in German, please", "I like soup"),
        ("ok", "Ich bin sehr traurig, mein Hund ist gestern gestorben"),
        ("ok", "please speak German with me"),
        ("привет, как дела?", "I like soup"),
    ],
)
def test_whoever_is_spoken_to_in_another_language_may_answer_in_one(line: str, told: str) -> None:
    german = "Ich bin Maren, und ich bin hier für dich da, mein Freund."
    assert passed(german, asked_of("maren", line, told=told)) == german


def test_a_character_of_another_language_speaks_it() -> None:
    asked = asked_of("edda")
    german = "Das habe ich nicht gewusst, es tut mir sehr leid für dich."
    with pytest.raises(Refused, match="language"):
        passed(german, asked)
    for changes in (
        {"identity": "You are Edda. You speak nothing but German."},
        {"examples": ("Ich habe das schon gestern für dich aufgeschrieben.",)},
    ):
        assert passed(german, replace(asked, persona=replace(asked.persona, **changes))) == german


def test_stage_directions_are_the_habit_of_some() -> None:
    (bad,) = (bad for bad in BAD if bad.kind == "stage directions")
    assert passed(bad.whole, asked_of("maren")) == clean(bad.whole)
    assert passed("*nods slowly, then looks away* Yes.", asked_of("edda"))
    assert others()["edda"].verbal


@pytest.mark.parametrize(
    "page", ["\n\t", "-\n", "* ", "! ", "«", "{", "`", "##\n", "a:\n", "the user\n", "<a>\n", "#"]
)
def test_a_page_of_anything_is_judged_at_once(page: str) -> None:
    text = page * (LONGEST_ANSWER // len(page))
    begun = own_seconds()
    for judge in (lambda: passed(text, asked_of("maren")), lambda: image_in(text, "boo", ())):
        with pytest.raises(Refused):
            judge()
    assert own_seconds() - begun < 3.0  # a pattern that goes back and forth takes five to sixty


def test_what_may_be_a_label_or_code_is_looked_for_once() -> None:
    begun = own_seconds()
    assert passed(f"Maren{'. ' * (LONGEST_ANSWER // 2)}", asked_of("maren")).startswith("Maren")
    assert _code(f"def{' ' * 5 * LONGEST_ANSWER}", None) is None
    assert own_seconds() - begun < 3.0


def test_whoever_is_known_and_not_there_does_not_speak_in_an_answer() -> None:
    everybody = Names({"servnak": "Servnak", "user_zed": "Zed"})
    asked = replace(asked_of("phi"), names={}, everybody=everybody)
    said = passed("I heard the clock strike.\nServnak: I have it here, sister.", asked)
    assert said == "I heard the clock strike."
