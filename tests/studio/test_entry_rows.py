"""A link as a line: what lies further off says by way of which memory it was reached."""

from studio.panes.entry_rows import linked


def a_link(**changes: object) -> dict[str, object]:
    link = {"outgoing": False, "type": "followed", "depth": 1, "via": 15, "strength": 0.5}
    return link | {"entry": {"name": "caity", "text": "the dog died"}} | changes


def test_which_way_and_over_which_memory() -> None:
    assert linked(a_link(), 80).plain == "← followed 0.50  caity the dog died"
    assert linked(a_link(depth=2), 80).plain == "← followed, via #15 0.50  caity the dog died"
    by_hand = a_link(depth=2, outgoing=True, type="by_hand")
    assert linked(by_hand, 80).plain == "→ by hand, via #15 0.50  caity the dog died"
