"""Messages, tool calls, metadata, entries: any JSON kept, types checked, everything read-only."""

from __future__ import annotations

import copy
import enum
import pickle
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given

from msglog.errors import CodecError, InvalidMessageError
from msglog.message import (
    Entry,
    Message,
    MessageMeta,
    StoredMessage,
    ToolCall,
    as_entry,
    as_message,
    as_meta,
    content_text,
    make_entry,
)
from tests.strategies import (
    BIGGEST,
    EMOJI,
    NOON,
    SPLIT_EMOJI,
    calls,
    entry_inputs,
    exact,
    json_objects,
    json_values,
    messages,
    metas,
    moments,
    nested,
    reply,
    result,
    texts,
    user,
)

# Messages


@given(messages())
def test_a_message_keeps_every_field_that_a_provider_sent(data: dict[str, Any]) -> None:
    message = as_message(data)
    known = {"role", "content", "name", "toolCalls", "toolCallId"}
    assert message.role == data["role"]
    assert exact(message.content) == exact(data["content"])
    assert message.name == data.get("name")
    assert message.tool_call_id == data.get("toolCallId")
    assert exact([call.to_json() for call in message.tool_calls]) == exact(data.get("toolCalls", []))
    assert exact(message.extra) == exact({key: value for key, value in data.items() if key not in known})


@given(messages())
def test_the_json_of_a_message_gives_the_message_back(data: dict[str, Any]) -> None:
    message = as_message(data)
    again = as_message(message.to_json())
    assert again == message
    assert exact(again.to_json()) == exact(message.to_json())


def test_keys_may_be_snake_case_or_camel_case() -> None:
    snake = Message(role="tool", content="x", tool_call_id="c")
    camel = as_message({"role": "tool", "content": "x", "toolCallId": "c"})
    assert snake == camel


def test_a_key_given_in_both_spellings_is_refused() -> None:
    with pytest.raises(InvalidMessageError, match="given twice"):
        as_message({"role": "tool", "content": "x", "toolCallId": "c", "tool_call_id": "c"})


def test_a_key_given_in_extra_and_beside_it_is_refused() -> None:
    with pytest.raises(InvalidMessageError, match="given twice"):
        as_message(user("x") | {"refusal": None, "extra": {"refusal": "no"}})


def test_keys_beside_extra_and_in_it_come_together() -> None:
    message = as_message(user("x") | {"refusal": None, "extra": {"audio": 1}})
    assert message.extra == {"audio": 1, "refusal": None}


@pytest.mark.parametrize("extra", [[], "", 0, None])
@pytest.mark.parametrize("beside", [{}, {"refusal": None}])
def test_an_extra_that_is_no_object_is_refused(extra: Any, beside: dict[str, Any]) -> None:
    with pytest.raises(CodecError, match="extra"):
        as_message(user("x") | beside | {"extra": extra})


def test_a_plain_message_is_the_same_however_it_is_made() -> None:
    quick = as_message({"role": "user", "content": "x"})
    assert quick == Message(role="user", content="x")
    assert quick == as_message(MappingProxyType({"role": "user", "content": "x"}))
    assert pickle.loads(pickle.dumps(quick)) == copy.deepcopy(quick) == quick
    assert repr(quick) == repr(Message(role="user", content="x"))


@pytest.mark.parametrize("role", ["", "User", "function", None, 1, ["user"], b"user"])
def test_an_unknown_role_is_refused(role: Any) -> None:
    with pytest.raises(InvalidMessageError) as refused:
        as_message({"role": role, "content": "x"})
    assert refused.value.path == "role"


def test_a_message_without_a_role_is_refused() -> None:
    with pytest.raises(InvalidMessageError) as refused:
        as_message({"content": "x"})
    assert refused.value.path == "role"


@pytest.mark.parametrize("content", [{"type": "text"}, 5, 1.5, True])
@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_only_a_tool_message_may_hold_any_json(role: str, content: Any) -> None:
    with pytest.raises(InvalidMessageError, match="content"):
        as_message({"role": role, "content": content})
    assert as_message(result("c", content)).content == content


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ("x", "content[1]"),
        ({}, "content[1].type"),
        ({"type": 5}, "content[1].type"),
        ({"type": "text"}, "content[1].text"),
        ({"type": "text", "text": None}, "content[1].text"),
    ],
)
def test_a_part_has_a_type_and_a_text_part_its_text(part: Any, path: str) -> None:
    with pytest.raises(InvalidMessageError) as refused:
        as_message({"role": "user", "content": [{"type": "image", "url": "u"}, part]})
    assert refused.value.path == path


def test_parts_of_unknown_types_are_kept_verbatim() -> None:
    part = {"type": "redacted_thinking", "data": "QUJD", "signature": "", "z": {"b": 1, "a": 2.0}}
    assert exact(as_message({"role": "assistant", "content": [part]}).content) == exact([part])


@pytest.mark.parametrize("value", ["x", 5, None, [], [user("x")], b"{}"])
def test_what_is_neither_a_message_nor_a_mapping_is_refused(value: Any) -> None:
    with pytest.raises(InvalidMessageError, match="expected a Message or a dict"):
        as_message(value)


@pytest.mark.parametrize("key", [5, None, b"x"])
def test_a_key_that_is_no_str_is_refused_wherever_it_stands(key: Any) -> None:
    for data in (
        {"role": "user", "content": "x", key: 1},
        calls("c") | {"toolCalls": [{"id": "c", "name": "n", key: 1}]},
    ):
        with pytest.raises(CodecError, match="key"):
            as_message(data)
    for field in ("message", "meta"):
        with pytest.raises(CodecError, match="key"):
            as_entry({"message": user("x"), field: {"role": "user", key: 1}})


class Role(enum.StrEnum):
    USER = "user"


class Text(str):
    __slots__ = ()


def test_subclasses_of_str_become_str() -> None:
    message = Message(role=Role.USER, content=Text("x"), name=Text("n"))  # type: ignore[arg-type]
    assert [type(value) for value in (message.role, message.content, message.name)] == [str, str, str]
    entry = as_entry({"id": Text("i"), "message": user("x"), "sources": [Text("s")]})
    assert [type(value) for value in (entry.id, *entry.sources)] == [str, str]


# Words of a content


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x", "x"),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image", "mediaType": "image/png", "data": "QUJD"}], "[image image/png]"),
        ([{"type": "thinking", "thinking": "hm"}], "[thinking]"),
        ({"b": 1, "a": [None]}, '{"b":1,"a":[null]}'),
        (3.5, "3.5"),
        (["a", "b"], '["a","b"]'),
    ],
)
def test_the_text_of_a_content_is_its_words(content: Any, text: str) -> None:
    assert content_text(content) == text
    assert as_message(result("c", content)).text == text


@given(messages())
def test_every_message_has_a_text(data: dict[str, Any]) -> None:
    assert isinstance(as_message(data).text, str)


# Tool calls


@given(json_values)
def test_arguments_may_be_any_json(args: Any) -> None:
    call = ToolCall(id="c", name="n", args=args)
    assert exact(call.args) == exact(args)
    assert exact(ToolCall.from_text("c", "n", call.arguments).args) == exact(args)


@pytest.mark.parametrize("text", ['{"a": 1}', '{"a":1.10}', '{"a":1,"a":2}', '{"a":"\\u00fc"}', "-0", " {}", "1e2"])
def test_the_exact_text_is_kept_where_ours_would_differ(text: str) -> None:
    call = ToolCall.from_text("c", "n", text)
    assert (call.raw, call.arguments, call.broken) == (text, text, False)


def test_the_text_is_not_kept_twice_where_ours_is_the_same() -> None:
    assert ToolCall.from_text("c", "n", '{"a":[1,2.5,null]}').raw is None


BROKEN = [
    '{"cmd": "echo hi',
    "nul",
    "{'a': 1}",
    '{"a": NaN}',
    "1e400",
    "[" * 300 + "]" * 300,
    "[" * 100_000,
    "9" * 4301,
]


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:12])
def test_arguments_that_cannot_be_kept_as_json_are_kept_as_text_and_marked(text: str) -> None:
    call = ToolCall.from_text("c", "n", text)
    assert (call.arguments, call.args, call.broken) == (text, {}, True)


@pytest.mark.parametrize("text", ["", "  ", "\n", None])
def test_blank_arguments_mean_none(text: str | None) -> None:
    call = ToolCall.from_text("c", "n", text)
    assert (call.args, call.broken) == ({}, False)
    assert call.arguments == (text or "{}")


def test_what_else_a_provider_sent_with_a_call_is_kept() -> None:
    call = as_message(
        calls("c") | {"toolCalls": [{"id": "c", "name": "n", "args": {}, "type": "function"}]}
    ).tool_calls[0]
    assert call.extra == {"type": "function"}
    assert ToolCall.from_text("c", "n", "{}", type="function", raw_id=1).extra == {"type": "function", "raw_id": 1}


@pytest.mark.parametrize(
    "data",
    [
        {"role": "model", "parts": [{"text": "card 4242"}]},
        {"role": "ai", "content": "card 4242"},
        {"role": "human", "content": "card 4242"},
        {"role": "function", "name": "f", "content": "{}"},
        {"type": "human", "data": {"content": "card 4242"}},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("read", [as_message, as_entry, lambda data: as_entry({"message": data})])
def test_a_provider_s_form_of_a_message_is_led_to_the_adapters(data: dict[str, Any], read: Any) -> None:
    with pytest.raises(InvalidMessageError, match=r"msglog\.adapters") as refused:
        read(data)
    assert str(refused.value.path).endswith("role")
    assert "card 4242" not in str(refused.value)


@pytest.mark.parametrize("role", ["bot", None, 7, ["user"]])
def test_another_role_is_refused_with_those_that_there_are(role: Any) -> None:
    with pytest.raises(InvalidMessageError, match="'assistant'") as refused:
        as_message({"role": role, "content": "x"})
    assert refused.value.path == "role"


def test_a_fault_in_a_call_is_named_with_its_path() -> None:
    data = calls("a") | {"toolCalls": [{"id": "a", "name": "n"}, {"id": "b", "name": "n", "args": {"x": [b""]}}]}
    with pytest.raises(CodecError) as refused:
        as_message(data)
    assert refused.value.path == "tool_calls[1].args.x[0]"


# Metadata


@given(metas())
def test_metadata_comes_back_from_its_json(data: dict[str, Any]) -> None:
    meta = MessageMeta(**data)
    again = MessageMeta(**meta.to_json())
    assert again == meta
    assert exact(again.to_json()) == exact(meta.to_json())


@given(json_objects)
def test_any_further_json_is_kept_verbatim(further: dict[str, Any]) -> None:
    known = {"turn", "created_at", "createdAt", "labels", "links", "model", "usage"}
    data = {key: value for key, value in further.items() if key not in known}
    meta = MessageMeta(**data)
    assert exact(meta.model_extra) == exact(data)
    assert exact(meta.to_json()) == exact(data)


@pytest.mark.parametrize(
    "key", ["_id", "json", "copy", "schema", "model_config", "self", "to_json", "\udc97", "", "a b"]
)
def test_no_key_of_metadata_is_reserved(key: str) -> None:
    meta = MessageMeta(**{key: [1]})
    assert meta.to_json() == {key: [1]}
    assert pickle.loads(pickle.dumps(meta)) == copy.deepcopy(meta) == meta


def test_a_key_of_metadata_given_in_both_spellings_is_refused() -> None:
    with pytest.raises(InvalidMessageError, match="given twice"):
        MessageMeta(createdAt=NOON, created_at=NOON)


def test_met_1_nan_and_infinities_are_refused_with_their_path() -> None:
    def path_of(**fields: Any) -> str:
        with pytest.raises(CodecError) as refused:
            as_entry({"message": user("x")} | fields)
        return refused.value.path

    assert path_of(meta={"score": float("nan")}) == "meta.score"
    assert path_of(meta={"usage": {"input_tokens": float("nan")}}) == "meta.usage.input_tokens"
    assert path_of(message=result("c1", {"x": float("inf"), "y": 1})) == "message.content.x"
    assert path_of(message=result("c1", {"x": 1, "y": float("-inf")})) == "message.content.y"


def test_met_2_big_integers_keep_every_digit() -> None:
    values = {"id": 9007199254740993, "big": 12345678901234567890123, "min": -(2**63), "huge": BIGGEST}
    call = {"id": "c", "name": "n", "args": values}
    entry = as_entry({"message": calls("c") | {"toolCalls": [call]}, "meta": values})
    assert entry.meta is not None
    assert entry.meta.model_extra == values
    assert entry.message.tool_calls[0].args == values
    assert ToolCall.from_text("c", "n", entry.message.tool_calls[0].arguments).args == values
    assert Entry(**entry.to_json()) == entry


class Colour(enum.Enum):
    RED = 1


MET_4 = {
    "naive datetime": datetime(2026, 1, 1),  # noqa: DTZ001 what the case is about
    "aware datetime": datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2))),
    "date": date(2026, 1, 1),
    "decimal": Decimal("1.10"),
    "uuid": uuid.UUID(int=5),
    "bytes": b"\x00\xd6",
    "set": {1},
    "enum": Colour.RED,
    "path": Path("x"),
}


@pytest.mark.parametrize("value", MET_4.values(), ids=MET_4.keys())
def test_met_4_values_that_json_lacks_are_refused_as_type_errors_that_name_the_key(value: Any) -> None:
    with pytest.raises(TypeError) as refused:
        as_entry({"message": user("x"), "meta": {"k": {"deep": [value]}}})
    assert isinstance(refused.value, CodecError)
    assert refused.value.path == "meta.k.deep[0]"


def test_bin_1_raw_bytes_are_refused_with_their_path() -> None:
    image = {"type": "image", "mediaType": "image/png", "data": bytes(range(256)), "name": "p.png"}
    with pytest.raises(CodecError, match="base64") as refused:
        as_entry({"role": "user", "content": [image]})
    assert refused.value.path == "content[0].data"
    with pytest.raises(CodecError, match="base64") as refused:
        as_entry({"message": user("x"), "meta": {"sig": b"\x00\xd6"}})
    assert refused.value.path == "meta.sig"


def test_bin_3_bytes_deep_inside_a_tool_result_are_refused_with_their_path() -> None:
    with pytest.raises(CodecError) as refused:
        as_message(result("c1", {"rows": [{"id": 1, "blob": b"\xff\xfe"}]}))
    assert refused.value.path == "content.rows[0].blob"


def test_txt_1_a_lone_surrogate_is_kept() -> None:
    tool = as_message(result("c1", "menu \ud83d\u2026"))
    assert (tool.content, tool.text) == ("menu \ud83d\u2026", "menu \ud83d\u2026")
    entry = as_entry({"message": user(EMOJI), "meta": {"title": "\udc97", "\udc97": SPLIT_EMOJI, "model": "\udc97"}})
    assert Entry(**entry.to_json()) == entry
    assert exact(entry.to_json()["meta"]) == exact({"model": "\udc97", "title": "\udc97", "\udc97": SPLIT_EMOJI})
    call = ToolCall.from_text("\ud83d", "n", '{"a":"\ud83d"}')
    assert (call.id, call.args) == ("\ud83d", {"a": "\ud83d"})


def test_txt_2_nul_characters_pass() -> None:
    assert len(as_message(user("a\x00b")).text) == 3
    assert as_message(result("c1", {"k\x00": "v\x00"})).content == {"k\x00": "v\x00"}
    assert MessageMeta(**{"k\x00": "v\x00"}).to_json() == {"k\x00": "v\x00"}


# Times


@given(moments)
def test_a_time_is_held_as_it_is_read_back(moment: datetime) -> None:
    held = MessageMeta(created_at=moment).created_at
    assert held == moment
    assert held is not None
    assert exact(held) == exact(datetime.fromisoformat(moment.isoformat()))


def test_tim_1_a_naive_time_is_refused() -> None:
    for naive in ("2026-03-08T02:30:00", datetime(2026, 3, 8, 2, 30), "2026-03-08"):  # noqa: DTZ001 the case
        with pytest.raises(InvalidMessageError, match="zone") as refused:
            as_entry({"message": user("x"), "meta": {"createdAt": naive}})
        assert refused.value.path.startswith("meta.created")


def test_tim_1_a_time_with_an_offset_is_the_same_instant_for_all() -> None:
    meta = MessageMeta(created_at="2026-03-08T02:30:00+05:30")
    assert meta.created_at == datetime(2026, 3, 7, 21, 0, tzinfo=UTC)
    assert meta.to_json() == {"createdAt": "2026-03-08T02:30:00+05:30"}


def test_tim_1_a_time_that_the_clocks_skipped_equals_what_is_read_back() -> None:
    skipped = datetime(2026, 3, 8, 2, 30, tzinfo=ZoneInfo("America/New_York"))
    meta = MessageMeta(created_at=skipped)
    assert MessageMeta(**meta.to_json()) == meta


def test_a_time_may_be_milliseconds_since_1970() -> None:
    assert MessageMeta(created_at=1_772_971_200_000).created_at == NOON


@pytest.mark.parametrize("value", ["noon", "", 10**20, -(10**20), 1.5, True, [], date(2026, 1, 1)])
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(InvalidMessageError) as refused:
        MessageMeta(created_at=value)
    assert refused.value.path == "created_at"


# Entries


@given(entry_inputs())
def test_an_entry_comes_back_from_its_json(data: dict[str, Any]) -> None:
    entry = as_entry(data)
    again = Entry(**entry.to_json())
    assert again == entry
    assert exact(again.to_json()) == exact(entry.to_json())


def test_a_message_gets_a_new_id() -> None:
    assert as_entry(user("x"), new=lambda: "made") == make_entry("made", as_message(user("x")))
    assert as_entry({"message": user("x"), "id": None}, new=lambda: "made").id == "made"


def test_an_entry_input_may_give_all_that_an_entry_has() -> None:
    entry = as_entry(
        {
            "id": "s",
            "kind": "summary",
            "sources": ["a", "b"],
            "meta": {"turn": 2, "reason": "full"},
            "message": reply("x"),
        }
    )
    assert (entry.id, entry.kind, entry.sources) == ("s", "summary", ("a", "b"))
    assert entry.meta == MessageMeta(turn=2, reason="full")


def test_an_entry_is_taken_as_it_is() -> None:
    entry = as_entry(user("x"))
    assert as_entry(entry) is entry


def test_ids_3_an_empty_id_is_refused_and_a_long_one_is_not() -> None:
    with pytest.raises(InvalidMessageError) as refused:
        as_entry({"id": "", "message": user("x")})
    assert refused.value.path == "id"
    assert len(as_entry({"id": "x" * 300, "message": user("x")}).id) == 300


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "note"}, {"sources": "abc"}, {"sources": [1]}, {"id": 5}, {"seq": 1}, {"meta": 5}, {"message": 5}],
)
def test_an_entry_input_of_another_shape_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessageError) as refused:
        as_entry({"message": user("x"), **wrong})
    assert refused.value.path.startswith(next(iter(wrong)))


def test_a_stored_message_gives_its_plain_message_and_its_entry() -> None:
    stored = StoredMessage(role="user", content="x", seq=3, at=NOON, entry_id="e", sources=("a",), kind="summary")
    assert type(stored.message) is Message
    assert stored.message == as_message(stored) == as_message(user("x"))
    assert stored.entry == make_entry("e", stored.message, "summary", None, ("a",))
    assert type(Entry(id="e", message=stored).message) is Message


@pytest.mark.parametrize("value", [None, MessageMeta(turn=1), {"turn": 1}])
def test_metadata_is_taken_as_a_model_or_a_dict(value: Any) -> None:
    assert as_meta(value) == (None if value is None else MessageMeta(turn=1))


@pytest.mark.parametrize("value", [5, "x", []])
def test_metadata_of_another_type_is_refused(value: Any) -> None:
    with pytest.raises(InvalidMessageError) as refused:
        as_meta(value)
    assert refused.value.path == "meta"


# Read-only

ENTRY = as_entry(
    {
        "id": "e",
        "message": calls("c") | {"content": [{"type": "text", "text": "x", "more": [1]}], "refusal": {"why": []}},
        "meta": {"usage": {"in": 1}, "links": [{"to": []}], "labels": ["l"], "note": {"k": [1]}},
    }
)

MUTATIONS: dict[str, Callable[[Any], object]] = {
    "a field of an entry": lambda e: setattr(e, "id", "x"),
    "a field of a message": lambda e: setattr(e.message, "content", "x"),
    "a field of a call": lambda e: setattr(e.message.tool_calls[0], "name", "x"),
    "a field of meta": lambda e: setattr(e.meta, "turn", 1),
    "a new field": lambda e: setattr(e.message, "other", 1),
    "a further key of meta": lambda e: e.meta.model_extra.update(x=1),
    "deleting a field": lambda e: delattr(e.message, "content"),
    "a part": lambda e: e.message.content[0].update(text="y"),
    "a list in a part": lambda e: e.message.content[0]["more"].append(2),
    "the list of parts": lambda e: e.message.content.append({"type": "x"}),
    "the calls": lambda e: e.message.tool_calls.__setitem__(0, None),
    "arguments": lambda e: e.message.tool_calls[0].args.update(x=1),
    "extra": lambda e: e.message.extra.clear(),
    "a list in extra": lambda e: e.message.extra["refusal"]["why"].append(1),
    "usage": lambda e: e.meta.usage.pop("in"),
    "a link": lambda e: e.meta.links[0]["to"].append(1),
    "a list in further metadata": lambda e: e.meta.model_extra["note"]["k"].append(2),
}


@pytest.mark.parametrize("mutate", MUTATIONS.values(), ids=MUTATIONS.keys())
def test_nothing_in_an_entry_can_be_changed(mutate: Callable[[Any], object]) -> None:
    before = exact(ENTRY.to_json())
    with pytest.raises((TypeError, ValueError, AttributeError)):
        mutate(ENTRY)
    assert exact(ENTRY.to_json()) == before


@given(entry_inputs())
def test_an_entry_is_pickled_copied_and_hashed_whole(data: dict[str, Any]) -> None:
    entry = as_entry(data)
    for again in (pickle.loads(pickle.dumps(entry)), copy.copy(entry), copy.deepcopy(entry), entry.model_copy()):
        assert again == entry
        assert exact(again.to_json()) == exact(entry.to_json())
        assert hash(again) == hash(entry)


def test_a_changed_copy_leaves_the_original_and_what_it_was_made_with_as_they_were() -> None:
    one, two = as_message(user("x")), as_message(user("y"))
    assert one.model_copy(update={"name": "n"}).name == "n"
    assert (one.name, two.name) == (None, None)
    assert one.model_fields_set == two.model_fields_set == set(Message.model_fields)


@given(texts)
def test_any_text_may_stand_in_any_field(text: str) -> None:
    message = Message(role="tool", content=text, name=text, tool_call_id=text, extra={text or "k": text})
    assert as_message(message.to_json()) == message


def test_200_levels_of_nesting_are_kept_in_every_place() -> None:
    deep = nested(200)
    entry = as_entry(
        {
            "message": calls("c") | {"toolCalls": [{"id": "c", "name": "n", "args": deep}], "more": deep},
            "meta": {"deep": deep},
        }
    )
    assert Entry(**entry.to_json()) == entry
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert as_message(result("c", deep)).content == deep
