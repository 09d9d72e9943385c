"""Frozen records that every other part speaks in. Nothing here does anything but hold and check."""
