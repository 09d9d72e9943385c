"""Worlds that noodlings live in. Hosts are handed a dispatch function and import no commands."""
