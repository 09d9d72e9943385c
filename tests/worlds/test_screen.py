from dataclasses import replace

import pytest
from rich.text import Text

from noodlings.drawing import screen as module
from noodlings.drawing.screen import MIN_WIDTH, Screen
from noodlings.values.model_status import NO_MODEL, ModelState, ModelStatus
from noodlings.worlds.demo import banner


@pytest.fixture
def window(monkeypatch):
    """Set the size of the terminal."""

    def resize(columns, rows):
        size = module.os.terminal_size((columns, rows))
        monkeypatch.setattr(module.shutil, "get_terminal_size", lambda: size)

    resize(80, 24)
    return resize


def test_where_nobody_watches_there_is_no_colour_and_a_fixed_width(window):
    window(200, 50)
    screen = Screen(terminal=False, environment={})
    assert screen.text(Text("red", style="bold red")) == "red"
    assert screen.width == 80


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_can_be_taken_away(window, environment):
    assert "\x1b" in Screen(True, {"TERM": "xterm"}).text(Text("red", style="red"))
    assert Screen(True, environment).text(Text("red", style="red")) == "red"


def test_a_narrow_window_is_taken_for_forty_columns(window):
    window(10, 24)
    assert Screen(True, {}).width == MIN_WIDTH


def test_markup_and_emoji_codes_are_only_text():
    assert Screen(False).text(Text("[bold]x[/bold] :smile:")) == "[bold]x[/bold] :smile:"
    assert Screen(False).text("[bold]x[/bold] :smile:") == "[bold]x[/bold] :smile:"


def test_pages_fill_the_window_and_leave_a_row_for_the_pager(window):
    window(80, 10)
    text = "\n".join(str(number) for number in range(25))
    pages = Screen(True, {}).pages(text)
    assert "\n".join(pages) == text
    assert [page.count("\n") + 1 for page in pages] == [9, 9, 7]
    assert Screen(True, {}).pages("\n".join("x" * 9)) == ["\n".join("x" * 9)]
    assert Screen(False).pages(text) == [text]


def test_what_happens_while_a_page_is_read_is_shown_afterwards(capsys):
    screen = Screen(False)
    screen.hold()
    screen.show("later")
    screen.write("page")
    assert capsys.readouterr().out == "page\n"
    screen.release()
    screen.show("now")
    screen.show("")
    assert capsys.readouterr().out == "later\nnow\n"


@pytest.mark.parametrize("names", [(), ("Phi",), ("SERVNAK", "Phi", "Toad")])
def test_the_banner_is_honest_about_its_voice_and_fits_eighty_columns(names):
    screen = Screen(False)
    status = ModelStatus(ModelState.ASKED, "qwen3", "http://localhost:1234/v1")
    alone, connected = screen.text(banner(NO_MODEL, names)), screen.text(banner(status, names))
    dead = replace(status, state=ModelState.SILENT, words="it cannot be reached: connection refused")
    away = " ".join(screen.text(banner(dead, names)).replace("│", " ").split())
    assert "qwen3 at http://localhost:1234/v1 does not answer (it cannot be reached: connection" in away
    assert "the offline voice speaks until it does." in away
    assert "No language model is connected" in alone
    assert "NOODLINGS_LLM__BASE_URL" in alone
    assert "The model qwen3 at http://localhost:1234/v1 has not answered" in connected
    for shown in (alone, connected):
        assert all(name in shown for name in names)
        assert "just type to talk" in shown
        assert "help" in shown
        assert max(map(len, shown.splitlines())) <= 80
        assert len(shown.splitlines()) <= 14
