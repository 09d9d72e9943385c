"""Whatever somebody says, a program that shows Markdown shows just that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from noodlings.notes.note import escaped, unescaped
from noodlings.text import clean

PARSER = MarkdownIt("gfm-like")
PARSER.linkify.set({"fuzzy_link": False})  # else names of hosts as well: "example.org"
markup = st.lists(
    st.sampled_from([*"\\`*_{}[]<>()#|~$&%=^-+.!:'\"/0123 aä\t\n", "http://a", "www.a", "a@a.org"]),
    max_size=40,
).map("".join)


def shown(line: str) -> tuple[list[str], str]:
    """What a quotation of this line consists of, and the words that are shown."""
    tokens = PARSER.parse(f"before\n\n> {escaped(line)}\n\nafter\n")
    blocks = [token.type for token in tokens][3:-3]
    inline = [part for token in tokens[3:-3] for part in token.children or ()]
    kinds = {part.type for part in inline}
    return [*blocks, *sorted(kinds)], "".join(part.content for part in inline)


@given(st.text(max_size=60) | markup)
def test_any_line_is_one_paragraph_of_plain_words(text: str) -> None:
    line = clean(text)
    kinds, words = shown(line)
    assert words == line
    if line:
        quotation = ["blockquote_open", "paragraph_open", "inline", "paragraph_close", "blockquote_close"]
        assert kinds[:5] == quotation
        assert {*kinds[5:]} <= {"text", "code_inline"}


@given(st.text(max_size=60) | markup)
def test_what_was_said_can_be_read_back(text: str) -> None:
    assert unescaped(escaped(clean(text))) == clean(text)


@pytest.mark.parametrize(
    "line",
    [
        "see http://a.org/b_c.",
        "(WWW.a.org/d)",
        "_www.a.org_",
        "to ann@a.org!",
        "`ftp://a.org`",
        "<x://a.org>",
    ],
)
def test_a_bare_address_is_no_link(line: str) -> None:
    with_hosts = MarkdownIt("gfm-like")
    assert "<a" not in with_hosts.render(escaped(line))
    assert "<a" in with_hosts.render(line) or not line[0].isalpha()
    assert unescaped(escaped(line)) == line


@pytest.mark.parametrize("plain", ["It's 5.30, isn't it?", "who - me!", "a/b (c): d; 'e'", "ümläut 😀"])
def test_ordinary_words_stay_as_they_are(plain: str) -> None:
    assert escaped(plain) == plain
