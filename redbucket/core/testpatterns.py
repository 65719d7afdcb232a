"""Where a repository keeps its tests: patterns of ``[judge] tests``, and files of properties to protect."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from redbucket.core.paths import Matcher, literal
from redbucket.core.pytree import dotted, parse

_NAMES = frozenset({"tests", "test", "testing", "unittests", "test_suite", "testsuite"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def judged_tests(files: Iterable[str], usual: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``usual`` and what it lacks for the files that hold the collected tests.

    A folder called tests (or the like) counts whole, with its helpers and data; any other file alone.
    """
    found = dict.fromkeys(usual)
    for path in sorted(files):
        parts = path.split("/")[:-1]
        at = _among_tests(parts)
        if at is not None:
            pattern = f"{literal('/'.join(parts[: at + 1]))}/**"
            # "tests/**" of the usual ones covers the top folder alone
            if pattern not in found and not Matcher(found).matches(f"{'/'.join(parts[: at + 1])}/data.bin"):
                found[pattern] = None
        elif not Matcher(found).matches(path):
            found[literal(path) if "/" in path else path] = None
    return tuple(found)


def _among_tests(folders: Sequence[str]) -> int | None:
    """Return where the first folder called tests (or the like) stands, None without one."""
    return next((n for n, folder in enumerate(folders) if folder.lower() in _NAMES), None)


def is_among_tests(path: str) -> bool:
    """Return whether ``path`` lies in a folder called tests, or the like."""
    return _among_tests(path.split("/")[:-1]) is not None


def is_doctest_of_code(nodeid: str, path: str, source: bytes) -> bool:
    """Return whether a test is a docstring of ``path``: pytest names it by the dotted name of what it belongs to.

    The file that holds it is the product; what it says is judged as a test wherever base runs doctests. A function
    may have its module's name (``test_cart`` in ``test_cart.py``): ``source`` says so.
    """
    item = nodeid.rpartition("::")[2]
    if not path.endswith(".py") or "::" not in nodeid:
        return False
    dotted_path = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parts = dotted_path.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    if item in names:
        tree = parse(source)
        return tree is None or all(getattr(node, "name", "") != item for node in ast.walk(tree))
    return any(item.startswith(f"{name}.") for name in names)


def kind_of_tests(source: bytes) -> tuple[int, int]:
    """Return how many tests a file's source has, and how many of them are properties of Hypothesis."""
    tree = parse(source)
    if tree is None or b"hypothesis" not in source:
        return 0, 0
    total = properties = 0
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            total += 1
            properties += any(_is_given(each) for each in node.decorator_list)
        elif isinstance(node, ast.ClassDef) and any(
            dotted(base).rpartition(".")[2] == "RuleBasedStateMachine" for base in node.bases
        ):
            total += 1
            properties += 1
    return total, properties


def _is_given(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return dotted(called).rpartition(".")[2] == "given"
