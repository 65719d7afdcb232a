"""Which names of a product file lead to a test framework."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping

from redbucket.core.pytree import dotted
from redbucket.core.references import import_refs

FRAMEWORKS = frozenset({"_pytest", "doctest", "hypothesis", "nose", "pluggy", "pytest", "unittest"})
# Importing these says little by itself: only reaching into them does.
_QUIET = frozenset({"doctest", "hypothesis", "pluggy"})
_HELPER_WORDS = ("conftest", "mock", "noxfile", "pytest", "test_util", "testing", "tests", "testutil")


def framework_names(nodes: Iterable[ast.AST]) -> Mapping[str, str]:
    """Return bound names -> full dotted name, for what a file imports of test frameworks."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for bound, ref in import_refs(node).items():
                if not ref.level and ref.module.split(".", 1)[0] in FRAMEWORKS:
                    full = f"{ref.module}.{ref.name}" if ref.name else ref.module
                    found[bound] = full if ref.name or bound != full.split(".", 1)[0] else bound
    return found


def framework_import(node: ast.AST) -> str:
    """Return the framework that an import statement loads, "" if none or one that says little."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for ref in import_refs(node).values():
            top = ref.module.split(".", 1)[0]
            if not ref.level and top in FRAMEWORKS - _QUIET:
                return ref.module
    return ""


def full_name(node: ast.AST | None, names: Mapping[str, str]) -> str:
    """Return the full dotted name of ``node`` if it belongs to a test framework, else ""."""
    name = dotted(node)
    first, _, rest = name.partition(".")
    if first not in names:
        return ""
    return f"{names[first]}.{rest}" if rest else names[first]


def is_test_helper(path: str, existing: Collection[str]) -> bool:
    """Return whether a product file exists to help tests (``numpy/testing``, a pytest plugin).

    Names alone are the patch's to choose: the file or its so named folder must
    be among the ``existing`` paths.
    """
    if not any(word in path.lower() for word in _HELPER_WORDS):
        return False
    if path in existing:
        return True
    folder = path.rpartition("/")[0]
    named = any(word in folder.lower() for word in _HELPER_WORDS)
    return named and any(other.startswith(f"{folder}/") for other in existing)
