"""Where the service listens."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing

from msglog.server.run import _listening


async def test_answers_are_sent_at_once() -> None:
    accepted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken: socket.socket = writer.get_extra_info("socket")
        accepted.set_result(bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        writer.close()

    with closing(_listening("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        async with await asyncio.start_server(connected, sock=listening):
            _, writer = await asyncio.open_connection(*address)
            assert await accepted
            writer.close()
            await writer.wait_closed()
