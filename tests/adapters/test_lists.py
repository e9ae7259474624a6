"""What takes a list of messages takes no message alone, though Python can iterate over one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from msglog import adapters
from msglog.budget import estimate_tokens, trim
from msglog.errors import InvalidMessageError
from msglog.log import MessageLog
from msglog.message import as_message
from msglog.transfer import to_finetuning, to_html, to_json, to_markdown

ADAPTERS = [
    (name, function)
    for name in adapters.__all__
    if name.startswith(("from_", "to_")) and inspect.isfunction(function := getattr(adapters, name))
]
NO_LISTS = ["hello", b"hello", bytearray(b"hello"), 7, None, HumanMessage("hello"), as_message({"role": "user"})]


def test_every_adapter_is_tested() -> None:
    assert len(ADAPTERS) >= 13


@pytest.mark.parametrize(("name", "function"), ADAPTERS)
@pytest.mark.parametrize("given", NO_LISTS, ids=repr)
def test_what_is_no_list_is_refused(name: str, function: Callable[[Any], Any], given: Any) -> None:
    with pytest.raises(InvalidMessageError, match=f"expected a list of .*, not {type(given).__name__}$"):
        function(given)


@pytest.mark.parametrize(("name", "function"), ADAPTERS)
def test_one_message_alone_is_refused_as_what_it_is(name: str, function: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidMessageError, match=r"expected a list of .*, not dict$|are given as a list$"):
        function({"role": "user", "content": "hello"})


@pytest.mark.parametrize(
    ("function", "key"), [(adapters.from_anthropic, "messages"), (adapters.from_gemini, "contents")]
)
def test_a_request_whose_messages_are_no_list_is_refused_at_its_place(function: Callable[[Any], Any], key: str) -> None:
    for given in ("hello", {"role": "user"}, None):
        with pytest.raises(InvalidMessageError, match=f"{key}: expected a list of {key}, not") as refused:
            function({key: given})
        assert refused.value.path == key


@pytest.mark.parametrize(("name", "function"), ADAPTERS)
def test_a_tuple_and_a_generator_are_taken_as_lists_are(name: str, function: Callable[[Any], Any]) -> None:
    assert function(()) == function(iter(())) == function([])


@pytest.mark.parametrize("given", [*NO_LISTS, {"role": "user", "content": "hello"}], ids=repr)
async def test_no_log_measure_or_export_takes_one_message_for_many(log: MessageLog, given: Any) -> None:
    def trimmed(messages: Any) -> list[Any]:
        return trim(messages, 100)

    def listed(export: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda messages: list(export(messages))

    exports: list[Callable[[Any], Any]] = [to_finetuning, to_html, to_json, to_markdown]
    takers: list[Callable[[Any], Any]] = [estimate_tokens, trimmed, *map(listed, exports)]
    for take in takers:
        with pytest.raises(InvalidMessageError, match="expected a list of messages, not"):
            take(given)
    with pytest.raises(InvalidMessageError, match="expected a list of messages, not"):
        await log.append_many(given)
    assert await log.count() == 0
