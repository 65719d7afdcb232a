"""Type annotations that no test runs by, taken out before two files are compared."""

from __future__ import annotations

import ast

from redbucket.core.pytree import dotted
from redbucket.core.testtree import fixture_of

# The fields that hold statements, or what holds statements in its turn; and the statements that hold none.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_SIMPLE = (ast.Expr, ast.Assign, ast.Assert, ast.Return, ast.Import, ast.ImportFrom, ast.Pass, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Other decorators may read what the function's arguments are said to be: Hypothesis' given does.
_HARMLESS = ("pytest", "unittest", "mock", "patch")
# Working out such an annotation calls nothing.
_PLAIN = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Tuple,
    ast.List,
    ast.Constant,
    ast.BinOp,
    ast.BitOr,
    ast.Starred,
    ast.expr_context,
)


def strip_annotations(tree: ast.Module) -> None:
    """Take out, in place, the annotations of local variables and of the arguments and results of tests and fixtures.

    Python never works out those of local variables; pytest and unittest look at
    none. What a helper, a class or an inner function says of its arguments stays:
    the code under test may read it.
    """
    stack: list[tuple[ast.AST, bool, bool]] = [(tree, False, True)]
    while stack:
        node, local, outer = stack.pop()
        if isinstance(node, _FUNCTIONS):
            if outer and _is_run_by_pytest(node):
                _strip_signature(node)
            local, outer = True, False
        elif isinstance(node, ast.ClassDef):
            local = False
        for name in _BLOCKS:
            block: list[ast.AST] = getattr(node, name, None) or []
            for at, child in enumerate(block):
                if isinstance(child, ast.AnnAssign):
                    if local and child.simple and child.value is not None:
                        plain = ast.Assign([child.target], child.value, None)
                        block[at] = ast.copy_location(plain, child)
                elif not isinstance(child, _SIMPLE):
                    stack.append((child, local, outer))


def _is_run_by_pytest(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    if not node.name.startswith("test") and not fixture_of(node):
        return False
    names = (dotted(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list)
    return all(name.split(".", 1)[0] in _HARMLESS for name in names)


def _strip_signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    args = node.args
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if arg is not None and _plain(arg.annotation):
            arg.annotation = None
    if _plain(node.returns):
        node.returns = None


def _plain(annotation: ast.expr | None) -> bool:
    return annotation is not None and all(isinstance(part, _PLAIN) for part in ast.walk(annotation))
