"""What became of one test, fixture or helper: its signature, its decorators, its body."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from redbucket.core.assertions import RAISES, assertions, callee, compare
from redbucket.core.decorators import EXCUSES, compare_decorators, last_name
from redbucket.core.demands import put_back_demands, without_unread
from redbucket.core.details import Detail
from redbucket.core.looprows import drop_new_rows
from redbucket.core.meddling import changes_something
from redbucket.core.pytree import dotted, shape, source_text, without_docstring
from redbucket.core.references import references
from redbucket.core.skipping import SKIP_CALLS, outer_nodes, skips

Function = ast.FunctionDef | ast.AsyncFunctionDef
Reaches = Callable[[ast.AST], bool]
_BODY = "changes the body"
_PATCH_CALLS = frozenset(
    {"patch", "setattr", "setitem", "object", "spy", "stub", "Mock", "MagicMock", "create_autospec"}
)
# Any other block may count, expect or swallow what happens in it.
_HARMLESS_BLOCKS = frozenset({"NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile", "open", "subTest"})


@dataclass(frozen=True)
class Around:
    """What is known of the file around a function.

    ``reaches`` says whether running a statement calls something of the file that changes other objects, ``skips``
    whether it calls something that skips the test; ``is_builtin`` of a name that the file gives it no other meaning,
    ``is_strange`` that it is newly imported from where it could do either.
    """

    reaches: Reaches
    skips: Reaches
    is_builtin: Callable[[str], bool]
    is_strange: Callable[[str], bool]


def compare_functions(
    old: Function, new: Function, unit: str, *, is_test: bool, around: Around
) -> tuple[list[Detail], list[Detail]]:
    """Return (additions, changes) between two definitions of one name; both empty if they run the same.

    Assertions added to a test are additions: at the end of the body any plain
    statements may come with them, because all that the old body checked has
    been checked by then; in between only assertions and what they look at by
    names of their own. So are statements that demand more than they did. All of
    that can make the test fail, not pass. In a helper or a fixture nothing is an
    addition.
    """
    additions, changes = compare_decorators(old.decorator_list, new.decorator_list, unit, new.lineno)
    if shape(old.args) != shape(new.args):
        changes.append(Detail("changes the arguments", new.lineno, unit))
    if type(old) is not type(new):
        changes.append(Detail("changes between a plain and an async function", new.lineno, unit, is_test))
    if is_test and not any(last_name(mark) in EXCUSES for mark in new.decorator_list):
        rows = drop_new_rows(old, new)
        additions += [
            Detail(f"adds the row `{source_text(row)}` to a loop", row.lineno, unit) for row in rows
        ]
        demands = put_back_demands(
            old,
            new,
            harmless=lambda part: not _acts(ast.Expr(part), around),
            is_builtin=around.is_builtin,
        )
        additions += [Detail(text, line, unit) for text, line in demands]
        kept = _drop_new_names(old, new)
        additions += [
            Detail(f"keeps what `with {source_text(i.context_expr)}` gives", new.lineno, unit) for i in kept
        ]
    before, after = without_docstring(old), without_docstring(new)
    if shape(before) != shape(after):
        without_unread(old)
        without_unread(new)
        before, after = without_docstring(old), without_docstring(new)
        if shape(before) == shape(after):
            additions.append(Detail("gives another name, or none, to what nothing reads", new.lineno, unit))
    if shape(before) == shape(after):
        return additions, changes
    only_more = _only_more(old, new, *_innermost(before, after), around) if is_test else None
    if only_more is not None:
        found = assertions(only_more) or None
        texts = [(f"adds the assertion `{source_text(item.node)}`", item.line) for item in found or ()]
        texts = texts or [("adds statements at the end", only_more[0].lineno)]
        additions += [Detail(text, line, unit) for text, line in texts]
        return additions, changes
    if is_test and (gone := drop_new_rows(new, old)):
        changes += [
            Detail(f"removes the row `{source_text(row)}` from a loop", new.lineno, unit, True)
            for row in gone
        ]
        if shape(without_docstring(old)) == shape(after):
            return additions, changes
    added, changed = _describe(without_docstring(old), after, unit, new.lineno)
    if is_test and (line := _newly_skips(before, after, around)) is not None:
        changes.append(Detail("calls what skips or ends the test", line, unit, True))
        changed = [change for change in changed if change.text != _BODY]
    return additions + added, changes + changed


def _newly_skips(before: list[ast.stmt], after: list[ast.stmt], around: Around) -> int | None:
    """Return the line of a statement that calls a function of the file that skips, where the old test called none."""
    if any(map(around.skips, before)):
        return None
    return next((node.lineno for node in after if around.skips(node)), None)


def _drop_new_names(old: Function, new: Function) -> list[ast.withitem]:
    """Take out of ``new``, in place, the names that its ``with`` blocks bind and those of ``old`` don't; return them.

    Only names that the old test never mentions.
    """
    items = [
        [item for node in ast.walk(one) if isinstance(node, ast.With) for item in node.items]
        for one in (old, new)
    ]
    known = _names(old)
    taken = []
    for before, after in zip(*items, strict=False):
        if shape(before.context_expr) != shape(after.context_expr):
            break
        name = after.optional_vars
        if before.optional_vars is None and isinstance(name, ast.Name) and name.id not in known:
            after.optional_vars = None
            taken.append(after)
    return taken


def _names(function: Function) -> set[str]:
    """Return every name that a function reads, binds or takes."""
    known = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return known | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def _innermost(before: list[ast.stmt], after: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Go down into the last statements as long as they are one and the same block of a harmless ``with``.

    What comes at the end of such a block comes after all that the test did in it.
    """
    while before and len(before) == len(after):
        old, new = before[-1], after[-1]
        if not (isinstance(old, ast.With) and isinstance(new, ast.With)):
            break
        heads = [
            [shape(item.context_expr) + shape(item.optional_vars) for item in n.items] for n in (old, new)
        ]
        harmless = all(callee(item.context_expr) in _HARMLESS_BLOCKS for item in new.items)
        if (
            not harmless
            or heads[0] != heads[1]
            or list(map(shape, before[:-1])) != list(map(shape, after[:-1]))
        ):
            break
        before, after = old.body, new.body
    return before, after


def _only_more(
    old: Function, new: Function, before: list[ast.stmt], after: list[ast.stmt], around: Around
) -> list[ast.stmt] | None:
    """Return the added statements if nothing but harmless ones was added, else ``None``."""
    if any(last_name(mark) in EXCUSES for mark in new.decorator_list):
        return None
    texts = [shape(node) for node in before]
    extra: list[ast.stmt] = []
    known = _names(old)
    at = 0
    for node in after:
        if at < len(before) and shape(node) == texts[at]:
            at += 1
            continue
        if at < len(before) and not _bare_assertion(node, around, known):
            return None
        extra.append(node)
    if at < len(before):
        return None
    outer = {name for name, _ in references([old]).names}
    for inner in outer_nodes(extra):
        if isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Return, ast.Global, ast.Nonlocal, ast.NamedExpr)):
            return None
        if skips(inner) or around.skips(inner):
            return None
        # A name bound further down is local from the first line on.
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store) and inner.id in outer:
            return None
    return extra


def _bare_assertion(node: ast.stmt, around: Around, known: set[str]) -> bool:
    """Return whether a statement only looks, by itself or for an assertion to come; it binds no name of ``known``."""
    if _acts(node, around):
        return False
    match node:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call() as call):
            name = callee(call)
            if name in RAISES and len(call.args) > 1:  # raises(Error, function, 1) calls function(1)
                return not _acts(ast.Expr(ast.Call(call.args[1], call.args[2:], call.keywords)), around)
            return name.startswith("assert")
        case ast.Assign(targets=[target]):
            return _binds_new(target, known)
        case ast.For(target=target, body=body, orelse=[]):
            return _binds_new(target, known) and _all_bare(body, around, known)
        case ast.If(body=body, orelse=orelse):
            return _all_bare([*body, *orelse], around, known)
        case ast.With(items=items, body=body):
            names = [item.optional_vars for item in items if item.optional_vars is not None]
            if not all(_binds_new(name, known) for name in names):
                return False
            called = {callee(item.context_expr) for item in items}
            if called <= RAISES:
                return all(isinstance(part, (ast.Assign, ast.Expr)) for part in body) and _all_bare(
                    [part for part in body if isinstance(part, ast.Assign)], around, known
                )
            return called == {"subTest"} and _all_bare(body, around, known)
    return False


def _all_bare(body: list[ast.stmt], around: Around, known: set[str]) -> bool:
    return all(_bare_assertion(part, around, known) for part in body)


def _binds_new(target: ast.expr, known: set[str]) -> bool:
    names = target.elts if isinstance(target, (ast.List, ast.Tuple)) else [target]
    return all(isinstance(name, ast.Name) and name.id not in known for name in names)


def _acts(node: ast.stmt, around: Around) -> bool:
    """Return whether a statement does more than look, so that what comes after it may look at something else."""
    if changes_something(node) or around.reaches(node) or around.skips(node):
        return True
    return any(
        skips(part)
        or isinstance(part, (ast.NamedExpr, ast.Yield, ast.YieldFrom))
        or (isinstance(part, ast.Name) and around.is_strange(part.id))
        for part in ast.walk(node)
    )


def _describe(
    before: list[ast.stmt], after: list[ast.stmt], unit: str, line: int
) -> tuple[list[Detail], list[Detail]]:
    old, new = assertions(before), assertions(after)
    additions, changes = compare(old, new, unit)
    changes += _more(before, after, unit)
    if not changes:
        was, now = _literals(before), _literals(after)
        if was != now and _bones(before) == _bones(after):
            gone = ", ".join(sorted((was - now).elements())[:3]) or "literals"
            changes.append(Detail(f"changes the values that it works with ({gone})", line, unit))
        else:
            changes.append(Detail(_BODY, line, unit))
    return additions, changes


def _more(before: list[ast.stmt], after: list[ast.stmt], unit: str) -> Iterator[Detail]:
    """Yield what there is more of than there was, and should not be."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    lines: dict[str, int] = {}
    for count, body in zip(counts, (before, after), strict=True):
        for node in outer_nodes(body):
            for kind in _kinds(node):
                count[kind] += 1
                lines[kind] = getattr(node, "lineno", 1)
    texts = {
        "skip": "skips or ends the test from inside",
        "return": "returns early",
        "except": "catches exceptions broadly",
        "assume": "leaves out examples by `assume`",
        "mock": "replaces a part under test by a mock or a patch",
        "yield": "turns the function into a generator, whose body a plain call does not run",
    }
    for kind, text in texts.items():
        if counts[1][kind] > counts[0][kind]:
            yield Detail(text, lines[kind], unit, True)
    if counts[1]["raises"] > counts[0]["raises"] and counts[1]["assert"] < counts[0]["assert"]:
        yield Detail("expects an exception where it asserted a result", lines["raises"], unit, True)


def _kinds(node: ast.AST) -> Iterator[str]:
    name = callee(node)
    if name in SKIP_CALLS or (isinstance(node, ast.Raise) and dotted(node.exc).endswith("SkipTest")):
        yield "skip"
    if name in _PATCH_CALLS or (name and ".patch" in f".{dotted(getattr(node, 'func', None))}"):
        yield "mock"
    if name == "assume":
        yield "assume"
    if name in RAISES:
        yield "raises"
    if isinstance(node, ast.Return):
        yield "return"
    elif isinstance(node, (ast.Yield, ast.YieldFrom)):
        yield "yield"
    elif isinstance(node, ast.Assert):
        yield "assert"
    elif isinstance(node, ast.ExceptHandler):
        name = dotted(node.type).rpartition(".")[2]
        if node.type is None or name in ("Exception", "BaseException", "AssertionError"):
            yield "except"
    elif name == "suppress":
        yield "except"


def _literals(body: list[ast.stmt]) -> Counter[str]:
    return Counter(source_text(node, 30) for node in outer_nodes(body) if isinstance(node, ast.Constant))


def _bones(body: list[ast.stmt]) -> list[str]:
    return [type(node).__name__ for node in outer_nodes(body)]
