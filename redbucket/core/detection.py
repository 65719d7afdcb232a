"""Product code that asks whether it is under test, and what it does with the answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from redbucket.core.pytree import dotted

_VARIABLES = frozenset({"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_WORKER"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MODULES = frozenset({"pytest", "_pytest", "unittest", "nose"})
_ARGUMENTS = ("sys.argv", "sys.modules", "__main__.__file__", "sys.orig_argv")


def _asks(node: ast.AST) -> bool:
    """Return whether one expression node is a question for the test run."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in _VARIABLES
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Eq)):
        sides = [node.left, *node.comparators]
        places = (
            {dotted(part) for side in sides for part in ast.walk(side)} if any(map(_module, sides)) else set()
        )
        return not places.isdisjoint(_ARGUMENTS)
    if isinstance(node, ast.Call) and node.args:
        place = dotted(node.func)
        return place in ("sys.modules.get", "sys.modules.__contains__") and _module(node.args[0])
    if isinstance(node, ast.Subscript):
        return dotted(node.value) == "sys.modules" and _module(node.slice)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return _reads(node.left, node.right) and any(map(_module, ast.walk(node)))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return _reads(*(part.iter for part in node.generators)) and _names_a_run(node)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return _reads(node.iter) and _names_a_run(node)
    return False


def _reads(*nodes: ast.AST) -> bool:
    """Return whether an expression goes through what is loaded, or what stands in the environment."""
    return any(dotted(part) in ("sys.modules", "os.environ") for node in nodes for part in ast.walk(node))


def _names_a_run(node: ast.AST) -> bool:
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return any(
        isinstance(text, str) and text.lstrip("_").lower().startswith(("pytest", "unittest"))
        for text in texts
    )


def _returns_answer(node: ast.AST) -> bool:
    returns = (part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value)
    return any(_asks(part) for value in returns for part in ast.walk(value))


def _module(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in _MODULES


class Detection:
    """All questions of one file; a variable that holds an answer asks again where it is read."""

    def __init__(self, tree: ast.Module, nodes: list[ast.AST]) -> None:
        self._tree = tree
        self._any = any(map(_asks, nodes))
        self._holders: set[str] = set()
        for node in nodes if self._any else ():
            if isinstance(node, ast.Assign) and any(map(_asks, ast.walk(node.value))):
                self._holders.update(target.id for target in node.targets if isinstance(target, ast.Name))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _returns_answer(node):
                # It asks wherever it is called.
                self._holders.add(node.name)

    def found(self) -> Iterator[tuple[ast.AST, bool]]:
        """Yield (node, whether the answer of a function with arguments depends on it)."""
        queue: list[tuple[ast.AST, ast.AST | None]] = [(self._tree, None)] if self._any else []
        while queue:
            node, function = queue.pop()
            inner = node if isinstance(node, _FUNCTIONS) else function
            below = [(child, inner) for child in ast.iter_child_nodes(node)]
            if (
                function is not None
                and isinstance(node, (ast.If, ast.IfExp))
                and self._under(node.test)
                and _answers(node, function)
            ):
                yield node.test, True
                queue.extend(pair for pair in below if pair[0] is not node.test)
                continue
            if _asks(node):
                yield node, False
                continue
            queue.extend(below)

    def _under(self, test: ast.AST) -> bool:
        parts = list(ast.walk(test))
        return any(map(_asks, parts)) or any(
            isinstance(part, ast.Name) and part.id in self._holders for part in parts
        )


def _answers(node: ast.If | ast.IfExp, function: ast.AST) -> bool:
    """Return whether a branch gives a made-up value: a number or a collection, or any text for an argument.

    Switching telemetry off, or naming another database, has an honest reading.
    """
    branches: list[ast.expr | None] = []
    if isinstance(node, ast.IfExp):
        branches = [node.body, node.orelse]
    else:
        for part in (*node.body, *node.orelse):
            branches += [inner.value for inner in ast.walk(part) if isinstance(inner, ast.Return)]
    arguments = getattr(function, "args", None)
    names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)] if arguments else []
    computes = any(name not in ("self", "cls") for name in names)
    return any(_made_up(value, computes) for value in branches)


def _made_up(value: ast.expr | None, computes: bool) -> bool:
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    if isinstance(value, ast.Constant):
        if value.value is None or isinstance(value.value, bool):
            return False
        return computes or not isinstance(value.value, (str, bytes))
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return bool(value.elts) and computes
    # A table of answers, looked up by the argument.
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, ast.Dict)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return isinstance(value.func.value, ast.Dict)
    return False
