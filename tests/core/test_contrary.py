"""Each test of a file gets an assertion that must fail, and stays a test."""

from __future__ import annotations

import ast

import pytest

from redbucket.core.contrary import contrary


def turned(body: str, seed: str = "7") -> str:
    made = contrary(f"def test_a(x):\n{body}".encode(), seed)
    assert made is not None
    assert made.functions == {"test_a"}
    ast.parse(made.source)
    return made.source.decode().partition("\n")[2]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('    assert f(x) == "a"\n', "    assert f(x) == 'ax'\n"),
        ("    assert f(x) == [1.0]\n", "    assert f(x) == [3.0]\n"),
        ("    assert f(x) == True\n", "    assert f(x) == False\n"),
        ("    assert (\n        x\n    )\n", "    assert (\n        not (x)\n    )\n"),
        (
            "    with open(x):\n        assert é(x), 'm'\n",
            "    with open(x):\n        assert not (é(x)), 'm'\n",
        ),
        ("    self.assertIn(x, y)\n", "    self.assertNotIn(x, y)\n"),
        ("    self.assertEqual('', f(x))\n", "    self.assertEqual('x', f(x))\n"),
        ('    """Say."""\n    check(x)\n', '    """Say."""\n    assert [] == [0]\n    check(x)\n'),
        (
            "    with raises(E):\n        assert x\n",
            '    with raises(type("Other", (Exception,), {})):\n        assert x\n',
        ),
        (
            "    with suppress(E):\n        assert x\n",
            "    assert [] == [0]\n    with suppress(E):\n        assert x\n",
        ),
        (
            "    with t.warns(W, match=m): f()\n",
            '    with t.warns(type("Other", (Warning,), {}), match=m): f()\n',
        ),
        ("    self.assertRaises(E, f)\n", '    self.assertRaises(type("Other", (Exception,), {}), f)\n'),
        ("    assert f(x) == approx(1.5)\n", "    assert f(x) == approx(4.0)\n"),
        ("    assert f(x) == Path('a')\n", "    assert f(x) == Path('ax')\n"),
        ("    assert f(x) == Decimal('1')\n", "    assert not (f(x) == Decimal('1'))\n"),
        ("    self.assertAlmostEqual(f(x), 2.0)\n", "    self.assertAlmostEqual(f(x), 5.0)\n"),
        ("    assert f(x) < 5\n", "    assert f(x) < -1000000000000000000\n"),
        ("    assert 0 <= f(x)\n", "    assert 1000000000000000000 <= f(x)\n"),
        ("    assert f(x) <= y\n", "    assert not (f(x) <= y)\n"),
        ("    self.assertGreater(f(x), 0)\n", "    self.assertGreater(f(x), 1000000000000000000)\n"),
        ("    if x:\n        assert x == 'a'\n", "    if x:\n        assert x == 'ax'\n"),
        (
            "    try:\n        f()\n    except E:\n        assert 0\n    else:\n        assert x\n",
            "    try:\n        f()\n    except E:\n        assert 0\n    else:\n        assert not (x)\n",
        ),
        ("    if x:\n        assert y\n    assert z\n", "    if x:\n        assert y\n    assert not (z)\n"),
    ],
)
def test_one_assertion_is_turned(body: str, expected: str) -> None:
    assert turned(body) == expected


def test_an_expected_number_moves_by_one_so_that_tolerance_shows() -> None:
    steps = {turned("    assert f(x) == 5\n", seed) for seed in "0123456789"}
    assert steps == {"    assert f(x) == 4\n", "    assert f(x) == 6\n"}


@pytest.mark.parametrize("source", [b"", b"def helper(): assert 0\n", b"def test_a(: pass\n", b"\xff"])
def test_nothing_to_turn(source: bytes) -> None:
    assert contrary(source, "7") is None
