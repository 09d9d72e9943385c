"""Recall: finding the right memory among everything an agent ever perceived."""
