"""The candidates of a draft as source: one test for each law and domain, and the file that a proposal becomes."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from redbucket.core.calls import Parameter, Target
from redbucket.core.laws import Law, laws
from redbucket.core.pytree import dotted
from redbucket.core.widened import VARIANTS, is_word, strategy

HELD = '''\
def held(value):
    """What a value holds: objects of two copies of a class are alike if they hold the same."""
    if type(value) in (list, tuple):
        return [type(value).__name__, *map(held, value)]
    if isinstance(value, dict):
        return {key: held(part) for key, part in value.items()}
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    parts = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    parts.update(getattr(value, "__dict__", {}))
    return (type(value).__name__, held(parts)) if parts and not isinstance(value, type) else value


def left(make, use):
    """What a method gives or raises, and what it leaves of its object."""
    made = outcome(make)
    return [held(outcome(use, made)), held(made)]'''
_SHOWN = 3
_STANDARD = ("import asyncio", "from itertools", "from functools")
OUTCOME = '''\
def outcome(function, *args, **options):
    """What a call gives or raises, an iterator as a list."""
    try:
        found = function(*args, **options)
        return list(islice(found, 1000)) if hasattr(found, "__next__") else found
    except Exception as error:
        return type(error).__name__'''


@dataclass(frozen=True)
class Candidate:
    """One test: its name, the law's name and place, the domain's number (0 is the widest), and its parts."""

    name: str
    law: Law
    variant: int
    given: tuple[tuple[str, str], ...]
    target: Target
    examples: tuple[str, ...] = ()
    by: str = "law"

    def test(self, settings: str = "", name: str = "") -> str:
        """Return the test's source, under its own name or another."""
        drawn = ", ".join(f"{name}={text}" for name, text in self.given)
        names = ", ".join(name for name, _ in self.given)
        lines = [settings] if settings else []
        lines += [f"@example({text})" for text in self.examples]
        lines += [f"@given({drawn})", f"def {name or self.name}({names}):"]
        if self.rejects:
            # what the function says no to is outside of its domain
            lines += ["    try:", *(f"        {line}" for line in self.law.body)]
            lines += [f"    except {self.rejects}:", "        reject()"]
        else:
            lines += [f"    {line}" for line in self.law.body]
        return "\n".join(lines)

    @property
    def rejects(self) -> str:
        """Return the built-in exceptions that the function raises by itself, as an ``except`` clause has them."""
        if self.by != "law" or self.law.name == "runs":
            return ""
        raising = self.target.on.owner if self.target.on is not None else self.target.node
        raised = [n.exc for n in ast.walk(raising) if isinstance(n, ast.Raise) and n.exc is not None]
        names = {dotted(e.func if isinstance(e, ast.Call) else e) for e in raised}
        known = sorted(
            n for n in names if isinstance(getattr(builtins, n, None), type) and n != "AssertionError"
        )
        return known[0] if len(known) == 1 else f"({', '.join(known)})" if known else ""

    @property
    def imports(self) -> tuple[str, ...]:
        """Return the statements that it needs."""
        loop = ("import asyncio",) if self.target.is_async else ()
        return (*loop, *self.target.imports, *self.law.imports)


def candidates(target: Target, copy: str | None, crash: bool) -> list[Candidate]:
    """Return the tests to try for a function; ``copy`` is base's implementation, ``crash``: the miss was an error."""
    found: list[Candidate] = []
    seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for number, variant in enumerate(VARIANTS):
        texts = {
            p.name: strategy(p, variant) for p in target.parameters if p.values or p.annotation or not p.fixed
        }
        if variant == "words":  # a word beside something else may be one of a few
            rest = [p for p in target.parameters if is_word(p)]
            if not rest or len(rest) == len([t for t in texts.values() if t]):
                continue
            texts.update({p.name: f"st.sampled_from({list(p.values)!r})" for p in rest})
        required = _required(target)
        drawn = {n: t for n, t in texts.items() if t and (n in required or _has_values(target, n))}
        if not drawn or any(n not in drawn and not _fixed(target, n) for n in required):
            continue

        def call(_drawn: dict[str, str] = drawn, **over: str) -> str:
            return call_text(target, _drawn, over)

        # of an object that was made no law of shape or order is known
        fitting = [] if target.makes else [*laws(target, list(drawn), call), *_of_object(target, drawn)]
        if crash:
            fitting.append(Law("runs", "it raises nothing", (call(),)))
        if copy is not None:
            fitting.insert(0, _as_base(target, copy, drawn))
        for law in fitting:
            if any(name not in drawn for name in law.again):
                continue
            given = (*drawn.items(), *(("other", drawn[name]) for name in law.again))
            key = (law.name + repr(law.body), given)
            if key in seen:
                continue
            seen.add(key)
            name = re.sub(r"\W", "_", f"test_{target.name}_{law.name}")
            by = "base" if law.helpers else "law"
            found.append(Candidate(name, law, number, given, target, _examples(target, given), by))
    return found


def _required(target: Target) -> set[str]:
    if target.on is not None:
        return {p.name for p in target.parameters if p.needed}
    args = target.node.args
    plain = [a.arg for a in (*args.posonlyargs, *args.args)]
    needed = set(plain[: len(plain) - len(args.defaults)])
    return needed | {a.arg for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is None}


def _has_values(target: Target, name: str) -> bool:
    return any(p.name == name and p.values for p in target.parameters)


def _fixed(target: Target, name: str) -> str:
    return next((p.fixed for p in target.parameters if p.name == name), "")


def _arguments(parameters: Iterable[Parameter], drawn: Collection[str], over: Mapping[str, str]) -> str:
    parts, named = [], False
    for parameter in parameters:
        name = parameter.name
        text = over.get(name) or (name if name in drawn else parameter.fixed)
        if not text:
            named = True  # a default: what comes after it goes by name
            continue
        word = parameter.word or name
        parts.append(f"{word}={text}" if named or parameter.keyword else text)
    return ", ".join(parts)


def call_text(target: Target, drawn: Collection[str], over: Mapping[str, str], root: str = "") -> str:
    """Return the text of a call with drawn arguments; ``root`` stands in the place of the function or the class."""
    rest = _arguments((p for p in target.parameters if not p.own), drawn, over)
    if target.on is None:
        return _awaited(target, f"{root or target.callee}({rest})")
    receiver = _receiver(target, drawn, over, root)
    return f"{receiver}({rest})" if target.makes else _awaited(target, f"{receiver}.{target.name}({rest})")


def _awaited(target: Target, call: str) -> str:
    return f"asyncio.run({call})" if target.is_async else call


def _receiver(target: Target, drawn: Collection[str], over: Mapping[str, str], root: str = "") -> str:
    """Return the text of what a method is called on."""
    assert target.on is not None
    name, maker = root or target.on.text, target.on.maker
    if maker is None:
        return name
    own = _arguments((p for p in target.parameters if p.own), drawn, over)
    return f"{name}.{maker}({own})" if maker else f"{name}({own})"


def _of_object(target: Target, drawn: Collection[str]) -> list[Law]:
    """Return the laws that hold a method's result against what it is called on."""
    if target.on is None or target.on.maker is None:
        return []
    result, made = call_text(target, drawn, {}), _receiver(target, drawn, {})
    return [
        Law("not_less", "it is never less than what it is called on", (f"assert {result} >= {made}",)),
        Law("not_more", "it is never more than what it is called on", (f"assert {result} <= {made}",)),
        Law("greater", "it is greater than what it is called on", (f"assert {result} > {made}",)),
        Law("same", "it is what it is called on", (f"assert {result} == {made}",)),
    ]


def _as_base(target: Target, copy: str, drawn: dict[str, str]) -> Law:
    of_class = target.on is not None
    name = target.on.owner.name if target.on is not None else target.name
    inner = "\n".join(f"    {line}" if line else "" for line in copy.splitlines())
    says = f"Base's implementation of {name}, the oracle."
    # a class is made anew by each call, and there are hundreds
    once = "@cache\n" if of_class else ""
    maker = f'{once}def base():\n    """{says}"""\n{inner}\n    return {name}'
    body = f"assert {result_of(target, drawn)} == {result_of(target, drawn, 'base()')}"
    return Law(
        "as_base",
        "it gives what base's implementation gives",
        (body,),
        imports=("from itertools import islice", *(["from functools import cache"] if of_class else [])),
        helpers="\n\n\n".join([OUTCOME, *([HELD] if of_class else []), maker]),
    )


def result_of(target: Target, drawn: Collection[str], root: str = "") -> str:
    """Return the text of what a call with drawn arguments gives or raises."""
    if target.on is not None and target.on.maker is None:
        return f"held(outcome(lambda: {call_text(target, drawn, {}, root)}))"
    if target.on is not None:
        rest = _arguments((p for p in target.parameters if not p.own), drawn, {})
        use = _awaited(target, f"_made.{target.name}({rest})")
        return f"left(lambda: {_receiver(target, drawn, {}, root)}, lambda _made: {use})"
    if target.is_async:
        return f"outcome(lambda: {call_text(target, drawn, {}, root)})"
    arguments = _arguments(target.parameters, drawn, {})
    return (
        f"outcome({root or target.callee}, {arguments})" if arguments else f"outcome({root or target.callee})"
    )


def _examples(target: Target, given: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the calls that the missed test makes, as explicit examples."""
    names = [p.name for p in target.parameters]
    found = []
    for row in target.seen:
        values = dict(zip(names, row, strict=True))
        wanted = [name for name, _ in given if name != "other"]
        if all(values.get(name) is not None for name in wanted):
            parts = [f"{name}={values[name]!r}" for name in wanted]
            parts += [f"other={values[wanted[0]]!r}"] if any(n == "other" for n, _ in given) else []
            found.append(", ".join(parts))
    return tuple(found)


def proposal(one: Candidate, nodeid: str) -> str:
    """Return the file of one proposal, with the first few of its examples."""
    one = replace(one, examples=one.examples[:_SHOWN])
    words = [*(["example"] if one.examples else []), "given", *(["reject"] if one.rejects else [])]
    standard = sorted(
        (s for s in one.imports if s.startswith(_STANDARD)), key=lambda s: (s.startswith("from"), s)
    )
    rest = [s for s in dict.fromkeys(one.imports) if s not in standard]
    head = [
        f'"""Proposed for the miss of {nodeid}: {one.law.says}."""'.replace("\\", "\\\\"),
        "",
        *([*standard, ""] if standard else []),
        f"from hypothesis import {', '.join(words)}",
        "from hypothesis import strategies as st",
        "",
        *rest,
    ]
    parts = ["\n".join(head), *([one.law.helpers] if one.law.helpers else []), one.test()]
    source = "\n\n\n".join(parts) + "\n"
    ast.parse(source)
    return source
