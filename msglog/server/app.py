"""The service as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from msglog.errors import MsgLogError, RequestError
from msglog.server import models
from msglog.server.access import Door
from msglog.server.bodies import refusal
from msglog.server.gate import Gate
from msglog.server.hub import Hub
from msglog.server.metrics import Metrics
from msglog.server.routes import branches, follow, histories, logs, messages, search, steps, transfer, usage, views
from msglog.server.routes import store as store_routes
from msglog.server.service import Service
from msglog.server.settings import Settings
from msglog.server.tokens import TokenFile
from msglog.server.viewer import mount
from msglog.store import Store
from msglog.wire.text import PROBLEM

_AS_PROBLEM = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_PROBLEMS: dict[int | str, dict[str, object]] = {
    "4XX": {"content": _AS_PROBLEM, "description": "What was wrong with the request, as a problem (RFC 9457)"},
    "5XX": {"content": _AS_PROBLEM, "description": "What went wrong here, as a problem (RFC 9457)"},
}


class Application(FastAPI):
    """The application; `service` is what its routes share."""

    service: Service

    def openapi(self) -> dict[str, Any]:
        """The description, with the shapes of bodies, which FastAPI does not read and so does not know of."""
        if self.openapi_schema is None:
            described = super().openapi()
            shapes = [(shape, "validation") for shape in models.Shape.__subclasses__()]
            _, found = models_json_schema(shapes, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
            described["components"]["schemas"] |= found["$defs"]
        assert self.openapi_schema is not None  # noqa: S101 the base keeps what it made
        return self.openapi_schema

    def build_middleware_stack(self) -> ASGIApp:
        """All of it behind the gate."""
        return Gate(super().build_middleware_stack(), lambda: self.service)


def create_app(store: Store, *, tokens: TokenFile | None = None, settings: Settings | None = None) -> Application:
    """The ASGI application that serves an open store, which stays the caller's to close.

    Without `tokens` everybody who reaches it may do everything: then it must not be reached from elsewhere.
    """
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.hub.close()

    app = Application(
        title="msglog",
        summary="One conversation store for many processes.",
        version="1",
        lifespan=lifespan,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    service = Service(store, chosen, Door(tokens, chosen.limits), Hub(store), Metrics(), {})
    app.service = app.state.service = service
    app.include_router(store_routes.health, responses=_PROBLEMS)
    for module in (logs, messages, views, steps, histories, branches, follow, search, usage, transfer, store_routes):
        app.include_router(module.router, prefix="/v1", responses=_PROBLEMS)
    mount(app)
    app.add_exception_handler(MsgLogError, _refused)
    app.add_exception_handler(RequestValidationError, _misread)
    app.add_exception_handler(HTTPException, _not_served)
    app.add_exception_handler(Exception, _failed)
    return app


def _refused(_: Request, error: Exception) -> Response:
    return refusal(error)


def _misread(_: Request, error: Exception) -> Response:
    """The first thing that is wrong with a parameter. What was given is not repeated."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 what it is registered for
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return refusal(RequestError(where, problem["msg"]))


def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 what it is registered for
    what = {404: "there is no such resource", 405: "this resource does not know the method"}
    response = refusal(RequestError(request.method, what.get(error.status_code, error.detail)), error.status_code)
    response.headers.update(error.headers or {})
    return response


def _failed(_request: Request, _error: Exception) -> Response:
    return refusal(MsgLogError("the service failed; its log tells more"), 500)
