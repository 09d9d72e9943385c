"""Runs a model in ONNX form on one thread."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from noodlings.errors import NoodlingsError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def load_session(model: bytes, purpose: str) -> InferenceSession:
    """A session for a model, with one thread, which leaves the other cores to the world.

    Raises:
        NoodlingsError: onnxruntime, which is imported here first, cannot be loaded; `purpose` says what for.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise NoodlingsError(f"onnxruntime (for {purpose}) cannot be loaded: {error}") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def shipped_session(name: str, purpose: str) -> InferenceSession:
    """The session of a model that comes with noodlings, kept for good. Raises as `load_session` does."""
    return load_session((resources.files("noodlings.embed") / name).read_bytes(), purpose)
