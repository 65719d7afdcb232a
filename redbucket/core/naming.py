"""What the names of a test stand for: in its file, in the files that it imports, in the code under test."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from redbucket.core import strategies
from redbucket.core.extent import MANY, NOTHING, Dimension, Pins, Supply, Value
from redbucket.core.filescope import FileScope, Function, full_name, members
from redbucket.core.importnames import STANDARD

Env = dict[str, Value]
_TOOLS = frozenset({"hypothesis", "pytest", "_pytest", "unittest2", "numpy", "np"})
# Helpers that call helpers multiply; a test of ten thousand lines stays below.
_MOST = 200_000


class Naming:
    """Looks names up. ``names`` collects what is used of the code under test."""

    def __init__(self, scope: FileScope) -> None:
        self.scope = scope
        self.names: set[str] = set()
        self.loops: list[Dimension] = []
        self.pins: Pins = {}
        self._depth = 0
        self._left = _MOST
        self._looking: set[tuple[str, str]] = set()

    @property
    def gave_up(self) -> bool:
        """Return whether the test is too big to be followed to its end."""
        return self._left < 0

    # -- the parts that statements bring in -----------------------------------------------------

    def run(self, function: Function | ast.Lambda, env: Env, home: FileScope) -> Value:
        """Return what a function gives for these arguments."""
        raise NotImplementedError

    def value(self, node: ast.expr | None, env: Env) -> Value:
        """Return what is known of an expression."""
        raise NotImplementedError

    def named(self, name: str, scope: FileScope) -> Value:
        """Return what a name of a file's top level stands for."""
        if (scope.path, name) in self._looking:
            return NOTHING
        self._looking.add((scope.path, name))
        try:
            return self._named(name, scope)
        finally:
            self._looking.discard((scope.path, name))

    def _named(self, name: str, scope: FileScope) -> Value:
        if name in scope.values:
            with self.within_file(scope):
                found = self.value(scope.values[name], {})
            supply = found.supply
            if not scope.judge and supply is not None and not supply.drawn:
                # the product's own table is all there is of it
                found = replace(
                    found, supply=replace(supply, listed=False, made=True), subject=True, plain=False
                )
            return found
        if name in scope.functions:
            node = scope.functions[name]
            if scope.judge:
                return Value(code=node, home=scope, plain=True)
            self.names.add(name)
            return Value(subject=True, dotted=f".{name}")
        if name in scope.classes:
            if not scope.judge:
                self.names.add(name)
            return Value(subject=True, dotted=f".{name}", supply=Supply(MANY, made=True))
        if name in scope.imports:
            return self._imported(full_name(scope.imports[name]), name, scope)
        if hasattr(builtins, name):
            return Value(dotted=f"builtins.{name}", plain=True)
        for ref in scope.stars:
            for other in scope.find(replace(ref, name="")):
                found = self.named(name, other)
                if found is not NOTHING:
                    return found
        return NOTHING if not scope.stars else Value(subject=True, supply=Supply(MANY, made=True))

    def _imported(self, dotted: str, name: str, scope: FileScope) -> Value:
        top = dotted.split(".", 1)[0]
        if top in _TOOLS or (top in STANDARD and top):
            return Value(dotted=dotted, plain=True)
        ref = scope.imports[name]
        for module in scope.find(ref):
            if module.judge:
                return Value(home=module, plain=True)
        if ref.name:
            for other in scope.find(replace(ref, name="")):
                found = self.named(ref.name, other)
                if found is not NOTHING:
                    return found
        if scope.knows(ref):
            self.names.add(dotted.rpartition(".")[2])
        return Value(subject=True, dotted=dotted, supply=Supply(MANY, made=True))

    def attribute(self, node: ast.Attribute, base: Value, env: Env) -> Value:
        """Return what an attribute of ``base`` stands for."""
        if isinstance(base.home, FileScope) and base.code is None:
            return self.named(node.attr, base.home)
        if base.dotted and not base.over:
            dotted = f"{base.dotted}.{node.attr}"
            if not base.subject:
                known = dotted.startswith(("string.", "math.")) or strategies.is_strategy(dotted)
                return Value(dotted=dotted, plain=True, supply=Supply(MANY) if known else None)
            if base.code is None:
                self.names.add(node.attr)
            return Value(subject=True, dotted=dotted, supply=Supply(MANY, made=True))
        if isinstance(base.code, ast.ClassDef):  # self.x
            return self._member(base.code, node.attr, env)
        if base.draws:
            return base
        found = Value(over=base.over, within=base.within, subject=base.subject, tabled=base.tabled)
        return replace(found, reached=base.reached)

    def _member(self, owner: ast.ClassDef, name: str, env: Env) -> Value:
        method = members(owner).get(name)
        if method is not None:
            return Value(code=method, home=self.scope, plain=True)
        for part in owner.body:
            if isinstance(part, ast.Assign) and any(getattr(t, "id", "") == name for t in part.targets):
                return self.value(part.value, {})
        return env.get(f"self.{name}", Value(subject=True))

    # -- files ------------------------------------------------------------------------------------

    @contextmanager
    def within_file(self, scope: FileScope) -> Iterator[None]:
        """Look names up in another file for a while."""
        before, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = before
