"""The page in a real browser, over a real server: what people see and do, and what never happens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route, WebSocketRoute, expect

from tests.api.browser import chromium
from tests.api.conftest import TOKENS
from tests.api.serving import Server, served

pytestmark = pytest.mark.slow

EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
LINES = (
    "My dog Rex died yesterday",
    "I found a blue feather on the roof",
    "I am scared of the cellar",
    "We won the boat race!",
    "Do you remember my dog?",
)
VIEWS = ("talk", "why", "timeline", "mind")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """SERVNAK was talked to by three people, one of whom means harm."""
    with served(tmp_path_factory.mktemp("page"), tokens=list(TOKENS.values())) as running:
        running.client.headers["Authorization"] = f"Bearer {TOKENS['admin']['token']}"
        for text in LINES:
            tell(running, text, "caity")
        tell(running, "the zebrafinch sleeps in the old mill", "toad")
        tell(running, EVIL, "mallory", name=EVIL[:40])
        yield running


def tell(server: Server, text: str, who: str, name: str = "") -> dict:
    body = {"user_id": f"user_{who}", "name": name or who.title(), "text": text}
    answer = server.client.post("/api/agents/servnak/perceive", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


Open = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Open]:
    """Opens a page as somebody; in the end nothing left the machine, and nothing was complained of."""
    contexts: list[BrowserContext] = []
    asked: list[str] = []
    complaints: list[str] = []

    def open_page(where: str = "#/talk/servnak", who: str = "admin", url: str = server.url, **how) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | how))
        contexts.append(context)
        context.set_default_timeout(10_000)
        context.on("request", lambda request: asked.append(request.url))
        if who:
            token = json.dumps(TOKENS[who]["token"])
            context.add_init_script(
                f"sessionStorage.getItem('put') ?? sessionStorage.setItem("
                f"'noodlings.token', {token}); sessionStorage.setItem('put', 1)"
            )
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
        page.goto(f"{url}/{where}")
        expect(page.locator("main h1")).to_be_visible()
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert {urlsplit(url).hostname for url in asked} == {"127.0.0.1"}
    # What a server refuses or a restart cuts off stands in the console as well.
    assert [
        one for one in complaints if "Failed to load resource" not in one and "WebSocket" not in one
    ] == []


def say(page: Page, text: str) -> None:
    page.get_by_label("Say something to SERVNAK").fill(text)
    page.keyboard.press("Enter")


def test_one_talks_and_sees_what_others_say_as_it_happens(visit: Open, server: Server):
    page = visit()
    page.get_by_label("as", exact=True).fill("Ada")
    say(page, "What is the name of my dog?")
    mine = page.locator(".exchanges li").filter(has_text="What is the name of my dog?")
    expect(mine.locator(".voice")).not_to_be_empty()
    expect(mine).to_have_count(1)
    expect(mine.locator("b")).to_have_text("Ada")
    expect(page.locator("#news")).to_contain_text("SERVNAK:")
    tell(server, "Said from somewhere else", "caity")
    expect(
        page.locator(".exchanges li").filter(has_text="Said from somewhere else").locator(".voice")
    ).to_be_visible()


def test_steps_and_words_are_shown_while_a_turn_is_under_way(visit: Open):
    """A server that takes its time, as with a model: its last message and the answer are held back."""
    waiting: list[Route] = []

    def stream(socket: WebSocketRoute) -> None:
        behind = socket.connect_to_server()
        behind.on_message(lambda text: json.loads(text)["type"] == "turn" or socket.send(text))

    def keep(route: Route) -> None:
        route.fetch()
        waiting.append(route)

    page = visit()
    page.route_web_socket(re.compile("/api/live"), stream)
    page.route("**/perceive", keep)
    page.reload()
    expect(page.get_by_label("Say something to SERVNAK")).to_be_visible()
    say(page, "And what came next?")
    card = page.locator(".exchanges li.waiting").filter(has_text="And what came next?")
    expect(card.locator(".steps")).to_contain_text("memories come to mind")
    expect(card).to_have_count(1)
    waiting[0].abort()


def test_what_the_connection_swallowed_is_heard_once(visit: Open, server: Server):
    page = visit()
    lost: list[str] = []

    def swallow(route: Route) -> None:
        route.fetch()
        lost.append(route.request.headers["idempotency-key"])
        route.abort()

    page.route_web_socket(re.compile("/api/live"), lambda socket: None)  # nor does the stream tell of it
    page.reload()
    page.route("**/perceive", swallow, times=1)
    say(page, "The letter never came")
    expect(page.locator(".exchanges .problem")).to_contain_text("Not sent yet: The server does not answer.")
    page.get_by_role("button", name="Try again").click()
    card = page.locator(".exchanges li").filter(has_text="The letter never came")
    expect(card.locator(".voice")).to_be_visible()
    expect(card).to_have_count(1)
    query = {"everything": True, "containing": "The letter never came"}
    found = server.client.get("/api/agents/servnak/memory/browse", params=query).json()
    assert (found["total"], len(lost)) == (1, 1)


def test_why_of_an_older_line_and_of_those_around_it(visit: Open):
    page = visit()
    asked = page.locator(".exchanges li").filter(has_text="Do you remember my dog?")
    asked.get_by_role("link", name="why?").click()
    expect(page.locator("h1")).to_be_focused()
    heard = page.locator('[data-node="heard"]')
    expect(heard).to_contain_text("Do you remember my dog?")
    memory = page.locator(".node.used").filter(has_text="My dog Rex died yesterday")
    memory.locator("summary").click()
    expect(memory).to_contain_text("Came to mind because")
    expect(page.locator(".lines path").first).to_be_attached()
    widths = page.locator(".lines path").evaluate_all(
        "all => all.map((one) => one.getAttribute('stroke-width'))"
    )
    assert len(set(widths)) > 2
    page.keyboard.press(",")
    expect(heard).to_contain_text("We won the boat race!")
    page.keyboard.press(".")
    expect(heard).to_contain_text("Do you remember my dog?")
    page.get_by_role("button", name="previous").click()
    expect(heard).to_contain_text("We won the boat race!")
    page.go_back()
    expect(heard).to_contain_text("Do you remember my dog?")


def test_what_nearly_came_to_mind_is_dashed(visit: Open, server: Server):
    flow = server.client.get("/api/agents/servnak/memory/last-retrieval").json()
    page = visit("#/why/servnak")
    expect(page.locator(".node.missed")).to_have_count(min(len(flow["left_out"]), 4))
    expect(page.locator(".lines .missed")).to_have_count(min(len(flow["left_out"]), 4))


def test_the_timeline_is_searched_and_a_memory_forgotten_and_kept(visit: Open, server: Server):
    told = tell(server, "The harbour smells of fennel tonight", "caity")
    number = told["turn"]["percept"]["id"]
    page = visit("#/timeline/servnak")
    page.clock.install()
    page.keyboard.press("/")
    page.keyboard.type("fennel")
    row = page.locator(".memory").filter(has_text="fennel")
    expect(page.locator(".memory").first).to_contain_text("fennel")
    row.get_by_role("link").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Importance")
    assert re.search(rf"#/timeline/servnak/{number}\?q=fennel$", page.url)
    dialog.get_by_role("button", name="Forget …").click()
    dialog.get_by_role("button", name="Forget it").click()
    expect(row).to_be_hidden()
    page.keyboard.press("u")
    expect(row).to_be_visible()
    page.clock.fast_forward(15_000)
    assert server.client.get(f"/api/agents/servnak/turns/{number}").status_code == 200

    row.get_by_role("link").click()
    dialog.get_by_role("button", name="Pin").click()
    expect(dialog.get_by_role("button", name="Unpin")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_role("button", name="Pin")).to_be_visible()
    dialog.get_by_role("button", name="Forget …").click()
    dialog.get_by_role("button", name="Forget it").click()
    expect(row).to_be_hidden()
    page.mouse.move(0, 0)
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as gone:
        page.clock.run_for(13_000)
    assert gone.value.status == 200
    assert server.client.get(f"/api/agents/servnak/turns/{number}").status_code == 404
    expect(page.locator("#news")).to_contain_text("The memory is deleted")


def test_a_player_sees_its_own_and_a_wrong_token_is_told(visit: Open):
    page = visit(who="")
    expect(page.locator("h1")).to_have_text("Sign in")
    page.get_by_label("Token").fill("a token that nobody gave")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That token is not valid here. Check it and try again.")
    page.get_by_label("Token").fill(TOKENS["caity"]["token"])
    page.keyboard.press("Enter")
    expect(page.locator(".exchanges")).to_contain_text("My dog Rex died yesterday")
    for view in VIEWS:
        page.goto(re.sub("#.*", f"#/{view}/servnak", page.url))
        expect(page.locator(f".view.{view} h1")).to_be_visible()
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
        assert "zebrafinch" not in page.content()
    page.goto(re.sub("#.*", "#/timeline/servnak", page.url))
    expect(page.locator(".timeline [role=status]")).to_contain_text("you may not read")
    page.locator(".memory a").last.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Forget …")).to_be_visible()
    expect(dialog.get_by_role("button", name="Pin")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_focused()
    assert TOKENS["caity"]["token"] not in page.url


def test_a_viewer_is_offered_nothing_that_would_be_refused(visit: Open):
    page = visit(who="viewer")
    expect(page.locator("main")).to_contain_text("This token can only read, so you cannot say anything.")
    page.goto(page.url.replace("talk/servnak", "timeline/servnak/1"))
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("button", name=re.compile("Forget|Pin"))).to_have_count(0)


def test_a_link_to_nobody_says_so_and_leaves_everything_as_it_was(visit: Open):
    page = visit("#/why/nobody/12")
    expect(page.get_by_role("alert")).to_contain_text("There is no character nobody")
    expect(page.locator("#connection")).to_be_empty()
    expect(page.locator("#who option").filter(has_text="nobody")).to_have_count(0)
    page.locator("#who").select_option(label="SERVNAK")
    expect(page.locator("h1")).to_have_text("Why SERVNAK said it")


def test_who_came_and_went_is_told_in_a_line_and_comes_after_what_was_told(visit: Open, tmp_path):
    with served(tmp_path) as alone:
        tell(alone, "My dog Rex died yesterday", "caity")
        for kind, text in (("leave", "leaves"), ("arrive", "arrives")):
            body = {"user_id": "user_caity", "text": text, "kind": kind, "depth": 9}
            assert alone.client.post("/api/agents/servnak/perceive", json=body).status_code == 200
        tell(alone, "Do you remember my dog?", "caity")
        page = visit(who="", url=alone.url)
        left = page.locator(".exchanges li").filter(has_text="leaves")
        expect(left.locator("p")).to_have_count(1)
        page.goto(f"{alone.url}/#/why/servnak")
        came = page.locator(".stage").filter(has_text="Came to mind").locator(".node")
        expect(came.first).to_contain_text("My dog Rex died yesterday")
        expect(came.filter(has_text="arrives").or_(came.filter(has_text="leaves")).first).to_be_visible()


def test_what_a_character_wants_has_a_scale(visit: Open):
    page = visit("#/mind/servnak")
    expect(page.locator("section").filter(has=page.get_by_text("Wants"))).to_contain_text("1 (starving)")


def test_after_a_restart_everything_is_there_again(visit: Open, tmp_path):
    with served(tmp_path) as first:
        tell(first, LINES[0], "caity")
        page = visit(who="", url=first.url)
        page.get_by_label("Say something to SERVNAK").fill("Half of a li")
        port = str(urlsplit(first.url).port)
        assert first.stop() == 0
        expect(page.locator("#connection")).to_contain_text("Reconnecting")
        page.get_by_label("Say something to SERVNAK").press("Enter")
        expect(page.locator(".exchanges .problem")).to_contain_text("Not sent yet")
        page.get_by_label("Say something to SERVNAK").fill("half typed")
    with served(tmp_path, "--port", port) as second:
        expect(page.locator(".exchanges li").filter(has_text="Half of a li").locator(".voice")).to_be_visible(
            timeout=20_000
        )
        expect(page.locator("#connection")).to_be_empty()
        expect(page.get_by_label("Say something to SERVNAK")).to_have_value("half typed")
        tell(second, "We are back", "caity")
        expect(page.locator(".exchanges")).to_contain_text("We are back")


def test_markup_in_names_and_memories_is_text(visit: Open):
    page = visit()
    for view in VIEWS:
        page.goto(re.sub("#.*", f"#/{view}/servnak", page.url))
        expect(page.locator(f".view.{view} h1")).to_be_visible()
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
        expect(page.locator("main img, main script")).to_have_count(0)
        assert "owned" not in page.title()
        if view in ("talk", "timeline"):
            expect(page.locator("main")).to_contain_text("<script>document.title='owned'</script>")


@pytest.mark.parametrize("width", [360, 390, 2560])
def test_nothing_scrolls_sideways(visit: Open, width: int):
    page = visit(viewport={"width": width, "height": 800})
    for where in (*(f"{view}/servnak" for view in VIEWS), "timeline/servnak/1", "why/servnak/1"):
        page.goto(re.sub("#.*", f"#/{where}", page.url))
        expect(page.locator(f".view.{where.split('/')[0]} h1")).to_be_visible()
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
        for closed in page.locator("details:not([open]) summary").all()[:3]:
            closed.evaluate("one => (one.parentElement.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, where


def test_everything_is_reached_and_used_by_keys(visit: Open):
    page = visit("#/mind/servnak")

    def tab_to(wanted: str) -> None:
        """Press Tab until that has the focus."""
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
                return
        raise AssertionError(f"{wanted} is not reached by Tab")

    for wanted in ("#skip", ".brand", "#who", "nav a", "#theme", "#keys", ".mark"):
        tab_to(wanted)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keys")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator(".view.talk h1")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("Hello there")
    tab_to(".composer .primary")
    page.keyboard.press("Enter")
    expect(page.locator(".exchanges li").last).to_contain_text("Hello there")
    page.locator("h1").focus()
    page.keyboard.press("2")
    expect(page.locator(".view.why")).to_be_visible()
    tab_to('[data-node="felt"] summary')
    page.keyboard.press("Enter")
    expect(page.locator('[data-node="felt"]')).to_have_attribute("open", "")
    page.keyboard.press("3")
    expect(page.locator(".view.timeline")).to_be_visible()
    tab_to(".memory a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    tab_to("dialog .actions button")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"#/timeline/servnak$"))
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_what_is_wrong_is_said_in_words(visit: Open):
    page = visit("#/talk/servank")
    expect(page.get_by_role("alert")).to_contain_text("did you mean")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Open, scheme: str):
    page = visit(color_scheme=scheme)
    found = []
    for where in (*(f"{view}/servnak" for view in VIEWS), "timeline/servnak/1"):
        page.goto(re.sub("#.*", f"#/{where}", page.url))
        expect(page.locator(f".view.{where.split('/')[0]} h1")).to_be_visible()
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
        if where.endswith("/1"):
            expect(page.get_by_role("dialog")).to_be_visible()
        page.locator("details").evaluate_all("all => all.forEach((one) => (one.open = true))")
        for violation in Axe().run(page).response["violations"]:
            if violation["impact"] in ("serious", "critical"):
                found.append((where, violation["id"], violation["nodes"][0]["html"][:120]))  # noqa: PERF401
    assert found == []


def test_the_mind_says_one_line_of_one(visit: Open, server: Server):
    tell(server, "My sister Ruth is a nurse", "zoe")
    card = visit("#/mind/servnak").locator(".card").filter(has_text="Zoe").first
    expect(card).to_contain_text("one line, the last")
    expect(card).to_contain_text(
        re.compile(r"\((one line for, 0 against|no line moved it for or against them)\)")
    )
