"""Tolerances of an assertion: how near is near enough, before and after."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy

from redbucket.core.pytree import dotted, shape

# Keyword -> position among the call's arguments; a bigger number accepts more, except for digits.
_TOLERANCES: dict[str, dict[str, int]] = {
    "approx": {"rel": 1, "abs": 2},
    "isclose": {"rel_tol": 9, "abs_tol": 9, "rtol": 2, "atol": 3},
    "allclose": {"rtol": 2, "atol": 3},
    "assert_allclose": {"rtol": 2, "atol": 3},
    "assert_almost_equal": {"decimal": 2},
    "assert_array_almost_equal": {"decimal": 2},
    "assert_approx_equal": {"significant": 2},
    "assertAlmostEqual": {"places": 2, "delta": 4},
    "assertNotAlmostEqual": {"places": 2, "delta": 4},
}
# What applies where the keyword is left out.
_DEFAULTS: dict[str, float] = {
    "abs": 1e-12,
    "abs_tol": 0.0,
    "atol": 0.0,
    "decimal": 7,
    "delta": 0.0,
    "places": 7,
    "rel": 1e-6,
    "rel_tol": 1e-9,
    "rtol": 1e-7,
    "significant": 7,
}
_DIGITS = frozenset({"decimal", "significant", "places"})


def number(node: ast.expr | None) -> float | None:
    """Return the number that a literal is, ``None`` for anything else."""
    try:
        value = ast.literal_eval(node) if node is not None else None
        return float(value) if isinstance(value, (int, float)) else None
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        return None


def _called(node: ast.AST) -> str:
    return dotted(getattr(node, "func", None)).rpartition(".")[2]


def _tolerances(root: ast.AST) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for node in ast.walk(root):
        name = _called(node)
        if not isinstance(node, ast.Call) or name not in _TOLERANCES:
            continue
        found[f"{name} used"] = None
        for key, position in _TOLERANCES[name].items():
            value = next((k.value for k in node.keywords if k.arg == key), None)
            if value is None and position < len(node.args):
                value = node.args[position]
            if value is not None:
                found[key] = number(value)
    return found


def without_tolerances(root: ast.AST) -> str:
    """Return the shape of an assertion without its tolerances."""
    root = deepcopy(root)
    for node in ast.walk(root):
        if isinstance(node, ast.Call) and (known := _TOLERANCES.get(_called(node))):
            node.keywords = [option for option in node.keywords if option.arg not in known]
            del node.args[min(known.values()) :]
    return shape(root)


def narrower(old: ast.expr, new: ast.expr) -> bool:
    """Return whether two calls differ in literal tolerances alone, and those of ``new`` accept less."""
    if not (isinstance(old, ast.Call) and isinstance(new, ast.Call)):
        return False
    known = _TOLERANCES.get(_called(new))
    if known is None or shape(old.func) != shape(new.func):
        return False
    if len(old.args) != len(new.args) or len(old.keywords) != len(new.keywords):
        return False
    named = {position: key for key, position in known.items()}
    pairs = [(named.get(at), a, b) for at, (a, b) in enumerate(zip(old.args, new.args, strict=True))]
    if [k.arg for k in old.keywords] != [k.arg for k in new.keywords]:
        return False
    pairs += [(k.arg, k.value, n.value) for k, n in zip(old.keywords, new.keywords, strict=True)]
    return all(shape(a) == shape(b) or _is_less(key, a, b, known) for key, a, b in pairs)


def _is_less(key: str | None, old: ast.expr, new: ast.expr, known: dict[str, int]) -> bool:
    was, now = number(old), number(new)
    if key is None or key not in known or was is None or now is None:
        return False
    return now > was if key in _DIGITS else 0 <= now < was


def tolerance_changes(old: ast.AST, new: ast.AST) -> Iterator[str]:
    """Yield in words what makes the tolerances of ``new`` wider than those of ``old``."""
    before, after = _tolerances(old), _tolerances(new)
    for key in after.keys() - before.keys():
        if key.endswith(" used"):
            yield f"allows a tolerance ({key.removesuffix(' used')})"
    for key, default in _DEFAULTS.items():
        was, now = before.get(key, default), after.get(key, default)
        if was is None or now is None or now == was:
            continue
        if key in before or key in after:
            still = any(name.endswith(" used") for name in after)
            if still and ((now < was) if key in _DIGITS else (now > was)):
                yield f"widens the tolerance {key} from {was:g} to {now:g}"
