"""Test commands that a repository's own files name: tox.ini, Makefile, the configuration of its CI."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Iterable
from itertools import pairwise

# A line may hold the command after a prompt, a key, a variable or a launcher; what follows is shell.
_COMMAND = re.compile(
    r"(?:^|[\s;&|('\"=])(?:(?:\S*/)?python[\d.]*\s+(?:-\S+\s+)*-m\s+)?(?P<runner>pytest|py\.test|unittest)"
    r"(?=\s|$|['\"])(?P<rest>[^\n;&|<>#'\"`]*)",
    re.MULTILINE,
)
# Options of unittest's discovery that say where the tests are; each takes a value.
_WHERE = {"-s": "-s", "--start-directory": "-s", "-p": "-p", "--pattern": "-p", "-t": "-t"}


# pytest's words where two test files have one name and no package around them
_MISMATCH = "import file mismatch"
_BY_PATH = "--import-mode=importlib"
MISMATCH_REMEDY = (
    f"test files of one name in several folders: put {_BY_PATH} after pytest in [run] command, or an __init__.py "
    "into each of their folders"
)


def is_mismatch(errors: Iterable[str]) -> bool:
    """Return whether one of pytest's collection ``errors`` is that two test files have one name."""
    return any(_MISMATCH in error for error in errors)


def by_path(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return pytest's ``command`` with test files imported by their paths; None if it is another's, or has a mode."""
    if "pytest" not in command or any(word.startswith("--import-mode") for word in command):
        return None
    after = command.index("pytest") + 1
    return (*command[:after], _BY_PATH, *command[after:])


def declared(texts: Iterable[str], paths: Container[str]) -> list[tuple[str, ...]]:
    """Return the commands in ``texts`` that start pytest or unittest, each once, in order.

    Of pytest's arguments only the paths that are in the tree (``paths``, folders included) are taken: the
    others report, measure or select for one job. ``python`` stands for the project's interpreter.
    """
    found: dict[tuple[str, ...], None] = {}
    for text in texts:
        for match in _COMMAND.finditer(text):
            try:
                words = shlex.split(match["rest"])
            except ValueError:  # half of a quoted text
                continue
            if match["runner"] == "unittest":
                if "-m" not in match[0]:
                    continue  # a word of prose, or an import
                found.setdefault(("python", "-m", "unittest", *_discovery(words, paths)))
            else:
                named = (word.rstrip("/") for word in words if not word.startswith("-"))
                here = tuple(dict.fromkeys(word for word in named if word in paths))
                found.setdefault(("python", "-m", "pytest", *here))
    return list(found)


def _discovery(words: list[str], paths: Container[str]) -> tuple[str, ...]:
    kept: list[str] = []
    if words and words[0] == "discover":
        kept.append("discover")
        words = words[1:]
        for option, value in pairwise(words):
            if option in _WHERE and not value.startswith("-"):
                kept += [_WHERE[option], value]
        if words and not words[0].startswith("-") and words[0].rstrip("/") in paths:
            kept += ["-s", words[0].rstrip("/")]
        return tuple(kept)
    return tuple(word for word in words if not word.startswith("-") and re.fullmatch(r"[\w./]+", word))
