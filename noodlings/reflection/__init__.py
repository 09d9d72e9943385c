"""Reflection: what a mind makes of what happened, on evidence: people, plans, relationships, days."""
