"""Affect: what is felt about what is perceived, and the words for it."""
