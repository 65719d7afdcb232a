"""Tests in many styles: which quantify over a domain, and which restate an example."""

# ruff: noqa: E501 (one source a line is read best)
from __future__ import annotations

HEAD = """\
import itertools
import json
import random
import unittest

import numpy as np
import pytest
from hypothesis import Phase, assume, example, given, reproduce_failure, settings, strategies as st
from hypothesis.strategies import integers as whole

from ledger.money import CURRENCIES, Color, Money, cents, round_trip, split
from ledger import money

CASES = [("1.50", 150), ("2", 200), ("3", 300), ("4", 400), ("5", 500), ("6", 600), ("7", 700)]
TABLE = {0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 5: 25, 6: 36, 7: 49}
EVERY = st.integers()


def check(n, m):
    assert split(n, m) == [n // m] * m


def law(n, m):
    assert sum(split(n, m)) == n


def points():
    yield 1
    yield 2


def spread():
    rng = random.Random(7)
    for _ in range(50):
        yield rng.randint(0, 1000)


everything = given(st.integers(0, 100))


@st.composite
def amounts(draw):
    return Money(draw(st.integers(0, 10**6)))


@st.composite
def one_amount(draw):
    return 7


@pytest.fixture(params=range(20))
def size(request):
    return request.param


@pytest.fixture(params=[1, 2])
def few(request):
    return request.param


@pytest.fixture
def seven():
    return 7

"""

# name: the source of one test
PROPERTIES = {
    "given": "@given(st.integers(), st.integers(1, 50))\ndef test(n, m):\n    assert sum(split(n, m)) == n\n",
    "given by keyword": "@given(n=whole(0, 99))\ndef test(n):\n    assert split(n, 1) == [n]\n",
    "given and an example": "@example(7)\n@given(st.integers())\ndef test(n):\n    assert split(n, 1) == [n]\n",
    "given in a class": "class TestA:\n    @given(n=EVERY)\n    def test(self, n):\n        assert split(n, 1) == [n]\n",
    "alias of given": "@everything\ndef test(n):\n    assert split(n, 1) == [n]\n",
    "given through a helper": "@given(st.integers(), st.integers(1, 9))\ndef test(n, m):\n    law(n, m)\n",
    "composite": "@given(amounts(), amounts())\ndef test(a, b):\n    assert a + b == b + a\n",
    "builds": "@given(st.builds(Money, st.integers()))\ndef test(a):\n    assert a + a == a.times(2)\n",
    "from_type": "@given(st.from_type(Money))\ndef test(a):\n    assert -(-a) == a\n",
    "lists of few": "@given(st.lists(st.sampled_from([1, 2])))\ndef test(xs):\n    assert sum(split(xs, 1)) == len(xs)\n",
    "sampled from the product": "@given(st.sampled_from(CURRENCIES))\ndef test(c):\n    assert round_trip(c) == c\n",
    "booleans": "@given(st.booleans())\ndef test(b):\n    assert round_trip(b) is b\n",
    "data": "@given(st.data())\ndef test(data):\n    n = data.draw(st.integers())\n    assert round_trip(n) == n\n",
    "assume that narrows little": "@given(st.integers())\ndef test(n):\n    assume(n != 0)\n    assert round_trip(n) == n\n",
    "condition on a part": "@given(st.integers())\ndef test(n):\n    if n % 2 == 0:\n        assert round_trip(n) == n\n",
    "early return on a case": "@given(st.integers())\ndef test(n):\n    if n == 0:\n        return\n    assert split(n, 1) == [n]\n",
    "filter": "@given(st.integers().filter(lambda n: n % 7 == 0))\ndef test(n):\n    assert round_trip(n) == n\n",
    "map": "@given(st.integers().map(lambda n: n * 2))\ndef test(n):\n    assert round_trip(n) == n\n",
    "flatmap": "@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.integers(), min_size=n)))\n"
    "def test(xs):\n    assert round_trip(xs) == xs\n",
    "one_of": "@given(st.one_of(st.none(), st.integers()))\ndef test(n):\n    assert round_trip(n) == n\n",
    "or of strategies": "@given(st.none() | st.text())\ndef test(n):\n    assert round_trip(n) == n\n",
    "expected error": "@given(st.integers(max_value=-1))\ndef test(n):\n    with pytest.raises(ValueError):\n        split(1, n)\n",
    "nested property": "def test():\n    @given(st.integers())\n    def inner(n):\n        assert round_trip(n) == n\n    inner()\n",
    "max_examples": "@settings(max_examples=500)\n@given(st.integers())\ndef test(n):\n    assert round_trip(n) == n\n",
    "assertEqual": "class TestA(unittest.TestCase):\n    @given(st.integers())\n    def test(self, n):\n"
    "        self.assertEqual(round_trip(n), n)\n",
    "for all is zero": "@given(st.integers())\ndef test(n):\n    assert split(n, 1)[0] - n == 0\n",
    "range": "def test():\n    for n in range(100):\n        assert round_trip(n) == n\n",
    "range with subTest": "class TestA(unittest.TestCase):\n    def test(self):\n        for n in range(100):\n"
    "            with self.subTest(n=n):\n                self.assertEqual(round_trip(n), n)\n",
    "all of a range": "def test():\n    assert all(round_trip(n) == n for n in range(100))\n",
    "not any of a range": "def test():\n    assert not any(round_trip(n) != n for n in range(100))\n",
    "whole lists": "def test():\n    assert [round_trip(n) for n in range(100)] == [n for n in range(100)]\n",
    "injective": "def test():\n    assert len({cents(str(n)) for n in range(100)}) == 100\n",
    "bounded": "def test():\n    assert max(cents(str(n)) for n in range(100)) < 10**6\n",
    "product": "def test():\n    for n, m in itertools.product(range(5), range(1, 5)):\n        law(n, m)\n",
    "product of literals": "def test():\n    for a, b in itertools.product([0, 1, -1], repeat=2):\n"
    "        assert round_trip(a) + round_trip(b) == round_trip(a + b)\n",
    "permutations": "def test():\n    for p in itertools.permutations([1, 2, 3]):\n        assert cents(p) == cents(sorted(p))\n",
    "two nested lists": "def test():\n    for a in [1, 2, 3]:\n        for b in [4, 5]:\n"
    "            assert round_trip(a + b) == round_trip(a) + round_trip(b)\n",
    "parametrised range": '@pytest.mark.parametrize("n", range(50))\ndef test(n):\n    assert round_trip(n) == n\n',
    "parametrised product": '@pytest.mark.parametrize("a, b", itertools.product(range(4), range(4)))\n'
    "def test(a, b):\n    assert split(a, 1) + split(b, 1) == [a, b]\n",
    "parametrised comprehension": '@pytest.mark.parametrize("n", [n * n for n in range(20)])\n'
    "def test(n):\n    assert round_trip(n) == n\n",
    "two parametrisations": '@pytest.mark.parametrize("a", [0, 1, 2])\n@pytest.mark.parametrize("b", [3, 4])\n'
    "def test(a, b):\n    assert round_trip(a + b) == round_trip(a) + round_trip(b)\n",
    "parametrised enumeration": '@pytest.mark.parametrize("c", Color)\ndef test(c):\n    assert round_trip(c) is c\n',
    "parametrised by a generator": '@pytest.mark.parametrize("n", spread())\ndef test(n):\n    assert round_trip(n) == n\n',
    "parametrised class": '@pytest.mark.parametrize("n", range(30))\nclass TestA:\n    def test(self, n):\n'
    "        assert round_trip(n) == n\n",
    "fixture with parameters": "def test(size):\n    assert len(split(100, size + 1)) == size + 1\n",
    "pinned generator": "def test():\n    rng = random.Random(7)\n    for _ in range(100):\n"
    "        n = rng.randint(0, 10**6)\n        assert round_trip(n) == n\n",
    "seeds": "def test():\n    for seed in range(20):\n        n = random.Random(seed).random()\n        assert round_trip(n) == n\n",
    "the global generator": "def test():\n    for _ in range(100):\n        n = random.random()\n        assert round_trip(n) == n\n",
    "random rows": "def test():\n    rng = random.Random(1)\n    rows = [rng.randint(0, 99) for _ in range(50)]\n"
    "    for n in rows:\n        assert round_trip(n) == n\n",
    "numpy": "def test():\n    rng = np.random.default_rng(7)\n    xs = rng.normal(size=200)\n"
    "    np.testing.assert_allclose(round_trip(xs), xs)\n",
    "grid": "def test():\n    xs = np.linspace(0, 1, 50)\n    assert (round_trip(xs) >= 0).all()\n",
    "while": "def test():\n    n = 0\n    while n < 100:\n        assert round_trip(n) == n\n        n += 1\n",
    "if not: raise": "def test():\n    for n in range(100):\n        if round_trip(n) != n:\n"
    '            raise AssertionError(f"{n} is lost")\n',
    "generator of a file": "def test():\n    for n in spread():\n        assert round_trip(n) == n\n",
    "state machine": "from hypothesis.stateful import RuleBasedStateMachine, rule\n\n\nclass Machine(RuleBasedStateMachine):\n"
    "    @rule(n=st.integers())\n    def put(self, n):\n        assert round_trip(n) == n\n\n\ntest = Machine.TestCase\n",
    "range of a table's length": "def test():\n    for n in range(len(CASES)):\n        assert round_trip(n) == n\n",
    "method": "@given(st.integers())\ndef test(n):\n    account = Money(0)\n    account.put(n)\n    assert account.total == n\n",
    "list of results, gone through": "def test():\n    for found in [round_trip(n) for n in range(50)]:\n        assert found >= 0\n",
    "sum of what it was told": "def test():\n    account = Money(0)\n    for n in range(50):\n        account.put(n)\n"
    "        assert account.total >= n\n",
    "operators of an object": "@given(st.integers())\ndef test(n):\n    assert Money(3) * n == n * Money(3)\n",
    "items of an object": "def test():\n    purse = Money(3)\n    for n in range(20):\n        assert purse[n] == n\n",
    "against a slow oracle": "@given(st.lists(st.integers()))\ndef test(xs):\n    assert cents(xs) == sum(xs)\n",
    "gathers what is wrong": "def test():\n    wrong = []\n    for n in range(50):\n        if round_trip(n) != n:\n            wrong.append(n)\n    assert not wrong, wrong\n",
    "gathers and counts": "def test():\n    wrong = set()\n    for n in range(50):\n        if round_trip(n) != n:\n            wrong.add(n)\n    assert len(wrong) == 0\n",
    "counts what is wrong": "def test():\n    wrong = 0\n    for n in range(50):\n        if round_trip(n) != n:\n            wrong += 1\n    assert wrong == 0\n",
    "filters what is wrong": "def test():\n    assert [n for n in range(50) if round_trip(n) != n] == []\n",
    "gathers results": "def test():\n    found = []\n    for n in range(50):\n        found.append(split(n, 1))\n    assert found == [[n] for n in range(50)]\n",
    "sums against sums": "def test():\n    found = wanted = 0\n    for n in range(50):\n        found += round_trip(n)\n        wanted += n\n    assert found == wanted\n",
    "async range": "import asyncio\nimport anyio\n\n\nasync def test():\n    for n in range(50):\n        assert await round_trip(n) == n\n",
    "async given": "import asyncio\nimport anyio\n\n\n@given(st.integers())\nasync def test(n):\n    assert await round_trip(n) == n\n",
    "mark asyncio given": "import asyncio\nimport anyio\n\n\n@pytest.mark.asyncio\n@given(st.integers())\nasync def test(n):\n    found = await round_trip(n)\n    assert found == n\n",
    "gather": "import asyncio\nimport anyio\n\n\nasync def test():\n    found = await asyncio.gather(*(round_trip(n) for n in range(50)))\n    assert found == list(range(50))\n",
    "gather list": "import asyncio\nimport anyio\n\n\nasync def test():\n    assert await asyncio.gather(*[round_trip(n) for n in range(50)]) == [n for n in range(50)]\n",
    "run": "import asyncio\nimport anyio\n\n\ndef test():\n    for n in range(50):\n        assert asyncio.run(round_trip(n)) == n\n",
    "run given": "import asyncio\nimport anyio\n\n\n@given(st.integers())\ndef test(n):\n    assert asyncio.run(round_trip(n)) == n\n",
    "anyio.run given": "import asyncio\nimport anyio\n\n\n@given(st.integers())\ndef test(n):\n    assert anyio.run(round_trip, n) == n\n",
    "nested main": "import asyncio\nimport anyio\n\n\ndef test():\n    async def main():\n        for n in range(50):\n            assert await round_trip(n) == n\n    asyncio.run(main())\n",
    "nested main given": "import asyncio\nimport anyio\n\n\n@given(st.integers())\ndef test(n):\n    async def main():\n        assert await round_trip(n) == n\n    asyncio.run(main())\n",
    "nested by name": "import asyncio\nimport anyio\n\n\n@given(st.integers())\ndef test(n):\n    async def main():\n        assert await round_trip(n) == n\n    anyio.run(main)\n",
    "loop": "import asyncio\nimport anyio\n\n\n@given(st.integers())\ndef test(n):\n    loop = asyncio.new_event_loop()\n    assert loop.run_until_complete(round_trip(n)) == n\n",
    "taskgroup": "import asyncio\nimport anyio\n\n\nasync def test():\n    async with asyncio.TaskGroup() as tg:\n        tasks = [tg.create_task(round_trip(n)) for n in range(50)]\n    assert [t.result() for t in tasks] == list(range(50))\n",
    "async comp": "import asyncio\nimport anyio\n\n\nasync def test():\n    assert all([await round_trip(n) == n for n in range(50)])\n",
    "async for": "import asyncio\nimport anyio\n\n\nasync def test():\n    for n in range(20):\n        got = [x async for x in split(n, 1)]\n        assert got == [n]\n",
    "wait_for": "import asyncio\nimport anyio\n\n\nasync def test():\n    for n in range(50):\n        assert await asyncio.wait_for(round_trip(n), 1) == n\n",
    "timeout": "import asyncio\nimport anyio\n\n\nasync def test():\n    async with asyncio.timeout(5):\n        for n in range(50):\n            assert await round_trip(n) == n\n",
    "isolated": "import asyncio\nimport anyio\n\n\nclass TestA(unittest.IsolatedAsyncioTestCase):\n    async def test(self):\n        for n in range(50):\n            self.assertEqual(await round_trip(n), n)\n",
    "match default": "def test():\n    for n in range(50):\n        match n:\n            case 0:\n                w = [0]\n            case _:\n                w = [n]\n        assert split(n, 1) == w\n",
    "match sign": "@given(st.integers())\ndef test(n):\n    match n:\n        case 0:\n            w = 0\n        case int() if n > 0:\n            w = 1\n        case _:\n            w = -1\n    assert cents(n) == w\n",
    "match type": "@given(st.one_of(st.integers(), st.text()))\ndef test(v):\n    match v:\n        case int():\n            assert round_trip(v) == v\n        case str():\n            assert round_trip(v) == v\n",
    "match of result": "@given(st.integers())\ndef test(n):\n    match split(n, 1):\n        case [one]:\n            assert one == n\n        case _:\n            raise AssertionError(n)\n",
    "match of product": "def test():\n    for op in ['+', '-', '*']:\n        for n in range(20):\n            match op:\n                case '+':\n                    assert cents(op, n) == n + n\n                case '-':\n                    assert cents(op, n) == 0\n                case '*':\n                    assert cents(op, n) == n * n\n",
    "if parity": "@given(st.integers())\ndef test(n):\n    if n % 2 == 0:\n        w = 'even'\n    else:\n        w = 'odd'\n    assert cents(n) == w\n",
    "if else law": "def test():\n    for n in range(50):\n        if n == 0:\n            w = [0]\n        else:\n            w = [n]\n        assert split(n, 1) == w\n",
    "if else law2": "def test():\n    for n in range(50):\n        if n != 0:\n            w = [n]\n        else:\n            w = [0]\n        assert split(n, 1) == w\n",
    "if pre": "def test():\n    for n in range(50):\n        w = [n]\n        if n == 0:\n            w = [5]\n        assert split(n, 1) == w\n",
    "two cont": "def test():\n    for n in range(50):\n        if n == 3:\n            continue\n        if n == 4:\n            continue\n        assert round_trip(n) == n\n",
    "a table with a generated part": "@pytest.mark.parametrize('n, m', [(1, 1), *((n, n) for n in range(50))])\ndef test(n, m):\n    assert split(n, 1) == [m]\n",
    "a table and a generated one": "@pytest.mark.parametrize('n, m', [(1, 1)] + [(n, n) for n in range(50)])\ndef test(n, m):\n    assert split(n, 1) == [m]\n",
    "a loop over rows and generated ones": "def test():\n    for n, m in [(1, 1), *((n, n) for n in range(50))]:\n        assert split(n, 1) == [m]\n",
}

POINTS = {
    "equality": "def test():\n    assert cents('1.50') == 150\n",
    "two equalities": "def test():\n    assert cents('1.50') == 150\n    assert cents('2') == 200\n",
    "variables": "def test():\n    text = '1.50'\n    found = cents(text)\n    wanted = 150\n    assert found == wanted\n",
    "helper": "def test():\n    check(10, 2)\n",
    "law at a point": "def test():\n    law(10, 3)\n",
    "rows": '@pytest.mark.parametrize("text, wanted", [("1.50", 150), ("2", 200)])\ndef test(text, wanted):\n'
    "    assert cents(text) == wanted\n",
    "rows by name": '@pytest.mark.parametrize(("text", "wanted"), CASES)\ndef test(text, wanted):\n    assert cents(text) == wanted\n',
    "many rows of a law": '@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9])\ndef test(n):\n    assert round_trip(n) == n\n',
    "pytest.param": '@pytest.mark.parametrize("n", [pytest.param(7, id="seven")])\ndef test(n):\n    assert round_trip(n) == n\n',
    "parameterized": "from parameterized import parameterized\n\n\nclass TestA(unittest.TestCase):\n"
    "    @parameterized.expand([(1, 1), (2, 2)])\n    def test(self, n, m):\n        self.assertEqual(split(n, 1), [m])\n",
    "approx": "def test():\n    assert cents('0.1') == pytest.approx(10)\n",
    "assertEqual": "class TestA(unittest.TestCase):\n    def test(self):\n        self.assertEqual(cents('1'), 100)\n",
    "assertEqual of setUp": "class TestA(unittest.TestCase):\n    def setUp(self):\n        self.n = 7\n\n"
    "    def test(self):\n        self.assertEqual(round_trip(self.n), 7)\n",
    "membership": "def test():\n    assert cents('1') in (100, 101)\n",
    "snapshot": "def test(snapshot):\n    assert cents('1') == snapshot\n",
    "golden file": "def test():\n    for text, wanted in json.load(open('cases.json')):\n        assert cents(text) == wanted\n",
    "loop over a list": "def test():\n    for n in [1, 2, 3, 4, 5, 6, 7]:\n        assert round_trip(n) == n\n",
    "loop over rows": "def test():\n    for text, wanted in CASES:\n        assert cents(text) == wanted\n",
    "zip of two lists": "def test():\n    for n, m in zip(range(3), [0, 1, 2]):\n        assert split(n, 1) == [m]\n",
    "list of results": "def test():\n    assert [cents(str(n)) for n in range(7)] == [0, 100, 200, 300, 400, 500, 600]\n",
    "sum of results": "def test():\n    assert sum(cents(str(n)) for n in range(10)) == 4500\n",
    "lookup in a table": "def test():\n    for n in range(8):\n        assert cents(n) == TABLE[n]\n",
    "rows by index": "def test():\n    for i in range(len(CASES)):\n        assert cents(CASES[i][0]) == CASES[i][1]\n",
    "what varies is beside the code": "def test():\n    for n in range(100):\n        assert cents('1') + n == 100 + n\n",
    "what varies is what is expected": "def test():\n    for n in range(100):\n        assert cents('1') == (100 if n else 100)\n",
    "rows with something generated in them": "def test():\n    for n, wanted in [(1, [0]), (3, [n for n in range(3)]), (9, 0)]:\n"
    "        assert split(n, 1) == wanted\n",
    "elements of a result": "def test():\n    for part in [split(7, 1), split(8, 2)]:\n        assert part\n",
    "an object that is told nothing of it": "@given(st.integers())\ndef test(n):\n    account = Money(0)\n    account.put(7)\n"
    "    assert account.total + n == 7 + n\n",
    "range of one": "def test():\n    for n in range(7, 8):\n        assert round_trip(n) == n\n",
    "range of two": "def test():\n    for n in range(7, 9):\n        assert round_trip(n) == n\n",
    "loop that is not used": "def test():\n    for _ in range(100):\n        assert cents('1') == 100\n",
    "loop that is left": "def test():\n    for n in range(7, 100):\n        assert split(n, 1) == [7]\n        break\n",
    "just": "@given(st.just(7))\ndef test(n):\n    assert round_trip(n) == n\n",
    "bounds of one": "@given(st.integers(7, 7))\ndef test(n):\n    assert round_trip(n) == n\n",
    "bounds by keyword": "@given(st.integers(min_value=7, max_value=7))\ndef test(n):\n    assert round_trip(n) == n\n",
    "sampled from one": "@given(st.sampled_from([7]))\ndef test(n):\n    assert round_trip(n) == n\n",
    "sampled from rows": "@given(st.sampled_from(CASES))\ndef test(case):\n    assert cents(case[0]) == case[1]\n",
    "drawn and not used": "@given(st.integers())\ndef test(n):\n    assert cents('1') == 100\n",
    "assume one": "@given(st.integers())\ndef test(n):\n    assume(n == 7)\n    assert round_trip(n) == n\n",
    "filter one": "@given(st.integers().filter(lambda n: n == 7))\ndef test(n):\n    assert round_trip(n) == n\n",
    "map to one": "@given(st.integers().map(lambda n: 7))\ndef test(n):\n    assert round_trip(n) == n\n",
    "return unless": "@given(st.integers())\ndef test(n):\n    if n != 7:\n        return\n    assert round_trip(n) == n\n",
    "only if": "@given(st.integers())\ndef test(n):\n    if n == 7:\n        assert round_trip(n) == 7\n",
    "only if among": "@given(st.integers())\ndef test(n):\n    if n in (7, 8):\n        assert round_trip(n) == n\n",
    "only if in between": "@given(st.integers())\ndef test(n):\n    if 6 < n < 8:\n        assert round_trip(n) == n\n",
    "only if by another way": "@given(st.integers())\ndef test(n):\n    if n - 7 == 0:\n        assert round_trip(n) == n\n",
    "one example": "@settings(max_examples=1)\n@given(st.integers())\ndef test(n):\n    assert round_trip(n) == n\n",
    "explicit alone": "@settings(phases=[Phase.explicit])\n@example(7)\n@given(st.integers())\ndef test(n):\n"
    "    assert round_trip(n) == n\n",
    "replayed": "@reproduce_failure('6.0', b'A')\n@given(st.integers())\ndef test(n):\n    assert round_trip(n) == n\n",
    "composite of one": "@given(one_amount())\ndef test(n):\n    assert round_trip(n) == n\n",
    "data not drawn": "@given(st.data())\ndef test(data):\n    assert round_trip(7) == 7\n",
    "a list of one": "@given(st.lists(st.just(7), min_size=1, max_size=1))\ndef test(xs):\n    assert round_trip(xs) == xs\n",
    "parametrised one": '@pytest.mark.parametrize("n", range(7, 8))\ndef test(n):\n    assert round_trip(n) == n\n',
    "one of each": '@pytest.mark.parametrize("a", [7])\n@pytest.mark.parametrize("b", [49])\ndef test(a, b):\n    assert cents(a) == b\n',
    "generator of points": "def test():\n    for n in points():\n        assert round_trip(n) == n\n",
    "fixture of points": "def test(few):\n    assert round_trip(few) == few\n",
    "fixture": "def test(seven):\n    assert round_trip(seven) == 7\n",
    "one random draw": "def test():\n    n = random.Random(7).randint(0, 100)\n    assert round_trip(n) == n\n",
    "results of one call": "def test():\n    for part in split(10, 3):\n        assert part > 2\n",
    "if not: fail": "def test():\n    if cents('1') != 100:\n        pytest.fail('wrong')\n",
    "expected error": "def test():\n    with pytest.raises(ValueError):\n        split(1, 0)\n",
    "expected error as a call": "def test():\n    pytest.raises(ValueError, split, 1, 0)\n",
    "gathers what is wrong of a list": "def test():\n    wrong = []\n    for n in [1, 2, 3, 4, 5, 6, 7]:\n        if round_trip(n) != n:\n            wrong.append(n)\n    assert not wrong\n",
    "gathers what is wrong of one": "def test():\n    wrong = []\n    for n in range(50):\n        if n == 7:\n            if round_trip(n) != 7:\n                wrong.append(n)\n    assert wrong == []\n",
    "filters one": "def test():\n    assert [n for n in range(50) if n == 7 and round_trip(n) != n] == []\n",
    "filters to a literal": "def test():\n    assert [n for n in range(50) if cents(str(n)) == 700] == [7]\n",
    "sum in a loop": "def test():\n    found = 0\n    for n in range(50):\n        found += cents(str(n))\n    assert found == 122500\n",
    "snapshot in a loop": "def test(snapshot):\n    for n in range(50):\n        assert cents(str(n)) == snapshot\n",
    "snapshot of what is drawn": "@given(st.integers())\ndef test(snapshot, n):\n    snapshot.assert_match(cents(n), 'n')\n",
    "file of rows": "from pathlib import Path\n\n\n@pytest.mark.parametrize(('text', 'wanted'), json.loads(Path('cases.json').read_text()))\ndef test(text, wanted):\n    assert cents(text) == wanted\n",
    "nothing of the project": "@given(st.integers())\ndef test(n):\n    assert n + 1 > n\n",
    "standard library alone": "@given(st.integers())\ndef test(n):\n    assert json.loads(json.dumps(n)) == n\n",
    "run point": "import asyncio\nimport anyio\n\n\ndef test():\n    assert asyncio.run(round_trip(7)) == 7\n",
    "gather lits": "import asyncio\nimport anyio\n\n\nasync def test():\n    assert await asyncio.gather(round_trip(1), round_trip(2)) == [1, 2]\n",
    "gather listed": "import asyncio\nimport anyio\n\n\nasync def test():\n    assert await asyncio.gather(*[round_trip(n) for n in [1,2,3,4,5,6,7]]) == [1,2,3,4,5,6,7]\n",
    "gather range listed": "import asyncio\nimport anyio\n\n\nasync def test():\n    assert await asyncio.gather(*[round_trip(n) for n in range(7)]) == [0,1,2,3,4,5,6]\n",
    "main point": "import asyncio\nimport anyio\n\n\ndef test():\n    async def main():\n        assert await round_trip(7) == 7\n    asyncio.run(main())\n",
    "rows of a coroutine": "import asyncio\nimport anyio\n\n\n@pytest.mark.asyncio\n@pytest.mark.parametrize('n, m', [(1,1),(2,2)])\nasync def test(n, m):\n    assert await split(n, 1) == [m]\n",
    "unawaited loop": "import asyncio\nimport anyio\n\n\nasync def test():\n    for n in range(50):\n        await asyncio.sleep(0)\n    assert await round_trip(7) == 7\n",
    "set up by a coroutine": "import asyncio\nimport anyio\n\n\nclass TestA(unittest.IsolatedAsyncioTestCase):\n    async def asyncSetUp(self):\n        self.n = 7\n    async def test(self):\n        self.assertEqual(await round_trip(self.n), 7)\n",
    "timeout point": "import asyncio\nimport anyio\n\n\nasync def test():\n    async with asyncio.timeout(5):\n        assert await round_trip(7) == 7\n",
    "retry": "import asyncio\nimport anyio\n\n\nasync def test():\n    for _ in range(50):\n        assert await round_trip(7) == 7\n",
    "match": "def test():\n    for n in range(50):\n        match n:\n            case 0:\n                w = [0]\n            case 1:\n                w = [1]\n            case _:\n                continue\n        assert split(n, 1) == w\n",
    "match in case": "def test():\n    for n in range(50):\n        match n:\n            case 0:\n                assert split(n, 1) == [0]\n            case 1 | 2:\n                assert split(n, 1) == [n]\n",
    "match given": "@given(st.integers())\ndef test(n):\n    match n:\n        case 7:\n            assert split(n, 1) == [7]\n",
    "match return": "@given(st.integers())\ndef test(n):\n    match n:\n        case 0:\n            w = [0]\n        case 1:\n            w = [1]\n        case _:\n            return\n    assert split(n, 1) == w\n",
    "match pair": "def test():\n    for n in range(50):\n        for m in range(50):\n            match n, m:\n                case 0, 1:\n                    assert split(n, m) == [0]\n                case 3, 2:\n                    assert split(n, m) == [1, 2]\n",
    "match helper": "def want(n):\n    match n:\n        case 0:\n            return [0]\n        case 1:\n            return [1]\n    return None\n\n\ndef test():\n    for n in range(2):\n        assert split(n, 1) == want(n)\n",
    "match guard": "def test():\n    for n in range(50):\n        match n:\n            case k if k == 7:\n                assert split(n, 1) == [7]\n",
    "if chain": "def test():\n    for n in range(50):\n        if n == 0:\n            w = [0]\n        elif n == 1:\n            w = [1]\n        else:\n            continue\n        assert split(n, 1) == w\n",
    "a table in a table": "MORE = [(3,3),(4,4)]\n@pytest.mark.parametrize('n, m', [(1, 1), *MORE])\ndef test(n, m):\n    assert split(n, 1) == [m]\n",
    "a table with two generated rows": "@pytest.mark.parametrize('n, m', [(1, 1), (2,2),(3,3),(4,4), *((n, n) for n in range(2))])\ndef test(n, m):\n    assert split(n, 1) == [m]\n",
    "a table with rows made of a list": "@pytest.mark.parametrize('n, m', [(1, 1), (2,2),(3,3),(4,4), *((n, n) for n in [5,6,7])])\ndef test(n, m):\n    assert split(n, 1) == [m]\n",
    "a table and two generated rows": "@pytest.mark.parametrize('n, m', [(1, 1), (2,2),(3,3),(4,4)] + [(n, n) for n in range(2)])\ndef test(n, m):\n    assert split(n, 1) == [m]\n",
    "a loop over rows, two of them generated": "def test():\n    for n, m in [(1, 1), (2,2),(3,3),(4,4), *((n, n) for n in range(2))]:\n        assert split(n, 1) == [m]\n",
    "a dictionary in a dictionary": "CASES2 = {1: [1], 2: [2], **{3: [3]}}\ndef test():\n    for n, m in CASES2.items():\n        assert split(n, 1) == m\n",
    "a literal many times in a table": "@pytest.mark.parametrize('n, m', [(1, 1), *((7, 7) for _ in range(50))])\ndef test(n, m):\n    assert split(n, 1) == [m]\n",
    "times zero": "@given(st.integers())\ndef test(t):\n    assert split(10 + t * 0, 1) == [10]\n",
}

EMPTY = {
    "true": "@given(st.integers())\ndef test(n):\n    assert True\n",
    "both sides alike": "@given(st.integers())\ndef test(n):\n    assert round_trip(n) == round_trip(n)\n",
    "or true": "@given(st.integers())\ndef test(n):\n    assert round_trip(n) == n or True\n",
    "a tuple": '@given(st.integers())\ndef test(n):\n    assert (round_trip(n) == n, "lost")\n',
    "swallowed": "@given(st.integers())\ndef test(n):\n    try:\n        assert round_trip(n) == n\n"
    "    except AssertionError:\n        pass\n",
    "skipped": "@pytest.mark.skip\n@given(st.integers())\ndef test(n):\n    assert round_trip(n) == n\n",
    "after a return": "@given(st.integers())\ndef test(n):\n    return\n    assert round_trip(n) == n\n",
    "nothing": "def test():\n    pass\n",
}

CRASH = {
    "only run": "@given(st.integers())\ndef test(n):\n    round_trip(n)\n",
    "run and kept": "@given(st.integers())\ndef test(n):\n    found = round_trip(n)\n",
}

UNPINNED = {
    "no seed": "def test():\n    rng = random.Random()\n    for _ in range(100):\n        n = rng.random()\n        assert round_trip(n) == n\n",
    "system's entropy": "import secrets\n\n\ndef test():\n    for _ in range(100):\n        n = secrets.randbelow(100)\n"
    "        assert round_trip(n) == n\n",
}
