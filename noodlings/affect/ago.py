"""How long ago something was, as the blocks of a prompt say it."""

from __future__ import annotations


def ago(seconds: float) -> str:
    """A time that has passed, in one unit: "just now", "4 min ago", "3 h ago", "2 d ago"."""
    minutes = int(max(seconds, 0.0) // 60)
    if not minutes:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 24 else f"{hours // 24} d ago"
