"""Which files judge, which are protected: decided from a path alone.

Paths are matched exactly as git stores them, and again in NFC, case-folded
form: on a disk that folds case or normalises names, ``Conftest.py`` is read as
``conftest.py``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from redbucket.core import foreign
from redbucket.core.errors import Misused
from redbucket.core.policy import Policy
from redbucket.core.wellknown import (
    CODE_AND_DOCS,
    DEFAULT_FILES,
    JUDGE_FILES,
    PROTECTED,
    SHARED_CONFIG,
    TEST_CONFIG,
)

_REMEMBERED = 20_000  # several guards ask about the same paths, one after the other
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_WILD = frozenset("*?[]\\!#")
_RANGES = frozenset("[]\\!#")
_STARS = re.compile(r"[*?]+")


def fold(path: str) -> str:
    """Return the NFC, case-folded form, under which a folding disk finds ``path``."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> Callable[[str], object]:
    """Return what says whether a path matches. Raises Misused on a bad pattern."""
    from pathspec import GitIgnoreSpec  # imported late: a third of a hook's start-up time

    try:
        spec = GitIgnoreSpec.from_lines(patterns)
    except Exception as problem:  # pathspec lets re.error and its own kinds through
        raise Misused(
            "policy-value", f"not a gitignore pattern: {problem}", "correct the pattern in the policy"
        ) from problem
    wanted = [pattern for pattern in spec.patterns if pattern.include is not None]
    regexes = [getattr(pattern, "regex", None) for pattern in wanted if pattern.include]
    texts = [regex.pattern for regex in regexes if regex is not None and regex.pattern.startswith("^")]
    if len(texts) < len(wanted) or any("(?P<" in pattern for pattern in patterns):
        return spec.match_file
    # Where no pattern takes back another, one regular expression of all says the same in a third of the time.
    # pathspec marks by a named group that a folder matched, which matters only in their order.
    joined = "|".join(f"(?:{_NAMED_GROUP.sub('(?:', text)})" for text in texts)
    whole = re.compile(joined or "(?!)").match
    return lambda path: spec.match_file(path) if path.startswith(("/", "./")) else whole(path)


class Matcher:
    """Gitignore patterns, matched on the stored and on the folded name."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        folded = tuple(fold(pattern) for pattern in self.patterns)
        self._known: dict[str, bool] = {}
        self._folded = _Specs(folded)
        self._exact = None if folded == self.patterns else _Specs(self.patterns)
        # without ranges and in ASCII, what matches as it is matches in small letters, too
        text = "".join(self.patterns)
        self._folds_all = text.isascii() and not _RANGES.intersection(text)

    def matches(self, path: str) -> bool:
        """Return whether ``path`` matches in either form. Raises Misused on a bad pattern."""
        known = self._known.get(path)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[path] = self._match(path)
        return known

    def _match(self, path: str) -> bool:
        # pathspec's "." and "$" treat a line end specially, and git allows one in a name.
        path = path.replace("\n", "\r")
        folded = fold(path)
        if self._folded.match(folded):
            return True
        if self._folds_all and path.isascii():
            return False
        if self._exact is not None:
            return self._exact.match(path)
        return folded != path and self._folded.match(path)


class AnyOf:
    """Several lists of patterns, of which one must match; asked in one go where no pattern takes back another."""

    def __init__(self, *lists: Iterable[str]) -> None:
        groups = [tuple(patterns) for patterns in lists]
        if not any(pattern.startswith("!") for patterns in groups for pattern in patterns):
            groups = [tuple(pattern for patterns in groups for pattern in patterns)]
        self._matchers = tuple(Matcher(patterns) for patterns in groups)

    def matches(self, path: str) -> bool:
        """Return whether ``path`` matches one of the lists. Raises Misused on a bad pattern."""
        for matcher in self._matchers:  # noqa: SIM110 (a generator for each of 10,000 paths takes as long as the match)
            if matcher.matches(path):
                return True
        return False


class _Specs:
    """Patterns grouped by what a path can't do without: a folder's or a file's name, or a piece of one.

    Most paths have none of these, so most patterns are never tried:
    classifying 100,000 paths takes a third of the time.
    """

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns
        # a pattern that takes back ("!") counts only in its order among all the others
        ordered = any(pattern.startswith("!") for pattern in patterns)
        needs = [("", "") if ordered else _needed(pattern) for pattern in patterns]
        self._needs = tuple(needs)
        self._names = frozenset(name for name, _ in needs) - {""}
        self._pieces = tuple({piece for _, piece in needs} - {""})
        self._chosen: dict[tuple[frozenset[str], str], Callable[[str], object] | None] = {}

    def match(self, path: str) -> bool:
        """Return whether the patterns match ``path`` as it is."""
        found = self._names.intersection(path.split("/"))
        pieces = [piece for piece in self._pieces if piece in path]
        key = found, "/".join(pieces)
        if key not in self._chosen:
            chosen = tuple(
                pattern
                for pattern, (name, piece) in zip(self._patterns, self._needs, strict=True)
                if (name in found if name else not piece or piece in pieces)
            )
            self._chosen[key] = _compiled(chosen) if chosen else None
        whole = self._chosen[key]
        return whole is not None and bool(whole(path))


def _needed(pattern: str) -> tuple[str, str]:
    """Return a segment of ``pattern`` without wildcards, or else the longest piece of one; "" for what it lacks."""
    if pattern != pattern.strip() or pattern.startswith("#"):
        return "", ""
    parts = pattern.split("/")
    name = next((part for part in parts if part and not _WILD.intersection(part)), "")
    if name or _RANGES.intersection(pattern):
        return name, ""
    return "", max((piece for part in parts for piece in _STARS.split(part)), key=len)


class JudgeSide:
    """What each path is to the judge, under one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        reported = policy.run.format == "junit"  # by a runner of any language
        tests = (*policy.judge.tests, *(foreign.TESTS if reported else ()))
        config = foreign.CONFIG if reported else ()
        self._tests = Matcher(tests)
        self._fixtures = Matcher(policy.fixtures.paths)
        self._config = Matcher(TEST_CONFIG)
        self._shared = Matcher((*SHARED_CONFIG, *(foreign.SHARED if reported else ())))
        self._not_data = Matcher((*CODE_AND_DOCS, *(foreign.CODE if reported else ())))
        self._manifests = Matcher(policy.fixtures.manifests)
        signers = policy.identity.allowed_signers
        named = (
            *JUDGE_FILES,
            *config,
            *(f"/{literal(path)}" for path in (*scripts(policy), *([signers] if signers else ()))),
        )
        self._protected = AnyOf(PROTECTED, named, policy.fixtures.manifests, policy.protect.paths)
        self._known_tests: dict[str, bool] = {}
        self._judges = AnyOf(
            tests,
            policy.fixtures.paths,
            TEST_CONFIG,
            named,
            policy.fixtures.manifests,
            policy.protect.paths,
        )

    def is_test(self, path: str) -> bool:
        """Return whether ``path`` is a test, or code or documentation among the tests."""
        known = self._known_tests.get(path)
        if known is None:
            if len(self._known_tests) >= _REMEMBERED:
                self._known_tests.clear()
            known = self._known_tests[path] = self._is_test(path)
        return known

    def _is_test(self, path: str) -> bool:
        return (
            self._tests.matches(path)
            and not self.is_test_config(path)
            and not self.is_lock(path)
            and (self._not_data.matches(path) or not self.is_fixture(path))
        )

    def is_fixture(self, path: str) -> bool:
        """Return whether ``path`` is recorded data: under ``fixtures.paths``, or data among the tests."""
        if self._config.matches(path) or self.is_lock(path):
            return False
        if self._fixtures.matches(path):
            return True
        return (
            self._tests.matches(path) and not self._not_data.matches(path) and not self._shared.matches(path)
        )

    def is_test_config(self, path: str) -> bool:
        """Return whether ``path`` configures the tests and nothing else.

        A pyproject.toml, setup.cfg or tox.ini among the tests counts: it has no product to configure there.
        """
        if self._config.matches(path):
            return True
        return self._shared.matches(path) and self._tests.matches(path) and not self._fixtures.matches(path)

    def is_shared_config(self, path: str) -> bool:
        """Return whether only a part of ``path`` configures the tests."""
        return (
            self._shared.matches(path) and not self._tests.matches(path) and not self._fixtures.matches(path)
        )

    def is_judge(self, path: str) -> bool:
        """Return whether the whole of ``path`` is judge side: taken from base for the runs."""
        return self._judges.matches(path) or self.is_lock(path)

    def is_protected(self, path: str) -> bool:
        """Return whether no agent may change ``path`` without an endorsement."""
        return self._protected.matches(path) or self.is_lock(path)

    def is_lock(self, path: str) -> bool:
        """Return whether ``path`` is a sidecar beside a fixture, or a lock manifest."""
        if self._manifests.matches(path):
            return True
        if not fold(path).endswith(".sha256"):
            return False
        return self._fixtures.matches(path) or self.is_fixture(path[: -len(".sha256")])


def scripts(policy: Policy) -> tuple[str, ...]:
    """Return the repository paths that ``run.command`` and ``run.prepare`` name, sorted.

    Any argument may be a script, so each that can be a path in the repository counts; and where the
    program is a task runner, the file that it reads by itself.
    """
    found: set[str] = set()
    for command in (policy.run.command, *policy.run.prepare):
        found.update(DEFAULT_FILES.get(command[0].rsplit("/", 1)[-1], ()))
        words = [part for word in command for part in (word, *word.split())]
        # "tests/unit" names a folder of tests as well; that is judge side in any case.
        found.update(path for word in words if (path := _in_repository(word)))
        found.update(_modules(command))
    return tuple(sorted(found))


def _in_repository(word: str) -> str:
    """Return ``word`` as a path of a script in the repository, or ""."""
    name = word.rpartition("=")[2]
    while name.startswith("./"):
        name = name[2:]
    name = name.split("::", 1)[0]
    if not name or name.startswith(("/", "-", "~")) or ".." in name.split("/"):
        return ""
    suffix = name.rsplit("/", 1)[-1].rpartition(".")[2] if "." in name.rsplit("/", 1)[-1] else ""
    if suffix in {"py", "sh", "bash", "mk", "ini", "toml", "cfg", "nox", "bat", "ps1", "js", "pl", "rb"}:
        return name
    # ./run or bin/run: a program named by a path in the repository
    return name if "/" in name and not suffix and not name.endswith("/") else ""


def _modules(command: Sequence[str]) -> set[str]:
    """Return the files that ``python -m NAME`` runs if the repository has such a module."""
    if "-m" not in command[:-1]:
        return set()
    module = command[command.index("-m") + 1].replace(".", "/")
    return {f"{module}.py", f"{module}/__main__.py"} if module.replace("/", "").isidentifier() else set()


def literal(path: str) -> str:
    """Return the gitignore pattern (without its place) that matches ``path`` alone."""
    return "".join(f"\\{c}" if c in "*?[]!#\\ " else c for c in path)
