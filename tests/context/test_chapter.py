"""The code of docs/context.md is run, in order, in one empty folder, and prints what it says that it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from msglog import budget, strategies

CHAPTER = (Path(__file__).resolve().parents[2] / "docs" / "context.md").read_text(encoding="utf-8")
FILES = re.findall(r"```python file=(\S+)\n(.*?)```", CHAPTER, re.DOTALL)
EXAMPLES = re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", CHAPTER, re.DOTALL)


def test_every_example_prints_what_the_chapter_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, code in FILES:
        Path(name).write_text(code, encoding="utf-8")
    for code, expected in EXAMPLES:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "context.md", "exec"), {"__name__": "__main__"})
        assert printed.getvalue() == expected, code


@pytest.mark.parametrize("name", [name for name in strategies.__all__ if name.endswith("_strategy")])
def test_every_strategy_has_an_example(name: str) -> None:
    assert any(name in code for code, _ in EXAMPLES)


@pytest.mark.parametrize("name", ["trim", "cost_of", "usage"])
def test_budgets_have_examples(name: str) -> None:
    assert any(name in code for code, _ in EXAMPLES)


@pytest.mark.parametrize("name", [*budget.__all__, *strategies.__all__])
def test_every_public_name_has_a_docstring(name: str) -> None:
    found = getattr(budget, name, None) or getattr(strategies, name)
    assert name == "PRICING" or (found.__doc__ or "").strip()


@pytest.mark.parametrize("module", [budget, strategies], ids=lambda module: module.__name__)
def test_public_names_are_sorted(module: object) -> None:
    names = module.__all__  # type: ignore[attr-defined]
    assert [n for n in names if n != "PRICING"] == sorted(n for n in names if n != "PRICING")
