"""The parts of Gemini's contents, as they are sent: calls, results, text and media."""

from __future__ import annotations

from msglog.adapters.calls import object_of
from msglog.adapters.media import Json, Media, Part
from msglog.adapters.names import Renaming
from msglog.adapters.parts import Dialect, result_content
from msglog.adapters.steps import Step


def function_call(step: Step, k: int, names: Renaming, unsigned: str | None) -> Json:
    """The part of a step's call number `k`; `unsigned` signs the first one of a message that is not Gemini's."""
    own = step.own_of(step.calls[k])
    call = {
        "id": step.call_ids[k],
        "name": step.named(k, names, own=step.came_from_provider),
        "args": object_of(step, k),
    }
    for key in own.get("absent", ()):
        if key == "id" or not call[key]:
            del call[key]
    part: Json = {"functionCall": call | own.get("call", {}), **own.get("part", {})}
    if k == 0 and unsigned is not None and not step.came_from_provider and "thoughtSignature" not in part:
        step.note("added", "Gemini 3 wants calls signed", "tool_calls[0]")
        part["thoughtSignature"] = unsigned
    return part


def function_response(step: Step, names: Renaming) -> Json:
    """The part of a tool message: an object, whose `output` or `error` is a content that is none."""
    call, own = step.call, step.own
    response: Json = {"id": step.call_id}
    if call is not None:
        response["name"] = names(call.name)
        if "id" in step.own_of(call).get("absent", ()):
            del response["id"]
    response |= _outcome(step) | own.get("response", {})
    return {"functionResponse": response, **own.get("part", {})}


def _outcome(step: Step) -> Json:
    """The `response` of a result, an object, and its media as `parts` beside it."""
    key = "error" if step.is_error else "output"
    content = step.message.content
    if isinstance(content, dict) and not step.is_error:
        return {"response": content}
    if content is None and not step.is_error:
        return {"response": {}}
    if not isinstance(content, list) or step.came_from_provider:
        return {"response": {key: content}}
    found = result_content(step, INPUT)
    if not isinstance(found, list):  # a list of values
        return {"response": {key: content}}
    words = [part["text"] for part in found if "text" in part]
    media = [part for part in found if "text" not in part]
    return {"response": {key: "\n".join(words)}} | ({"parts": media} if media else {})


def _text(text: str) -> Json:
    return {"text": text}


def _media(media: Media) -> Json:
    kind = {"mimeType": media.media_type} if media.media_type else {}
    if media.data:
        return {"inlineData": {**kind, "data": media.data}}
    return {"fileData": {**kind, "fileUri": media.url}}


def _never(_part: Part) -> bool:
    return False


INPUT = Dialect(_never, _text, _media)
WORDS = Dialect(_never, _text, lambda _: None)
