"""Whatever is public is documented: a docstring where it is defined, and its name in the README or in `docs/`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import msglog
import msglog.sync
from msglog import errors
from msglog.raw import RawLog

ROOT = Path(msglog.__file__).resolve().parents[1]
PAGES = "\n".join(
    page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
)
WORDS = set(re.findall(r"\w+", PAGES))
FACES = (msglog.Store, msglog.MessageLog, msglog.MessageHistory, RawLog)


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(msglog.__path__, "msglog."):
        if "_migrations" not in found.name:
            yield importlib.import_module(found.name)


def own_members(module: ModuleType) -> Iterator[tuple[str, object]]:
    for name, member in vars(module).items():
        if not name.startswith("_") and getattr(member, "__module__", None) == module.__name__ and callable(member):
            yield name, member


@pytest.mark.parametrize("module", tuple(modules()), ids=lambda module: module.__name__)
def test_every_public_name_of_a_module_has_a_docstring(module: ModuleType) -> None:
    assert module.__doc__
    undocumented = [name for name, member in own_members(module) if isinstance(member, type) and not member.__doc__]
    undocumented += [
        name for name, member in own_members(module) if inspect.isfunction(member) and not inspect.getdoc(member)
    ]
    assert undocumented == []


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_every_public_method_is_in_the_documentation(face: type) -> None:
    names = {name for name in vars(face) if not name.startswith("_")}
    assert {name for name in names if inspect.getdoc(getattr(face, name)) is None} == set()
    assert names - WORDS == set()


def test_every_name_at_the_root_is_in_the_documentation() -> None:
    assert set(msglog.__all__) - WORDS == set()
    assert msglog.__all__ == sorted(msglog.__all__)


def test_every_error_says_when_it_is_raised() -> None:
    classes = [member for _, member in own_members(errors) if isinstance(member, type)]
    assert all(issubclass(error, errors.MsgLogError) and error.__doc__ for error in classes)


def test_every_script_is_in_the_documentation() -> None:
    scripts = [each for each in (ROOT / "scripts").iterdir() if each.is_file()]
    commands = {script.name for script in scripts if script.stat().st_mode & 0o100}
    assert commands - WORDS == set()


def test_the_blocking_face_has_every_method_of_the_asynchronous_one() -> None:
    for blocking, original in (
        (msglog.sync.Store, msglog.Store),
        (msglog.sync.MessageLog, msglog.MessageLog),
        (msglog.sync.RawLog, RawLog),
    ):
        assert {n for n in vars(original) if not n.startswith("_")} <= set(dir(blocking))


def test_every_function_of_a_store_or_a_log_takes_the_blocking_ones_too() -> None:
    awaited = set()
    for module in modules():
        if module.__name__.split(".")[1:2] in (["transfer"], ["strategies"], ["budget"], ["adapters"]):
            for name, member in own_members(module):
                if inspect.iscoroutinefunction(member):
                    first = next(iter(inspect.signature(member).parameters.values()), None)
                    if first is not None and first.annotation in ("Store", "MessageLog"):
                        awaited.add(f"{module.__name__}.{name}")
    assert awaited == set(), "OfStores and OfLogs make them serve both"
