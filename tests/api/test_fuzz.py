"""The whole API against data made from its own description, by schemathesis, stateful: nothing breaks, every
answer is as described, and nobody learns what another player said.

In the suite for some seconds; the long form is
`API_FUZZ_CASES=10000 pytest -n0 --timeout 0 tests/api/test_fuzz.py -s`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.conftest import TOKENS
from tests.api.fuzz_hooks import CANARY
from tests.api.serving import ROOT, environment, served
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("API_FUZZ_CASES", "0"))
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,missing_required_header,unsupported_method,"
    "use_after_free,ignored_auth"
)
ASKS = ["admin", "world", "toad", ""] if CASES or THOROUGH else ["admin", "toad"]
"""In every run who may do everything and who may learn little; `test_authentication` tries all of them."""


@pytest.mark.parametrize("who", ASKS)
def test_nothing_breaks(tmp_path: Path, who: str):
    with served(
        tmp_path / "data",
        tokens=list(TOKENS.values()),
        NOODLINGS_API__REQUESTS_PER_SECOND="100000",
        NOODLINGS_WORLD__IDLE_SECONDS="0",
    ) as server:
        admin = {"Authorization": f"Bearer {TOKENS['admin']['token']}"}
        for agent in ("servnak", "phi"):
            for text in (f"the {CANARY} sings", f"remember the {CANARY}", f"I whisper of a {CANARY}"):
                body = {"user_id": "user_caity", "text": text}
                server.client.post(f"/api/agents/{agent}/perceive", json=body, headers=admin)
        checks = CHECKS + (",no_data_of_another_player" if who in ("toad", "") else "")
        words = [
            "run",
            f"{server.url}/openapi.json",
            "--checks",
            checks,
            "--continue-on-failure",
            "--no-color",
        ]
        words += ["--header", f"Authorization:Bearer {TOKENS[who]['token']}"] if who else []
        words += ["--suppress-health-check", "all", "--seed", "7", "--report-dir", str(tmp_path)]
        words += ["--max-examples", str(CASES // 200 or 1)]
        words += [] if CASES else ["--phases", "examples,fuzzing,stateful"]
        done = subprocess.run(
            [str(Path(sys.executable).with_name("schemathesis")), *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(
                SCHEMATHESIS_HOOKS="tests.api.fuzz_hooks",
                # Where its table of all characters is made already: that takes seconds.
                HYPOTHESIS_STORAGE_DIRECTORY=str(ROOT / ".hypothesis"),
            ),
            timeout=3_600 if CASES else 300,
            check=False,
        )
        assert server.process.poll() is None
    print(f"{who or 'nobody'}: {_count(done.stdout):,} cases")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    log = (tmp_path / "data" / "noodlings.log").read_text(encoding="utf-8")
    assert "Traceback" not in log, log[log.index("Traceback") :][:4_000]


def _count(shown: str) -> int:
    found = re.search(r"(\d[\d,]*) generated", shown)
    assert found is not None, shown[-4_000:]
    return int(found[1].replace(",", ""))
