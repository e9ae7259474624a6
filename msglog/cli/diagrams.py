"""The revision graph for other programs: Graphviz, Mermaid, SVG. Whatever a name holds, it stays a label there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from msglog.cli.graph import Step
from msglog.cli.visible import exact_line

_COLOURS = ("#2e7d32", "#00838f", "#6a1b9a", "#b26a00", "#1565c0", "#c62828")
_ROW, _LANE, _LEFT, _TEXT = 28, 18, 20, 13


def dot(log: str, steps: Sequence[Step]) -> Iterator[str]:
    """The graph in Graphviz's language."""
    yield f"digraph {_quoted(log)} {{"
    yield '  node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];'
    for step in steps:
        yield f"  r{step.last} [label={_quoted(_label(step))}];"
        if step.parent is not None:
            yield f"  r{step.parent} -> r{step.last};"
    for number, (head, step) in enumerate(_heads(steps)):
        yield f'  h{number} [label={_quoted(head)}, shape=plaintext, fontcolor="{_colour(step)}"];'
        yield f'  h{number} -> r{step.last} [style=dashed, arrowhead=none, color="{_colour(step)}"];'
    yield "}"


def _quoted(text: str) -> str:
    shown = exact_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{shown}"'


def mermaid(steps: Sequence[Step]) -> Iterator[str]:
    """The graph as a Mermaid flowchart."""
    yield "flowchart TD"
    for step in steps:
        yield f'  r{step.last}["{_entities(_label(step))}"]'
        if step.parent is not None:
            yield f"  r{step.parent} --> r{step.last}"
    for number, (head, step) in enumerate(_heads(steps)):
        yield f'  h{number}(["{_entities(head)}"]) -.- r{step.last}'


def _entities(text: str) -> str:
    """Everything that Mermaid, Markdown or HTML could take for its own, as a numeric entity in Mermaid's form."""
    return "".join(c if c.isalnum() or c in " .,-+()" else f"#{ord(c)};" for c in exact_line(text))


def svg(log: str, steps: Sequence[Step]) -> Iterator[str]:
    """The graph as an SVG image, drawn as on the terminal. It loads nothing and runs nothing."""
    lanes = 1 + max((lane for step in steps for lane in (step.lane, *step.through)), default=0)
    text = _LEFT + lanes * _LANE
    longest = max((len(_label(step)) + sum(len(exact_line(h)) + 4 for h in step.heads) for step in steps), default=0)
    width, height = text + 8 * longest + _LEFT, _ROW * (len(steps) + 1)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    yield f'  font-family="sans-serif" font-size="{_TEXT}">'
    yield f"<title>{escape(exact_line(log))}</title>"
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    place = {step.last: (_LEFT + step.lane * _LANE, _ROW * (row + 1)) for row, step in enumerate(steps)}
    for step in steps:
        if step.parent is not None:
            yield _line(place[step.parent], place[step.last], _colour(step))
    for step in steps:
        x, y = place[step.last]
        fill = _colour(step) if step.operation is None else "white"
        yield f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="{_colour(step)}" stroke-width="2"/>'
        heads = "".join(
            f'<tspan dx="10" font-weight="bold" fill="{_colour(step)}">{escape(exact_line(head))}</tspan>'
            for head in step.heads
        )
        yield f'<text x="{text}" y="{y + 4}">{escape(_label(step))}{heads}</text>'
    yield "</svg>"


def _line(start: tuple[int, int], end: tuple[int, int], colour: str) -> str:
    (x, y), (to_x, to_y) = start, end
    bend = "" if x == to_x else f" C {x} {y + _ROW} {to_x} {y} {to_x} {y + _ROW}"
    return f'<path d="M {x} {y}{bend} L {to_x} {to_y}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _label(step: Step) -> str:
    root = step.operation is not None and step.operation["type"] == "root"
    return f"{step.numbers}  {step.what}" + ("" if root else f" → {step.size:,}")


def _heads(steps: Sequence[Step]) -> Iterator[tuple[str, Step]]:
    return ((head, step) for step in steps for head in step.heads)


def _colour(step: Step) -> str:
    return _COLOURS[step.lane % len(_COLOURS)]
