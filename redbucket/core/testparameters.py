"""What decorators and fixtures give to the parameters of a test, and how many examples are asked for."""

from __future__ import annotations

import ast
from dataclasses import replace

from redbucket.core.extent import MANY, Dimension, Supply, Value, along, columns, tested
from redbucket.core.filescope import FileScope, Function
from redbucket.core.naming import Env
from redbucket.core.pytree import dotted, source_text
from redbucket.core.teststeps import Steps

_GIVERS = (
    *("hypothesis.given", "hypothesis.core.given"),
    *("hypothesis.stateful.rule", "hypothesis.stateful.initialize"),
)
# Fixtures of syrupy, pytest-snapshot, pytest-regressions and the like.
_RECORDED = ("snapshot", "snapshot_json", "regression", "golden")
_TABLES = ("parametrize", "expand", "data", "named_data", "idata")


class Parameters(Steps):
    """A test with its parameters. ``cap`` is the most examples that its settings let through."""

    def __init__(self, scope: FileScope) -> None:
        super().__init__(scope)
        self.cap = MANY
        self.why_capped = ""
        self.bound: list[Dimension] = []
        self.strategies = 0

    def given(self, function: Function, env: Env) -> Env:
        """Return what decorators and fixtures give to a function's parameters."""
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        found: Env = {}
        for mark in function.decorator_list:
            self.mark(mark, names, found)
        outermost = len(self._running) == 1
        for name in names:
            if name in found or name in env:
                continue
            if outermost:
                found[name] = self._fixture(name, function)
        return found

    # -- decorators -------------------------------------------------------------------------------

    def mark(self, mark: ast.expr, names: list[str], found: Env) -> None:
        """Take what one decorator gives to the parameters ``names`` into ``found``."""
        call = mark if isinstance(mark, ast.Call) else None
        function = self.value(call.func if call else mark, {})
        name = function.dotted
        made = self._aliased(mark)
        if made is not None:
            self.mark(made, names, found)
        elif call is not None and name in _GIVERS:
            self._drawn(call, names, found)
        elif call is not None and name in ("hypothesis.settings", "hypothesis._settings.settings"):
            self._settings(call)
        elif name == "hypothesis.reproduce_failure":
            self._limit(1, "@reproduce_failure replays one recorded input")
        elif call is not None and (dotted(call.func).rpartition(".")[2] in _TABLES):
            self._table(call, names, found)

    def _aliased(self, mark: ast.expr) -> ast.expr | None:
        """``everything = given(st.integers())`` and ``@everything``; a function that returns ``given(...)(f)``."""
        if isinstance(mark, ast.Name) and isinstance(self.scope.values.get(mark.id), ast.Call):
            return self.scope.values[mark.id]
        name = dotted(mark.func if isinstance(mark, ast.Call) else mark)
        helper = self.scope.functions.get(name)
        for node in ast.walk(helper) if helper is not None else ():
            if isinstance(node, ast.Call) and self.value(node.func, {}).dotted in _GIVERS:
                return node
        return None

    def _drawn(self, call: ast.Call, names: list[str], found: Env) -> None:
        plain = [name for name in names if name not in ("self", "cls")]
        positional = [a for a in call.args if not isinstance(a, ast.Constant)]
        pairs = list(zip(plain[len(plain) - len(positional) :], positional, strict=False))
        pairs += [(k.arg, k.value) for k in call.keywords if k.arg]
        for name, node in pairs:
            given = self.value(node, {})
            if given.data:
                found[name] = Value(data=True)
                continue
            supply = given.supply
            if supply is None or not supply.drawn:
                supply = Supply(MANY, made=True, drawn=True)
            one = Dimension(id(node), name, supply.size, supply.listed, supply.whole, drawn=True)
            self.bound.append(one)
            value = Value(over=given.over | {one}, itself=True)
            found[name] = tested(value) if supply.made else value

    def _settings(self, call: ast.Call) -> None:
        for option in call.keywords:
            if option.arg == "max_examples":
                number = self.value(option.value, {}).number
                if number is not None:
                    self._limit(number, f"max_examples={number:g}")
            elif option.arg == "phases":
                words = {
                    dotted(n).rpartition(".")[2]
                    for n in ast.walk(option.value)
                    if isinstance(n, ast.Attribute)
                }
                if isinstance(option.value, (ast.Tuple, ast.List, ast.Set)) and "generate" not in words:
                    self._limit(0, "its phases leave out the generated examples")

    def _limit(self, most: float, why: str) -> None:
        if most < self.cap:
            self.cap, self.why_capped = most, why

    def _table(self, call: ast.Call, names: list[str], found: Env) -> None:
        """``parametrize(names, rows)``, ``parameterized.expand(rows)``, ``ddt.data(row, row)``."""
        short = dotted(call.func).rpartition(".")[2]
        plain = [name for name in names if name not in ("self", "cls")]
        if short == "parametrize":
            words = {k.arg: k.value for k in call.keywords}
            first = call.args[0] if call.args else words.get("argnames")
            rows = call.args[1] if len(call.args) > 1 else words.get("argvalues")
            if first is None:
                self._everything(call, plain, found)  # @schema.parametrize(): each operation, each generated
                return
            given = self.value(rows, {}) if rows is not None else Value()
            targets = _names(first)
        elif short in ("data", "named_data"):
            given = Value(supply=Supply(len(call.args), listed=True))
            targets = plain
        else:
            given = self.value(call.args[0], {}) if call.args else Value()
            targets = plain
        supply = given.supply or Supply(MANY, listed=not given.subject)
        one = Dimension(id(call), ", ".join(targets), supply.size, supply.listed, supply.whole)
        self.bound.append(one)
        places = columns(given, len(targets)) or [replace(given, supply=supply)] * len(targets)
        for name, place in zip(targets, places, strict=True):
            value = replace(along(place, one), itself=len(targets) == 1)
            found[name] = tested(value) if supply.made else value

    def _everything(self, call: ast.Call, names: list[str], found: Env) -> None:
        one = Dimension(id(call), source_text(call.func), MANY, drawn=True)
        self.bound.append(one)
        for name in names:
            found[name] = tested(Value(over=frozenset({one})))

    # -- fixtures ---------------------------------------------------------------------------------

    def _fixture(self, name: str, function: Function) -> Value:
        for scope in (self.scope, *self.scope.outer()):
            node = scope.fixtures.get(name)
            if node is None or node is function or node in self._running:
                continue
            with self.within_file(scope):
                return self._provided(node, scope)
        if name.endswith(_RECORDED):
            return Value(tabled=True)  # what it is compared with lies in a file
        self.names.add(name)
        return Value(subject=True, draws="pinned") if name in ("faker", "rng") else Value(subject=True)

    def _provided(self, node: Function, scope: FileScope) -> Value:
        env: Env = {}
        for mark in node.decorator_list:
            for option in mark.keywords if isinstance(mark, ast.Call) else ():
                if option.arg == "params":
                    supply = self.value(option.value, {}).supply or Supply(MANY, listed=True)
                    one = Dimension(id(option), node.name, supply.size, supply.listed, supply.whole)
                    self.bound.append(one)
                    env["request"] = Value(over=frozenset({one}), itself=True)
        names = [a.arg for a in node.args.args if a.arg not in env]
        env.update({name: Value(subject=True) for name in names})
        known = len(self.checks)
        found = self.run(node, env, scope)
        del self.checks[known:]  # what a fixture asserts is no test
        if found.supply is not None and self._yields(node):
            return Value(over=found.over, subject=True, reached=found.reached)
        return replace(found, subject=True) if not found.plain else found

    def _yields(self, node: Function) -> bool:
        return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [word.strip() for word in node.value.split(",") if word.strip()]
    if isinstance(node, (ast.Tuple, ast.List)):
        return [n.value for n in node.elts if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return []
