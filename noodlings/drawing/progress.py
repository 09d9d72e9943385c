"""A progress bar on standard error, for work that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress_over(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar from 0 to `total`; the block is handed a function that moves it to an absolute position.

    Nothing is shown where standard error is no terminal, so that logs stay readable.
    """
    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda position: bar.update(task, completed=position)
