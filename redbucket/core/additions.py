"""Whether a new name in a judge-side file leaves the old judge as it was."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Iterator

from redbucket.core.meddling import meddles
from redbucket.core.reaching import Reach, worked_out
from redbucket.core.scope import Entry
from redbucket.core.testtree import AROUND_TESTS

# Fixtures of pytest and of widely used plugins: one of the same name in a conftest hides them.
KNOWN_FIXTURES = frozenset(
    {
        "benchmark",
        "cache",
        "capfd",
        "capfdbinary",
        "caplog",
        "capsys",
        "capsysbinary",
        "class_mocker",
        "client",
        "db",
        "doctest_namespace",
        "event_loop",
        "event_loop_policy",
        "faker",
        "httpx_mock",
        "mocker",
        "module_mocker",
        "monkeypatch",
        "pytestconfig",
        "record_property",
        "record_testsuite_property",
        "recwarn",
        "request",
        "requests_mock",
        "rf",
        "session_mocker",
        "settings",
        "snapshot",
        "subtests",
        "testdir",
        "pytester",
        "tmp_path",
        "tmp_path_factory",
        "tmpdir",
        "tmpdir_factory",
        "transactional_db",
        "worker_id",
    }
)
# Names with two underscores that only say something.
_HARMLESS = frozenset(
    {
        *("__all__", "__author__", "__copyright__", "__credits__", "__date__", "__doc__", "__docformat__"),
        *("__email__", "__license__", "__maintainer__", "__status__", "__tracebackhide__", "__unittest"),
        "__version__",
    }
)
# Run around a file's tests by pytest 7, as nose did.
_NOSE = frozenset({"setup", "teardown"})
# Class attributes that only say how failures are shown.
_DISPLAY = frozenset({"longMessage", "maxDiff"})


def addition_changes(
    entry: Entry,
    *,
    owner: str,
    asked: Container[str],
    conftest: bool,
    new_file: bool,
    outer_fixtures: Collection[str] | None,
    inherited: Collection[str],
    plain_class: bool,
    reach: Reach,
) -> list[tuple[str, bool]]:
    """Return why a new definition is more than an addition, as (text, weakens); [] if it is one.

    ``asked`` is what the old file read from outside of itself; ``outer_fixtures`` are what a fixture here could hide
    from base's tests below, None where there are none; ``reach`` knows the other definitions of the new file.
    """
    found = list(
        _of_member(entry, owner, asked, inherited, plain_class)
        if owner
        else _of_module(entry, asked, conftest, new_file, outer_fixtures)
    )
    if _meddles_at_import(entry.node) or reach.at_import(entry.node):
        name = f"{owner}.{entry.name}".lstrip(".")
        found.append((f"reaches into other objects while {name} is defined", True))
    return found


def _of_module(
    entry: Entry, asked: Container[str], conftest: bool, new_file: bool, outer: Collection[str] | None
) -> Iterator[tuple[str, bool]]:
    name = entry.name
    if name.startswith("pytest_") and entry.kind != "import" and (conftest or name != "pytest_plugins"):
        yield f"adds the hook {name}", True
    elif not new_file and (entry.ambient or (entry.kind == "function" and name in _NOSE)):
        yield f"adds {name}, which acts on every test of the file", "pytestmark" in name
    elif not new_file and name.startswith("__") and name.endswith("__") and name not in _HARMLESS:
        # __getattr__ answers what pytest asks a module for, __builtins__ holds what every name may mean
        yield f"adds {name}, which Python acts on for the whole file", True
    elif name in asked:
        yield f"gives {name}, which existing tests already use, another meaning", True
    if entry.fixture:
        yield from _of_fixture(entry.fixture, asked, conftest, new_file, outer)
    elif conftest and entry.kind == "import" and _hides(name, outer):
        yield f"hides the fixture {name} by an import", True


def _of_fixture(
    fixture: tuple[str, bool],
    asked: Container[str],
    conftest: bool,
    new_file: bool,
    outer: Collection[str] | None,
) -> Iterator[tuple[str, bool]]:
    name, autouse = fixture
    if autouse and not new_file:
        yield f"adds the autouse fixture {name}", True
    if name in asked:
        yield f"hides the fixture {name}, which existing tests use", True
    elif conftest and _hides(name, outer):
        yield f"hides the fixture {name} from every test below", True


def _hides(name: str, outer: Collection[str] | None) -> bool:
    return outer is not None and (name in outer or name in KNOWN_FIXTURES)


def _of_member(
    entry: Entry, owner: str, asked: Container[str], inherited: Collection[str], plain: bool
) -> Iterator[tuple[str, bool]]:
    name = entry.name
    if name in AROUND_TESTS or name in ("pytestmark", "__test__"):
        yield f"adds {name} to {owner}, which acts on every test of the class", True
    elif name in inherited or f"self.{name}" in asked:
        yield f"overrides {name} in {owner}", True
    elif entry.fixture:
        if entry.fixture[1]:
            yield f"adds the autouse fixture {entry.fixture[0]} to {owner}", True
        elif entry.fixture[0] in asked:
            yield f"hides the fixture {entry.fixture[0]}, which existing tests use", True
    elif entry.kind == "value" and not plain and name not in _DISPLAY:
        # A base class may read it: a setting, not a constant.
        yield f"sets {name} in {owner}, which its bases may act on", False
    elif name.startswith("__") and name not in _HARMLESS:
        # pytest leaves a class alone that has a __new__, unittest one that has an __unittest_skip__
        yield f"adds {name} to {owner}", entry.kind == "value"


def _meddles_at_import(node: ast.AST) -> bool:
    """Return whether defining the name itself, not using it later, has effects elsewhere."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        # mock.patch as a decorator acts while the function runs, and takes itself back.
        return meddles(worked_out(node))
    if isinstance(node, ast.ClassDef):
        return any(
            _meddles_at_import(part) if _is_definition(part) else meddles([part]) for part in node.body
        )
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    values = (getattr(node, "value", None), getattr(node, "annotation", None))
    return meddles([value for value in values if value is not None])


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
