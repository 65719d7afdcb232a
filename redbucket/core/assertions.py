"""Assertions of a test, and what the difference between two sets of them means."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from redbucket.core.details import Detail
from redbucket.core.pytree import dotted, shape, source_text
from redbucket.core.tolerances import number, tolerance_changes, without_tolerances

RAISES = frozenset(
    {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex"}
)
_EXACT = (
    "Equal",
    "Equals",
    "Is",
    "_equal",
    "_called_once_with",
    "_called_with",
    "_has_calls",
    "_awaited_with",
)
_BROAD = frozenset({"Exception", "BaseException"})
# Calls that say something of what they are given.
_LOOKS = frozenset(
    {
        *(
            "abs",
            "all",
            "any",
            "bool",
            "callable",
            "float",
            "hasattr",
            "int",
            "isinstance",
            "issubclass",
            "len",
        ),
        *("list", "repr", "round", "set", "sorted", "str", "sum", "tuple", "type"),
    }
)
# Which comparison says more about a value; approx and isclose are handled by their tolerance.
_STRENGTH: dict[type[ast.cmpop], int] = {
    ast.Eq: 3,
    ast.Is: 3,
    ast.In: 2,
    ast.Lt: 2,
    ast.Gt: 2,
    ast.LtE: 1,
    ast.GtE: 1,
    ast.NotIn: 1,
    ast.NotEq: 1,
    ast.IsNot: 1,
}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.Is: "is",
    ast.In: "in",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.NotIn: "not in",
    ast.NotEq: "!=",
    ast.IsNot: "is not",
}
# What stands in these may run once, often, or never.
_MAYBE = (
    *(ast.For, ast.AsyncFor, ast.While, ast.match_case),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
)
_BOUNDS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True)
class Assertion:
    """One assertion: its kind, its node, and how it is enclosed."""

    kind: str
    node: ast.AST
    text: str
    line: int
    conditional: int
    caught: bool
    subject: str


def callee(node: ast.AST) -> str:
    """Return the last part of what a call calls, "" if ``node`` is no call of a name."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def assertions(body: Iterable[ast.AST]) -> list[Assertion]:
    """Return the assertions below some statements in the order of the source."""
    found: list[Assertion] = []
    stack: list[tuple[ast.AST, int, bool]] = [(node, 0, False) for node in body]
    stack.reverse()
    while stack:
        node, conditional, caught = stack.pop()
        name = callee(node)
        kind = ""
        if isinstance(node, ast.Assert):
            kind = "assert"
        elif name in RAISES:
            kind = "raises"
        elif name.startswith(("assert", "_assert")) or name == "fail":
            kind = "method"
        if kind:
            found.append(
                Assertion(
                    kind, node, shape(node), getattr(node, "lineno", 1), conditional, caught, _subject(node)
                )
            )
        below = [(child, conditional, caught) for child in ast.iter_child_nodes(node)]
        if isinstance(node, (ast.If, ast.IfExp)):
            below = [(child, conditional + (child is not node.test), caught) for child, _, _ in below]
        elif isinstance(node, _MAYBE):
            below = [(child, conditional + 1, caught) for child, _, _ in below]
        elif isinstance(node, ast.Try) and any(swallows(handler) for handler in node.handlers):
            inner = {id(child) for child in node.body}
            below = [(child, conditional, caught or id(child) in inner) for child, _, _ in below]
        elif isinstance(node, (ast.With, ast.AsyncWith)) and any(
            callee(item.context_expr) == "suppress" for item in node.items
        ):
            below = [(child, conditional, True) for child, _, _ in below]
        stack.extend(reversed(below))
    return found


def swallows(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler can catch a failed assertion and go on."""
    names = {dotted(part).rpartition(".")[2] for part in _classes(handler.type)}
    catches = handler.type is None or not names.isdisjoint(_BROAD | {"AssertionError", ""})
    return catches and not (handler.body and isinstance(handler.body[-1], ast.Raise))


def _classes(node: ast.expr | None) -> list[ast.expr]:
    if node is None:
        return []
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def compare(old: list[Assertion], new: list[Assertion], unit: str) -> tuple[list[Detail], list[Detail]]:
    """Return (added, changed) assertions as details."""
    before, after = Counter(item.text for item in old), Counter(item.text for item in new)
    gone = _surplus(old, before - after)
    fresh = _surplus(new, after - before)
    changes: list[Detail] = []
    pairs = _pairs(gone, fresh)
    for at, item in enumerate(gone):
        partner = pairs.get(at)
        if partner is None:
            changes.append(Detail(f"removes the assertion `{source_text(item.node)}`", item.line, unit, True))
            continue
        fresh.remove(partner)
        text, weakens = _describe(item, partner)
        changes.append(Detail(text, partner.line, unit, weakens))
    kept = {item.text: item for item in new}
    for item in old:
        other = kept.get(item.text)
        if other and other.conditional > item.conditional:
            changes.append(
                Detail(
                    f"runs `{source_text(item.node)}` only under a condition, or not at all",
                    other.line,
                    unit,
                    True,
                )
            )
    caught_before, caught_after = sum(a.caught for a in old), sum(a.caught for a in new)
    if caught_after > caught_before:
        line = next(item.line for item in new if item.caught)
        changes.append(Detail("catches failing assertions with a broad except or suppress", line, unit, True))
    added = [Detail(f"adds the assertion `{source_text(item.node)}`", item.line, unit) for item in fresh]
    return added, changes


def _surplus(items: list[Assertion], counts: Counter[str]) -> list[Assertion]:
    left = Counter(counts)
    found = []
    for item in items:
        if left[item.text] > 0:
            left[item.text] -= 1
            found.append(item)
    return found


def _subject(node: ast.AST) -> str:
    """Return the shape of what an assertion is about: without what it is compared with, and calls that only look."""
    part: ast.AST | None = node.test if isinstance(node, ast.Assert) else _first(getattr(node, "args", []))
    while True:
        if isinstance(part, ast.UnaryOp):
            part = part.operand
        elif isinstance(part, ast.Compare):
            part = _first([part.left, *part.comparators])
        elif isinstance(part, ast.BoolOp):
            part = part.values[0]
        elif isinstance(part, ast.BinOp):
            part = part.left
        elif isinstance(part, ast.Call) and callee(part) in _LOOKS and part.args:
            part = part.args[0]
        else:
            return shape(part) if part is not None else ""


def _first(parts: list[ast.expr]) -> ast.expr | None:
    """Return the first of two sides that is no literal: ``10 == f(1)`` is about ``f(1)``."""
    return next(
        (part for part in parts[:2] if not isinstance(part, ast.Constant)), parts[0] if parts else None
    )


def _pairs(gone: list[Assertion], fresh: list[Assertion]) -> dict[int, Assertion]:
    """Return for the place of each assertion that went the one that stands for it now, the surest pairs first."""
    found: dict[int, Assertion] = {}
    left = list(fresh)
    same: list[Callable[[Assertion, Assertion], bool]] = [
        lambda one, other: other.kind == one.kind and other.subject == one.subject,
        lambda one, other: other.subject == one.subject,
        lambda one, other: other.kind == one.kind,
    ]
    for turn, fits in enumerate(same):
        open_ones = [at for at in range(len(gone)) if at not in found]
        if turn == 2 and len(open_ones) != len(left):
            break  # which of them went is anybody's guess
        for at in open_ones:
            partner = next((other for other in left if fits(gone[at], other)), None)
            if partner is not None:
                left.remove(partner)
                found[at] = partner
    return found


def _describe(old: Assertion, new: Assertion) -> tuple[str, bool]:
    """Say what became of an assertion, and whether it accepts more now."""
    before, after = source_text(old.node), source_text(new.node)
    change = f"`{before}` became `{after}`"
    for text in tolerance_changes(old.node, new.node):
        return f"{text}: {change}", True
    if without_tolerances(old.node) == without_tolerances(new.node):
        return f"narrows the tolerance: {change}", False
    if isinstance(old.node, ast.Assert) and isinstance(new.node, ast.Assert):
        if shape(old.node.test) == shape(new.node.test):
            # a message is worked out where the assertion fails already; only a call in it could end the test otherwise
            calls = new.node.msg is not None and any(isinstance(n, ast.Call) for n in ast.walk(new.node.msg))
            return f"changes the message of the assertion: {change}", calls
        return _tests(old.node.test, new.node.test, change, about_one=old.subject == new.subject)
    if old.kind == new.kind == "raises" and isinstance(old.node, ast.Call) and isinstance(new.node, ast.Call):
        return _raises(old.node, new.node, change)
    was, now = callee(old.node), callee(new.node)
    if was == now:
        arguments = [
            [shape(a) for a in node.args] for node in (old.node, new.node) if isinstance(node, ast.Call)
        ]
        same_rest = len(arguments) == 2 and arguments[0][1:] == arguments[1][1:]
        if same_rest and arguments[0] != arguments[1]:
            return f"looks at something else: {change}", True
        return f"rewrites what is expected: {change}", True
    if was.endswith(_EXACT) and now and not now.endswith(_EXACT):
        return f"loosens the assertion: {change}", True
    return f"replaces the assertion: {change}", False


def _tests(old: ast.expr, new: ast.expr, change: str, *, about_one: bool) -> tuple[str, bool]:
    if isinstance(new, ast.Constant):
        return f"makes the assertion constant: {change}", True
    if isinstance(new, ast.BoolOp) and isinstance(new.op, ast.Or) and not isinstance(old, ast.BoolOp):
        return f"adds an alternative: {change}", True
    if isinstance(old, ast.BoolOp) and isinstance(old.op, ast.And):
        parts = {shape(part) for part in old.values}
        rest = {shape(part) for part in new.values} if isinstance(new, ast.BoolOp) else {shape(new)}
        if rest < parts:
            return f"drops a part of the condition: {change}", True
    if isinstance(new, ast.BoolOp) and isinstance(new.op, ast.And):
        had = old.values if isinstance(old, ast.BoolOp) and isinstance(old.op, ast.And) else [old]
        if {shape(part) for part in had} < {shape(part) for part in new.values}:
            return f"also checks more: {change}", False
    if isinstance(old, ast.Compare):
        if not isinstance(new, ast.Compare):
            return f"loosens a comparison to a truth test: {change}", True
        was, now = type(old.ops[0]), type(new.ops[0])
        if was is not now and about_one:
            loose = _STRENGTH[now] < _STRENGTH[was] or was in (ast.Lt, ast.Gt)
            return f"turns `{_SIGNS[was]}` into `{_SIGNS[now]}`: {change}", loose
        if was is now and shape(old.left) == shape(new.left):
            if isinstance(old.left, ast.Constant):
                return f"looks at something else: {change}", True
            bounds = number(old.comparators[0]), number(new.comparators[0])
            if was in _BOUNDS and bounds[0] is not None and bounds[1] is not None:
                wider = (bounds[1] > bounds[0]) is (was in (ast.Lt, ast.LtE))
                return f"{'widens' if wider else 'narrows'} the bound: {change}", wider
            return f"rewrites the expected value: {change}", True
    return f"replaces the assertion: {change}", False


def _raises(old: ast.Call, new: ast.Call, change: str) -> tuple[str, bool]:
    was = {dotted(part) for part in _classes(old.args[0] if old.args else None)}
    now = {dotted(part) for part in _classes(new.args[0] if new.args else None)}
    if (now & _BROAD) - was or was < now:
        return f"expects a broader exception: {change}", True
    messages = [next((shape(k.value) for k in call.keywords if k.arg == "match"), "") for call in (old, new)]
    patterns = [callee(call).endswith("Regex") for call in (old, new)]
    if (messages[0] and not messages[1]) or (patterns[0] and not patterns[1] and was == now):
        return f"no longer checks the message: {change}", True
    if was == now and messages[0] != messages[1]:
        return f"{'expects another' if messages[0] else 'also checks the'} message: {change}", bool(
            messages[0]
        )
    return f"expects another exception: {change}", was != now
