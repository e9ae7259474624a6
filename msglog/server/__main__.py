"""`python -m msglog.server STORE`: serve a store on this machine."""

from __future__ import annotations

import argparse
import asyncio

from msglog.server.run import serve, write_access_log
from msglog.server.settings import PORT


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(prog="python -m msglog.server", description="Serve a store over HTTP.")
    parser.add_argument("store")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=PORT)
    given = parser.parse_args()
    write_access_log()
    asyncio.run(serve(given.store, host=given.host, port=given.port))


if __name__ == "__main__":
    main()
