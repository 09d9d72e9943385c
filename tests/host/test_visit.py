"""A visit with a model, through the real program: who is long about an answer is seen to think."""

import asyncio
import re

import pytest
from argon2.profiles import CHEAPEST

from noodlings.worlds.accounts import Accounts
from tests.cli.test_main import played, started
from tests.llm.server import Answer, serving

pytestmark = pytest.mark.slow


async def test_who_is_long_about_an_answer_is_seen_thinking_once_and_answers_without_a_model(tmp_path):
    async with serving(Answer(hold=True)) as server:
        llm = {
            "NOODLINGS_LLM__BASE_URL": f"http://127.0.0.1:{server.port}/v1",
            "NOODLINGS_LLM__MODEL": "m",
            "NOODLINGS_LLM__TIMEOUT_SECONDS": "1.5",
            "NOODLINGS_LLM__FIRST_TOKEN_SECONDS": "0.3",
            "NOODLINGS_EMBEDDING__MODEL": "none",
            "NOODLINGS_THOUGHT__RUMINATE": "false",
        }
        lines = ("go east", "say maren, hello there")
        shown = await asyncio.to_thread(played, tmp_path, *lines, run=started, **llm)
    _, _, after = shown.partition('You say, "maren, hello there"')
    assert after.count("Maren is thinking…") == 1
    _, _, answer = after.partition("Maren is thinking…")
    assert "Maren" in answer
    assert "says" in answer


def test_a_whisper_to_somebody_with_an_account_who_is_away_reaches_no_character(tmp_path):
    Accounts(tmp_path, CHEAPEST).create("Gustav", "correct horse battery")
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "captain.yaml").write_text("name: Captain Gustav\nhome: workshop\n")
    shown = played(tmp_path, "whisper gustav = for Gustav only", "whisper captain = for you", run=started)
    assert "Nobody here is called gustav; did you mean Captain Gustav?" in shown
    assert 'You whisper to Captain Gustav, "for you"' in shown
    assert "for Gustav only" not in shown


def test_the_beginning_of_the_name_of_somebody_who_is_away_reaches_no_character_of_a_like_name(tmp_path):
    Accounts(tmp_path, CHEAPEST).create("Phineas", "correct horse battery")
    shown = played(tmp_path, "whisper ph = for Phineas only", "whisper phi = for you", run=started)
    assert "Nobody here is called ph; did you mean Phi? Say the whole name." in shown
    assert 'You whisper to Phi, "for you"' in shown
    assert "for Phineas only" not in shown


def test_a_recipe_that_is_wrong_is_named_at_the_start_and_the_world_is_there(tmp_path):
    recipes = tmp_path / "recipes"
    recipes.mkdir()
    (recipes / "gus.yaml").write_text("name: Gus\npersonality: {openness: 7}\n")
    (recipes / "ada.yaml").write_text("name: Ada\nidentity_prompt: You are Ada.\n")
    shown = " ".join(played(tmp_path, "who").split())
    unbroken = shown.replace(" ", "")  # a long path is broken where the line ends
    assert re.search(r"Skipped:recipe\S*gus\.yaml:personality\.openness:\S*lessthanorequalto1", unbroken)
    assert "Ada" in shown
    assert "SERVNAK" in shown
    assert "Traceback" not in shown
    log = (tmp_path / "noodlings.log").read_text()
    assert "skipped: recipe" in log
    assert "gus.yaml" in log
