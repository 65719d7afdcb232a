"""The failing literals widened to domains, as texts of Hypothesis strategies."""

from __future__ import annotations

import contextlib
import math
import re
import string
import sys
from collections.abc import Sequence

from redbucket.core.calls import Parameter

VARIANTS = ("wide", "not negative", "positive", "shaped", "composed", "words", "beside", "around")
# Near to the literals, where their types alone would never lead.
_NEAR = ("shaped", "composed", "words", "around")
_SIMPLE = {
    "int": "st.integers()",
    "float": "st.floats(allow_nan=False, allow_infinity=False)",
    "str": "st.text(max_size=40)",
    "bytes": "st.binary(max_size=40)",
    "bool": "st.booleans()",
    "date": "st.dates()",
    "datetime": "st.datetimes()",
    "timedelta": "st.timedeltas()",
    "Decimal": "st.decimals(allow_nan=False, allow_infinity=False)",
    "Fraction": "st.fractions()",
}
_PATTERNS = 8
# A bound that was crossed by one, or rounded over, is found among its neighbours: so many, or that share of it.
_STEPS, _SHARE = 3, 1e-4
_LONGEST = 200
_LARGEST = sys.float_info.max
_LISTS = (
    "list",
    "List",
    "Sequence",
    "Iterable",
    "Collection",
    "tuple",
    "Tuple",
    "MutableSequence",
    "Iterator",
)


def strategy(parameter: Parameter, variant: str) -> str:
    """Return the text of a strategy for a parameter; "" if nothing is known of its type."""
    if parameter.values and variant == "beside":
        return _beside([*parameter.values, *parameter.left_out])
    if parameter.values:
        return of_values(parameter.values, variant)
    return of_annotation(parameter.annotation, variant)


def _beside(values: Sequence[object]) -> str:
    """Return the domain of ``values`` in which half of what is drawn are they themselves.

    A fault may stand at one point alone, a zero or a factor of one, which nothing else would lead to.
    """
    wide = of_values(values, "wide")
    points: dict[str, object] = {}
    for value in values:
        if isinstance(value, (int, str, bytes, type(None))) or (
            isinstance(value, float) and math.isfinite(value)
        ):
            points[repr(value)] = value
    if not wide or len(points) < len(values):
        return wide  # a list that is drawn as it is would be one object in all examples
    return f"st.one_of(st.sampled_from([{', '.join(points)}]), {wide})"


def is_word(parameter: Parameter) -> bool:
    """Return whether a parameter was seen with words alone, that may choose among ways ("strict", "prerelease")."""
    return bool(parameter.values) and all(isinstance(v, str) and v.isidentifier() for v in parameter.values)


def kind(parameter: Parameter) -> str:
    """Return the type of what a parameter was seen with ("int", "list", ...), or is annotated with; "" if mixed."""
    kinds = {type(v).__name__ for v in parameter.values}
    if kinds and kinds <= {"int", "float"}:
        return "int" if kinds == {"int"} else "float"
    if len(kinds) == 1:
        return kinds.pop()
    if kinds:
        return ""
    head = parameter.annotation.partition("[")[0].rpartition(".")[2].strip("'\"")
    return "list" if head in _LISTS else head


def of_annotation(text: str, variant: str) -> str:
    """Return a strategy for an annotation of plain types; "" for any other."""
    text = text.strip().strip("'\"")
    parts = [p.strip() for p in re.split(r"\|(?![^\[]*\])", text)]
    if len(parts) > 1:
        inner = ["st.none()" if p == "None" else of_annotation(p, variant) for p in parts]
        return f"st.one_of({', '.join(inner)})" if all(inner) else ""
    head, bracket, rest = text.partition("[")
    head = head.rpartition(".")[2]
    if not bracket:
        if head == "int" and variant in ("not negative", "positive"):
            return f"st.integers({int(variant == 'positive')}, 1000)"
        return _SIMPLE.get(head, "")
    inside = rest.removesuffix("]")
    if head == "Optional":
        element = of_annotation(inside, variant)
        return f"st.one_of(st.none(), {element})" if element else ""
    if head in _LISTS and "," not in inside.replace(", ...", ""):
        element = of_annotation(inside.replace(", ...", ""), "wide")
        least = ", min_size=1" if variant == "positive" else ""
        return f"st.lists({element}, max_size=20{least})" if element else ""
    return ""


def of_values(values: Sequence[object], variant: str) -> str:
    """Return a strategy that goes around ``values``; "" where they have no type in common that can be drawn."""
    plain = [v for v in values if v is not None]
    if not plain:
        return ""
    found = _of_kind(plain, variant)
    return f"st.one_of(st.none(), {found})" if found and len(plain) < len(values) else found


def _of_kind(values: Sequence[object], variant: str) -> str:
    kinds = {type(v) for v in values}
    if kinds <= {bool}:
        return "st.booleans()"
    if kinds <= {int, float, bool}:
        return _numbers(_finite(values), kinds <= {int, bool}, variant)
    if kinds == {str}:
        return _texts([v for v in values if isinstance(v, str)], variant)
    if kinds == {bytes}:
        return f"st.binary({'min_size=1, ' if variant == 'positive' else ''}max_size=40)"
    if kinds <= {list, set, frozenset}:
        elements = [e for v in values if isinstance(v, (list, set, frozenset)) for e in v]
        element = (
            of_values(elements, variant if variant in _NEAR else "wide")
            if elements
            else "st.integers(0, 100)"
        )
        name = "lists" if list in kinds else "sets" if set in kinds else "frozensets"
        least = "min_size=1, " if variant == "positive" else ""
        return f"st.{name}({element}, {least}max_size=20)" if element else ""
    if kinds == {tuple} and len({len(v) for v in values if isinstance(v, tuple)}) == 1:
        columns = list(zip(*(v for v in values if isinstance(v, tuple)), strict=True))
        parts = [of_values(list(column), variant) for column in columns]
        return f"st.tuples({', '.join(parts)})" if parts and all(parts) else ""
    if kinds == {dict}:
        items = [item for v in values if isinstance(v, dict) for item in v.items()]
        key, value = (of_values([i[n] for i in items], "wide") if items else "" for n in (0, 1))
        return f"st.dictionaries({key}, {value}, max_size=5)" if key and value else ""
    return _mixed(values, variant)


def _mixed(values: Sequence[object], variant: str) -> str:
    """Return the union of the domains of each type."""
    groups: dict[str, list[object]] = {}
    for value in values:
        name = "number" if isinstance(value, (int, float)) else type(value).__name__
        groups.setdefault(name, []).append(value)
    parts = [_of_kind(group, variant) for group in groups.values()] if len(groups) > 1 else []
    return f"st.one_of({', '.join(parts)})" if parts and all(parts) else ""


def _numbers(values: Sequence[float], whole: bool, variant: str) -> str:
    if variant == "around":
        return _around(values, whole)
    span = min(_LARGEST, max(100.0, 10 * max(abs(v) for v in values)))
    low = -span
    # positive ones may have to stay positive; where zero was seen, or is between, it may stay
    if min(values) > 0 and variant in ("positive", *_NEAR):
        low = 1.0 if whole else 1e-3
    elif min(values) == 0 and variant != "wide":
        low = 0.0
    # what failed comes first: in a span of thirty digits nothing near it would ever be drawn
    near = min(_LARGEST, max(100.0, 10 * abs(values[0])))
    spans = [near, span] if near * 10 < span else [span]
    texts = [
        f"st.integers({int(max(low, -high))}, {int(high)})"
        if whole
        else f"st.floats({max(low, -high)!r}, {high!r})"
        for high in spans
    ]
    return texts[0] if len(texts) == 1 else f"st.one_of({', '.join(texts)})"


def _finite(values: Sequence[object]) -> list[float]:
    """Return the numbers among ``values`` that a bound can be made of, or one."""
    found = []
    for value in values:
        with contextlib.suppress(OverflowError):  # of an int of more than 308 digits
            number = float(value) if isinstance(value, (int, float)) else math.inf
            found += [number] if math.isfinite(number) else []
    return found or [1.0]


def _around(values: Sequence[float], whole: bool) -> str:
    """Return the domain of the numbers closest to the first few of ``values``; no sign that was not seen comes up."""
    spans: list[tuple[float, float]] = []
    for value in sorted(list(dict.fromkeys(values))[:_PATTERNS]):
        width = max(float(_STEPS), abs(value) * _SHARE)
        low = value - width if min(values) < 0 else max(0.0, value - width)
        high = value + width
        if spans and low <= spans[-1][1]:
            low, high = spans[-1][0], max(high, spans.pop()[1])
        spans.append((low, high))
    texts = [
        f"st.integers({int(low)}, {int(high)})" if whole else f"st.floats({low!r}, {high!r})"
        for low, high in spans
    ]
    return texts[0] if len(texts) == 1 else f"st.one_of({', '.join(texts)})"


def _texts(values: Sequence[str], variant: str) -> str:
    if variant == "wide":
        return "st.text(max_size=40)"
    if variant in ("shaped", "words", "around"):
        patterns = dict.fromkeys(shape(v) for v in values)
        texts = [f"st.from_regex({p!r}, fullmatch=True)" for p in list(patterns)[:_PATTERNS]]
        return texts[0] if len(texts) == 1 else f"st.one_of({', '.join(texts)})"
    if variant == "composed":
        # the literals themselves with something around them: words that mean something stay whole
        pieces = [v for v in dict.fromkeys(values) if v and len(v) <= _LONGEST][:_PATTERNS]
        if not pieces:
            return ""
        piece = f"st.one_of(st.sampled_from({pieces!r}), st.text(max_size=6))"
        return f"st.lists({piece}, max_size=4).map(''.join)"
    seen = set("".join(values))
    alphabet = "".join(
        group
        for group in (string.ascii_lowercase, string.ascii_uppercase, string.digits)
        if seen & set(group)
    )
    alphabet += "".join(sorted(seen - set(alphabet)))
    least = "min_size=1, " if variant == "positive" else ""
    return f"st.text({alphabet!r}, {least}max_size=20)" if alphabet else "st.text(max_size=20)"


def shape(text: str) -> str:
    """Return a regular expression for texts of the shape of ``text``: runs of digits and letters of any length."""
    out = []
    for run in re.findall(r"[0-9]+|[a-z]+|[A-Z]+|.", text, re.S):
        if run.isascii() and run.isdigit():
            out.append(f"[0-9]{{1,{max(3, len(run))}}}")
        elif run.isascii() and run.isalpha():
            out.append(f"{'[a-z]' if run.islower() else '[A-Z]'}{{1,{max(4, len(run))}}}")
        else:
            out.append(re.escape(run))
    return "".join(out)
