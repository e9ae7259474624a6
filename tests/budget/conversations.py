"""Conversations with everything that goes wrong in them, for properties that must hold of any."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.strategies import Json, calls, reply, result, user

call_ids = st.sampled_from(["c1", "c2", "c3"])
sizes = st.integers(0, 12)
roles = st.sampled_from(["system", "developer"])

plain = (
    st.builds(lambda size: user("u" * size), sizes)
    | st.builds(lambda size: reply("a" * size), sizes)
    | st.builds(lambda role, size: {"role": role, "content": "s" * size}, roles, sizes)
)
tools = st.builds(lambda ids: calls(*ids), st.lists(call_ids, min_size=1, max_size=3)) | st.builds(
    lambda call_id, size: result(call_id, "r" * size), call_ids, sizes
)


@st.composite
def whole_exchanges(draw: st.DrawFn) -> list[Json]:
    """A call with all its results, in any order, and now and then something between them."""
    ids = draw(st.lists(call_ids, min_size=1, max_size=3, unique=True))
    turns = [calls(*ids), *(result(call_id, "r" * draw(sizes)) for call_id in draw(st.permutations(ids)))]
    if draw(st.booleans()):
        turns.insert(draw(st.integers(1, len(turns))), draw(plain))
    return turns


@st.composite
def conversations(draw: st.DrawFn, most: int = 12) -> list[Json]:
    """Entry inputs: plain turns and tool exchanges, whole and broken, ids used again, some of it pinned."""
    pieces = draw(st.lists(whole_exchanges() | plain.map(lambda m: [m]) | tools.map(lambda m: [m]), max_size=most))
    pinned = draw(st.sets(st.integers(0, 3 * most), max_size=2))
    messages = [message for piece in pieces for message in piece]
    return [
        {"message": message, "meta": {"labels": ["pinned"]}} if place in pinned else {"message": message}
        for place, message in enumerate(messages)
    ]
