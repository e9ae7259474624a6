"""The viewer's pages. None holds what is stored: its script asks `/v1` for that, with the cookie of who looks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from msglog.errors import AccessDeniedError
from msglog.server.access import Caller
from msglog.server.service import Here, LogName, caller_of
from msglog.server.viewer import login
from msglog.server.viewer.templating import templates
from msglog.wire.text import segment

TABS = {
    "": ("Transcript", "transcript", "reading"),
    "/graph": ("Revisions", "graph", "wide"),
    "/usage": ("Usage", "usage", "wide"),
    "/raw": ("Raw", "raw", "wide"),
}
"""What there is to see of a log, by the end of the path: the title, the template and script, and how wide it is."""

router = APIRouter(include_in_schema=False)


class _Files(StaticFiles):
    """The viewer's files. A browser asks each time whether they have changed, and is told in a few bytes."""

    def file_response(self, *given: Any, **options: Any) -> Response:
        response = super().file_response(*given, **options)
        response.headers["Cache-Control"] = "no-cache"
        return response


def mount(app: FastAPI) -> None:
    """Put the pages on `/`, and their files on `/static`."""
    app.include_router(login.router)
    app.include_router(router)
    app.mount("/static", _Files(directory=Path(__file__).parent / "static"), name="static")


async def visitor(request: Request) -> Caller | None:
    """Who opened a page; None where they have to log in first."""
    try:
        return await caller_of(request)
    except AccessDeniedError:
        return None


Visitor = Annotated[Caller | None, Depends(visitor)]


@router.get("/")
async def logs(request: Request, here: Here, who: Visitor) -> Response:
    """The list of logs, and the search in all of them."""
    return _page(request, here, who, "logs.html")


async def _of_log(request: Request, here: Here, who: Visitor, log: LogName) -> Response:
    """A page of one log: which, the end of the path says."""
    at = request.scope["path"].removeprefix(f"/logs/{request.path_params['log']}")
    title, name, width = TABS.get(at, ("Compare", "diff", "reading"))
    return _page(
        request,
        here,
        who,
        f"{name}.html",
        log=log,
        base=f"/logs/{segment(log)}",
        at=at,
        tab=title,
        tabs=[(end, shown) for end, (shown, *_) in TABS.items()],
        script=f"{name}.js",
        width=width,
        may_edit=who is not None and who.may("edit") and not here.store.read_only,
    )


for _end in (*TABS, "/diff"):
    router.add_api_route("/logs/{log}" + _end, _of_log)


def _page(request: Request, here: Here, who: Caller | None, template: str, **facts: Any) -> Response:
    """A page for who looks, or the way to the login."""
    if who is None:
        query = request.scope["query_string"].decode("latin-1")
        wanted = request.scope["path"] + (f"?{query}" if query else "")
        return RedirectResponse(f"/login?next={segment(wanted)}", 303)
    return templates.TemplateResponse(request, template, {"caller": who, "has_tokens": here.door.has_tokens, **facts})
