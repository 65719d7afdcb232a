"""Where a property must lie so that no patch can edit it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from redbucket.core.paths import JudgeSide

_USUAL = "tests/properties"


def place_for(path: str, name: str, judge: JudgeSide, paths: Container[str]) -> str:
    """Return the path at which a property is to lie: its own where that is protected, else a protected folder of tests.

    ``path`` is its path in the repository, "" outside; ``paths`` are base's: a name that is taken gets a number.
    """
    if path and judge.is_protected(path):
        return path
    folders = [p.removesuffix("/**").strip("/") for p in judge.policy.protect.paths if p.endswith("/**")]
    plain = [f for f in folders if not set(f) & set("*?[]!")]
    fit = [f for f in plain if judge.is_test(f"{f}/x.py") and judge.is_protected(f"{f}/test_x.py")]
    folder = _USUAL if _USUAL in fit or not fit else fit[0]
    stem = name.removesuffix(".py")
    if not stem.startswith("test_"):
        stem = f"test_{stem}"
    found, number = f"{folder}/{stem}.py", 1
    while found in paths:
        number += 1
        found = f"{folder}/{stem}_{number}.py"
    return found


def without_paths(words: Sequence[str], paths: Iterable[str]) -> tuple[str, ...]:
    """Return a test command's arguments without the files, folders and node ids of the tree that it names."""
    known = set(paths)
    for path in list(known):
        while "/" in path:
            path = path.rpartition("/")[0]
            known.add(path)
    return tuple(w for w in words if w.partition("::")[0].removeprefix("./").rstrip("/") not in known | {"."})
