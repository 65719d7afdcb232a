"""Touched lines on Python 3.8 to 3.11: calls compiled into the changed files.

The changed files alone are compiled with a call before each watched statement, and
never cached as bytecode, so that no other process ever meets a probe.
"""

import ast
import builtins
import os
import sys

from .lines import FUNCTIONS, compiled, inert, whole, within


class Probes(ast.NodeTransformer):
    """Compiles the probes in, and collects what they say."""

    def __init__(self, lines):
        from importlib.machinery import SourceFileLoader

        self._lines = lines
        self._probed_files = set()
        self._hits = set()
        self._name = "_%x" % id(self)
        self._path = ""
        setattr(builtins, self._name, self._hits.update)
        original = SourceFileLoader.get_code
        normal = os.path.normpath

        def get_code(loader, fullname):
            path = loader.get_filename(fullname)
            if path not in lines:
                path = normal(path)
                if path not in lines:
                    return original(loader, fullname)
            try:
                return self._compiled(path, loader.get_data(path))
            except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
                return original(loader, fullname)  # it says itself what is wrong with the file

        SourceFileLoader.get_code = get_code

    def _compiled(self, path, data):
        self._path = path
        self._probed_files.add(path)
        tree = self.visit(ast.parse(data, path))
        ast.fix_missing_locations(tree)
        return compile(tree, path, "exec", dont_inherit=True)

    def generic_visit(self, node):
        """Put a probe before each watched statement of each block."""
        if isinstance(node, FUNCTIONS) and compiled(node):
            return node
        watched = self._lines[self._path]
        entering = isinstance(node, FUNCTIONS + (ast.ExceptHandler,)) or type(node).__name__ == "match_case"
        before = within(node, watched) if entering else ()
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                first = block[0]
                block = self._probed(block)
                if name == "body" and before:
                    # a docstring stays first
                    at = 1 if isinstance(node, FUNCTIONS) and inert(first) else 0
                    block.insert(at, self._statement(before, first))
                setattr(node, name, block)
        return node

    def visit_Lambda(self, node):
        """A watched lambda is touched when it is called, too."""
        self.generic_visit(node)
        watched = self._lines[self._path]
        found = tuple(n for n in range(node.lineno, node.body.end_lineno + 1) if n in watched)
        if found:
            both = ast.Tuple(elts=[self._call(found), node.body], ctx=ast.Load())
            number = ast.Constant(value=1, kind=None)
            index = number if _PLAIN_INDEX else ast.Index(value=number)
            node.body = ast.copy_location(ast.Subscript(value=both, slice=index, ctx=ast.Load()), node.body)
        return node

    def _probed(self, block):
        watched = self._lines[self._path]
        result = []
        for statement in block:
            if not isinstance(statement, FUNCTIONS):
                found = within(statement, watched)
            else:
                found = whole(statement, watched) if compiled(statement) else ()
            if found and not inert(statement):
                result.append(self._statement(found, statement))
            result.append(statement)
        return result

    def _call(self, lines):
        pairs = tuple((self._path, line) for line in lines)
        return ast.Call(
            func=ast.Name(id=self._name, ctx=ast.Load()),
            args=[ast.Constant(value=pairs, kind=None)],
            keywords=[],
        )

    def _statement(self, lines, place):
        return ast.copy_location(ast.Expr(value=self._call(lines)), place)

    def unwatched(self):
        """Return the watched files that were imported without probes.

        pytest and what it needs are there before, and pytest compiles the plugins of a project itself.
        """
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        loaded = {os.path.normpath(path) for path in files if isinstance(path, str)}
        return sorted(loaded.intersection(self._lines) - self._probed_files)

    def take(self):
        """Return the set of (path, line) since the last call, and start afresh."""
        if not self._hits:
            return set()
        hits = set(self._hits)
        self._hits.clear()
        return hits


_PLAIN_INDEX = not isinstance(ast.parse("x[1]").body[0].value.slice, getattr(ast, "Index", ()))
