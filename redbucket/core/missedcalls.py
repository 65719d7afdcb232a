"""The calls of a missed test: which functions, methods and classes of the project, with which literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from redbucket.core.calls import Target, target_of, with_arguments
from redbucket.core.filescope import FileScope
from redbucket.core.methods import maker_of, method_of
from redbucket.core.pytree import dotted

_LONGEST = 20_000


def targets(scope: FileScope, node: ast.AST, message: str) -> list[Target]:
    """Return the functions and methods of the project that a test calls, and the classes of which it calls no method.

    Known of their parameters are the literals in the test's source and in its failure's message.
    """
    found: dict[str, Target] = {}
    called = {dotted(call.func) for call in _calls(node)} - {""}
    # what failed comes first: of many rows a few become explicit examples
    calls = [*_said(message, called), *_calls(node)]
    for call in calls:
        callee = dotted(call.func)
        known = found.get(callee) or target_of(scope, callee) if callee else None
        if known is None:
            method = method_of(scope, call)
            known = found.get(method.callee, method) if method is not None else None
        if known is not None:
            found[known.callee] = with_arguments(known, call, scope)
    # a method's draft makes objects, too
    covered = {id(target.on.owner) for target in found.values() if target.on is not None}
    for call in calls:
        made = maker_of(scope, call)
        if made is not None and made.on is not None and id(made.on.owner) not in covered:
            found[made.callee] = with_arguments(found.get(made.callee, made), call, scope)
    return list(found.values())


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Call))


def _said(message: str, called: set[str]) -> Iterator[ast.Call]:
    """Yield the calls in a message of pytest's: ``where [4, 4, 2] = split(11, 3)``.

    An attribute is said as ``<function split at 0x7f>(11, 3)``: ``called`` are the names by which the test calls.
    """
    by_name = {name.rpartition(".")[2]: name for name in sorted(called)}
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message[:_LONGEST])  # pytest colours what it compares
    plain = re.sub(r" \([^()\s]+:\w+\)$", "", plain.rstrip())  # where it failed
    plain = re.sub(r"<function (?:\w+\.)*(\w+) at 0x[^>]*>\(", lambda m: f"{by_name.get(m[1], m[1])}(", plain)
    for text in re.findall(r"(?:= |and +)([A-Za-z_][\w.]*\(.*\))$", plain, re.M):
        try:
            node = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if isinstance(node, ast.Call):
            yield node
