"""Methods that a missed test calls: on which object, with which literals, and how they are called in a draft."""

from __future__ import annotations

import ast

import pytest

from redbucket.core.calls import Target
from redbucket.core.candidates import call_text, candidates, proposal
from redbucket.core.filescope import FUNCTIONS, read_scope
from redbucket.core.methods import begun
from redbucket.core.missedcalls import targets
from redbucket.core.missedrows import with_rows
from redbucket.core.oneexample import Form, read_test
from redbucket.core.probing import Probe
from redbucket.core.purecopy import pure_copy
from redbucket.core.treescopes import TreeScopes
from tests.core.trees import MemoryTree

PURSE = """\
import os
from dataclasses import dataclass, field

LIMIT = 7


@dataclass(frozen=True)
class Purse:
    cents: int
    name: str = "a"
    notes: list = field(default_factory=list)

    def split(self, parts, cents=0):
        return [Purse(self.cents // parts)] * parts

    @classmethod
    def read(cls, text):
        return cls(int(text))

    @staticmethod
    def clamp(n, low):
        return max(n, low, LIMIT)

    @property
    def whole(self):
        return self.cents // 100

    async def later(self, n):
        return n

    async def rows(self, n):
        yield n


class Stack:
    def __init__(self, items=(), *, most=None):
        self.items = list(items)

    def top(self, n):
        return self.items[-n:]


class Deep(Stack):
    def depth(self, *, from_=0):
        return len(self.items) - from_


class Outside(Base):
    def run(self, n):
        return n


class Rest:
    def read(self, n):
        return os.environ[n]
"""
TEST = """\
import pytest
from pkg.purse import Deep, Outside, Purse, Rest, Stack


def test_direct():
    assert Purse(11).split(3) == [1]
    assert Purse.read("12").split(parts=4, cents=5) == [1]


def test_local():
    total = 10
    purse = Purse(total, name="b")
    again = purse
    assert again.split(2) == 1


@pytest.fixture
def stack():
    '''Three.'''
    return Stack([5, 6, 7])


def test_fixture(stack):
    assert stack.top(1) == [7]


class TestStack:
    def setup_method(self):
        self.stack = Deep([1, 2], most=9)

    def test_it(self):
        assert self.stack.top(2) == [2]
        assert self.stack.depth(from_=1) == 1


def test_class():
    assert Purse.clamp(5, low=2) == 5
    assert Purse.read("7") == Purse(7)


@pytest.mark.parametrize(("text", "parts"), [("3", 1), ("4", 2)])
def test_rows(text, parts):
    purse = Purse.read(text)
    assert purse.split(parts)


async def test_later():
    assert await Purse(1).later(2) == 2


def test_made():
    assert Stack([5, 6], most=9) != Stack([5, 6])


def test_outside():
    assert Outside(1)


def test_none():
    assert Outside(1).run(2)
    assert Purse(1).rows(2)
    assert Purse(1).whole
    assert Purse(1).gone(2)
    assert Stack([1]).items.index(1)
"""


def found(name: str) -> dict[str, Target]:
    tree = MemoryTree({"pkg/__init__.py": "", "pkg/purse.py": PURSE, "tests/test_a.py": TEST})
    scope = TreeScopes(tree, lambda path: path.startswith("tests/")).scope("tests/test_a.py")
    assert scope is not None
    owner = scope.classes.get("TestStack") if name == "test_it" else None
    members = {n.name: n for n in ast.walk(scope.tree or ast.Module()) if isinstance(n, FUNCTIONS)}
    seen: dict[str, Target] = {}
    for part in with_rows(members[name], scope, (), begun(scope, owner, members[name])):
        for target in targets(scope, part, ""):
            known = seen.get(target.callee)
            if known is None or len(target.seen) > len(known.seen):
                seen[target.callee] = target
    return seen


def values(target: Target) -> dict[str, tuple[object, ...]]:
    return {p.name: p.values for p in target.parameters if p.values}


@pytest.mark.parametrize(
    ("test", "callee", "known", "row"),
    [
        ("test_direct", "Purse(...).split", {"cents": (11,), "parts": (3,)}, None),
        (
            "test_direct",
            "Purse.read(...).split",
            {"text": ("12",), "parts": (4,), "cents": (5,)},
            ("12", 4, 5),
        ),
        ("test_local", "Purse(...).split", {"cents": (10,), "name": ("b",), "parts": (2,)}, None),
        ("test_fixture", "Stack(...).top", {"items": ([5, 6, 7],), "n": (1,)}, ([5, 6, 7], None, 1)),
        ("test_it", "Deep(...).top", {"items": ([1, 2],), "most": (9,), "n": (2,)}, ([1, 2], 9, 2)),
        ("test_it", "Deep(...).depth", {"items": ([1, 2],), "most": (9,), "from_": (1,)}, ([1, 2], 9, 1)),
        ("test_class", "Purse.clamp", {"n": (5,), "low": (2,)}, (5, 2)),
        ("test_class", "Purse.read", {"text": ("7",)}, ("7",)),
        ("test_rows", "Purse.read(...).split", {"text": ("3",), "parts": (1,)}, ("3", 1, 0)),
    ],
)
def test_the_object_and_the_literals(
    test: str, callee: str, known: dict[str, tuple[object, ...]], row: tuple[object, ...] | None
) -> None:
    target = found(test)[callee]
    assert values(target) == known
    if row is not None:
        assert target.seen[0] == row


def test_what_the_source_does_not_show_is_no_target() -> None:
    assert set(found("test_none")) == {"Purse", "Stack"}  # but the objects are made


def test_a_class_of_which_the_test_calls_no_method_is_held_against_base_s() -> None:
    target = found("test_made")["Stack"]
    assert [(p.name, p.values, p.needed) for p in target.parameters] == [
        ("items", ([5, 6],), False),
        ("most", (9,), False),
    ]
    assert call_text(target, ["items", "most"], {}) == "Stack(items, most=most)"
    copy = pure_copy(target.home, target.home.classes["Stack"], "pkg")
    every = candidates(target, copy, crash=True)
    assert {one.law.name for one in every} == {"as_base", "runs"}
    oracle = next(one for one in every if one.by == "base")
    assert "held(outcome(lambda: base()(items, most=most)))" in "".join(oracle.law.body)
    reading = read_test(read_scope(ast.parse(proposal(oracle, "tests/test_a.py::test_made"))), oracle.name)
    assert reading is not None and reading.form is Form.PROPERTY
    assert "Stack" not in found("test_local")  # a method's draft makes objects, too


def test_a_class_that_another_file_has_a_part_in_is_no_target() -> None:
    assert set(found("test_outside")) == set()


def test_a_coroutine_is_run_by_each_candidate_and_held_against_base_as_one() -> None:
    target = found("test_later")["Purse(...).later"]
    assert call_text(target, ["cents", "n"], {}) == "asyncio.run(Purse(cents).later(n))"
    copy = pure_copy(target.home, target.home.classes["Purse"], "pkg")
    assert copy is not None and "async def later" in copy
    every = candidates(target, copy, crash=False)
    oracle = next(one for one in every if one.by == "base")
    source = proposal(oracle, "tests/test_a.py::test_later")
    assert source.index("import asyncio") < source.index("from functools")
    reading = read_test(read_scope(ast.parse(source)), oracle.name)
    assert reading is not None and reading.form is Form.PROPERTY
    space: dict[str, object] = {}
    probe = Probe(every, 5).source().replace("from pkg.purse import Purse\n", "")
    exec(compile(PURSE.split("class Outside")[0] + "\n" + probe, "probe", "exec"), space)
    holds = space["test_candidate_0"]
    assert callable(holds)
    holds()


def test_names_that_both_have_are_told_apart() -> None:
    target = found("test_direct")["Purse(...).split"]
    assert [p.name for p in target.parameters] == ["cents", "name", "notes", "parts", "split_cents"]
    drawn = ("cents", "parts", "split_cents")
    assert call_text(target, drawn, {}) == "Purse(cents).split(parts, split_cents)"
    assert call_text(target, ("cents", "split_cents", "parts"), {"cents": "-cents"}, "base()") == (
        "base()(-cents).split(parts, split_cents)"
    )


def test_each_candidate_of_a_method_is_a_property_and_base_is_its_whole_class() -> None:
    target = found("test_direct")["Purse(...).split"]
    assert target.on is not None
    copy = pure_copy(target.home, target.on.owner, "pkg")
    assert copy is not None
    assert "class Purse:" in copy
    assert "LIMIT = 7" in copy
    space: dict[str, object] = {}
    exec(copy, space)
    every = candidates(target, copy, crash=False)
    assert {"as_base", "not_less", "keeps_length", "adds_up"} & {c.law.name for c in every} >= {
        "as_base",
        "not_less",
    }
    ast.parse(Probe(every, 10).source())
    for one in every:
        reading = read_test(read_scope(ast.parse(proposal(one, "t.py::test"))), one.name)
        assert reading is not None
        assert reading.form is Form.PROPERTY, (one.law.name, reading.why)


def test_base_is_held_against_the_patch_by_results_and_by_what_is_left_of_the_object() -> None:
    source = "class Pot:\n    def __init__(self, items):\n        self.items = list(items)\n"
    source += "    def put(self, n):\n        self.items.append(n)\n"
    files = {
        "pot.py": source,
        "tests/test_a.py": "from pot import Pot\n\n\ndef test():\n    Pot([1, 2]).put(3)\n",
    }
    scope = TreeScopes(MemoryTree(files), lambda path: path.startswith("tests/")).scope("tests/test_a.py")
    assert scope is not None
    (target,) = targets(scope, scope.functions["test"], "")
    assert target.on is not None
    copy = pure_copy(target.home, target.on.owner, "")
    law = next(c for c in candidates(target, copy, crash=False) if c.law.name == "as_base")
    for now, holds in ((source, True), (source.replace("(n)\n", "(n + 1)\n"), False)):
        space: dict[str, object] = {}
        exec(now, space)
        exec("\n".join([*law.law.imports, law.law.helpers]), space)
        test = "\n".join(law.law.body)
        assert eval(test.removeprefix("assert "), {**space, "items": [5], "n": 7}) is holds


def test_a_class_that_reaches_out_has_no_copy() -> None:
    home = found("test_class")["Purse.read"].home
    assert pure_copy(home, home.classes["Rest"], "pkg") is None
    assert "class Stack" in str(pure_copy(home, home.classes["Deep"], "pkg"))


def test_an_import_that_may_fail_is_copied_with_what_stands_for_it() -> None:
    source = "try:\n    from gone import fast\nexcept ImportError:\n    fast = None\n\n\n"
    source += "def f(n):\n    return n if fast is None else fast(n)\n"
    home = read_scope(ast.parse(source), "m.py", judge=False)
    copy = pure_copy(home, home.functions["f"], "")
    assert copy is not None
    space: dict[str, object] = {}
    exec(copy + "\nfound = f(3)", space)
    assert space["found"] == 3
