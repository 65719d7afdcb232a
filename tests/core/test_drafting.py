"""From a missed test to candidates: the calls, the domains around their literals, the copy of base's code."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given, strategies
from hypothesis import strategies as st

from redbucket.core.calls import Parameter, Target, parameters_of, with_arguments
from redbucket.core.candidates import candidates, proposal
from redbucket.core.filescope import read_scope
from redbucket.core.ghost import ghost_tests
from redbucket.core.missedcalls import targets
from redbucket.core.missedrows import failed_rows, with_rows
from redbucket.core.oneexample import Form, read_test
from redbucket.core.probing import Probe
from redbucket.core.prompt import answer_text, prompt
from redbucket.core.purecopy import pure_copy
from redbucket.core.treescopes import TreeScopes
from redbucket.core.widened import VARIANTS, of_annotation, of_values, shape, strategy
from tests.core.trees import MemoryTree

MONEY = """\
import os
from decimal import Decimal
from .words import clean

STEP = 7


def split(amount: int, parts: "Absent", *, name="x") -> Never:
    '''Split it.'''
    return _share(amount, parts) + [STEP]


def _share(amount, parts):
    return [amount // parts] * parts


def dirty(amount):
    return os.environ[amount]


def grows(row):
    row["x"] = 1
    return row


def whole(text):
    return Decimal(clean(text))
"""
TEST = """\
import pytest
from pkg import money
from pkg.money import split as cut

ROWS = [1, 2]


def test_a():
    n = 11
    assert cut(n, 3) == [4, 4, 3]
    assert money.split(5, parts=ROWS) == []


@pytest.mark.parametrize(("n", "m"), [(1, 2), pytest.param(3, 4)])
def test_rows(n, m):
    assert cut(n, m)
"""
TREE = {
    "pkg/__init__.py": "",
    "pkg/money.py": MONEY,
    "pkg/words.py": "def clean(text):\n    return text\n",
    "tests/test_a.py": TEST,
}


def found(name: str, message: str = "") -> dict[str, Target]:
    scope = TreeScopes(MemoryTree(TREE), lambda path: path.startswith("tests/")).scope("tests/test_a.py")
    assert scope is not None
    seen: dict[str, Target] = {}
    for part in with_rows(scope.functions[name], scope):
        for target in targets(scope, part, message):
            known = seen.get(target.callee)
            values = [p.values for p in (known.parameters if known else ())]
            if known is None or sum(map(len, values)) < sum(len(p.values) for p in target.parameters):
                seen[target.callee] = target
    return seen


def test_the_calls_of_a_test_with_its_literals_rows_and_message() -> None:
    seen = found("test_a", "AssertionError: assert [1] == [4]\n  +  where [1] = cut(17, 9)")
    assert set(seen) == {"cut", "money.split"}
    assert seen["cut"].imports == ("from pkg.money import split as cut",)
    assert seen["money.split"].imports == ("from pkg import money",)
    amount, parts, name = seen["cut"].parameters
    assert (amount.annotation, name.keyword, name.values) == ("int", True, ())
    assert set(amount.values) >= {11, 17}
    assert set(parts.values) == {3, 9}
    assert seen["money.split"].parameters[1].values == ([1, 2],)
    said = found(
        "test_a", "assert 1\n +  where 1 = <function split at 0x7f12>(*[21, 8]) (tests/test_a.py:test_a)\n"
    )
    assert said["money.split"].seen[0] == (21, 8, "x")
    scope = read_scope(ast.parse(TEST))
    test = scope.functions["test_rows"]
    assert "cut(3, 4)" in ast.unparse(with_rows(test, scope, {"3-4"})[1])
    assert "cut(1, 2)" in ast.unparse(with_rows(test, scope, {"1-2"})[1])
    rows = found("test_rows")["cut"]
    assert rows.parameters[0].values


TABLE = """\
import pytest
from pkg.words import clean

SOME = (("a", ValueError), ("é\\n", "e"), *((chr(n), "") for n in range(97, 120)))


@pytest.mark.parametrize(("text", "wanted"), SOME + [("x", "y")])
def test(text, wanted):
    assert clean(text) == wanted


@pytest.mark.parametrize(argnames="n", argvalues=[*range(50), b"z", 1.5])
def test_one(n):
    assert clean(n)
"""


@pytest.mark.parametrize(
    ("name", "failed", "texts"),
    [
        ("test", "a-ValueError", ["'a'"]),
        ("test", "\\xe9\\n-e", [repr("é\n")]),
        ("test", "x-y", ["'x'"]),
        ("test", "q-", []),  # of the generated part
        ("test_one", "z", ["b'z'"]),
        ("test_one", "1.5", ["1.5"]),
        ("test_one", "7", []),
    ],
)
def test_the_literal_rows_of_a_table_that_is_partly_generated(
    name: str, failed: str, texts: list[str]
) -> None:
    scope = read_scope(ast.parse(TABLE))
    test = scope.functions[name]
    reading = read_test(scope, name)
    assert reading is not None and reading.form is Form.PROPERTY
    found = failed_rows(test, scope, {failed})
    assert [ast.unparse(next(iter(row.values()))) for row in found] == texts


@pytest.mark.parametrize(
    ("values", "inside", "outside"),
    [
        ([11], [0, -5, 110], [10**6]),
        ([1.5], [0.0, -3.5], ["x"]),
        ([[1, 2]], [[], [5]], [1]),
        (["1.50"], ["", "x"], [1]),
        ([None, 3], [None, 7], ["x"]),
        ([[1, None]], [[], [None], [7, None]], [["x"]]),
        ([(1, None), (None, 2)], [(None, None), (5, 7)], [("x", 1)]),
        ([(1, "a")], [(5, "")], [(1,)]),
        ([True], [False], [7]),
        ([{"a": 1}], [{}, {"b": 2}], [1]),
    ],
)
def test_domains_hold_the_literals_and_more(
    values: list[object], inside: list[object], outside: list[object]
) -> None:
    text = of_values(values, "wide")
    made = eval(text, {"st": strategies})
    kinds = {type(v) for v in inside}

    @given(made)
    def drawn(value: object) -> None:
        assert type(value) in kinds | {type(v) for v in values}

    drawn()
    assert text != of_values(values, "positive") or values in ([True], [(1, "a")], [{"a": 1}])


def test_points_and_what_a_call_leaves_out_are_drawn_beside_the_domain() -> None:
    parameter = Parameter("n", (1.0,), left_out=(None,))
    text = strategy(parameter, "beside")
    assert text.startswith("st.one_of(st.sampled_from([1.0, None]), st.one_of(st.none(), st.floats(")
    assert "sampled_from" not in strategy(Parameter("n", ([1],)), "beside")  # one list for all examples
    scope = read_scope(ast.parse("from m import f\n\n\ndef test():\n    f(1, 2)\n    f(3)\n"))
    home = read_scope(ast.parse("def f(a, b=None): ..."))
    target = Target("f", (), home, home.functions["f"], tuple(parameters_of(home.functions["f"].args)))
    for call in [n for n in ast.walk(scope.functions["test"]) if isinstance(n, ast.Call)]:
        target = with_arguments(target, call, scope)
    assert [(p.values, p.left_out) for p in target.parameters] == [((1, 3), ()), ((2,), (None,))]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([4, 2, 3], "st.integers(0, 7)"),
        ([999_999, 12], "st.one_of(st.integers(9, 15), st.integers(999899, 1000098))"),
        ([-1, 9], "st.one_of(st.integers(-4, 2), st.integers(6, 12))"),
        ([2.5], "st.floats(0.0, 5.5)"),
        ([None, 0], "st.one_of(st.none(), st.integers(0, 3))"),
        (["ab1"], "st.from_regex('[a-z]{1,4}[0-9]{1,3}', fullmatch=True)"),
    ],
)
def test_the_neighbours_of_what_was_seen(values: list[object], text: str) -> None:
    """A bound that is crossed by one shows there alone: 4 in two bits, 999 999 bytes as 1000.0 kB."""
    assert of_values(values, "around") == text


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "values", [[10**400], [float("inf"), 2.0], [float("nan")], [1.7e308, -1.7e308]], ids=repr
)
def test_numbers_without_a_bound_of_their_own(values: list[object], variant: str) -> None:
    made = eval(of_values(values, variant), {"st": strategies})

    @given(made)
    def drawn(value: object) -> None:
        assert isinstance(value, (int, float))

    drawn()


def test_what_can_not_be_drawn_has_no_domain() -> None:
    assert of_values([1, object()], "wide") == ""
    assert of_values([object()], "wide") == ""
    assert of_values([1, "x"], "wide") == "st.one_of(st.integers(-100, 100), st.text(max_size=40))"
    assert of_values([], "wide") == ""


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("int", "st.integers()"),
        ("str | None", "st.one_of(st.text(max_size=40), st.none())"),
        ("Optional[int]", "st.one_of(st.none(), st.integers())"),
        ("list[int]", "st.lists(st.integers(), max_size=20)"),
        ("Sequence[str]", "st.lists(st.text(max_size=40), max_size=20)"),
        ("Callable[[int], int]", ""),
        ("Money", ""),
    ],
)
def test_annotations_of_plain_types(text: str, strategy: str) -> None:
    assert of_annotation(text, "wide") == strategy


@given(st.text(max_size=30))
def test_a_text_has_its_own_shape(text: str) -> None:
    assert re.fullmatch(shape(text), text, re.S)


def test_a_pure_function_is_copied_with_what_it_needs() -> None:
    scopes = TreeScopes(MemoryTree(TREE), lambda path: False)
    home = scopes.scope("pkg/money.py")
    assert home is not None
    copy = pure_copy(home, home.functions["split"], "pkg")
    assert copy is not None
    space: dict[str, object] = {}
    exec(copy, space)
    assert space["split"](10, 2) == [5, 5, 7]  # type: ignore[operator]
    assert "from pkg.words import clean" in str(pure_copy(home, home.functions["whole"], "pkg"))
    assert pure_copy(home, home.functions["dirty"], "pkg") is None
    assert pure_copy(home, home.functions["grows"], "pkg") is None


def test_each_candidate_is_a_property_and_compiles() -> None:
    target = found("test_a")["cut"]
    copy = "def split(amount, parts, *, name='x'):\n    return [amount]"
    every = candidates(target, copy, crash=True)
    names = {one.law.name for one in every}
    assert {"as_base", "adds_up", "idempotent", "grows", "runs", "length", "commutes"} <= names
    assert {one.variant for one in every} == {0, 2, 6, 7}  # for numbers the others are one of these
    ast.parse(Probe(every, 10).source())
    for one in every:
        source = proposal(one, "tests/test_a.py::test_a")
        reading = read_test(read_scope(ast.parse(source)), one.name)
        assert reading is not None
        assert reading.form is (Form.CRASH if one.law.name == "runs" else Form.PROPERTY), (
            one.law.name,
            reading.why,
        )


def test_a_parameter_of_unknown_type_stops_the_laws() -> None:
    home = read_scope(ast.parse("def f(a, b): ..."))
    target = Target(
        "f", ("from m import f",), home, home.functions["f"], (Parameter("a", (1,)), Parameter("b"))
    )
    assert candidates(target, None, crash=False) == []
    fixed = Target(
        "f",
        ("from m import f",),
        home,
        home.functions["f"],
        (Parameter("a", (1,)), Parameter("b", fixed="{}.get")),
    )
    assert "f(a, {}.get)" in Probe(candidates(fixed, None, crash=False), 5).source()
    assert len(VARIANTS) == 8


def test_a_word_that_chooses_a_way_is_drawn_from_those_that_were_seen() -> None:
    home = read_scope(ast.parse("def f(text, how): ..."))
    parameters = (Parameter("text", ("1.2",)), Parameter("how", ("strict", "loose")))
    every = candidates(
        Target("f", ("from m import f",), home, home.functions["f"], parameters), None, crash=False
    )
    words = next(dict(one.given) for one in every if VARIANTS[one.variant] == "words")
    assert words["how"] == "st.sampled_from(['strict', 'loose'])"
    assert "from_regex" in words["text"]
    alone = Target("f", ("from m import f",), home, home.functions["f"], (Parameter("text", ("one",)),))
    assert all(VARIANTS[one.variant] != "words" for one in candidates(alone, None, crash=False))


def test_the_ghostwriters_text() -> None:
    text = (
        "AssertionError: GHOST\nimport m\nfrom hypothesis import given, strategies as st\n\n"
        "@given(a=st.nothing())\ndef test_idempotent_f(a):\n    result = m.f(a=a)\n    repeat = m.f(a=result)\n"
        "    assert result == repeat, (result, repeat)\n\nassert False (tests/x.py:test)"
    )
    home = read_scope(ast.parse("def f(a): ..."))
    target = Target("f", ("from m import f",), home, home.functions["f"], (Parameter("a", (1,)),))
    (one,) = ghost_tests(text, target, [("a", "st.integers(0, 9)")])
    assert "@given(a=st.integers(0, 9))" in one.test()
    assert "import m" in one.imports


def test_a_model_gets_the_row_the_signature_and_the_docstring_and_nothing_else() -> None:
    target = found("test_a")["cut"]
    text = prompt({"nodeid": "t::a", "bucket": "invariant_miss", "message": "m", "secret": "no"}, target)
    for part in (
        "invariant_miss",
        "def split(amount: int, parts: 'Absent', *, name='x') -> Never:",
        "Split it.",
        '"message": "m"',
    ):
        assert part in text
    assert "secret" not in text
    assert "_share" not in text


def test_a_models_answer_is_text() -> None:
    good = answer_text("Sure!\n```python\nimport os\n\ndef test_a():\n    assert 1\n```\n", "t::a")
    assert "def test_a()" in good
    assert good.startswith("# Written by a model")
    bad = answer_text("I can't.", "t::a")
    assert all(line.startswith("#") for line in bad.splitlines())
