"""From a log to a history, to a list of messages, to a provider's form and back; and a history's delta to the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

from msglog import MessageHistory, adapters
from scripts.benchmarks.measure import Figures, Group, Row, at_most, seconds
from scripts.benchmarks.setting import Setting
from scripts.benchmarks.workload import MESSAGE, conversation

DELTA = 10
LINEAR = at_most(1.5)
PROVIDERS = ["openai", "openai_responses", "anthropic", "gemini"]
if find_spec("langchain_core"):
    PROVIDERS.append("langchain_messages")


def stored(setting: Setting, size: int) -> str:
    """A store with a conversation of so many messages in its log `log`."""
    path = setting.path()
    with setting.store(path, "normal") as store:
        store.log("log").append_many(conversation(size))
    return path


def loaded(setting: Setting, path: str, size: int) -> Figures:
    """`history()`, seconds a message."""
    with setting.store(path) as store:
        return seconds(store.log("log").history, 5, per=size)


@cache
def history_of(size: int) -> MessageHistory:
    """A history of a conversation of so many messages."""
    return MessageHistory().append(*conversation(size))


def rendered(size: int) -> Figures:
    """`render()` of a history, seconds a message."""
    return seconds(history_of(size).render, 5, per=size)


def converted(provider: str, size: int, *, back: bool) -> Figures:
    """A conversation to a provider's form, or that form back to messages; seconds a message."""
    messages = history_of(size).render()
    there: Callable[[Any], Any] = getattr(adapters, f"to_{provider}")
    if not back:
        return seconds(lambda: there(messages), 5, per=size)
    form = there(messages)
    return seconds(lambda: getattr(adapters, f"from_{provider}")(form), 5, per=size)


def committed(setting: Setting, path: str) -> Figures:
    """The commit of a history that grew by ten entries, on a log that is there."""
    with setting.store(path) as store:
        log = store.log("log")
        history = log.history()

        def work() -> None:
            nonlocal history
            history = log.commit(history.append(*[MESSAGE] * DELTA))

        return seconds(work, 20)


def appended(setting: Setting, path: str) -> Figures:
    """Ten entries in one append, to a log that is there."""
    with setting.store(path) as store:
        log = store.log("log")
        return seconds(lambda: log.append_many([MESSAGE] * DELTA), 20)


def _linear(what: str, of: Callable[[int], Figures], sizes: tuple[int, int]) -> Group:
    """A group that shows microseconds a message at the larger size, and that it is the same at the smaller one."""
    small, large = sizes
    at = {size: f"{what} of {size:,}" for size in sizes}
    return Group(
        {at[small]: lambda: of(small), at[large]: lambda: of(large)},
        [
            Row(7, f"{what} of {large:,}, µs a message", at[large], scale=1e6),
            Row(7, f"{what}: µs a message of {large:,} / of {small:,}", at[large], at[small], bound=LINEAR),
        ],
    )


def groups(setting: Setting) -> Iterator[Group]:
    """Point 7."""
    sizes = (max(4, setting.sizes.load // 10), setting.sizes.load)
    paths = cache(lambda size: stored(setting, size))
    yield _linear("history()", lambda size: loaded(setting, paths(size), size), sizes)
    yield _linear("render()", rendered, sizes)
    for provider in PROVIDERS:
        yield _linear(f"to_{provider}", lambda size, to=provider: converted(to, size, back=False), sizes)  # type: ignore[misc]
        yield _linear(f"from_{provider}", lambda size, of=provider: converted(of, size, back=True), sizes)  # type: ignore[misc]
    large = setting.sizes.memory
    yield Group(
        {
            f"append_many({DELTA})": lambda: appended(setting, setting.filled(1000)),
            f"commit of {DELTA}": lambda: committed(setting, setting.filled(large)),
        },
        [
            Row(
                7,
                f"commit of {DELTA} entries on a view of {large:,} / append_many({DELTA}) at 1,000",
                f"commit of {DELTA}",
                f"append_many({DELTA})",
                bound=at_most(1.5),
            )
        ],
    )
