"""What one has to know before believing what is shown: the whole sentence, in as many lines as it takes."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from noodlings.text import clean


class Notice(Static):
    """Words over a pane; nothing, and no line, where there is nothing to know."""

    DEFAULT_CSS = (
        "Notice { height: auto; max-height: 8; padding: 0 1; background: $surface; color: $warning; }"
    )

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.display = False

    def say(self, words: str) -> None:
        """Something else from now on; "" for nothing."""
        self.display = bool(words)
        self.update(Text(f"! {clean(words)}") if words else Text())
