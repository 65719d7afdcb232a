"""Which changed product lines each test executes.

On Python 3.12 and newer by ``sys.monitoring``, limited to the code objects of the
changed files. Before that, by probes (see ``probes``). Neither touches the rest of
the program, so the cost does not grow with the suite.

A statement is touched as a whole. A function's decorators, ``def`` line and default
values are executed on import; they count for the tests that enter the function.
"""

import ast
import sys

_open = open

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Compilers of Python source or bytecode: a probe would make them choke, and what they make
# reports no lines. A watched line in such a function is touched where the function is made.
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
    if hasattr(sys, "monitoring"):
        return Monitor(lines)
    from .probes import Probes

    return Probes(lines)


def compiled(function):
    """True if a decorator hands ``function`` to a compiler."""
    return any(_last_name(decorator) in _COMPILERS for decorator in function.decorator_list)


def _last_name(decorator):
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return getattr(decorator, "attr", getattr(decorator, "id", ""))


def start(statement):
    """Return the first line of a statement, decorators included."""
    return min([statement.lineno] + [d.lineno for d in getattr(statement, "decorator_list", ())])


def span(node):
    """Return (first, last) line of a statement without the blocks in it, or None."""
    first = last = None
    if isinstance(node, ast.stmt):
        first, last = start(node), node.end_lineno
    elif isinstance(node, ast.ExceptHandler):
        first = node.lineno
    elif type(node).__name__ == "match_case":
        first = node.pattern.lineno
    if first is None:
        return None
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        last = max(getattr(node, "lineno", first), start(body[0]) - 1)
    elif hasattr(node, "cases"):
        last = max(first, node.subject.end_lineno)
    return first, last


def within(node, watched):
    """Return the sorted watched lines of a statement without its blocks."""
    first, last = span(node)
    return tuple(n for n in range(first, last + 1) if n in watched)


def whole(node, watched):
    """Return the sorted watched lines of a statement with its blocks."""
    return tuple(n for n in range(start(node), node.end_lineno + 1) if n in watched)


def inert(node):
    """True for what does nothing when it is executed: a docstring, a future statement."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class Map:
    """What an executed line of one file means for the watched lines."""

    def __init__(self, path, watched):
        self.lines = {}
        self.entries = {}
        self.signatures = set()
        try:
            with _open(path, "rb") as stream:
                nodes = list(ast.walk(ast.parse(stream.read())))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            self.lines = {line: (line,) for line in watched}  # no source: each line for itself
            return
        for node in nodes:
            place = span(node)
            if place is None or inert(node):
                continue
            if isinstance(node, FUNCTIONS) and not compiled(node):
                found = within(node, watched)
                if found:
                    self.entries[node.name, place[0]] = found
                    self.signatures.update(found)
                continue
            found = whole(node, watched) if isinstance(node, FUNCTIONS) else within(node, watched)
            if found:
                for line in range(place[0], place[1] + 1):
                    self.lines[line] = self.lines.get(line, ()) + found

    def touched(self, code, line):
        """Return the watched lines that ``line``, executed in ``code``, touches."""
        own = self.entries.get((code.co_name, code.co_firstlineno), ())
        if line in self.signatures and line not in own:
            return own
        return own + self.lines.get(line, ())


class Monitor:
    """Python 3.12 and newer."""

    def __init__(self, lines):
        self._lines = lines
        self._maps = {}
        self._hits = set()
        self._armed = {}
        self._monitoring = monitoring = sys.monitoring
        for tool in (4, 3, 5, 2):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "lines")
                break
        else:
            raise RuntimeError("no free sys.monitoring tool id")
        self._tool = tool
        self._event = monitoring.events.LINE
        self._disable = monitoring.DISABLE
        monitoring.register_callback(tool, monitoring.events.PY_START, self._entered)
        monitoring.register_callback(tool, self._event, self._line)
        monitoring.set_events(tool, monitoring.events.PY_START)

    def _entered(self, code, offset):
        if code.co_filename in self._lines:
            self._monitoring.set_local_events(self._tool, code, self._event)
        return self._disable

    def _line(self, code, line):
        path = code.co_filename
        meaning = self._maps.get(path)
        if meaning is None:
            if path not in self._lines:
                return self._disable
            meaning = self._maps[path] = Map(path, self._lines[path])
        found = meaning.touched(code, line)
        if found:
            for number in found:
                self._hits.add((path, number))
            self._armed[id(code)] = code
        # once a test is enough; ``take`` arms it again
        return self._disable

    def unwatched(self):
        """Return the watched files whose lines can't be seen: none, what was imported before is seen, too."""
        return []

    def take(self):
        """Return the set of (path, line) since the last call, and start afresh."""
        if not self._hits:
            return set()
        hits, self._hits = self._hits, set()
        armed, self._armed = self._armed, {}
        # taking the events away and giving them back makes a disabled place report again
        for code in armed.values():
            self._monitoring.set_local_events(self._tool, code, 0)
            self._monitoring.set_local_events(self._tool, code, self._event)
        return hits
