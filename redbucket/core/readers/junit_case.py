"""One ``<testcase>`` of JUnit XML: its node id and its outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from redbucket.core.fingerprint import MESSAGE_LIMIT, Aligner, fingerprint, normalise
from redbucket.core.readers.common import Given, bound
from redbucket.core.records import Outcome, Test

_FAILED = (Outcome.FAILED, Outcome.ERROR, Outcome.XPASSED, Outcome.CRASHED, Outcome.TIMEOUT)
# Messages of a producer that say nothing: then the element's text is the message (gotestsum, Google Test).
_EMPTY_MESSAGES = frozenset({"", "Failed", "failed", "failure", "error", "Error"})
_OFF = frozenset({"notrun", "disabled", "skipped", "suppressed"})
_LEADING_TYPE = re.compile(r"([A-Za-z_][\w.$]*(?:Error|Exception|Failure|Flaky\w*|Exit))(?:[:\s]|$)")
_TIMEOUT = re.compile(r"\btime(?:d )?out\b", re.IGNORECASE)
_CRASH = re.compile(r"\babort(?:ed)?\b|\bsignal\b", re.IGNORECASE)


class Case:
    """A test case while its elements are read."""

    __slots__ = (
        "_flaky",
        "_todo",
        "_weak",
        "attempts",
        "attributes",
        "exception",
        "message",
        "outcome",
        "output",
        "properties",
        "pytest",
        "suites",
    )

    def __init__(
        self, attributes: dict[str, str], suites: tuple[str, ...], pytest: bool, scope: dict[str, str]
    ) -> None:
        self.attributes = attributes
        self.suites = suites
        self.pytest = pytest
        self.outcome = Outcome.PASSED
        self.message = ""
        self.exception = ""
        self.attempts: list[str] = []
        self.output = ""
        self.properties = scope  # the suite's, replaced where the case has its own
        self._weak = self._flaky = self._todo = False
        # Google Test and Bazel: a test that was switched off has a status, and no element.
        if attributes.get("status") in _OFF or attributes.get("result") in _OFF:
            self.outcome = Outcome.SKIPPED

    def detail(self, name: str, attributes: dict[str, str]) -> None:
        """Take <failure>, <error>, <skipped> and the elements of in-process reruns."""
        message, kind = attributes.get("message", ""), attributes.get("type", "")
        if name.startswith(("flaky", "rerun")):
            # Surefire and nextest: flaky* in a test that passed in the end, rerun* in one that never did.
            self.attempts.append("failed" if name.endswith("Failure") else "error")
            self._flaky = self._flaky or name.startswith("flaky")
            if not self.message:
                self._say(message, kind)
            self._weak = False
            return
        if name == "skipped":
            if self.outcome not in _FAILED:
                xfail = kind == "pytest.xfail"
                self.outcome = Outcome.XFAILED if xfail else Outcome.SKIPPED
                self._todo = kind == "todo"
                self._say(message, "")
            return
        if self._todo:
            # Node runs what is marked as to do, writes its failure too, and does not count it
            self.outcome = Outcome.XFAILED
            return
        if self.outcome in _FAILED and not (name == "error" and self.outcome is Outcome.FAILED):
            self._weak = False
            return  # the first failure of a kind is the cause; an error is worse than a failure
        self.outcome = _failure(name, kind, message, self.pytest)
        self._say(message, kind)

    def _say(self, message: str, kind: str) -> None:
        self.message = bound(message)
        self._weak = message in _EMPTY_MESSAGES
        leading = _LEADING_TYPE.match(message)
        self.exception = kind or (leading[1] if leading else "")

    def text(self, text: str) -> None:
        """Take the text of the element that was opened last."""
        if self._weak and text.strip():
            self.message = text.strip()
        self._weak = False

    def printed(self, text: str) -> None:
        """Take the end of what the test printed: CTest has the reason of a failure nowhere else."""
        self.output = self.output or text.strip()

    def test(self, name: str, given: Given) -> Test:
        """Return the test under its unique ``name``."""
        # nextest fails a test that passed in the end where its policy says so: flaky* still means that it did
        end = Outcome.PASSED if self._flaky else self.outcome
        last = (end.value,) if self.attempts else ()
        message, told_by = self.message, ""
        if self.outcome in _FAILED and message in _EMPTY_MESSAGES and self.output:
            # to be read, not to be compared: what is printed holds times, and comes in another order each time
            phase = "failed" if self.outcome is Outcome.ERROR else self.outcome.value
            told_by = fingerprint(phase, self.exception, "", normalise(message[:MESSAGE_LIMIT]))
            message = self.output
        return Test(
            nodeid=name,
            outcome=self.outcome,
            seed=given.seed_or(self.properties.get("TEST_SEED")),
            fixture_hash=given.hash_or(self.properties.get("fixture_hash")),
            message=message,
            exception=self.exception,
            fingerprint=told_by,
            duration=_seconds(self.attributes.get("time", "")),
            attempts=(*self.attempts, *last),
        )


def node_id(case: Case) -> str:
    """Return the id of a case.

    pytest's dotted class name becomes path::Class::name as pytest prints it: the
    last parts that begin with a capital are classes (``file`` decides where it is
    given). For others it is classname::name; the enclosing suites stand in for a
    class name that is absent or says nothing (Node writes "test").
    """
    name = case.attributes.get("name", "")
    owner = case.attributes.get("classname") or case.attributes.get("class", "")
    if case.pytest:
        file = case.attributes.get("file", "")
        if not owner:  # a module that could not be collected
            return file or name.replace(".", "/") + ".py"
        return f"{_pytest_owner(owner, file)}::{name}"
    if owner and owner.strip() == name.strip():  # Jest and CTest say the name twice
        return name.strip()
    if owner in ("", "test"):
        owner = " > ".join(case.suites)
    return f"{owner}::{name}" if owner else name


@lru_cache(maxsize=4096)  # once a class, not once a test
def _pytest_owner(owner: str, file: str) -> str:
    parts = owner.split(".")
    split = len(parts)
    if file.endswith(".py"):
        split = min(split, len(file.replace("\\", "/")[:-3].split("/")))
    else:
        while split > 1 and parts[split - 1].lstrip("_")[:1].isupper():
            split -= 1
    path = file if file.endswith(".py") else "/".join(parts[:split]) + ".py"
    return "::".join([path, *parts[split:]])


def to_tests(cases: Sequence[Case], names: Aligner, given: Given) -> dict[str, Test]:
    """Return the tests by unique id.

    pytest writes a test twice that failed and then had an error in its teardown:
    that is one test. gotestsum writes each rerun and each ``-count`` again: those
    are attempts of one test. Elsewhere a repeated id is another test, told apart
    by its suite and file if they differ.
    """
    groups: dict[str, Case | list[Case]] = {}  # a list where an id repeats, which is rare
    for case in cases:
        nodeid = node_id(case)
        before = groups.setdefault(nodeid, case)
        if isinstance(before, list):
            before.append(case)
        elif before is not case:
            groups[nodeid] = [before, case]
    tests: dict[str, Test] = {}
    for nodeid, group in groups.items():
        for key, case in [(nodeid, group)] if isinstance(group, Case) else _distinct(nodeid, group):
            name = names.name(key)
            tests[name] = case.test(name, given)
    return tests


def _distinct(nodeid: str, group: list[Case]) -> list[tuple[str, Case]]:
    first = group[0]
    if first.pytest:
        merged = [first]
        for case in group[1:]:
            if case.outcome is Outcome.ERROR and case.message.startswith("failed on teardown"):
                continue  # of the test before it, which failed already
            merged.append(case)
        return [(nodeid, case) for case in merged]
    if "go.version" in first.properties:
        worst = next((case for case in group if case.outcome in _FAILED), group[-1])
        worst.attempts = [case.outcome.value for case in group if case is not worst]
        return [(nodeid, worst)]
    suites = [" > ".join((*case.suites, case.attributes.get("file", ""))) for case in group]
    if len(set(suites)) > 1:
        named = [
            (f"{suite.removesuffix(' > ')} > {nodeid}", case)
            for suite, case in zip(suites, group, strict=True)
        ]
    else:
        named = [(nodeid, case) for case in group]
    # Runners that work in parallel write in the order of the end, so that position says nothing: what shares all
    # its names is told apart by how it ended, and one failure among them stays one failure of the first.
    return sorted(named, key=_by_end)


def _by_end(named: tuple[str, Case]) -> tuple[str, bool, str, str]:
    key, case = named
    return key, case.outcome not in _FAILED, case.outcome.value, case.message


def _failure(name: str, kind: str, message: str, pytest: bool) -> Outcome:
    if pytest and message.startswith("[XPASS(strict)]"):
        return Outcome.XPASSED
    # nextest's own types; they refine what is a failure anyway, and decide nothing.
    if _TIMEOUT.search(kind):
        return Outcome.TIMEOUT
    if _CRASH.search(kind):
        return Outcome.CRASHED
    return Outcome.FAILED if name == "failure" else Outcome.ERROR


def _seconds(text: str) -> float:
    """Return a duration in seconds, 0 where there is none that makes sense; "1,234.5" is Surefire's."""
    try:
        value = float(text)
    except ValueError:
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            return 0.0
    return value if 0.0 <= value < 1e9 else 0.0
