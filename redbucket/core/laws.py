"""Kinds of law that may fit a signature, as the bodies of tests. Which hold is for base's runs to say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from redbucket.core.calls import Target
from redbucket.core.widened import kind

_NUMBERS = frozenset({"int", "float", "Decimal", "Fraction"})
_SERIES = frozenset({"list", "tuple", "str", "bytes"})
# A pair of names of which one undoes the other.
_INVERSES = (
    *(("encode", "decode"), ("dumps", "loads"), ("dump", "load"), ("pack", "unpack"), ("quote", "unquote")),
    *(("escape", "unescape"), ("parse", "format"), ("serialize", "deserialize"), ("compress", "decompress")),
    *(
        ("encrypt", "decrypt"),
        ("flatten", "unflatten"),
        ("to_", "from_"),
        ("int_to_", "int_from_"),
        ("join", "split"),
    ),
    *(("format", "parse"), ("int2", "2int"), ("camel2under", "under2camel"), ("zip", "unzip")),
)


@dataclass(frozen=True)
class Law:
    """One law: a name for the test, what it says, its body, and a second value of a parameter that it draws.

    ``imports`` are statements that it needs besides.
    """

    name: str
    says: str
    body: tuple[str, ...]
    again: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    helpers: str = ""


Call = Callable[..., str]


def laws(target: Target, drawn: list[str], call: Call) -> Iterator[Law]:
    """Yield the laws that may fit; ``call(**over)`` is the text of the call with some arguments replaced."""
    kinds = {p.name: kind(p) for p in target.parameters if p.name in drawn}
    result = call()
    for name in drawn:
        yield from _alone(name, kinds[name], call)
        if kinds[name] in _NUMBERS:
            yield from _numeric(name, call)
        if kinds[name] in _SERIES:
            yield from _series(name, kinds[name], call)
    yield from _together(drawn, kinds, result, call)
    yield from _inverse(target, drawn, call)
    yield Law(
        "sorted", "the result is in order", (f"found = list({result})", "assert found == sorted(found)")
    )
    yield Law(
        "unique",
        "no element comes twice",
        (f"found = list({result})", "assert len(set(found)) == len(found)"),
    )
    yield Law("not_negative", "the result is never negative", (f"assert {result} >= 0",))
    yield Law(
        "near_equal",
        "no two elements differ by more than one",
        (f"found = {result}", "assert max(found) - min(found) <= 1"),
    )


def _alone(name: str, of: str, call: Call) -> Iterator[Law]:
    once, twice = call(), call(**{name: "once"})
    yield Law("idempotent", "twice is as good as once", (f"once = {once}", f"assert {twice} == once"))
    yield Law(
        "undoes_itself", "twice gives back what was given", (f"once = {once}", f"assert {twice} == {name}")
    )


def _numeric(name: str, call: Call) -> Iterator[Law]:
    both = (
        f"low, high = sorted(({name}, other))",
        f"less, more = {call(**{name: 'low'})}, {call(**{name: 'high'})}",
    )
    yield Law("grows", f"it never falls as {name} grows", (*both, "assert less <= more"), (name,))
    yield Law("falls", f"it never grows as {name} grows", (*both, "assert less >= more"), (name,))
    yield Law("length", f"it has {name} elements", (f"assert len(list({call()})) == {name}",))
    yield Law("adds_up", f"its elements add up to {name}", (f"assert sum({call()}) == {name}",))
    yield Law("at_most", f"it is never more than {name}", (f"assert {call()} <= {name}",))
    yield Law("at_least", f"it is never less than {name}", (f"assert {call()} >= {name}",))
    yield Law(
        "even", f"the sign of {name} does not matter", (f"assert {call(**{name: f'-{name}'})} == {call()}",)
    )
    yield Law(
        "odd", f"the sign of {name} is the result's", (f"assert {call(**{name: f'-{name}'})} == -{call()}",)
    )


def _series(name: str, of: str, call: Call) -> Iterator[Law]:
    found = f"found = list({call()})"
    yield Law("keeps_length", f"as long as {name}", (f"assert len({call()}) == len({name})",))
    yield Law("no_longer", f"never longer than {name}", (f"assert len({call()}) <= len({name})",))
    yield Law("members", f"only what is in {name}", (found, f"assert all(part in {name} for part in found)"))
    yield Law(
        "all_of_it", f"everything that is in {name}", (found, f"assert all(part in found for part in {name})")
    )
    yield Law(
        "flattens",
        f"its parts make {name}",
        (found, f"assert [one for part in found for one in part] == list({name})"),
    )
    yield Law(
        "order_kept",
        f"in the order of {name}",
        (found, f"rest = iter({name})", "assert all(p in rest for p in found)"),
    )
    if of in ("list", "tuple"):
        yield Law(
            "reversible",
            f"the order of {name} does not matter",
            (f"assert {call(**{name: f'{name}[::-1]'})} == {call()}",),
        )
        yield Law(
            "any_order",
            f"the order of {name} does not matter",
            (f"assert {call(**{name: f'sorted({name})'})} == {call()}",),
        )
        yield Law(
            "same_elements",
            f"the elements of {name}, in another order",
            (f"assert sorted({call()}) == sorted({name})",),
        )
        yield Law("same_sum", f"the sum of {name}", (f"assert sum({call()}) == sum({name})",))
        yield Law(
            "within",
            f"between the least and the greatest of {name}",
            (f"assert min({name}) <= {call()} <= max({name})",),
        )
    else:
        empty = "b''" if of == "bytes" else "''"
        yield Law("joins", f"its parts make {name}", (f"assert {empty}.join({call()}) == {name}",))
        yield Law("contained", f"{name} is in it", (f"assert {name} in {call()}",))
        yield Law("part_of", f"a part of {name}", (f"assert {call()} in {name}",))
        yield Law(
            "stripped", "nothing but text at its ends", (f"found = {call()}", "assert found == found.strip()")
        )


def _together(drawn: list[str], kinds: dict[str, str], result: str, call: Call) -> Iterator[Law]:
    for one in drawn:
        for other in drawn:
            if one == other:
                continue
            if one < other and kinds[one] == kinds[other]:
                swapped = call(**{one: other, other: one})
                yield Law(
                    "commutes", f"{one} and {other} may change places", (f"assert {swapped} == {result}",)
                )
            if kinds[one] in _NUMBERS and kinds[other] in _NUMBERS:
                yield Law(
                    f"between_{one}_{other}",
                    f"between {one} and {other}",
                    (f"assert {one} <= {result} <= {other}",),
                )
            if kinds[one] in _SERIES and kinds[other] in _NUMBERS:
                yield Law(
                    f"parts_{other}",
                    f"parts of at most {other}",
                    (f"assert all(len(part) <= {other} for part in {result})",),
                )
                yield Law(
                    f"no_longer_than_{other}",
                    f"no longer than {other}",
                    (f"assert len({result}) <= {other}",),
                )
                yield Law(
                    f"count_{other}",
                    f"as many parts as {other} makes of {one}",
                    (f"assert len(list({result})) == -(-len({one}) // {other})",),
                )


def _inverse(target: Target, drawn: list[str], call: Call) -> Iterator[Law]:
    if target.on is not None or target.is_async:
        return
    known = set(target.home.functions)
    prefix = target.callee.rpartition(".")[0]
    for left, right in (*_INVERSES, *((b, a) for a, b in _INVERSES)):
        if left not in target.name:
            continue
        other = target.name.replace(left, right, 1)
        if other == target.name or other not in known or not drawn:
            continue
        callee = f"{prefix}.{other}" if prefix else other
        statement = target.imports[0]
        imports = () if prefix else (statement.replace(f"import {target.name}", f"import {other}"),)
        yield Law(
            f"{other}_undoes_it",
            f"{other} gives back what was given",
            (f"assert {callee}({call()}) == {drawn[0]}",),
            imports=imports,
        )
        yield Law(
            f"it_undoes_{other}",
            f"it gives back what {other} was given",
            (f"assert {call(**{drawn[0]: f'{callee}({drawn[0]})'})} == {drawn[0]}",),
            imports=imports,
        )
