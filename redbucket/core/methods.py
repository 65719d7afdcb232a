"""A method that a missed test calls: on the class, or on an object that the test makes; or what makes the object."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace

from redbucket.core.calls import (
    Parameter,
    Receiver,
    Target,
    defaults_of,
    import_of,
    is_plain,
    parameters_of,
    resolve,
)
from redbucket.core.filescope import FileScope, Function, members
from redbucket.core.pytree import docstring, dotted, source_text

_BEGINS = ("setUp", "setup_method", "setup")


def method_of(scope: FileScope, call: ast.Call) -> Target | None:
    """Return the method of a class of the project that is called; None where the source does not show which."""
    function = call.func
    if not isinstance(function, ast.Attribute):
        return None
    made = function.value if isinstance(function.value, ast.Call) else None
    text = dotted(made.func if made is not None else function)
    statement = import_of(scope, text) if text else ""
    place = resolve(scope, text.split(".")) if statement else None
    if place is None or place[0].judge:
        return None
    home, owner, asked = place
    if not isinstance(owner, ast.ClassDef) or len(asked) > 1:
        return None
    method = member(home, owner, function.attr)
    if method is None or not is_plain(method):
        return None
    name = text.removesuffix(f".{asked[0]}") if asked else text
    if made is None:
        return _of_class(home, owner, name, method, statement) if asked else None
    maker = member(home, owner, asked[0]) if asked else None
    if (asked and (maker is None or not _marks(maker) & {"classmethod", "staticmethod"})) or _marks(method):
        return None
    args = _without_first(maker) if maker is not None else _constructor(home, owner)
    if args is None or args.vararg or args.kwarg:
        return None
    receiver = Receiver(owner, name, asked[0] if asked else "", defaults_of(args))
    rest = _without_first(method)
    own = [replace(p, own=True) for p in parameters_of(args)]
    taken = {p.name for p in own}
    parameters = [*own, *(_apart(p, method.name, taken) for p in parameters_of(rest))]
    node = _plain(method, rest)
    return Target(f"{text}(...).{method.name}", (statement,), home, node, tuple(parameters), on=receiver)


def maker_of(scope: FileScope, call: ast.Call) -> Target | None:
    """Return the constructor of a class of the project that is called; None where it is no plain one."""
    text = dotted(call.func)
    statement = import_of(scope, text) if text else ""
    place = resolve(scope, text.split(".")) if statement else None
    if place is None or place[0].judge:
        return None
    home, owner, asked = place
    args = _constructor(home, owner) if isinstance(owner, ast.ClassDef) and not asked else None
    if args is None or args.vararg or args.kwarg or not isinstance(owner, ast.ClassDef):
        return None
    made = member(home, owner, "__init__") or member(home, owner, "__new__")
    said = [step for step in owner.body[:1] if docstring(owner)]
    body = [*said, *(made.body if made is not None else [ast.Pass()])]
    node = ast.FunctionDef(name=owner.name, args=args, body=body, decorator_list=[], returns=None)
    on = Receiver(owner, text, None)
    return Target(text, (statement,), home, node, tuple(parameters_of(args)), on=on, makes=True)


def _of_class(
    home: FileScope, owner: ast.ClassDef, name: str, method: Function, statement: str
) -> Target | None:
    marks = _marks(method)
    if not marks & {"classmethod", "staticmethod"}:
        return None
    args = method.args if "staticmethod" in marks else _without_first(method)
    parameters = tuple(parameters_of(args))
    return Target(
        f"{name}.{method.name}",
        (statement,),
        home,
        _plain(method, args),
        parameters,
        on=Receiver(owner, name, None),
    )


def member(home: FileScope, owner: ast.ClassDef, name: str) -> Function | None:
    """Return a method of a class, or of a class of its file that it is made of."""
    for part in lineage(home, owner):
        found = members(part).get(name)
        if found is not None:
            return found
    return None


def lineage(home: FileScope, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """Return a class and those of its file that it is made of."""
    found = [owner]
    for part in found:
        for base in part.bases:
            other = home.classes.get(dotted(base))
            if other is not None and other not in found:
                found.append(other)
    return found


def begun(scope: FileScope, owner: ast.ClassDef | None, test: Function) -> dict[str, ast.expr]:
    """Return what stands for names when a test begins: its file's fixtures, and ``self.x`` of its class."""
    found: dict[str, ast.expr] = {}
    for argument in test.args.args:
        fixture = scope.fixtures.get(argument.arg)
        given = _given(fixture.body) if fixture is not None and not fixture.args.args else None
        if given is not None:
            found[argument.arg] = given
    methods = members(owner) if owner is not None else {}
    for name in _BEGINS:
        for statement in methods[name].body if name in methods else ():
            for target in statement.targets if isinstance(statement, ast.Assign) else ():
                if isinstance(statement, ast.Assign) and dotted(target).startswith("self."):
                    found[dotted(target)] = statement.value
    return found


def _given(body: Iterable[ast.stmt]) -> ast.expr | None:
    """Return the one expression that a fixture returns or yields, None where it does more than that."""
    steps = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(steps) != 1:
        return None
    (step,) = steps
    if isinstance(step, ast.Expr) and isinstance(step.value, ast.Yield):
        return step.value.value
    return step.value if isinstance(step, ast.Return) else None


def _constructor(home: FileScope, owner: ast.ClassDef) -> ast.arguments | None:
    """Return the parameters that make an object, None where a class of elsewhere has a part in them."""
    made = member(home, owner, "__init__") or member(home, owner, "__new__")
    if made is not None:
        return _without_first(made)
    classes = lineage(home, owner)
    if any(dotted(base) not in {*home.classes, "object"} for part in classes for base in part.bases):
        return None
    if not any(_is_dataclass(mark) for part in classes for mark in part.decorator_list):
        return ast.parse("def make(): ...").body[0].args  # type: ignore[attr-defined, no-any-return]
    fields: dict[str, ast.AnnAssign] = {}
    for part in reversed(classes):
        for step in part.body:
            if isinstance(step, ast.AnnAssign) and isinstance(step.target, ast.Name):
                fields[step.target.id] = step
    return _fields(fields)


def _fields(fields: Mapping[str, ast.AnnAssign]) -> ast.arguments | None:
    texts = []
    for name, step in fields.items():
        kind = source_text(step.annotation, 200)
        if "ClassVar" in kind or "InitVar" in kind:
            continue
        value = step.value
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "field":
            words = {k.arg: k.value for k in value.keywords}
            if "init" in words:
                continue
            value = words.get("default") or (ast.Constant(...) if "default_factory" in words else None)
        texts.append(
            f"{name}: {ast.unparse(step.annotation)}" + (f" = {ast.unparse(value)}" if value else "")
        )
    try:
        return ast.parse(f"def make({', '.join(texts)}): ...").body[0].args  # type: ignore[attr-defined, no-any-return]
    except SyntaxError:
        return None


def _is_dataclass(mark: ast.expr) -> bool:
    return dotted(mark.func if isinstance(mark, ast.Call) else mark).rpartition(".")[2] == "dataclass"


def _marks(node: Function) -> set[str]:
    """Return the decorators that make more, or less, of a method than a function on an object."""
    return {
        dotted(m.func if isinstance(m, ast.Call) else m).rpartition(".")[2] for m in node.decorator_list
    } & {
        "classmethod",
        "staticmethod",
        "property",
        "cached_property",
    }


def _without_first(node: Function) -> ast.arguments:
    """Return a method's parameters without ``self`` or ``cls``."""
    args = node.args
    if "staticmethod" in _marks(node):
        return args
    plain = [*args.posonlyargs, *args.args][1:]
    most = len(plain)
    return ast.arguments(
        posonlyargs=[],
        args=plain,
        vararg=args.vararg,
        kwonlyargs=args.kwonlyargs,
        kw_defaults=args.kw_defaults,
        kwarg=args.kwarg,
        defaults=args.defaults[-most:] if most else [],
    )


def _plain(node: Function, args: ast.arguments) -> Function:
    """Return the method with other parameters and no decorators: what a reader sees of a call."""
    made = copy.copy(node)
    made.args, made.decorator_list = args, []
    return made


def _apart(parameter: Parameter, method: str, taken: set[str]) -> Parameter:
    """Return a method's parameter under a name that the object's own parameters have not taken."""
    if parameter.name not in taken:
        return parameter
    return replace(parameter, name=f"{method}_{parameter.name}", word=parameter.name)
