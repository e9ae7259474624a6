"""The code of docs/importers.md is run, in order, in one empty folder, and prints what it says that it prints."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path

import pytest

from msglog.transfer.importers import FORMATS

CHAPTER = (Path(__file__).resolve().parents[2] / "docs" / "importers.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n((?:(?!```).)*)```\n(?:\n```text\n(.*?)```)?", CHAPTER, re.DOTALL)
IMPORTED = {"asyncio", "json", "msglog", "import_file", "agents", "llm", "sqlite_utils"}
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


@pytest.mark.parametrize("code", [code for code, _ in EXAMPLES])
def test_every_example_imports_what_it_needs(code: str) -> None:
    nodes = list(ast.walk(ast.parse(code)))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {(name.asname or name.name).split(".")[0] for node in imports for name in node.names}
    assert {node.id for node in nodes if isinstance(node, ast.Name)} & IMPORTED <= imported


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_in_the_chapter_with_an_example(name: str) -> None:
    assert f"| `{name}` |" in CHAPTER
    assert any(printed.startswith(f"{name} ") for _, printed in EXAMPLES)
