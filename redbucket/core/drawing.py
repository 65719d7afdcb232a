"""What the calls of a test stand for: generators, strategies, draws, helpers, code under test."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from redbucket.core import strategies, supplies
from redbucket.core.expressions import Expressions
from redbucket.core.extent import (
    MANY,
    NOTHING,
    Dimension,
    Supply,
    Value,
    forall,
    join,
    left_of,
    size_of,
    tested,
)
from redbucket.core.filescope import FUNCTIONS, FileScope
from redbucket.core.naming import Env
from redbucket.core.pins import pins
from redbucket.core.pytree import dotted, shape, source_text

# Called with a function of the test's, they run it.
_RUNNERS = frozenset({"anyio.run", "trio.run", "curio.run"})
_MACHINERY = ("asyncio.", "concurrent.futures.", "contextlib.", "threading.")


class Drawing(Expressions):
    """Expressions with their calls. ``_conditions`` are those that hold where a step stands."""

    def __init__(self, scope: FileScope) -> None:
        super().__init__(scope)
        self._conditions: list[Value] = []

    def call(self, node: ast.Call, env: Env) -> Value:
        """Return what a call gives."""
        base, method = NOTHING, ""
        if isinstance(node.func, ast.Attribute):
            base, method = self.value(node.func.value, env), node.func.attr
            function = self.attribute(node.func, base, env)
        else:
            function = self.value(node.func, env)
        args = [self.value(a, env) for a in node.args]
        options = {k.arg: self.value(k.value, env) for k in node.keywords if k.arg}
        every = [*args, *options.values(), *(self.value(k.value, env) for k in node.keywords if not k.arg)]
        name = function.dotted
        if function.data or (base.data and method == "draw"):
            return self._draw(node, args[0] if args else NOTHING)
        if base.supply is not None and base.supply.drawn and method in ("map", "filter", "flatmap"):
            return self._derived(node, base, method, args)
        if strategies.is_strategy(name):
            return self._strategy(node, name, args, options)
        if base.draws or (name and supplies.random_draw(name)):
            return self._random(node, base, method or name.rpartition(".")[2], name, args, options)
        if name in _RUNNERS and args and isinstance(args[0].code, FUNCTIONS):
            return self._inline(node, args[0], args[1:], {}, NOTHING)
        if function.code is not None and isinstance(function.code, (*FUNCTIONS, ast.Lambda)):
            return self._inline(node, function, args, options, base)
        if name in ("builtins.all", "builtins.any", "numpy.all", "numpy.any") or (
            method in ("all", "any") and not node.args
        ):
            return forall(join([*every, base]))
        self._changed(node.func, base, every, env)
        return self._plain_call(name, function, base, every, args, options, node)

    def _changed(self, function: ast.expr, base: Value, args: list[Value], env: Env) -> None:
        """``pot.put(n)``: from now on the object varies with what it was given.

        ``if f(n) != n: wrong.append(n)``: what was found wrong varies with what the condition looks at.
        """
        owner = function.value if isinstance(function, ast.Attribute) else None
        if not isinstance(owner, ast.Name) or owner.id not in env or base.code is not None or base.draws:
            return
        given = join(args)
        if not base.subject and any(condition.subject for condition in self._conditions):
            given = self._within_pins(join([given, *self._conditions]))
        if given.everywhere:
            after = join([base, tested(given) if base.instance or base.subject else given])
            env[owner.id] = replace(
                base,
                over=after.over,
                within=after.within,
                reached=after.reached,
                subject=after.subject,
                itself=False,
                supply=None if given.subject else base.supply,
            )

    def _within_pins(self, found: Value) -> Value:
        """Return a value with its dimensions as far as the conditions around it leave them."""
        return replace(found, over=frozenset(left_of(d, self.pins) for d in found.over))

    def _plain_call(
        self,
        name: str,
        function: Value,
        base: Value,
        every: list[Value],
        args: list[Value],
        options: Mapping[str, Value],
        node: ast.Call,
    ) -> Value:
        found = join([*every, base])
        if name and not function.subject:
            if name.startswith(_MACHINERY):
                return replace(found, plain=False)  # what runs other code holds no values
            source = supplies.random_source(name, args, options)
            if source:
                return replace(found, draws=source)
            grid = supplies.grid_size(name, args, options)
            if grid is not None:
                one = Dimension(id(node), source_text(node), grid)
                return replace(found, within=found.within | {one}, supply=Supply(grid))
            supply = supplies.supply_of(name, args, options)
            if name == "builtins.len" and args and args[0].plain and args[0].supply:
                return Value(number=args[0].supply.size, plain=True)
            if name.startswith("builtins."):
                return replace(found, supply=supply, plain=found.plain)
            # what the standard library reads, from a file of cases for instance, is a table
            table = Supply(MANY, listed=not any(v.subject for v in every), made=any(v.subject for v in every))
            return replace(found, supply=supply or table, plain=False, tabled=found.tabled or not every)
        if base.plain and not function.dotted:  # a method of a literal: "a b".split(), CASES.items()
            items = base.supply if not args else Supply(MANY, listed=True)
            return replace(found, supply=items)
        read = base.supply
        if read is not None and read.listed and not (base.subject or base.everywhere or function.dotted):
            # Path("cases.json").read_text(): a method of what the standard library gives for literals
            return replace(found, supply=Supply(MANY, listed=not any(v.subject for v in every)))
        whole = Supply(MANY, made=True) if function.subject and not every and not base.everywhere else None
        instance = name.rpartition(".")[2][:1].isupper()
        return replace(tested(found), supply=whole, plain=False, instance=instance)

    def _inline(
        self, node: ast.Call, function: Value, args: list[Value], options: Mapping[str, Value], base: Value
    ) -> Value:
        code = function.code
        assert isinstance(code, (*FUNCTIONS, ast.Lambda))
        names = [a.arg for a in (*code.args.posonlyargs, *code.args.args)]
        env: Env = dict(function.closure or {})
        if names and isinstance(base.code, ast.ClassDef):
            env[names.pop(0)] = base
        for name, value in zip(names, args, strict=False):
            env[name] = value
        if code.args.vararg:
            env[code.args.vararg.arg] = join(args[len(names) :])
        env.update(options)
        home = function.home if isinstance(function.home, FileScope) else self.scope
        if not isinstance(code, ast.Lambda) and any(_composes(mark) for mark in code.decorator_list):
            # its first parameter is Hypothesis's own: what is drawn by it is what the strategy supplies
            made = self.run(
                code,
                {**dict(zip(names[1:], args, strict=False)), **options, names[0]: Value(data=True)},
                home,
            )
            size = size_of(made.everywhere, self.pins)
            return Value(supply=Supply(size, made=made.subject, drawn=True))
        for name, default in _defaults(code.args):
            if name not in env:
                with self.within_file(home):
                    env[name] = self.value(default, {})
        return self.run(code, env, home)

    # -- what is drawn ----------------------------------------------------------------------------

    def _draw(self, node: ast.expr, given: Value) -> Value:
        supply = given.supply or Supply(MANY, drawn=True)
        one = Dimension(id(node), source_text(node), supply.size, supply.listed, supply.whole, drawn=True)
        found = Value(over=given.over | {one}, itself=True)
        return tested(found) if supply.made else found

    def _strategy(self, node: ast.Call, name: str, args: list[Value], options: Mapping[str, Value]) -> Value:
        texts = {k.arg: k.value for k in node.keywords}
        low, high = (texts.get(key) for key in ("min_value", "max_value"))
        if name.rpartition(".")[2] not in ("sampled_from", "just", "one_of") and len(node.args) == 2:
            low, high = node.args
        same = low is not None and high is not None and shape(low) == shape(high)
        same = same and not name.endswith(("tuples", "one_of", "builds", "dictionaries"))
        first = node.args[0] if node.args else texts.get("alphabet")
        fixed = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
        if name.endswith(".data"):
            return Value(data=True, supply=Supply(1, drawn=True))
        if name.endswith(".composite"):
            return Value(dotted=name, plain=True)
        supply = strategies.strategy(name, args, options, same, fixed)
        return Value(over=join([*args, *options.values()]).over, supply=supply)

    def _derived(self, node: ast.Call, base: Value, method: str, args: list[Value]) -> Value:
        """``strategy.map(f)``, ``.filter(f)``, ``.flatmap(f)``."""
        supply = base.supply
        code = args[0].code if args else None
        assert supply is not None
        if not isinstance(code, (ast.Lambda, *FUNCTIONS)) or not code.args.args:
            made = supply.made or bool(args and args[0].subject)
            return Value(over=base.over, supply=replace(supply, made=made, whole=False))
        one = Dimension(id(node), "", supply.size, supply.listed, supply.whole, drawn=True)
        drawn = Value(over=frozenset({one}), itself=True)
        env = {code.args.args[0].arg: tested(drawn) if supply.made else drawn}
        if method == "filter":
            left = pins(code.body, lambda n: self.value(n, env)) if isinstance(code, ast.Lambda) else {}
            return Value(over=base.over, supply=replace(supply, size=left_of(one, left).size))
        home = args[0].home if isinstance(args[0].home, FileScope) else self.scope
        result = self.run(code, env, home)
        if method == "flatmap":
            inner = result.supply or Supply(MANY, drawn=True)
            size = max(inner.size, supply.size if one in result.over else 1)
            return Value(over=base.over, supply=Supply(size, made=inner.made or supply.made, drawn=True))
        size = supply.size if one in result.everywhere else 1
        made = supply.made or result.subject
        return Value(
            over=base.over, supply=replace(supply, size=size, whole=supply.whole and size > 1, made=made)
        )

    def _random(
        self,
        node: ast.Call,
        base: Value,
        method: str,
        name: str,
        args: list[Value],
        options: Mapping[str, Value],
    ) -> Value:
        how = base.draws or supplies.random_draw(name)
        turns = size_of(set(self.loops), self.pins)
        supply = supplies.drawn_values(method, args, options, turns)
        one = Dimension(id(node), source_text(node), supply.size, supply.listed, pinned=how == "pinned")
        found = join([*args, base])
        if "size" in options or supply.size > turns:
            return replace(found, within=found.within | {one}, supply=Supply(supply.size))
        return Value(over=found.over | {one}, within=found.within, itself=True)


def _composes(mark: ast.expr) -> bool:
    return dotted(mark.func if isinstance(mark, ast.Call) else mark).rpartition(".")[2] == "composite"


def _defaults(args: ast.arguments) -> list[tuple[str, ast.expr]]:
    plain = [a.arg for a in (*args.posonlyargs, *args.args)]
    found = list(zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True))
    found += [(a.arg, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    return found
