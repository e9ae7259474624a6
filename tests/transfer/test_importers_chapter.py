"""The code of docs/importers.md is run, in order, in one empty folder, and prints what it says that it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from msglog.transfer.importers import FORMATS

CHAPTER = (Path(__file__).resolve().parents[2] / "docs" / "importers.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n((?:(?!```).)*)```\n(?:\n```text\n(.*?)```)?", CHAPTER, re.DOTALL)
NEEDED = ("agents", "langchain_community", "langgraph.checkpoint.sqlite", "llm")


def test_every_example_prints_what_the_chapter_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in NEEDED:
        pytest.importorskip(module, reason=f"{module} is not installed (group importers)")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for code, expected in EXAMPLES:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "importers.md", "exec"), names)
        assert printed.getvalue() == expected, code


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_in_the_chapter_with_an_example(name: str) -> None:
    assert f"| `{name}` |" in CHAPTER
    assert any(printed.startswith(f"{name} ") for _, printed in EXAMPLES)
