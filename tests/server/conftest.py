"""A store, its service, and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from msglog import Store
from msglog.server.app import create_app
from tests.server.serving import client, served


@pytest.fixture
async def url(store: Store) -> AsyncIterator[str]:
    """Where the store is served."""
    async with served(create_app(store)) as url:
        yield url


@pytest.fixture
async def http(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a token."""
    async with client(url) as made:
        yield made
