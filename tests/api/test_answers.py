"""Pages that neither repeat nor leave out, tags that change when something does, and the seed's addresses."""

from __future__ import annotations

import jsonschema_rs
import pytest

from tests.api.conftest import Site

M = "/api/agents/servnak/memory"


async def all_pages(site: Site, path: str, limit: int) -> list[int]:
    """Every id of a list, page by page."""
    found: list[int] = []
    following = f"{path}limit={limit}"
    while following:
        answer = await site.get(following)
        found += [entry["id"] for entry in answer.json()["entries"]]
        link = answer.headers.get("link", "")
        following = link.partition(">")[0].removeprefix("<") if 'rel="next"' in link else ""
    return found


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_are_everything_once(site: Site, limit: int):
    for number in range(7):
        await site.tell(f"My dog number {number} died, I am so sad")
    whole = {entry["id"] for entry in (await site.get(f"{M}/working")).json()["entries"]}
    assert sorted(await all_pages(site, f"{M}/working?", limit)) == sorted(whole)
    assert sorted(await all_pages(site, f"{M}/by-user?user_id=user_caity&", limit)) == sorted(whole)
    important = await all_pages(site, f"{M}/important?", limit)
    assert sorted(important) == sorted(whole)
    ordered = (await site.get(f"{M}/important?limit=7")).json()["entries"]
    assert important == [entry["id"] for entry in ordered]
    episodic = await all_pages(site, f"{M}/episodic?min_importance=0.1&user_id=user_caity&", limit)
    assert len(set(episodic)) == len(episodic) > 0


async def test_what_comes_in_between_two_pages_shifts_nothing(site: Site):
    for number in range(6):
        await site.tell(f"line {number}")
    first = await site.get(f"{M}/working?limit=3")
    await site.tell("one more")
    link = first.headers["link"].partition(">")[0].removeprefix("<")
    second = await site.get(link)
    assert [entry["id"] for entry in first.json()["entries"]] == [4, 5, 6]
    assert [entry["id"] for entry in second.json()["entries"]] == [1, 2, 3]


async def test_a_tag_stands_until_something_changes(site: Site):
    await site.tell("My dog died yesterday")
    for view in ("stats", "working", "episodic"):
        tag = (await site.get(f"{M}/{view}")).headers["etag"]
        assert tag.startswith('W/"')
        site.clock.advance(3_600.0)
        kept = await site.get(f"{M}/{view}", headers={"If-None-Match": f'"other", {tag}'})
        assert (kept.status_code, kept.content) == (304, b"")
        assert kept.headers["etag"] == tag
        await site.tell("I am so happy for you, remember that!")
        assert (await site.get(f"{M}/{view}", headers={"If-None-Match": tag})).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        "current_affect=[-0.7,0.6,0.1,0.9,0.0]",
        "current_affect=%5B-0.7%2C+0.6%2C0.1%2C0.9%2C0%5D",
        "current_affect=-0.7&current_affect=0.6&current_affect=0.1&current_affect=0.9&current_affect=0",
    ],
)
async def test_an_affect_in_a_bracket_or_repeated(site: Site, given: str):
    await site.tell("My dog died yesterday, I am so sad")
    answer = (await site.get(f"{M}/by-affect?{given}&min_similarity=0&limit=1")).json()
    assert answer["current"]["affect"] == {
        "valence": -0.7, "arousal": 0.6, "fear": 0.1, "sorrow": 0.9, "boredom": 0.0,
    }  # fmt: skip
    assert answer["entries"][0]["entry"]["text"].startswith("My dog died")


@pytest.mark.parametrize(
    "given",
    ["[0.5,0.7]", "[1,2,3,4,5]", "[true,0,0,0,0]", "[[0.5],0,0,0,0]", "[NaN,0,0,0,0]", "{}", "[", "hm",
     "[1e999,0,0,0,0]", f"[1{'0' * 150},0,0,0,0]", '["a",0,0,0,0]', "nan"],
)  # fmt: skip
async def test_what_is_no_affect(site: Site, given: str):
    assert (await site.get(f"{M}/by-affect", params={"current_affect": given})).status_code == 400


async def test_corrected_words(site: Site):
    entry = await site.tell("My dog died yesterday")
    reworded = await site.ask("PUT", f"{M}/entries/{entry}/text", json={"text": "My cat died yesterday"})
    assert reworded.json()["replaces"] == entry
    assert (await site.ask("PUT", f"{M}/entries/99/text", json={"text": "x"})).status_code == 404
    for wrong in ({"text": ""}, {"text": 3}, {"text": "\x00"}, {}, {"text": "x" * 2_001}):
        assert (await site.ask("PUT", f"{M}/entries/{entry}/text", json=wrong)).status_code in (400, 422)


async def test_corrections(site: Site):
    entry = await site.tell("My dog died yesterday")
    other = await site.tell("lol")
    pinned = await site.ask("PUT", f"{M}/entries/{other}/pin")
    assert pinned.json()["pinned"] is True
    weighed = await site.ask("PUT", f"{M}/entries/{other}/importance", json={"importance": 0.95})
    assert weighed.json()["importance"] == 0.95
    assert (await site.post(f"{M}/undo")).json()["importance"] < 0.95
    assert (await site.ask("DELETE", f"{M}/entries/{other}/pin")).json()["pinned"] is False
    linked = await site.post(f"{M}/links", {"source": other, "target": entry})
    assert (linked.status_code, linked.json()["strength"]) == (201, 1.0)
    shown = (await site.get(f"{M}/entries/{other}/links")).json()
    assert "by_hand" in {one["type"] for one in shown["linked"]}
    ends = {"source": entry, "target": other}
    unlinked = await site.ask("DELETE", f"{M}/links", params=ends)
    assert "by_hand" in unlinked.json()["removed"]
    assert (await site.ask("DELETE", f"{M}/links", params=ends)).status_code == 400
    assert (await site.ask("DELETE", f"{M}/links", params=ends | {"target": 0})).status_code == 422
    known = await site.post(f"{M}/facts", {"about": "Caity", "text": "is allergic to nuts"})
    assert (known.status_code, known.json()["about"]) == (201, "user_caity")
    assert (await site.post(f"{M}/facts", {"about": "zeno", "text": "is old"})).status_code == 404
    for wrong in (
        {"about": "user_caity", "text": "\x00"},
        {"about": "", "text": "is old"},
        {"text": "is old"},
    ):
        assert (await site.post(f"{M}/facts", wrong)).status_code in (400, 422)
    assert (await site.ask("DELETE", f"{M}/entries/{known.json()['id']}")).json()["forgotten"] == 1
    assert (await site.ask("DELETE", f"{M}/entries/{entry}")).json()["forgotten"] == 1
    assert (await site.ask("DELETE", f"{M}/entries/{entry}")).status_code == 404
    gone = await site.ask("DELETE", f"{M}/entries?user_id=user_caity")
    assert gone.json()["forgotten"] == 1
    assert (await site.get(f"{M}/stats")).json()["working"] == 0


@pytest.mark.slow
async def test_every_route_is_documented_with_an_example(site: Site):
    schema = (await site.get("/openapi.json")).json()
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            where = f"{method} {path}"
            assert route.get("description"), where
            answers = [one for status, one in route["responses"].items() if status.startswith("2")]
            assert len(answers) == 1, where
            assert all("example" in content for content in answers[0]["content"].values()), (
                f"{where} shows no answer"
            )
            for content in answers[0]["content"].values():
                whole = content.get("schema", {}) | {"components": schema["components"]}
                jsonschema_rs.validate(whole, content["example"])
            for parameter in route.get("parameters", []):
                assert (
                    parameter.get("example")
                    or parameter["schema"].get("examples")
                    or (parameter["schema"].get("enum"))
                    or "examples" in str(parameter)
                ), f"{where} {parameter['name']}"


@pytest.mark.slow
async def test_every_field_and_parameter_is_described(site: Site):
    document = (await site.get("/openapi.json")).json()
    bare = [
        f"{name}.{key}"
        for name, model in document["components"]["schemas"].items()
        for key, field in model.get("properties", {}).items()
        if not field.get("description")
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            bare += [f"{method} {path}"] * (not operation.get("description"))
            assert len(operation["summary"].split()) > 3, "a list of operations should tell them apart"
            parameters = operation.get("parameters", [])
            bare += [f"{path} {one['name']}" for one in parameters if not one.get("description")]
    assert not bare
    fact = document["components"]["schemas"]["FactView"]
    assert fact["description"] == "A fact on a card."
    assert fact["properties"]["words"]["description"] == "The sentence it was told in."


@pytest.mark.parametrize(
    "path", ["recall?query=dog", "focus?query=dog", "memory/episodic?", "memory/by-user?"]
)
async def test_an_id_that_nobody_used_is_somebody_new_and_a_name_must_be_known(site: Site, path: str):
    await site.tell("My dog died, I am so sad")
    answer = await site.get(f"/api/agents/servnak/{path}&user_id=user_newcomer")
    assert answer.status_code == 200, answer.text
    assert not answer.json().get("memories")
    assert not answer.json().get("entries")
    assert (await site.get(f"/api/agents/servnak/{path}&user_id=newcomer")).status_code == 404
    known = await site.get(f"/api/agents/servnak/{path}&user_id=USER_Caity")
    assert known.json().get("memories") or known.json().get("entries")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"text": "hi"', "JSON breaks off"),
        ("[1]", "sent with Content-Type: application/json"),
        ('{"user_id": "user_a"}', "body.text: is missing"),
        ('{"text": "hi", "txt": 1}', "body.txt: is not known here"),
        ('{"text": "hi", "depth": 1.5}', "body.depth: should be a valid integer"),
        ('{"text": "hi", "actions": [{"name": "none"}]}', "body.actions: 'none' is not a valid name"),
    ],
)
async def test_a_wrong_body_is_told_in_plain_words(site: Site, body: str, words: str):
    headers = {"content-type": "application/json"}
    answer = await site.ask("POST", "/api/agents/servnak/perceive", content=body, headers=headers)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


async def test_figures(site: Site):
    await site.tell("My dog died yesterday")
    await site.tell("ok", addressed=False)
    text = (await site.get("/metrics")).text
    assert 'noodlings_turns_total{agent="servnak",outcome="offline"} 1.0' in text
    assert 'noodlings_step_seconds_count{step="appraise"}' in text
    assert 'noodlings_stream_entries{agent="servnak",stream="working"} 2.0' in text
    assert "noodlings_llm_calls_total 0.0" in text
    assert "noodlings_live_readers 0.0" in text
    assert 'status="200"' in text


async def test_methods_that_somebody_makes_up_do_not_fill_the_figures(site: Site):
    for method in ("MAKEUP1", "MAKEUP2", "PUT"):
        await site.ask(method, "/health")
    text = (await site.get("/metrics")).text
    assert "MAKEUP" not in text
    assert 'method="other"' in text
    assert 'method="PUT"' in text


async def test_the_seeds_addresses_name_a_character_as_its_bridge_did(site: Site):
    await site.tell("My dog died yesterday")
    for path in ("", "/memory/stats", "/memory/working", "/memory/last-retrieval"):
        literal, ours = [await site.get(f"/api/agents/{name}{path}") for name in ("agent_servnak", "servnak")]
        assert (literal.status_code, literal.json()) == (200, ours.json())
    assert (await site.get("/api/agents/agent_nobody")).status_code == 404
