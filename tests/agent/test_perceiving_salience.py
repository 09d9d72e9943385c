"""Being named counts little; what an agent's sense of self hangs on counts much."""

import pytest

from noodlings.agent.perceiving import IDENTITY_SALIENCE, NAME_SALIENCE, identity_salience
from tests.fakes import make_persona

ROBOT = make_persona("SERVNAK", aliases=("serv",), identity_words=("pride circuits", "robot", "Servnak"))


@pytest.mark.parametrize(
    ("text", "salience"),
    [
        ("nice weather", 0.0),
        ("hello servnak", NAME_SALIENCE),
        ("HELLO SERV!", NAME_SALIENCE),
        ("servants are not named", 0.0),
        ("you are just a robot", IDENTITY_SALIENCE),
        ("your Pride Circuits fail, robot", 1 - (1 - IDENTITY_SALIENCE) ** 2),
        ("servnak is a robot", 1 - (1 - NAME_SALIENCE) * (1 - IDENTITY_SALIENCE)),
        ("", 0.0),
    ],
)
def test_identity_salience(text, salience):
    assert identity_salience(text, ROBOT) == pytest.approx(salience)


def test_many_words_never_pass_one():
    words = tuple(f"word{i}" for i in range(20))
    persona = make_persona("Phi", identity_words=words)
    assert 0.9 < identity_salience(" ".join(words), persona) <= 1.0
