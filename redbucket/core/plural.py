"""Numbers with the word that fits them."""

from __future__ import annotations


def plural(n: int, one: str, many: str = "") -> str:
    """Return "1 test" or "2 tests"; ``many`` where it is not ``one`` with an s: "test is", "tests are"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
