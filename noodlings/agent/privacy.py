"""What happens to personal data in a percept before anything of it is kept."""

from __future__ import annotations

from dataclasses import replace

from noodlings.agent.services import AgentServices
from noodlings.values.audience import Tier
from noodlings.values.percept import Percept


def shielded(services: AgentServices, percept: Percept) -> tuple[Percept, str]:
    """A percept as it may be kept, and what was done to it in words, "" for nothing.

    With `privacy.personal: mask` personal data is replaced by its kind. With `raise` only those who were
    there may
    learn of it, and where there is a key it is secret. What others in the world saw and heard stays as it
    was.
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
    tier = Tier.SECRET if services.store.keeps_secrets else Tier.CONFINED
    raised = percept.heard_by.joined_by(*percept.listeners).at_least(tier)
    kept = "secret" if raised.tier is Tier.SECRET else "confined to who was there"
    return replace(percept, audience=raised), f"{kept}, for it is personal: {kinds}"
