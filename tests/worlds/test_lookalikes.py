"""Names that a person would take for somebody else's, or for no name at all."""

import pytest

from noodlings.errors import UserError
from noodlings.lookalikes import looks
from noodlings.worlds.accounts import Accounts
from noodlings.worlds.beings import Being, require_free, require_name
from tests.fakes import make_persona
from tests.worlds.mush import PASSWORD

OF_PHI = ["Phı", "PHI", "PhI", "Ph1", "Phị", "Phì", "ƤħI", "ᴘʜɪ", "ΡΗΙ", "РНІ", "ⲢⲎⲒ", "ꓑꓧꓲ", "ᏢᎻᏆ"]
OF_MAREN = ["Maʀen", "Márēn", "Rnaren", "ΜΑΡΕΝ", "ⲘⲀⲢⲈⲚ", "ꓟꓮꓣꓰꓠ"]


@pytest.mark.parametrize(
    ("name", "other"), [(name, "Phi") for name in OF_PHI] + [(name, "Maren") for name in OF_MAREN]
)
def test_who_looks_like_a_character_does_not_come_in(name: str, other: str) -> None:
    persona = make_persona(other)
    with pytest.raises(UserError, match="or much like it; choose another name"):
        require_free([Being(persona.id, persona.name, persona)], "account:x", [name])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("O'Brien", "O’Brien"),
        ("O'Brien", "OʼBrien"),
        ("Al", "Alˑ"),
        ("Bll", "Bǀǀ"),
        ("Coco", "Cᴑcᴑ"),
        ("Roroy", "Roꭇoy"),
        ("Gary", "Garɣ"),
        ("Phi", "Ƿhi"),
    ],
)
def test_names_that_differ_by_a_stroke_look_alike(one: str, other: str) -> None:
    assert looks(one) & looks(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ali", "All"), ("Eila", "Ella"), ("Phil", "Phi"), ("Мария", "Maren"), ("がな", "かな"), ("कि", "कु")],
)
def test_names_that_a_person_tells_apart_do_not_look_alike(one: str, other: str) -> None:
    assert looks(one).isdisjoint(looks(other))


@pytest.mark.parametrize(
    "name", ["They", "It", "lt", "IT", "Ìt", "Hers", "They're", "Someone's", "It’ll", "A11", "North"]
)
def test_a_word_for_somebody_is_no_name(name: str) -> None:
    with pytest.raises(UserError, match="has another meaning here"):
        require_name(name)


@pytest.mark.parametrize("name", ["Maren's", "Maren’s", "MAREN'S", "Maren's Voice"])
def test_a_name_does_not_say_whose_something_is(name: str) -> None:
    with pytest.raises(UserError, match=r"says whose something is; leave out ['’][sS], or choose"):
        require_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "Nina says",
        "Nina Sàys hello",
        "Nina whispers to you",
        "NINA PAGES",
        "Nina_says",
        "Nina leaves",
        "You say",
        "Yοu whisper",
    ],
)
def test_a_name_does_not_read_like_a_line(name: str) -> None:
    with pytest.raises(UserError, match="reads like the beginning of a line"):
        require_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "Young Nina",
        "Asks",
        "Nina Sayson",
        "O'Brien",
        "F'lar",
        "D'Sa",
        "Theo",
        "Ali",
        "Hermine",
        "Itō",
        "Ми",
    ],
)
def test_other_names_are(name: str) -> None:
    require_name(name)


@pytest.mark.slow
def test_no_account_is_made_that_looks_like_another(tmp_path) -> None:
    accounts = Accounts(tmp_path)
    accounts.create("Ida", PASSWORD)
    with pytest.raises(UserError, match="lda looks like the name of another account"):
        accounts.create("lda", PASSWORD)
