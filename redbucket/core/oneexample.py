"""Whether a test quantifies over a domain, or restates one example after the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from redbucket.core.extent import LEAST, MANY, Check, Dimension, Value, is_domain, left_of, size_of
from redbucket.core.filescope import FUNCTIONS, FileScope, Function, bases, members
from redbucket.core.naming import Env
from redbucket.core.pytree import dotted, shape, source_text
from redbucket.core.testparameters import Parameters

_OFF = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
_MACHINES = frozenset({"RuleBasedStateMachine", "GenericStateMachine"})
_STEPS = frozenset({"rule", "invariant", "initialize"})


class Form(str, Enum):
    """What a test shows."""

    PROPERTY = "property"
    POINT = "point"
    CRASH = "crash"
    UNPINNED = "unpinned"
    EMPTY = "empty"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Reading:
    """The form of one test, and why; ``names`` is what it uses of the code under test.

    ``drawn``: each example asserts by itself; ``whole``: it goes through all values of a type.
    """

    form: Form
    why: str
    line: int
    names: frozenset[str] = frozenset()
    drawn: bool = False
    whole: bool = False


def read_test(scope: FileScope, qualname: str) -> Reading | None:
    """Return the reading of one test of a file, ``None`` if its source does not show such a test."""
    return dict(read_tests(scope, {qualname})).get(qualname)


def read_tests(scope: FileScope, wanted: set[str] | None = None) -> Iterator[tuple[str, Reading]]:
    """Yield (qualified name, reading) of the tests that a file defines: functions, methods, state machines."""
    for name, node in scope.functions.items():
        if _chosen(name, name, wanted):
            yield name, _read(scope, node, None)
    for owner, holder in scope.classes.items():
        for name, node in members(holder).items():
            if _chosen(f"{owner}.{name}", name, wanted):
                yield f"{owner}.{name}", _read(scope, node, holder)
    for name, value in scope.values.items():
        machine = (
            scope.classes.get(dotted(value).rpartition(".")[0]) if isinstance(value, ast.Attribute) else None
        )
        if machine is not None and _MACHINES.intersection(bases(machine)):
            for shown in (name, f"{name}.runTest"):
                if _chosen(shown, "test", wanted) or (wanted is None and shown.endswith("runTest")):
                    yield shown, _read_machine(scope, machine)


def shapes(scope: FileScope) -> tuple[dict[str, str], str]:
    """Return the shape of each test of a file, and one of all else that is in it: equal shapes run the same."""
    tests: dict[str, str] = {}
    rest: list[ast.stmt] = []
    for node in scope.tree.body if scope.tree is not None else []:
        if isinstance(node, FUNCTIONS) and node.name.startswith("test"):
            tests[node.name] = shape(node)
        elif isinstance(node, ast.ClassDef) and any(name.startswith("test") for name in members(node)):
            own = {name: shape(part) for name, part in members(node).items()}
            shared = [part for part in node.body if not getattr(part, "name", "").startswith("test")]
            outer = shape([*node.bases, *node.decorator_list]) + shape(shared)
            outer += "".join(text for name, text in own.items() if not name.startswith("test"))
            tests.update({f"{node.name}.{n}": t + outer for n, t in own.items() if n.startswith("test")})
        else:
            rest.append(node)
    return tests, shape(rest)


def _chosen(qualname: str, name: str, wanted: set[str] | None) -> bool:
    return name.startswith("test") if wanted is None else qualname in wanted


def _read_machine(scope: FileScope, machine: ast.ClassDef) -> Reading:
    names: set[str] = set()
    best: Reading | None = None
    for node in members(machine).values():
        marks = {
            dotted(m.func if isinstance(m, ast.Call) else m).rpartition(".")[2] for m in node.decorator_list
        }
        if not marks & _STEPS:
            continue
        walk = Parameters(scope)
        walk.run(node, {"self": Value(subject=True)}, scope)
        names |= walk.names
        if any(check.kind != "runs" for check in walk.checks):
            best = Reading(Form.PROPERTY, "a state machine", machine.lineno)
    if best is None:
        return Reading(Form.EMPTY, "its rules assert nothing", machine.lineno, frozenset(names))
    return Reading(best.form, best.why, best.line, frozenset(names))


def _read(scope: FileScope, node: Function, owner: ast.ClassDef | None) -> Reading:
    walk = Parameters(scope)
    marks = [*node.decorator_list, *(owner.decorator_list if owner else ()), *_file_marks(scope)]
    off = [m for m in marks if dotted(m.func if isinstance(m, ast.Call) else m).rpartition(".")[2] in _OFF]
    env: Env = {}
    if owner is not None:
        env["self"] = env["cls"] = Value(subject=True, code=owner)
        for name in ("setUp", "setup_method", "asyncSetUp"):
            before = members(owner).get(name)
            if before is not None:
                walk.steps(before.body, env)
        walk.checks.clear()
    parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    for mark in marks[len(node.decorator_list) :]:
        walk.mark(mark, [n for n in parameters if n not in env], env)
    walk.run(node, env, scope)
    if off:
        why = f"it is switched off: `{source_text(off[0])}`"
        return Reading(Form.EMPTY, why, node.lineno, frozenset(walk.names))
    form, why, line = _judged(walk)
    wide = [check for check in walk.checks if check.kind != "runs" and _is_wide(check, walk.cap)]
    return Reading(
        form,
        why,
        line or node.lineno,
        frozenset(walk.names),
        drawn=any(d.drawn for check in wide for d in check.dimensions),
        whole=any(d.whole for check in wide for d in check.dimensions),
    )


def _file_marks(scope: FileScope) -> list[ast.expr]:
    given = scope.values.get("pytestmark")
    return (
        list(given.elts) if isinstance(given, (ast.List, ast.Tuple)) else [given] if given is not None else []
    )


def _judged(walk: Parameters) -> tuple[Form, str, int]:
    if walk.gave_up:
        return Form.UNKNOWN, "it is too big to be followed", 0
    real = [check for check in walk.checks if check.kind != "runs"]
    wide = [check for check in real if _is_wide(check, walk.cap)]
    for check in wide:
        if all(d.pinned for d in check.dimensions):
            return Form.PROPERTY, f"goes through {_named(check.dimensions)}", check.line
    if wide:
        names = _named(d for d in wide[0].dimensions if not d.pinned)
        return Form.UNPINNED, f"its values come from a source without a seed ({names})", wide[0].line
    if not real:
        runs = [c for c in walk.checks if _is_wide(c, walk.cap)]
        if runs:
            return Form.CRASH, "it asserts nothing: only that nothing is raised", runs[0].line
        return Form.EMPTY, "it asserts nothing", 0
    check = max(real, key=lambda c: (c.subject, len(c.dimensions)))
    return Form.POINT, _why(check, walk), check.line


def _is_wide(check: Check, cap: float) -> bool:
    if not check.subject or check.tabled or not is_domain(check.dimensions, check.pins):
        return False
    return cap >= LEAST or not any(d.drawn for d in check.dimensions)


def _why(check: Check, walk: Parameters) -> str:
    """Say why a check is no property."""
    text = source_text(check.node)
    drawn = [d for d in check.dimensions if d.size > 1]
    if not check.subject and drawn:
        return f"no code of the project has a part in `{text}`"
    if check.tabled:
        return f"`{text}` holds results against a table of literals"
    if not check.dimensions:
        unused = [d for d in (*walk.bound, *walk.loops) if d.size > 1]
        if unused:
            return f"what it goes through ({_named(unused)}) does not reach `{text}`"
        return f"`{text}` is one example"
    if walk.cap < LEAST and any(d.drawn for d in check.dimensions):
        return walk.why_capped
    left = size_of(check.dimensions, check.pins)
    pinned = [d for d in check.dimensions if left_of(d, check.pins).size < d.size]
    if pinned and left < LEAST:
        return f"a condition leaves {_count(left)} of {_named(pinned)}"
    if all(d.listed for d in check.dimensions):
        return f"`{text}` holds for {_count(left)} listed in the source, one by one"
    return f"{_named(check.dimensions)} gives {_count(left)}, as many as one could list"


def _count(size: float) -> str:
    return "values" if size == MANY else "1 value" if size == 1 else f"{size:g} values"


def _named(dimensions: frozenset[Dimension] | Iterator[Dimension] | list[Dimension]) -> str:
    return ", ".join(sorted({d.name for d in dimensions if d.name})) or "its values"
