"""What stands letter for letter in both sources is not looked into; what only seems to, is."""

import pytest

from redbucket.core.alteration import altered
from redbucket.core.details import Effect

TESTS = b"""\
from shop import total

LIMIT = 3


@pytest.mark.slow
def test_total():
    assert total(["1"]) == LIMIT


class TestMore:
    def test_none(self):
        assert total([]) == 0
"""
TWICE = TESTS + b"\n\ndef test_total():\n    assert total(['2'])\n"


def swap(old: bytes, new: bytes, source: bytes = TESTS) -> bytes:
    """Return the source with one part replaced, which it must have."""
    assert old in source
    return source.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (TESTS, swap(b"class", b"def test_b():\n    assert total([])\n\n\nclass"), Effect.ADDITIVE),
        (TESTS, swap(b"\n\n\n", b"\n\n\n\n"), Effect.NOTHING),
        (TESTS, swap(b"\n", b"\r\n"), Effect.NOTHING),
        (TESTS, swap(b"LIMIT = 3", b"LIMIT = 4"), Effect.CHANGED),
        (TESTS, swap(b".slow", b".skip"), Effect.CHANGED),
        (TESTS, swap(b"== 0", b">= 0"), Effect.CHANGED),
        (TESTS, TWICE, Effect.CHANGED),
        (TWICE, TESTS, Effect.CHANGED),
        (TESTS, swap(b"from shop import total", b"from fake import total"), Effect.CHANGED),
        # the same bytes read by another encoding: +AD4 is >, so that 0 > -1 takes the place of a sum
        (
            b"def test_a():\n    assert len('+AD4-') == 5\n",
            b"# coding: utf-7\ndef test_a():\n    assert len('+AD4-') == 5\n",
            Effect.CHANGED,
        ),
        # the name is bound once more under a condition
        (TESTS, TESTS + b"\nif LIMIT:\n    def test_total():\n        pass\n", Effect.CHANGED),
        (TESTS, TESTS + b"\nif True:\n    def test_total():\n        pass\n", Effect.CHANGED),
        # a method's name is not the module's
        (
            TESTS,
            swap(b"    def test_none(self):\n        assert total([]) == 0", b"    x = 1"),
            Effect.CHANGED,
        ),
    ],
)
def test_what_became_of_the_file(old: bytes, new: bytes, effect: Effect) -> None:
    assert altered(old, new, "tests/test_shop.py").effect is effect
