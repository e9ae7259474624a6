"""The values that a conversation is made of: messages, tool calls, entries. Immutable, JSON all through.

msglog stores what happened, whatever a provider may think of it: types are checked here, what a
provider accepts is the adapters' business. Keys that are not known go to `extra` and are kept verbatim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self, TypeAlias, TypedDict, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    model_validator,
)

from msglog.checks import checked_name
from msglog.codec import (
    EMPTY,
    FrozenDict,
    FrozenList,
    JsonValue,
    decode,
    encode,
    freeze,
    freeze_object,
    without_none,
)
from msglog.errors import CodecError, InvalidMessageError, InvalidNameError
from msglog.ids import new_id
from msglog.model import FrozenModel, ModelWithExtra, construct, known_keys, string_keys

Role = Literal["system", "developer", "user", "assistant", "tool"]
Kind = Literal["turn", "summary"]

_ROLES = frozenset(get_args(Role))
_FOREIGN_ROLES = ("model", "ai", "human", "function")  # a tuple, since what is looked for may not be hashable


class TextPart(TypedDict):
    """A part of text."""

    type: Literal["text"]
    text: str


class ImagePart(TypedDict, total=False):
    """A part that shows an image: `mediaType` with base64 `data`, or a `url`."""

    type: Literal["image"]
    mediaType: str
    data: str
    url: str


Part: TypeAlias = "TextPart | ImagePart | dict[str, Any]"
"""A part of a content: any JSON object with a `type`; parts of types not known here are kept verbatim."""

JsonObject = Annotated[dict[str, Any], PlainValidator(freeze_object)]


class ToolCall(ModelWithExtra):
    """A call of a tool by the model.

    `args` is any JSON value. `raw` is the exact text of the arguments, kept where our encoder would write
    another text, or where the text is no JSON at all (`broken`; `args` is then empty).
    """

    id: str
    name: str
    args: Annotated[Any, PlainValidator(freeze)] = EMPTY
    raw: str | None = None
    extra: JsonObject = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _refuse_other_forms(cls, data: Any) -> Any:
        """A provider's call would be taken for one without arguments, and its arguments for something extra."""
        if isinstance(data, dict):
            foreign = [key for key in ("function", "arguments", "input") if key in data]
            if foreign:
                reason = "looks like a provider's form of a call; convert the message with msglog.adapters, "
                reason += "from_openai or from_anthropic say, or give the arguments as args"
                raise InvalidMessageError(foreign[0], reason)
        return data

    @classmethod
    def from_text(cls, id: str, name: str, arguments: str | None, **extra: Any) -> Self:  # noqa: A002 the field's name
        """A call from the text of its arguments, as providers send it. Blank text means no arguments."""
        if not arguments or arguments.isspace():
            return cls(id=id, name=name, raw=arguments or None, extra=FrozenDict(extra))
        try:
            args = _parsed(arguments)
        except ValueError:
            return cls(id=id, name=name, raw=arguments, extra=FrozenDict(extra))
        raw = None if encode(args) == arguments else arguments
        return cls(id=id, name=name, args=args, raw=raw, extra=FrozenDict(extra))

    @property
    def arguments(self) -> str:
        """The text of the arguments: `raw` where there is one, else `args` as compact JSON."""
        return encode(self.args) if self.raw is None else self.raw

    @property
    def broken(self) -> bool:
        """Whether the arguments came as text that is not JSON, or JSON that cannot be kept."""
        if self.raw is None or not self.raw or self.raw.isspace():
            return False
        try:
            _parsed(self.raw)
        except ValueError:
            return True
        return False

    def to_json(self) -> dict[str, Any]:
        """The call as a JSON object with camelCase keys."""
        data = {"id": self.id, "name": self.name, "args": self.args}
        if self.raw is not None:
            data["raw"] = self.raw
        if self.extra:
            data["extra"] = self.extra
        return data


def _parsed(arguments: str) -> Any:
    try:
        return freeze(decode(arguments))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _checked_parts(content: Any) -> Any:
    for i, part in enumerate(content):
        if not isinstance(part, dict):
            raise InvalidMessageError(f"content[{i}]", 'a part must be an object such as {"type": "text", "text": …}')
        if not isinstance(part.get("type"), str):
            raise InvalidMessageError(f"content[{i}].type", "a part must have a type")
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise InvalidMessageError(f"content[{i}].text", "a text part must have a text")
    return content


def _as_tuple(value: Any) -> Any:
    return () if value is None else tuple(value) if isinstance(value, list) else value


def _as_object(value: Any) -> Any:
    return string_keys(value) if isinstance(value, Mapping) else value


class Message(ModelWithExtra):
    """One message of a conversation.

    `content` is a string, a list of typed parts, or None where only tool calls speak; a `tool` message
    may hold any JSON value. `extra` holds whatever else a provider sent, verbatim.
    """

    role: Role
    content: Annotated[Any, PlainValidator(freeze)] = None
    name: str | None = None
    tool_calls: Annotated[tuple[Annotated[ToolCall, BeforeValidator(_as_object)], ...], BeforeValidator(_as_tuple)] = ()
    tool_call_id: str | None = None
    extra: JsonObject = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _refuse_other_forms(cls, data: Any) -> Any:
        """A provider's message would get an answer that does not say how it is stored."""
        if isinstance(data, dict) and ("role" not in data or data["role"] in _FOREIGN_ROLES):
            reason = "is missing" if "role" not in data else f"is {data['role']!r}, a word of a provider's"
            reason += (
                "; convert a provider's message with msglog.adapters, from_gemini or from_langchain_messages say, "
            )
            raise InvalidMessageError("role", f"{reason}or give one of {', '.join(get_args(Role))}")
        return data

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        content = self.content
        if content is not None and type(content) is not str and self.role != "tool":
            if type(content) is not FrozenList:
                kind = "an object" if isinstance(content, dict) else f"a {type(content).__name__}"
                reason = f"must be a string, a list of parts or None, not {kind}"
                raise InvalidMessageError("content", reason)
            _checked_parts(content)
        return self

    @property
    def text(self) -> str:
        """What the content says in words: the string, or its text parts joined by newlines."""
        return content_text(self.content)

    def to_json(self) -> dict[str, Any]:
        """The message as a JSON object with camelCase keys; what is not set is left out."""
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.name is not None:
            data["name"] = self.name
        if self.tool_calls:
            data["toolCalls"] = [call.to_json() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["toolCallId"] = self.tool_call_id
        if self.extra:
            data["extra"] = self.extra
        return data


def content_text(content: JsonValue) -> str:
    """The words of a content. Parts without text stand as `[type]`; other JSON as its compact text."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(p, dict) and isinstance(p.get("type"), str) for p in content):
        return "\n".join(_part_text(part) for part in content)
    return encode(content)


def _part_text(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    if isinstance(text, str):
        return text
    media = part.get("mediaType")
    return f"[{part['type']} {media}]" if isinstance(media, str) else f"[{part['type']}]"


def _as_moment(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
        except OverflowError:
            raise InvalidMessageError("", "no time that a datetime can hold") from None
    if isinstance(value, datetime):
        value = value.isoformat()  # through the text that is stored, so that what is held equals what is read
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidMessageError("", "not an ISO 8601 time") from None
    if moment.tzinfo is None:
        raise InvalidMessageError("", "a time without a zone is ambiguous; give it one, such as datetime.UTC")
    return moment


class MessageMeta(FrozenModel):
    """What is known about an entry beside its message: advisory, stored verbatim, never interpreted.

    `created_at` is an aware time (also an ISO 8601 string with an offset, or milliseconds since 1970).
    `usage` is what a provider reported for the response. Any further JSON may be given by keyword, and is
    found in `model_extra`.
    """

    model_config = ConfigDict(extra="allow")

    turn: int | None = None
    created_at: Annotated[datetime | None, BeforeValidator(_as_moment)] = None
    labels: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
    links: Annotated[tuple[JsonObject, ...], BeforeValidator(_as_tuple)] = ()
    model: str | None = None
    usage: JsonObject | None = None

    def __init__(self, /, **data: Any) -> None:
        fields: dict[str, Any] = {}
        further: dict[str, Any] = {}
        for key, value in data.items():
            name = _META_KEYS.get(key)
            if name is None:
                further[key] = freeze(value, key)
            elif name in fields:
                raise InvalidMessageError(key, "given twice, in snake_case and in camelCase")
            else:
                fields[name] = value
        super().__init__(**fields)
        # Set here, since pydantic takes no key that UTF-8 cannot hold.
        object.__setattr__(self, "__pydantic_extra__", FrozenDict(further))

    def to_json(self) -> dict[str, Any]:
        """The metadata as a JSON object with camelCase keys; what was not given is left out."""
        data: dict[str, Any] = {
            "turn": self.turn,
            "createdAt": None if self.created_at is None else self.created_at.isoformat(),
            "labels": list(self.labels) or None,
            "links": list(self.links) or None,
            "model": self.model,
            "usage": self.usage,
        }
        return without_none(data) | (self.model_extra or {})


_META_KEYS = known_keys(MessageMeta)


def _no_message(value: object) -> InvalidMessageError:
    reason = f"expected a Message or a dict, not {type(value).__name__}"
    if hasattr(value, "model_dump"):
        reason += "; convert a provider's object with msglog.adapters, as in from_openai([message.model_dump()])"
    return InvalidMessageError("", reason)


def as_message(value: Message | Mapping[str, Any]) -> Message:
    """`value` as a plain `Message`; `InvalidMessageError` or `CodecError` where it is none."""
    if type(value) is dict and len(value) == 2:  # the usual case, at a fifth of the time
        role, content = value.get("role"), value.get("content")
        if type(content) is str and type(role) is str and role in _ROLES:
            rest = {"name": None, "tool_calls": (), "tool_call_id": None, "extra": EMPTY}
            return construct(Message, {"role": role, "content": content, **rest})
    if isinstance(value, StoredMessage):
        return value.message
    if isinstance(value, Message):
        return value
    if isinstance(value, Mapping):
        return Message(**string_keys(value))
    raise _no_message(value)


def _as_id(value: str) -> str:
    try:
        return checked_name(value, "an id")
    except InvalidNameError as error:
        raise InvalidMessageError("", str(error)) from None


EntryId = Annotated[str, AfterValidator(_as_id)]


class Entry(FrozenModel):
    """One immutable message in a history or a log, with its id.

    `sources` are the ids of the entries that a summary stands for.
    """

    id: EntryId
    message: Annotated[Message, BeforeValidator(as_message)]
    kind: Kind = "turn"
    meta: Annotated[MessageMeta | None, BeforeValidator(_as_object)] = None
    sources: Annotated[tuple[EntryId, ...], BeforeValidator(_as_tuple)] = ()

    def to_json(self) -> dict[str, Any]:
        """The entry as a JSON object with camelCase keys; what is not set is left out."""
        data: dict[str, Any] = {"id": self.id, "kind": self.kind, "message": self.message.to_json()}
        if self.meta is not None:
            data["meta"] = self.meta.to_json()
        if self.sources:
            data["sources"] = list(self.sources)
        return data


EntryInput: TypeAlias = "Message | Entry | Mapping[str, Any]"
"""What is accepted as an entry: a message, an entry, or a dict of either (`id`, `kind`, `meta`, … optional)."""


class StoredMessage(Message):
    """A message as a log holds it: with its seq, the time it was stored (informational) and its entry's facts."""

    seq: int
    at: datetime
    entry_id: str
    kind: Kind = "turn"
    meta: MessageMeta | None = None
    sources: tuple[str, ...] = ()
    redacted: bool = False

    @property
    def message(self) -> Message:
        """The message alone, as it was appended."""
        fields = self.__dict__
        return construct(Message, {name: fields[name] for name in Message.model_fields})

    @property
    def entry(self) -> Entry:
        """The entry, as a history holds it."""
        return make_entry(self.entry_id, self.message, self.kind, self.meta, self.sources)


MESSAGE_KEYS = frozenset(known_keys(Message))
"""The keys of a message that do not go to its `extra`, snake_case and camelCase."""

IdMaker: TypeAlias = Callable[[], str]


def as_entry(value: EntryInput, *, new: IdMaker = new_id) -> Entry:
    """`value` as an `Entry`; a message gets a new id."""
    if type(value) is not dict and isinstance(value, Entry):
        return value
    if isinstance(value, (dict, Mapping)) and "message" in value and "role" not in value:
        fields = {key: item for key, item in string_keys(value).items() if item is not None}
        return Entry(**fields) if "id" in fields else Entry(id=new(), **fields)
    return make_entry(new(), as_message(value))


def as_meta(value: MessageMeta | Mapping[str, Any] | None) -> MessageMeta | None:
    """`value` as `MessageMeta`, or None."""
    if value is None or isinstance(value, MessageMeta):
        return value
    if isinstance(value, Mapping):
        try:
            return MessageMeta(**string_keys(value))
        except (CodecError, InvalidMessageError) as error:
            raise error.under("meta") from None
    raise InvalidMessageError("meta", f"expected a MessageMeta or a dict, not {type(value).__name__}")


def make_entry(
    id: str,  # noqa: A002 the field's name
    message: Message,
    kind: Kind = "turn",
    meta: MessageMeta | None = None,
    sources: Sequence[str] = (),
) -> Entry:
    """An entry from parts that are known to be valid."""
    fields = {"id": id, "message": message, "kind": kind, "meta": meta, "sources": tuple(sources)}
    return construct(Entry, fields)
