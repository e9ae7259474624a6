"""Bodies of requests for the OpenAPI description, with examples."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

APPEND: dict[str, Any] = {
    "id": "turn-1",
    "message": {"role": "user", "content": "Is the 7:58 on time?"},
    "meta": {"labels": ["phone"]},
}


def body(model: type[BaseModel], *, many: bool = False, **example: Any) -> dict[str, Any]:
    """The description of a body: an object of a model, or with `many` also a list of them or bare messages."""
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    schema: dict[str, Any] = reference
    if many:
        one = {"anyOf": [reference, {"$ref": "#/components/schemas/Message"}]}
        schema = {"anyOf": [*one["anyOf"], {"type": "array", "items": one}]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


DELTA: dict[str, Any] = {
    "base": "019acb0e5f1e7a2b",
    "head": "mine-1",
    "entries": [{"id": "turn-2", "message": {"role": "assistant", "content": "It runs 12 minutes late."}}],
    "revisions": [
        {
            "id": "mine-1",
            "parent": "019acb0e5f1e7a2b",
            "createdAt": 1772971200000,
            "operation": {"type": "append", "entryIds": ["turn-2"]},
        }
    ],
}

RESTORE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "entryIds": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}
                    },
                },
                "example": {"entryIds": ["turn-7"]},
            }
        },
    }
}
