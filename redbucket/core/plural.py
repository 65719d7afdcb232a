"""Numbers with the word that fits them."""

from __future__ import annotations


def plural(n: int, one: str, many: str = "") -> str:
    """Return "1 test" or "2 tests"; ``many`` where it is not ``one`` with an s: "test is", "tests are"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def about(seconds: float) -> str:
    """Return a length of time as a person would say it: "about 40 seconds", "about 3 minutes"."""
    if seconds < 90:
        return f"about {plural(max(1, round(seconds)), 'second')}"
    return f"about {plural(round(seconds / 60), 'minute')}"
