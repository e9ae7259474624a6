"""A view of a log in a file, in one of the forms that are made to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from msglog.adapters import Repair
from msglog.errors import UnknownLogError
from msglog.log import MessageLog
from msglog.message import StoredMessage
from msglog.raw import PAGE
from msglog.transfer.bundle import Progress
from msglog.transfer.faces import OfLogs
from msglog.transfer.finetuning import to_finetuning
from msglog.transfer.markdown import Markdown
from msglog.transfer.page import Page
from msglog.transfer.plain import Plain
from msglog.transfer.streams import Place, Sink
from msglog.transfer.turns import Rendering, Writing

ViewFormat: TypeAlias = Literal["markdown", "html", "json", "finetuning"]


@OfLogs
async def export_view(
    log: MessageLog,
    target: Place,
    format: ViewFormat = "markdown",  # noqa: A002 the word that users know
    *,
    at: str | None = None,
    title: str | None = None,
    tools: Iterable[Mapping[str, Any]] | None = None,
    report: list[Repair] | None = None,
    progress: Progress = None,
) -> int:
    """Write what a branch shows, or showed at the revision `at`; how many messages that was.

    `target` is a new file (compressed where its name ends in `.gz` or `.zst`), a binary stream, or "-". The title is
    the log's, or its name, where none is given. `tools` and `report` are those of `to_finetuning`.

    Raises `UnknownLogError`, `UnknownBranchError`, `UnknownRevisionError`, `FileExistsError`, `CannotOpenError`.
    """
    if format not in get_args(ViewFormat):
        raise ValueError(f"format must be one of {', '.join(get_args(ViewFormat))}, not {format!r}")
    access = log.store._access  # noqa: SLF001 what is not public of a store is the library's own
    view = await log.view(at, limit=0)
    if view.revision is None:
        raise UnknownLogError(log.name)
    if title is None and format in ("markdown", "html"):
        title = (await log.describe()).title or log.name
    writing: Writing | Taught = Taught(tools, report) if format == "finetuning" else Writing(_made(format, title))
    sink = await access.run(lambda: Sink(target))
    try:
        await access.run(lambda: sink.write(writing.begin().encode()))
        for start in range(0, view.size, PAGE):
            page = (await log.view(view.revision, start, PAGE)).messages
            await access.run(lambda page=page: sink.write(writing.add(page).encode()))  # type: ignore[misc]
            if progress is not None:
                progress(start + len(page), view.size)
        await access.run(lambda: sink.write(writing.end().encode()))
        await access.run(sink.finish)
    except BaseException as error:
        sink.abandon(error)
        raise
    return view.size


def _made(kind: str, title: str | None) -> Rendering:
    made: dict[str, Callable[[], Rendering]] = {
        "markdown": lambda: Markdown(title),
        "html": lambda: Page(title),
        "json": Plain,
    }
    return made[kind]()


class Taught:
    """Writes a training example once all its messages are there: it is one line."""

    def __init__(self, tools: Iterable[Mapping[str, Any]] | None, report: list[Repair] | None) -> None:
        self._tools = None if tools is None else list(tools)
        self._report = report
        self._messages: list[StoredMessage] = []

    def begin(self) -> str:
        """Nothing."""
        return ""

    def add(self, messages: Iterable[StoredMessage]) -> str:
        """Nothing yet."""
        self._messages += messages
        return ""

    def end(self) -> str:
        """The line."""
        return "".join(to_finetuning(self._messages, tools=self._tools, report=self._report))
