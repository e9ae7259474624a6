"""`serve`: a store over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from msglog.cli.app import command
from msglog.cli.opening import chosen, is_remote
from msglog.cli.options import StoreFile, WholeStore
from msglog.cli.output import complain


@command("serve", "msglog serve agent.db", "msglog serve agent.db --host 0.0.0.0 --allow-host msglog.example.com")
def serve(
    whole_store: WholeStore = None,
    *,
    store: StoreFile = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 for any.")] = 8700,
    create: Annotated[bool, typer.Option("--create", help="Make the store where there is none.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Write nothing.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="Another name it is asked under.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option("--allow-origin", metavar="ORIGIN", help="A web origin that may use it (CORS).")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", metavar="N", min=0, help="Requests a second of a caller.")] = 1000,
    streams: Annotated[int, typer.Option("--streams", metavar="N", min=1, help="Followers at once.")] = 20_000,
    deadline: Annotated[float, typer.Option("--deadline", metavar="S", min=1, help="Seconds of a request.")] = 30,
) -> None:
    """Serve a store to programs in any language, and to people: an API under /v1, a viewer at /.

    Where the store has tokens (`msglog token create`), every request takes one; any other address than this
    machine's own takes tokens. Each request is a line of JSON on standard output. Ends well on SIGTERM.
    """
    import asyncio
    import os

    from msglog.errors import MissingExtraError

    try:
        from msglog.server import run
    except ImportError as error:
        raise MissingExtraError("serving a store", "server") from error
    from msglog.server.settings import Limits, Settings

    path = chosen(store, whole_store)
    if is_remote(path):
        raise typer.BadParameter("a server serves a file: name the file of the store")
    limits = Limits(rate=rate, burst=2 * rate, streams=streams, deadline=deadline)
    hosts = (*Settings().hosts, *(name.lower() for name in allow_host or ()))
    settings = Settings(limits, hosts, tuple(allow_origin or ()))

    def tell(url: str, *, has_tokens: bool) -> None:
        who = "tokens are asked for" if has_tokens else "whoever is on this machine may do everything"
        complain(f"{os.path.abspath(path)} is served at {url}; {who}")

    run.write_access_log()
    asyncio.run(
        run.serve(path, host=host, port=port, settings=settings, read_only=read_only, create=create, on_start=tell)
    )
