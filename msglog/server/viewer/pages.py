"""The viewer's pages, and the way in for those who have a token.

A page holds nothing of what is stored: its script asks `/v1` for it, with the cookie of whoever logged in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from msglog.errors import AccessDeniedError
from msglog.server.access import COOKIE, Caller
from msglog.server.bodies import read_body
from msglog.server.service import Here, caller_of

_HERE = Path(__file__).parent

pages = APIRouter(include_in_schema=False)
templates = Jinja2Templates(_HERE / "templates")


def mount(app: FastAPI) -> None:
    """Put the viewer on `/`, and its files on `/static`."""
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")


async def visitor(request: Request) -> Caller | None:
    """Who opened a page; None where they have to log in first."""
    try:
        return await caller_of(request)
    except AccessDeniedError:
        return None


Visitor = Annotated[Caller | None, Depends(visitor)]


@pages.get("/")
async def start(request: Request, who: Visitor) -> Response:
    """The list of logs."""
    if who is None:
        return RedirectResponse("/login", 303)
    return templates.TemplateResponse(request, "start.html", {"caller": who})


@pages.get("/login")
async def login_form(request: Request) -> Response:
    """The form for the token."""
    return templates.TemplateResponse(request, "login.html", {"wrong": False})


@pages.post("/login")
async def log_in(request: Request, here: Here) -> Response:
    """Take a token, and keep it in a cookie that no script can read."""
    fields = parse_qs((await read_body(request, 10_000)).decode("utf-8", "replace"))
    token = fields.get("token", [""])[0].strip()
    if here.door.bearer(token) is None:
        return templates.TemplateResponse(request, "login.html", {"wrong": True}, 401)
    response = RedirectResponse("/", 303)
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response


@pages.post("/logout")
async def log_out() -> Response:
    """Forget the token."""
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
