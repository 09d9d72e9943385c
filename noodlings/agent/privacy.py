"""What becomes of personal data in a percept, before anything of it is kept."""

from __future__ import annotations

from dataclasses import replace

from noodlings.agent.services import AgentServices
from noodlings.values.audience import Audience
from noodlings.values.percept import Percept


def shielded(services: AgentServices, percept: Percept) -> tuple[Percept, str]:
    """A percept as it may be kept, and what was done to it in words, "" for nothing.

    With `privacy.personal: mask` what was found is replaced by its kind; with `raise` nobody may learn of it
    who was not there. What others in the world saw and heard stays as it was.
    """
    found = services.personal(percept.text) if services.personal is not None else ()
    if not found:
        return percept, ""
    kinds = ", ".join(dict.fromkeys(datum.kind for datum in found))
    if services.mask_personal:
        text: str = percept.text
        for datum in reversed(found):
            text = f"{text[: datum.start]}[{datum.kind}]{text[datum.end :]}"
        return replace(percept, text=text), f"not remembered, for it is personal: {kinds}"
    return replace(
        percept, audience=_raised(percept)
    ), f"confined to who was there, for it is personal: {kinds}"


def _raised(percept: Percept) -> Audience:
    """Tier 1: who was there. Here is decided what a found datum raises a percept to."""
    return Audience(percept.heard_by.witnesses | percept.listeners, confined=True)
