"""The documentation as a site: `make docs`. Why like this: `docs/decisions/0024-documentation-site.md`.

The pages are plain Markdown, to be read where the code is hosted as well. Added are the reference, made from
the code; a page for each file of the project that is linked to; and pages from the top of the project.
"""

from __future__ import annotations

import os
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util.osutil import relative_uri

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from noodlings import __version__  # noqa: E402
from tools import reference  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "noodlings"
author = "The noodlings developers"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
default_role = "code"  # docstrings say `like this`
nitpicky = False
suppress_warnings = ["myst.strikethrough"]

myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"noodlings {__version__}"
html_copy_source = False
html_show_sphinx = False
html_static_path: list[str] = []

OWN_PAGES = {
    "CHANGELOG.md": "generated/changelog",
    "CONTRIBUTING.md": "generated/contributing",
    "SECURITY.md": "generated/security",
    "README.md": "index",
}
"""Files outside of this folder that are pages of the site."""


def setup(app: Sphinx) -> None:
    """Called by Sphinx before anything is read."""
    app.connect("builder-inited", lambda app: reference.write(DOCS / "generated"))
    app.connect("doctree-read", _link_files, priority=100)  # before they are collected as downloads
    app.connect("build-finished", _show_files)


def _link_files(app: Sphinx, tree: nodes.document) -> None:
    """A link to a file or a folder of the project leads to a page that shows it."""
    document = app.env.docname
    found = (
        node
        for node in tree.findall(addnodes.pending_xref)
        if node.get("reftype") == "myst" or node.get("refdomain") == "doc"
    )
    for node in [*found, *tree.findall(addnodes.download_reference)]:
        full = Path(os.path.normpath((DOCS / document).parent / (node.get("reftarget") or "")))
        if node.get("refdomain") == "doc":  # Markdown, without its ending
            full = full.with_name(f"{full.name}.md")
            if full.is_relative_to(DOCS):
                continue
        if not (full.is_dir() or full.is_file()) or not full.is_relative_to(ROOT):
            continue
        path = full.relative_to(ROOT)
        page = OWN_PAGES.get(str(path), f"files/{path}")
        if page.startswith("files/"):
            _linked(app).setdefault(document, set()).add(path)
        uri = relative_uri(f"{document}.html", f"{page}.html")
        node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))


def _linked(app: Sphinx) -> dict[str, set[Path]]:
    """The files that each page links to; kept between builds."""
    if not hasattr(app.env, "noodlings_files"):
        app.env.noodlings_files = {}  # type: ignore[attr-defined]
    found: dict[str, set[Path]] = app.env.noodlings_files  # type: ignore[attr-defined]
    return found


def _show_files(app: Sphinx, error: Exception | None) -> None:
    """Writes the pages of files and folders that something links to: bare, as these are many."""
    for path in sorted(set().union(*_linked(app).values())):
        full = ROOT / path
        text = (
            "\n".join(sorted(one.name for one in full.iterdir()))
            if full.is_dir()
            else full.read_text("utf-8")
        )
        home = "../" * len(path.parts) + "index.html"
        page = Path(app.outdir, "files", f"{path}.html")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(FILE.format(path=path, home=home, text=escape(text)), "utf-8")


FILE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>{path}</title>
<style>body {{ margin: 1rem auto; max-width: 75rem; padding: 0 1rem }}
pre {{ overflow-x: auto }}</style></head>
<body><p><a href="{home}">noodlings</a></p><h1><code>{path}</code></h1><pre>{text}</pre></body></html>
"""
