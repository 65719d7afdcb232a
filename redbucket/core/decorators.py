"""Decorators of a test: parameter rows, Hypothesis settings, skips, mocks."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from redbucket.core.assertions import callee
from redbucket.core.details import Detail
from redbucket.core.pytree import dotted, shape, source_text

SKIPS = frozenset(
    {"expectedFailure", "skip", "skipIf", "skipUnless", "skipif", "xfail", "skip_if", "requires", "disabled"}
)
# In these a failure is no failure.
EXCUSES = frozenset({"expectedFailure", "xfail"})
_RERUNS = frozenset({"flaky", "rerun", "retry"})
# Decorators that stay what they are under other arguments, and what that changes.
_SAME = {"given": "draws other examples", "fixture": "changes how the fixture is made"}
_DEFAULT_EXAMPLES = 100  # Hypothesis' own default


def last_name(node: ast.expr) -> str:
    """Return the last part of a decorator's name, called or not."""
    return callee(node) or dotted(node).rpartition(".")[2]


def compare_decorators(
    old: Iterable[ast.expr], new: Iterable[ast.expr], unit: str, line: int
) -> tuple[list[Detail], list[Detail]]:
    """Return (additions, changes) that the decorators of a test, helper or class went through."""
    additions: list[Detail] = []
    changes: list[Detail] = []
    before, after = list(old), list(new)
    if [shape(node) for node in before] == [shape(node) for node in after]:
        return additions, changes
    left, fresh = _without_common(before, after)
    for node in list(left):
        partner = next((other for other in fresh if _same_kind(node, other)), None)
        if partner is None:
            continue
        left.remove(node)
        fresh.remove(partner)
        if last_name(node) == "parametrize":
            more, worse = compare_rows(node, partner, unit)
        else:
            more, worse = _compare_settings(node, partner, unit)
        additions += more
        changes += worse
    for node in fresh.copy():
        name = last_name(node)
        was = next((other for other in left if last_name(other) == name), None)
        if was is None or (name not in SKIPS and name not in _SAME):
            continue
        left.remove(was)
        fresh.remove(node)
        change = f"`@{source_text(was)}` became `@{source_text(node)}`"
        if name in _SAME:
            changes.append(Detail(f"{_SAME[name]}: {change}", node.lineno, unit, name == "given"))
        elif name == "xfail" and _excuses_less(was, node):
            text = f"excuses less: {change}"
            additions.append(Detail(text, node.lineno, unit))
        elif _reasonless(was) == _reasonless(node):
            text = f"gives another reason for a skipped or excused test: {change}"
            additions.append(Detail(text, node.lineno, unit))
        else:
            text = f"changes when the test is skipped or excused: {change}"
            changes.append(Detail(text, node.lineno, unit, True))
    for node in left:
        name, at = last_name(node), f"`@{source_text(node)}`"
        if name in SKIPS:
            additions.append(Detail(f"no longer has {at}", line, unit))
        elif name in ("parametrize", "example", "given"):
            changes.append(Detail(f"removes {at}", line, unit, True))
        else:
            changes.append(Detail(f"removes the decorator {at}", line, unit))
    for node in fresh:
        name, at, where = last_name(node), f"`@{source_text(node)}`", node.lineno
        if name in SKIPS:
            changes.append(Detail(f"skips or excuses the test with {at}", where, unit, True))
        elif name in _RERUNS:
            changes.append(Detail(f"reruns the test until it passes with {at}", where, unit, True))
        elif "patch" in dotted(node.func if isinstance(node, ast.Call) else node).split("."):
            changes.append(Detail(f"replaces a part under test with {at}", where, unit, True))
        elif name == "example":
            additions.append(Detail(f"adds {at}", where, unit))
        elif name == "settings":
            more, worse = _compare_settings(None, node, unit)
            additions += more
            changes += worse
        else:
            changes.append(Detail(f"adds the decorator {at}", where, unit))
    if not additions and not changes:
        changes.append(Detail("changes the order of the decorators", line, unit))
    return additions, changes


def _excuses_less(old: ast.expr, new: ast.expr) -> bool:
    """Return whether an expected failure became a strict one, and is what it was otherwise."""
    if not isinstance(new, ast.Call):
        return False
    strict = [k for k in new.keywords if k.arg == "strict"]
    is_strict = (
        len(strict) == 1 and isinstance(strict[0].value, ast.Constant) and strict[0].value.value is True
    )
    rest = ast.Call(new.func, new.args, [k for k in new.keywords if k.arg != "strict"])
    bare = old if isinstance(old, ast.Call) else ast.Call(old, [], [])
    off = [k for k in bare.keywords if k.arg == "strict"]
    if any(not isinstance(k.value, ast.Constant) for k in off):
        return False
    bare = ast.Call(bare.func, bare.args, [k for k in bare.keywords if k.arg != "strict"])
    return is_strict and _reasonless(bare) == _reasonless(rest)


def _reasonless(node: ast.expr) -> list[str]:
    """Return what a marker says besides a ``reason`` that is plain text."""
    if not isinstance(node, ast.Call):
        return [shape(node)]
    rest = [k for k in node.keywords if k.arg != "reason" or not isinstance(k.value, ast.Constant)]
    return [shape(node.func), *map(shape, node.args), *sorted(f"{k.arg}={shape(k.value)}" for k in rest)]


def _without_common(before: list[ast.expr], after: list[ast.expr]) -> tuple[list[ast.expr], list[ast.expr]]:
    common = Counter(map(shape, before)) & Counter(map(shape, after))
    sides = []
    for nodes in (before, after):
        left = Counter(common)
        rest = []
        for node in nodes:
            text = shape(node)
            if left[text]:
                left[text] -= 1
            else:
                rest.append(node)
        sides.append(rest)
    return sides[0], sides[1]


def _same_kind(old: ast.expr, new: ast.expr) -> bool:
    if not isinstance(old, ast.Call) or not isinstance(new, ast.Call) or dotted(old.func) != dotted(new.func):
        return False
    if last_name(old) == "parametrize":
        return bool(old.args and new.args) and shape(old.args[0]) == shape(new.args[0])
    return last_name(old) == "settings"


def compare_rows(old: ast.expr, new: ast.expr, unit: str) -> tuple[list[Detail], list[Detail]]:
    """Compare two ``parametrize`` calls over the same argument names."""
    assert isinstance(old, ast.Call) and isinstance(new, ast.Call)  # noqa: PT018
    before, after = _argument(old, 1, "argvalues"), _argument(new, 1, "argvalues")
    options = [
        {k.arg: shape(k.value) for k in node.keywords if k.arg not in ("argvalues", "ids")}
        for node in (old, new)
    ]
    changes: list[Detail] = []
    if options[0] != options[1]:
        changes.append(Detail("changes how the parameters are used", new.lineno, unit))
    for was, now, what in (
        (before, after, "row"),
        (_argument(old, 3, "ids"), _argument(new, 3, "ids"), "id"),
    ):
        if (was and shape(was)) == (now and shape(now)):
            continue
        rows = _elements(was), _elements(now)
        if what == "id" and (was is None or now is None):
            said = "gives the parameter rows ids" if was is None else "takes the parameter rows' ids away"
            changes.append(Detail(f"{said}, so that the tests have other names", new.lineno, unit))
            continue
        if rows[0] is None or rows[1] is None:
            changes.append(Detail(f"changes where the parameter {what}s come from", new.lineno, unit))
            continue
        gone, _ = _without_common(rows[0], rows[1])
        changes += [
            Detail(f"removes the parameter {what} `{source_text(row)}`", new.lineno, unit, True)
            for row in gone
        ]
    rows = _elements(before), _elements(after)
    additions = []
    if rows[0] is not None and rows[1] is not None:
        _, fresh = _without_common(rows[0], rows[1])
        additions = [
            Detail(f"adds the parameter row `{source_text(row)}`", row.lineno, unit) for row in fresh
        ]
    return additions, changes


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    value = next((k.value for k in call.keywords if k.arg == name), None)
    return call.args[position] if value is None and position < len(call.args) else value


def _elements(node: ast.expr | None) -> list[ast.expr] | None:
    return list(node.elts) if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else None


def _compare_settings(old: ast.expr | None, new: ast.expr, unit: str) -> tuple[list[Detail], list[Detail]]:
    before = {k.arg: k.value for k in old.keywords} if isinstance(old, ast.Call) else {}
    after = {k.arg: k.value for k in new.keywords} if isinstance(new, ast.Call) else {}
    additions: list[Detail] = []
    changes: list[Detail] = []
    for name in sorted({str(key) for key in before.keys() | after.keys()}):
        was, now = before.get(name), after.get(name)
        if (was and shape(was)) == (now and shape(now)):
            continue
        if name == "max_examples":
            counts = [_count(was), _count(now)]
            if counts[0] is not None and counts[1] is not None and counts[1] >= counts[0]:
                additions.append(
                    Detail(f"tries more examples: {counts[1]} for {counts[0]}", new.lineno, unit)
                )
                continue
            changes.append(
                Detail(f"tries fewer examples: {_said(was)} became {_said(now)}", new.lineno, unit, True)
            )
        else:
            weakens = name in (
                "suppress_health_check",
                "phases",
                "deadline",
                "derandomize",
                "stateful_step_count",
            )
            text = f"changes the Hypothesis setting {name}: {_said(was)} became {_said(now)}"
            changes.append(Detail(text, new.lineno, unit, weakens))
    return additions, changes


def _count(node: ast.expr | None) -> int | None:
    if node is None:
        return _DEFAULT_EXAMPLES
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _said(node: ast.expr | None) -> str:
    return "the default" if node is None else f"`{source_text(node)}`"
