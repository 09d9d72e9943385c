"""The files of the page as they are served: public, strict, kept by a browser, and nothing beside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.api.conftest import TOKENS, Site

FILES = sorted(Path("api/page").iterdir())


INDEX = Path("api/page/index.html").read_bytes()


async def test_every_file_of_the_folder_is_served_to_whoever_asks(guarded: Site):
    for path in FILES:
        answer = await guarded.get(f"/page/{path.name}")
        assert (answer.status_code, answer.content) == (200, path.read_bytes())
        assert answer.headers["content-type"].split(";")[0] in {
            "text/html", "text/css", "text/javascript", "image/svg+xml"
        }  # fmt: skip
    assert (await guarded.get("/")).content == INDEX


async def test_nothing_else_is_there(site: Site):
    for path in (
        "/page",
        "/page/",
        "/page/none.js",
        "/page/..%2Ffrontend.py",
        "/page/%2e%2e/server.py",
        "/index.html",
    ):
        answer = await site.get(path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"
    assert (await site.post("/")).status_code == 405


async def test_a_browser_keeps_them_and_asks_whether_they_changed(site: Site):
    first = await site.get("/page/app.js")
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "no-cache"
    again = await site.get("/page/app.js", headers={"If-None-Match": f"W/{tag}"})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (await site.get("/page/app.js", headers={"If-None-Match": '"another"'})).status_code == 200
    assert (await site.ask("HEAD", "/")).status_code == 200


async def test_everything_else_is_kept_by_nobody(site: Site):
    for path in ("/health", "/api/agents", "/nowhere"):
        assert (await site.get(path)).headers.get_list("cache-control") == ["no-store"]


async def test_it_fetches_from_here_alone_and_runs_nothing_inline(site: Site):
    page = await site.get("/")
    policy = dict(one.split(" ", 1) for one in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert not re.search(r"<style|style=|\son\w+=|<script>", page.text)
    for address in re.findall(r'(?:src|href)="([^"#]+)"', page.text):
        assert (await site.get(address)).status_code == 200


async def test_there_is_no_secret_in_it_and_no_way_from_text_to_markup(guarded: Site):
    for path in FILES:
        text = path.read_text("utf-8")
        assert not any(token["token"] in text for token in TOKENS.values())
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path


async def test_a_link_on_any_page_may_lead_to_it_and_no_page_may_use_its_scripts(site: Site):
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await site.get("/", headers=visit)).status_code == 200
    taken = visit | {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    assert (await site.get("/page/app.js", headers=taken)).status_code == 403
    assert (await site.get("/", headers={"Host": "evil.example"})).status_code == 403


@pytest.mark.slow
async def test_it_asks_for_nothing_that_is_not_documented(site: Site):
    """Each path that stands in its scripts is one of the API."""
    known = {re.sub(r"\{\w+\}", "X", path) for path in (await site.get("/openapi.json")).json()["paths"]}
    scripts = "".join(path.read_text("utf-8") for path in FILES if path.suffix == ".js")
    whole = re.findall(r'ask\("(/api/[^"]+)"', scripts)
    parts = re.findall(r'\bof\([\w.]+, (?:entry \? )?["`]([^"`?]+)', scripts)
    assert len(whole) >= 2
    assert len(parts) >= 8
    for path in [*whole, *(f"/api/agents/X/{re.sub(r'[$][{][^}]+[}]', 'X', part)}" for part in parts)]:
        assert path in known
