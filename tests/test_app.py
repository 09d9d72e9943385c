"""What cannot be put together is refused in words that name the setting."""

import pytest

from noodlings.app import build, voice_of
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.store.memory import MemoryStore

ADDRESS = "http://127.0.0.1:9/v1"


def built(**llm):
    settings = Settings(embedding={"model": "none"}, llm={"base_url": ADDRESS, **llm})
    return build(settings, clock=ManualClock(), store=MemoryStore())


@pytest.mark.parametrize("llm", [{}, {"models": {"reply": "a"}}])
async def test_an_address_without_the_name_of_a_model_is_refused(llm):
    with pytest.raises(UserError, match=r"llm\.model is not: .* NOODLINGS_LLM__MODEL"):
        built(**llm)
    with pytest.raises(UserError, match=r"llm\.model is not"):
        async with voice_of(Settings(llm={"base_url": ADDRESS, **llm})):
            pass


@pytest.mark.parametrize(
    ("llm", "name"),
    [
        ({"model": "a"}, "a"),
        ({"model": "a", "models": {"reply": "b"}}, "b"),
        ({"models": dict.fromkeys(("reply", "modulate", "appraise", "symbol"), "c")}, "c"),
    ],
)
def test_who_speaks_is_called_by_name(llm, name):
    society = built(**llm)
    assert society.model_status.model == name
    society.close()
