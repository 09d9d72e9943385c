"""Documents as a source: Markdown, plain text, HTML and PDF. Each passage becomes a record.

Only visible text is read: no scripts, styles, markup or hidden elements. The document is held in memory while
it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path

from markdown_it import MarkdownIt

from noodlings.errors import UserError
from noodlings.files import in_words, regular
from noodlings.ingest.lines import text_of
from noodlings.ingest.passages import Block, passages, summary
from noodlings.ingest.record import Item, SourceProblem, SourceRecord
from noodlings.text import clean, shorten, with_short_numbers
from noodlings.values.percept import Kind

LONGEST_TITLE = 80
"""Most characters of a title or heading."""
SUMMARY = "summary"
"""The id of the summary of a long document."""
MARKDOWN, TEXT, HTML, PDF = (".md", ".markdown"), (".txt", ".text"), (".html", ".htm", ".xhtml"), (".pdf",)

_FRONT = re.compile(r"\A---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|\Z)")
_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARKED = re.compile(r"<!\[(?!CDATA\[)[^>\n]*>?")
_OPEN = re.compile(r"<(?=[^<>]*(?:<|\Z))")
"""A "<" without a ">" before the next "<" begins no tag; on many of these the parser takes quadratic time."""
_HYPHEN = re.compile(r"(?<=\w)[-\u00ad]\n(?=[a-z])")
_HEADING = re.compile(r"h[1-6]")
_CELL = "\x1f"
_LINE = re.compile(r"[0-9]{1,8}")
_NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNSEEN = frozenset(
    """
    button iframe math nav noscript object script select style svg template textarea
    """.split()  # noqa: SIM905 -- readable as it is
)
_APART = frozenset(
    """
    article aside blockquote body dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main ol
    p pre section table title tr ul
    """.split()  # noqa: SIM905 -- readable as it is
)
_HIDEABLE = _APART | {"span", "a", "b", "i", "em", "strong", "small"}


@dataclass(frozen=True, slots=True)
class Document:
    """What was read: the blocks of a document, its title, and any problems."""

    blocks: list[Block]
    title: str = ""
    problems: Sequence[SourceProblem] = ()


def document(path: Path, source: str, reader: str = "") -> Iterator[Item]:
    """The passages of a document, and a summary if it is long. Raises `UserError` if it cannot be read.

    Args:
        path: its suffix is one of `MARKDOWN`, `TEXT`, `HTML` or `PDF`.
        reader: name or id of who reads it.
    """
    suffix = path.suffix.lower()
    if suffix in PDF:
        read = read_pdf(path)
    elif suffix in (*MARKDOWN, *TEXT, *HTML):
        text, problems = text_of(path)
        yield from problems
        parse = read_markdown if suffix in MARKDOWN else read_html if suffix in HTML else read_text
        read = parse(text)
    else:
        known = ", ".join((*MARKDOWN, *TEXT, *HTML, *PDF))
        raise UserError(f"{path}: a document is one of {known}; convert it to one of these")
    yield from read.problems
    headings = [block.text for block in read.blocks if block.level == 1]
    named = clean(read.title) or (headings[0] if len(headings) == 1 else "")
    title = shorten(named or clean(path.stem.replace("_", " ")), LONGEST_TITLE)

    def record(record_id: str, text: str, section: str, line: int) -> SourceRecord:
        place = f"{title}, {section}" if section else title
        data = {"title": title, "section": section}
        return SourceRecord(source, record_id, text, reader, None, Kind.READ, place, data=data, line=line)

    whole = list(passages(block for block in read.blocks if (block.level, block.text) != (1, named)))
    if not whole:
        yield SourceProblem(0, "there are no words in it that could be read")
    for passage in whole:
        yield record(passage.id, passage.text, passage.section, passage.line)
    if short := summary(whole):
        yield record(SUMMARY, f"{title}, in short: {short}", SUMMARY, 0)


def read_text(text: str) -> Document:
    """Plain text; an empty line ends a paragraph."""
    blocks: list[Block] = []
    for written, lines in groupby(enumerate(text.splitlines(), 1), lambda line: bool(line[1].strip())):
        paragraph = dict(lines)
        if written:
            _add(blocks, "\n".join(paragraph.values()), min(paragraph))
    return Document(blocks)


def read_markdown(text: str) -> Document:
    """Markdown (CommonMark with tables), and the title in its front matter."""
    text = text.replace("\r\n", "\n")
    front = _FRONT.match(text)
    title = ""
    if front:
        named = _TITLE.search(front[0])
        title = named[1].strip("\"' ") if named else ""
        text = "\n" * front[0].count("\n") + text[front.end() :]
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    for token in tokens:
        if token.map and token.nesting == 1:
            token.attrSet("data-line", token.map[0] + 1)
    found = read_html(markdown.renderer.render(tokens, markdown.options, {}))
    return Document(found.blocks, title, found.problems)


def read_html(text: str) -> Document:
    """The visible text of HTML, valid or not, by paragraphs and headings."""
    reader = _HtmlReader()
    shown = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), _MARKED.sub("", text))
    reader.feed(_OPEN.sub("&lt;", with_short_numbers(shown)))
    reader.close()
    reader.end_block()
    problems = [
        SourceProblem(line, f"<{tag}> is never closed, so what follows it is left out: close it")
        for tag, line in reader.unseen[:1]
    ]
    return Document(reader.blocks, reader.title, problems)


class _HtmlReader(HTMLParser):
    """Attributes: blocks, title: found so far. unseen: open tags whose text is hidden, with their lines."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self.title = ""
        self.unseen: list[tuple[str, int]] = []
        self._words: list[str] = []
        self._line = 0  # the line in the Markdown source; for HTML the parser knows it
        self._began = 0
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.unseen and self.unseen[-1][0] == "p" and tag in _APART:
            self.unseen.pop()  # </p> may be left out
        if self.unseen:
            if tag == self.unseen[-1][0]:
                self.unseen.append((tag, self._at()))
            return
        given = dict(attrs)
        hidden = "hidden" in given or _NOT_SHOWN.search(given.get("style") or "") is not None
        if tag in _UNSEEN or (hidden and tag in _HIDEABLE):
            self.unseen.append((tag, self._at()))
        elif tag in _APART:
            self.end_block()
            line = given.get("data-line") or ""
            self._line = int(line) if _LINE.fullmatch(line) else self._line
            self._in = tag
        elif tag in ("td", "th"):
            self._words.append(_CELL)
        elif tag == "br":
            self._words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if self.unseen and self.unseen[-1][0] == tag:
            self.unseen.pop()
        elif not self.unseen and tag in _APART:
            self.end_block()

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self._began = self._began or (self._at() if data.strip() else 0)
            self._words.append(data)

    def end_block(self) -> None:
        """Make a block of the text since the last one."""
        text = ", ".join(filter(None, map(clean, "".join(self._words).split(_CELL))))
        if self._in == "title":
            self.title = self.title or clean(text)
        else:
            level = int(self._in[1]) if _HEADING.fullmatch(self._in) else 0
            _add(self.blocks, text, self._began, level)
        self._words, self._began, self._in = [], 0, ""

    def _at(self) -> int:
        return self._line or self.getpos()[0]


def read_pdf(path: Path) -> Document:
    """The text of a PDF; each page is a section. Raises `UserError` if it cannot be read."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError:
        raise UserError("reading PDF needs the extra: pip install 'noodlings[documents]'") from None
    blocks: list[Block] = []
    problems: list[SourceProblem] = []
    try:
        with in_words(path, "read"):
            reader = PdfReader(regular(path))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UserError(f"{path} is encrypted: save it without a password first")
        title, pages = reader.metadata.title if reader.metadata else None, len(reader.pages)
    except DependencyError:
        raise UserError(f"{path} is encrypted: save it without a password first") from None
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{path} is not a PDF that can be read: {error!s:.120}; save it anew") from error
    for number in range(pages):
        try:
            text = reader.pages[number].extract_text()
        except Exception as error:  # noqa: BLE001 -- the library may raise anything on a broken page
            problems.append(SourceProblem(0, f"page {number + 1} cannot be read: {clean(str(error))[:120]}"))
            continue
        if not clean(text):
            why = "has no text; if it is a picture of one, have it recognised (OCR) first"
            problems.append(SourceProblem(0, f"page {number + 1} {why}"))
            continue
        blocks.append(Block(f"page {number + 1}", level=1))
        for paragraph in re.split(r"\n\s*\n", _HYPHEN.sub("", text)):
            _add(blocks, paragraph, 0)
    return Document(blocks, title if isinstance(title, str) else "", problems)


def _add(blocks: list[Block], text: str, line: int, level: int = 0) -> None:
    words = clean(text)
    if any(map(str.isalnum, words)):
        blocks.append(Block(shorten(words, LONGEST_TITLE) if level else words, line, level))
