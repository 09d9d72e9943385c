"""The page at `/`: a few static files that use only the documented API.

The files contain nobody's data: the page asks the API for everything it shows, with the token of its user.
See docs/page.md.
"""

from __future__ import annotations

from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

_FOLDER = Path(__file__).with_name("page")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Allows nothing from elsewhere, nothing inline, and no text as markup: memories may hold anything."""


def router() -> APIRouter:
    """The routes of the page; its files are read once."""
    page = APIRouter(include_in_schema=False)
    files = {path.name: path for path in _FOLDER.iterdir() if path.suffix in _TYPES}
    kept = {name: (path.read_bytes(), _TYPES[path.suffix]) for name, path in files.items()}
    tags = {name: f'"{sha256(content).hexdigest()[:24]}"' for name, (content, _) in kept.items()}

    async def file(request: Request) -> Response:
        name = request.path_params.get("file", "index.html")
        if name not in kept:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        headers = {
            "Cache-Control": "no-cache",  # the browser keeps it, and asks each time whether it changed
            "Content-Security-Policy": _POLICY,
            "Cross-Origin-Opener-Policy": "same-origin",
            "ETag": tags[name],
            "Referrer-Policy": "no-referrer",
        }
        if tags[name] in request.headers.get("if-none-match", ""):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        content, media_type = kept[name]
        return Response(content, headers=headers, media_type=media_type)

    page.add_api_route("/", file, methods=["GET", "HEAD"])
    page.add_api_route("/page/{file}", file, methods=["GET", "HEAD"])
    return page
