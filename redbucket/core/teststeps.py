"""Walks through a test as it would run, and keeps what it checks, over which dimensions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from redbucket.core.assertions import RAISES, callee, swallows
from redbucket.core.checking import Checking
from redbucket.core.extent import (
    MANY,
    NOTHING,
    Dimension,
    Left,
    Pins,
    Supply,
    Value,
    forall,
    join,
    size_of,
    tested,
)
from redbucket.core.filescope import FUNCTIONS, FileScope, Function, take_imports
from redbucket.core.naming import Env
from redbucket.core.pins import either, matched, narrowed, pins
from redbucket.core.pytree import dotted

_ENDS = frozenset({"skip", "skipTest", "xfail", "exit", "importorskip", "fail"})
_DEEPEST = 6


@dataclass
class _Frame:
    """One call that is being walked through."""

    returned: list[Value] = field(default_factory=list)
    yielded: list[tuple[Value, Supply]] = field(default_factory=list)
    loops: int = 0


class Steps(Checking):
    """The statements of a test and of the helpers that it calls."""

    def __init__(self, scope: FileScope) -> None:
        super().__init__(scope)
        self._frames: list[_Frame] = []
        self._running: list[ast.AST] = []

    # -- functions --------------------------------------------------------------------------------

    def run(self, function: Function | ast.Lambda, env: Env, home: FileScope) -> Value:
        """Walk through a function and return what it gives."""
        if function in self._running or len(self._running) > _DEEPEST:
            return tested(join(env.values()))
        self._running.append(function)
        self._frames.append(_Frame(loops=len(self.loops)))
        before = self.pins
        try:
            with self.within_file(home):
                if isinstance(function, ast.Lambda):
                    return self.value(function.body, env)
                inner = {**env, **self.given(function, env)}
                self.steps(function.body, inner)
            return self._result()
        finally:
            self.pins = before
            self._frames.pop()
            self._running.pop()

    def given(self, function: Function, env: Env) -> Env:
        """Return what decorators give to the parameters of a function."""
        return {}

    def _result(self) -> Value:
        frame = self._frames[-1]
        if frame.yielded:
            values = [value for value, _ in frame.yielded]
            supply = Supply(
                sum(s.size for _, s in frame.yielded),
                listed=all(s.listed for _, s in frame.yielded),
                made=any(s.made for _, s in frame.yielded),
            )
            found = join(values)
            return Value(over=frozenset(d for d in found.over if d.key not in self._own), supply=supply)
        if len(frame.returned) == 1:
            return frame.returned[0]
        supplies = [v.supply for v in frame.returned if v.supply is not None]
        return replace(join(frame.returned), supply=supplies[0] if supplies else None)

    @property
    def _own(self) -> set[int]:
        return {d.key for d in self._yield_loops}

    # -- statements -------------------------------------------------------------------------------

    def steps(self, body: Iterable[ast.stmt], env: Env) -> bool:
        """Walk through statements; return False where nothing after them is reached."""
        return all(self._step(node, env) for node in body)

    def _step(self, node: ast.stmt, env: Env) -> bool:
        match node:
            case ast.Expr(value=value):
                return self._expression(value, env)
            case ast.Assert(test=test):
                self.check(test, test, env)
            case ast.Assign(targets=targets, value=value):
                given = self._told(value, env)
                for target in targets:
                    self.bind(target, given, env)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.bind(target, self._told(value, env), env)
            case ast.AugAssign(target=target, value=value):
                self.bind(target, self._added(self.value(target, env), self.value(value, env)), env)
            case ast.If():
                return self._if(node, env)
            case ast.For() | ast.AsyncFor():
                self._for(node, env)
            case ast.While():
                self._while(node, env)
            case ast.With() | ast.AsyncWith():
                return self._with(node, env)
            case ast.Try():
                return self._try(node, env)
            case ast.Return(value=value):
                self._frames[-1].returned.append(self._told(value, env) if value else NOTHING)
                return False
            case ast.Raise():
                self._raise(node)
                return False
            case ast.Continue() | ast.Break():
                return False
            case ast.Import() | ast.ImportFrom():
                take_imports(self.scope, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                env[node.name] = Value(code=node, home=self.scope, plain=True, closure=env)
            case ast.Match():
                return self._match(node, env)
        return True

    def _added(self, before: Value, given: Value) -> Value:
        """Return what ``before += given`` leaves: a sum over the loops, or a count of what a condition let through."""
        found = join([before, given])
        asked = [condition for condition in self._conditions if condition.subject]
        if asked:
            return self._within_pins(join([found, *asked]))
        turned = {d.key for d in self.loops}
        summed = frozenset(d for d in found.over if d.key in turned)
        return replace(found, over=found.over - summed, within=found.within | summed)

    def _told(self, node: ast.expr, env: Env) -> Value:
        """Return the value of what is assigned; a call is a step of its own."""
        found = self.value(node, env)
        if isinstance(node, ast.Call) and self._raising:
            self._keep(node, found, "raises")
        elif isinstance(node, ast.Call) and found.subject:
            self._keep(node, found, "runs")
        return found

    def _expression(self, node: ast.expr, env: Env) -> bool:
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            self._yield(node, env)
            return True
        name = callee(node)
        if isinstance(node, ast.Call):
            if name == "assume" and node.args:
                self.value(node.args[0], env)
                self.pins = narrowed(self.pins, pins(node.args[0], lambda n: self.value(n, env)))
                return True
            if name in _ENDS:
                if name == "fail":
                    self._raise(node)
                return False
            if name in RAISES and len(node.args) > 1:
                self._keep(node, tested(join(self.value(a, env) for a in node.args[1:])), "raises")
                return True
            if name.startswith(("assert", "_assert")) and not isinstance(
                self.value(node.func, env).code, FUNCTIONS
            ):
                self._method(node, name, env)
                return True
        found = self.value(node, env)
        if isinstance(node, (ast.Call, ast.Await)):
            self._keep(node, found, "raises" if self._raising else "runs")
        return True

    def _yield(self, node: ast.Yield | ast.YieldFrom, env: Env) -> None:
        value = self.value(node.value, env)
        frame = self._frames[-1]
        loops = self.loops[frame.loops :]
        turns = size_of(loops, self.pins)
        listed = all(d.listed for d in loops)
        if isinstance(node, ast.YieldFrom):
            inner = value.supply or Supply(MANY, listed=True)
            frame.yielded.append((value, Supply(turns * inner.size, listed and inner.listed)))
        else:
            frame.yielded.append((value, Supply(turns, listed, made=value.subject)))
        self._yield_loops = {*self._yield_loops, *loops}

    _yield_loops: set[Dimension] = set()  # noqa: RUF012 (replaced, never changed)

    def _if(self, node: ast.If, env: Env) -> bool:
        if isinstance(node.test, ast.Constant):
            return self.steps(node.body if node.test.value else node.orelse, env)
        evaluate = lambda n: self.value(n, env)  # noqa: E731
        ways = [
            (pins(node.test, evaluate), node.body),
            (pins(node.test, evaluate, holds=False), node.orelse),
        ]
        return self._branches(self._compared(node.test, env), ways, env)

    def _match(self, node: ast.Match, env: Env) -> bool:
        given = self.value(node.subject, env)
        evaluate = lambda n: self.value(n, env)  # noqa: E731
        ways = []
        for case in node.cases:
            env.update(dict.fromkeys(_captured(case.pattern), given))
            ways.append((matched(node.subject, case, evaluate), case.body))
        last = node.cases[-1]
        if last.guard is not None or not (
            isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        ):
            ways.append(({}, []))  # none of the cases may fit
        return self._branches(forall(given), ways, env)

    def _branches(self, condition: Value, ways: Sequence[tuple[Pins, Sequence[ast.stmt]]], env: Env) -> bool:
        """Walk through statements of which one way is taken; what comes after them holds for those that go on."""
        before = self.pins
        going: list[Pins] = []
        self._conditions.append(condition)
        for left, body in ways:
            self.pins = narrowed(before, left)
            if self.steps(body, env):
                going.append(self.pins)
        self._conditions.pop()
        self.pins = narrowed(before, either(going))
        return bool(going)

    def _for(self, node: ast.For | ast.AsyncFor, env: Env) -> None:
        made = self.bind_loop(node.target, self.value(node.iter, env), env)
        once = any(isinstance(part, (ast.Break, ast.Return)) for part in node.body)
        before, pinned = len(self.loops), self.pins
        if once:
            self.pins = narrowed(self.pins, {one.key: Left(1, named=True) for one in made})
        self.loops += made or []
        self.steps(node.body, env)
        self.loops = self.loops[:before]
        self.pins = pinned
        self.steps(node.orelse, env)

    def _while(self, node: ast.While, env: Env) -> None:
        """A loop that counts: what its body changes and its condition looks at is gone through."""
        stepped = {
            part.target.id
            for part in ast.walk(node)
            if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name)
        }
        looked = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
        before = len(self.loops)
        for name in sorted(stepped & looked):
            begin = env.get(name, NOTHING).number
            end = max((v.number for v in self._sides(node.test, env) if v.number is not None), default=None)
            size = MANY if begin is None or end is None else abs(end - begin)
            one = Dimension(id(node), name, size)
            env[name] = Value(over=env.get(name, NOTHING).over | {one}, itself=True)
            self.loops.append(one)
        counted = dict(env)
        self.steps([part for part in node.body if not isinstance(part, ast.AugAssign)], counted)
        self.loops = self.loops[:before]

    def _sides(self, test: ast.expr, env: Env) -> list[Value]:
        parts = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
        return [self.value(part, env) for part in parts if not isinstance(part, ast.Name)]

    def _with(self, node: ast.With | ast.AsyncWith, env: Env) -> bool:
        raising = swallowing = False
        for item in node.items:
            found = self.value(item.context_expr, env)
            name = callee(item.context_expr)
            raising |= name in RAISES
            swallowing |= name == "suppress" and _catches(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, replace(found, subject=found.subject or name in RAISES), env)
        self._raising += raising
        self._swallowed += swallowing
        goes_on = self.steps(node.body, env)
        self._raising -= raising
        self._swallowed -= swallowing
        return goes_on or raising

    def _try(self, node: ast.Try, env: Env) -> bool:
        swallowing = any(swallows(handler) for handler in node.handlers)
        self._swallowed += swallowing
        goes_on = self.steps(node.body, env)
        self._swallowed -= swallowing
        for handler in node.handlers:
            goes_on |= self.steps(handler.body, {**env})
        if goes_on:
            goes_on = self.steps(node.orelse, env)
        return self.steps(node.finalbody, env) and goes_on


def _catches(node: ast.expr) -> bool:
    names = {dotted(arg).rpartition(".")[2] for arg in getattr(node, "args", [])}
    return not names.isdisjoint({"AssertionError", "Exception", "BaseException"})


def _captured(pattern: ast.pattern) -> set[str]:
    return {n.name for n in ast.walk(pattern) if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name}
