"""What one definition of a name is, and what two of them are to each other."""

from __future__ import annotations

import ast

from redbucket.core.pytree import shape
from redbucket.core.scope import Entry

# Old Python versions had some names in one of these only.
_TYPES = ("typing", "typing_extensions", "collections.abc")


def packages(entries: list[Entry]) -> set[str] | None:
    """Return the modules that ``import`` statements alone bind a package's name for, ``None`` for anything else."""
    found = set()
    for entry in entries:
        level, _, rest = entry.imported.partition(":")
        module, _, name = rest.partition(":")
        own = module == entry.name or module.startswith(f"{entry.name}.")
        if entry.guard or level != "0" or name or not own:
            return None
        found.add(module)
    return found


def same_type(old: Entry, new: Entry) -> bool:
    """Return whether a name for types only moved between the modules of the standard library that have it."""
    (was, left), (now, right) = (
        entry.imported.removeprefix("0:").split(":", 1) if entry.imported else ("", "")
        for entry in (old, new)
    )
    return was in _TYPES and now in _TYPES and left == right and old.guard == new.guard


def holds_tests(entry: Entry) -> bool:
    """Return whether a class is one of tests: by pytest's name for them, or as unittest's by its methods."""
    methods = (getattr(part, "name", "") for part in getattr(entry.node, "body", ()))
    return entry.name.startswith("Test") or any(name.startswith("test") for name in methods)


def exported(node: ast.AST) -> set[str] | None:
    """Return the names that an ``__all__`` lists literally, ``None`` for any other value."""
    value = getattr(node, "value", None)
    if not isinstance(node, ast.Assign) or not isinstance(value, (ast.List, ast.Tuple)):
        return None
    names = [part.value for part in value.elts if isinstance(part, ast.Constant)]
    texts = {name for name in names if isinstance(name, str)}
    return texts if len(texts) == len(value.elts) else None


def elements(entry: Entry) -> list[str] | None:
    """Return the shapes of the elements of a literal list or tuple, ``None`` for any other value."""
    value = getattr(entry.node, "value", None)
    return [shape(row) for row in value.elts] if isinstance(value, (ast.List, ast.Tuple)) else None
