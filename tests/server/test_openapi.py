"""What the service says of itself is true: every resource is tried with whatever its description allows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import msglog
from msglog.server.app import create_app
from msglog.server.settings import Limits, Settings
from tests.server.serving import served
from tests.strategies import user

CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@contextmanager
def serving(path: Path) -> Iterator[str]:
    """The URL of a service that runs in a thread of its own, and holds a log."""
    ready: list[str] = []
    started, stop = threading.Event(), threading.Event()

    async def run() -> None:
        limits = Settings(limits=Limits(rate=0, deadline=2))  # a long-poll ends before a client of ours gives up
        async with msglog.open(path) as store, served(create_app(store, settings=limits)) as url:
            await store.log("talk").append_many([user("a"), user("b")])
            ready.append(url)
            started.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert started.wait(60)
        yield ready[0]
    finally:
        stop.set()
        thread.join()


def test_every_answer_is_one_that_is_described(path: Path) -> None:
    tried = set()
    with serving(path) as url:
        schema = schemathesis.openapi.from_url(f"{url}/v1/openapi.json").exclude(path_regex="/(follow|import)$")
        for found in schema.get_all_operations():
            operation: Any = found.ok()  # type: ignore[union-attr]

            @settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy())
            def answers(case: Any) -> None:
                if case.path_parameters.get("log") and len(case.path_parameters["log"]) % 2:
                    case.path_parameters["log"] = "talk"  # which is there: of half of the others there is nothing
                case.call_and_validate(checks=CHECKS)
                tried.add(case.operation.label)

            answers()
    assert len(tried) > 30


def test_every_resource_has_an_example_where_it_takes_a_body(path: Path) -> None:
    async def described() -> Any:
        async with msglog.open(path) as store:
            return create_app(store).openapi()

    for methods in asyncio.run(described())["paths"].values():
        for operation in methods.values():
            for kind, body in operation.get("requestBody", {}).get("content", {}).items():
                assert "example" in body or kind != "application/json", operation["operationId"]
            assert operation["description"]
