"""The public name of the progress bar, for scripts; it lives in `noodlings.drawing`."""

from noodlings.drawing.progress import progress_over

__all__ = ["progress_over"]
