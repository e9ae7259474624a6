"""The way in for those who have a token: it is kept in a cookie that no script can read and no other site can send."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from msglog.server.access import COOKIE
from msglog.server.bodies import read_body
from msglog.server.service import Here
from msglog.server.viewer.templating import templates

router = APIRouter(include_in_schema=False)

_LONGEST = 20_000
"""Bytes of the form."""


@router.get("/login")
async def form(request: Request, next: str = "/") -> Response:  # noqa: A002 the query's name
    """The form for the token."""
    return _form(request, next)


@router.post("/login")
async def log_in(request: Request, here: Here) -> Response:
    """Take a token, and go on to the page that was wanted."""
    fields = parse_qs((await read_body(request, _LONGEST)).decode("utf-8", "replace"))
    token, wanted = fields.get("token", [""])[0].strip(), fields.get("next", ["/"])[0]
    if here.door.bearer(token) is None:
        return _form(request, wanted, wrong=True)
    response = RedirectResponse(_own(wanted), 303)
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response


@router.post("/logout")
async def log_out() -> Response:
    """Forget the token."""
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _form(request: Request, wanted: str, *, wrong: bool = False) -> Response:
    facts = {"wrong": wrong, "next": _own(wanted)}
    return templates.TemplateResponse(request, "login.html", facts, 401 if wrong else 200)


def _own(path: str) -> str:
    """A path of this service; the start where it could lead a browser elsewhere."""
    is_ours = path.startswith("/") and path[1:2] not in {"/", "\\"} and path.isascii() and path.isprintable()
    return path if is_ours else "/"
