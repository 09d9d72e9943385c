"""Git hooks that ingest commits in the background as soon as they are made.

Git never waits for a hook and never fails because of one. If a hook cannot run, for example because a server
holds the data folder, the next run ingests what it missed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from noodlings.errors import UserError
from noodlings.files import atomic_write
from noodlings.text import clean

HOOKS = ("post-commit", "post-merge", "post-rewrite")
"""Git runs these after a commit or an amended commit, a pull, and a rebase."""
_MARK = "# noodlings chronicle"


def install(folder: Path, command: Sequence[str], may_replace: Callable[[Path], bool]) -> list[Path]:
    """Write the hooks. Hooks that noodlings wrote earlier are replaced.

    Args:
        folder: where git looks for hooks.
        command: what each hook runs.
        may_replace: asked about each hook that somebody else wrote, before anything is changed.

    Returns:
        The hooks that were written.

    Raises:
        UserError: a hook exists that may not be replaced, or the folder cannot be written.
    """
    script = (
        f"#!/bin/sh\n{_MARK}: takes in what was committed; what it said last is in noodlings-chronicle.log\n"
        'log="$(git rev-parse --git-dir)/noodlings-chronicle.log"\n'
        f'{shlex.join(command)} >"$log" 2>&1 </dev/null &\n'
    )
    paths = [folder / name for name in HOOKS]
    for path in paths:
        ours = path.is_file() and not path.is_symlink() and _MARK.encode() in path.read_bytes()
        if (path.exists() or path.is_symlink()) and not ours and not may_replace(path):
            raise UserError(
                f"{clean(str(path))} is there already, and was not written by noodlings: nothing was changed;"
                f" replace it with --yes, or add this line to it yourself: {shlex.join(command)} &"
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            with atomic_write(path) as aside:
                aside.write_text(script, "utf-8")
                aside.chmod(0o755)
    except OSError as error:
        raise UserError(
            f"the hook cannot be written: {error.strerror}: {clean(str(error.filename))}"
        ) from error
    return paths
