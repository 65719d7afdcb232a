"""Names of folders that tests run in: not to be guessed, and alike for whoever looks at them."""

from __future__ import annotations

import secrets

_LETTERS = "abcdefghijkl"
PATTERN = f"[{_LETTERS[0]}-{_LETTERS[-1]}]{{{len(_LETTERS)}}}"


def shuffled() -> str:
    """Return the same twelve letters in an order of chance (479 million of them).

    A test that takes its path for a set of characters (``name.lstrip(path)``), or counts
    its length, does the same in each run: seen in a public project, as noise that the
    folder's random name had made.
    """
    letters = list(_LETTERS)
    secrets.SystemRandom().shuffle(letters)
    return "".join(letters)
