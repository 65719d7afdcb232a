"""Which changed product lines each test executes.

On Python 3.12 and newer by ``sys.monitoring``, limited to the code objects of the
changed files. Before that, by probes: the changed files alone are compiled with a
call before each watched statement, and never cached as bytecode. Neither touches
the rest of the program, so the cost does not grow with the suite.
"""

import ast
import builtins
import sys

# Compilers of Python source or bytecode would choke on a probe: their functions are left alone.
_COMPILERS = (
    "jit",
    "njit",
    "vectorize",
    "guvectorize",
    "stencil",
    "kernel",
    "script",
    "compile",
    "cfunc",
    "function",
)


def watcher(lines):
    """Return an installed watcher for {absolute path: iterable of line numbers}, or None."""
    if not lines:
        return None
    lines = {path: frozenset(numbers) for path, numbers in lines.items()}
    kind = Monitor if hasattr(sys, "monitoring") else Probes
    return kind(lines)


class Monitor:
    """Python 3.12 and newer."""

    def __init__(self, lines):
        self._lines = lines
        self._hits = set()
        self._armed = set()
        events = sys.monitoring.events
        for tool in (4, 3, 5, 2):
            if sys.monitoring.get_tool(tool) is None:
                sys.monitoring.use_tool_id(tool, "lines")
                break
        else:
            raise RuntimeError("no free sys.monitoring tool id")
        self._tool = tool
        sys.monitoring.register_callback(tool, events.PY_START, self._entered)
        sys.monitoring.register_callback(tool, events.LINE, self._line)
        sys.monitoring.set_events(tool, events.PY_START)

    def _entered(self, code, offset):
        if code.co_filename in self._lines:
            sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def _line(self, code, line):
        if line in self._lines.get(code.co_filename, ()):
            self._hits.add((code.co_filename, line))
            self._armed.add(code)
        # once a test is enough; ``take`` arms it again
        return sys.monitoring.DISABLE

    def take(self):
        """Return the set of (path, line) since the last call, and start afresh."""
        hits, self._hits = self._hits, set()
        for code in self._armed:
            sys.monitoring.set_local_events(self._tool, code, 0)
            sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.LINE)
        self._armed.clear()
        return hits


class Probes(ast.NodeTransformer):
    """Python 3.8 to 3.11."""

    def __init__(self, lines):
        from importlib.machinery import SourceFileLoader

        self._lines = lines
        self._hits = set()
        self._name = "_%x" % id(self)
        self._path = ""
        setattr(builtins, self._name, self._hits.add)
        original = SourceFileLoader.get_code

        def get_code(loader, fullname):
            path = loader.get_filename(fullname)
            if path not in lines:
                return original(loader, fullname)
            try:
                return self._compiled(path, loader.get_data(path))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return original(loader, fullname)

        SourceFileLoader.get_code = get_code

    def _compiled(self, path, data):
        self._path = path
        tree = self.visit(ast.parse(data, path))
        ast.fix_missing_locations(tree)
        return compile(tree, path, "exec", dont_inherit=True)

    def generic_visit(self, node):
        """Put a probe before each watched statement of each block."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if any(_last_name(d) in _COMPILERS for d in node.decorator_list):
                return node
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, self._probed(block, isinstance(node, ast.Module)))
        return node

    def _probed(self, block, module):
        result = []
        for index, statement in enumerate(block):
            line = self._watched(statement)
            plain = not (index == 0 and _is_docstring(statement)) and not _is_future(statement)
            if line is not None and plain:
                result.append(self._probe(line, statement))
            result.append(statement)
        return result

    def _watched(self, statement):
        body = getattr(statement, "body", None)
        first, last = statement.lineno, statement.end_lineno
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            last = max(first, body[0].lineno - 1)
        elif isinstance(body, list) or hasattr(statement, "cases"):
            last = first
        watched = self._lines[self._path]
        for line in range(first, last + 1):
            if line in watched:
                return line
        return None

    def _probe(self, line, statement):
        call = ast.Call(
            func=ast.Name(id=self._name, ctx=ast.Load()),
            args=[ast.Tuple(elts=[ast.Constant(value=self._path), ast.Constant(value=line)], ctx=ast.Load())],
            keywords=[],
        )
        return ast.copy_location(ast.Expr(value=call), statement)

    def take(self):
        """Return the set of (path, line) since the last call, and start afresh."""
        hits = set(self._hits)
        self._hits.clear()
        return hits


def _last_name(decorator):
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return getattr(decorator, "attr", getattr(decorator, "id", ""))


def _is_docstring(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_future(statement):
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
