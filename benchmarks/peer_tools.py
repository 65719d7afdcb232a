"""The peers: tools that find or explain flaky tests, how each is called, and what its output says; pure.

What a tool printed is read as its user reads it. A rerunning plugin that saw both outcomes says "flaky", and
one that saw the same outcome each time says "not flaky". A tool that only claims one kind of cause says
nothing where it found none of that kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PYTEST = ("pytest==9.2.0", "hypothesis==6.170.17")
REPORT = "{report}"
# its own clock is the wall's, which a busy machine eats: it gets what the others get
BUDGET = "--doctor-budget={seconds}"
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
# What the zoo's causes are called elsewhere. A coarse word is right for each cause that it covers.
SEEDS = ("random seed", "hash order", "system entropy")
OTHER_THAN_ORDER = (*SEEDS, "clock", "concurrency", "load", "leftover state", "leftover files")


@dataclass(frozen=True)
class Answer:
    """What a tool says of one test. ``noise`` is None where it says nothing; ``causes`` are those that its
    word covers, and ``tests`` the ones that it blames.
    """

    noise: bool | None = None
    causes: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One command. ``{test}``, ``{report}``, ``{seconds}`` and ``{pty}`` stand for the test's id, a file for
    the answer, the time allowed, and a script that gives it a terminal; the step is left out where an earlier
    one wrote the report.
    """

    words: tuple[str, ...]
    times: int = 1


@dataclass(frozen=True)
class Tool:
    """One peer; ``claims`` says in a few words what it can say at all."""

    name: str
    pins: tuple[str, ...]
    claims: str
    steps: tuple[Step, ...]
    read: Callable[[str, str], Answer]
    env: Mapping[str, str] = field(default_factory=dict)


SUMMARY = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfEpR")


def same(text: str) -> str:
    """Return the text with every object's address written as the zoo's labels write it."""
    return ADDRESS.sub("0x…", text)


def outcomes(text: str, test: str) -> list[str]:
    """Return the words of pytest's short summaries for a test and its repetitions, in order."""
    base = re.escape(test.partition("[")[0])
    line = re.compile(rf"^(PASSED|FAILED|ERROR|RERUN) {base}(?:\[.*?\])?(?: - .*)?$", re.M)
    return line.findall(text)


def _mixed(text: str, test: str) -> Answer:
    seen = set(outcomes(text, test))
    if not seen:
        return Answer()
    return Answer("PASSED" in seen and len(seen) > 1)


def read_reruns(text: str, test: str) -> Answer:
    """pytest-rerunfailures: a test that passed at once was not looked at."""
    seen = outcomes(text, test)
    if "RERUN" not in seen:
        return Answer()
    return Answer("PASSED" in seen)


def read_pollution(text: str, test: str) -> Answer:
    """detect-test-pollution: the polluting test, or nothing."""
    found = re.findall(r"^-> the polluting test is: (.*)$", same(text), re.M)
    return Answer(True, ("order",), tuple(found)) if found else Answer()


def read_dependencies(text: str, test: str) -> Answer:
    """pytest-find-dependencies: what the test depends on, or nothing."""
    found = re.findall(rf"^\s*{re.escape(test)} depends on (.*)$", same(text), re.M)
    return Answer(True, ("order",), tuple(found)) if found else Answer()


def read_flakerate(text: str, test: str) -> Answer:
    """flakerate --json: flaky with a kind, always failing, or else not flaky at this sample size."""
    said = _object(text)
    if said is None:
        return Answer()
    covers = {
        "order-dependent": ("order",),
        "nondeterministic": OTHER_THAN_ORDER,
        "environment": ("network", "subprocess", "leftover files", "home folder"),
    }
    for row in said["flaky"]:
        if same(row["nodeid"]) == test:
            return Answer(True, covers.get(row["cause"], ()))
    return Answer(False)


def read_exorcist(text: str, test: str) -> Answer:
    """flake-exorcist --json: a verdict by dimension; "inconclusive" says nothing."""
    said = _object(text)
    if said is None:
        return Answer()
    covers = {
        "order": ("order",),
        "environment": ("time zone", "locale"),
        "parallel": ("concurrency", "order", "leftover files", "load"),
        "seed": SEEDS,
    }
    for row in said["findings"]:
        if same(row["node_id"]) != test:
            continue
        if row["verdict"] != "flaky":
            return Answer()
        cause = (row["primary_cause"] or {}).get("root_cause", "")
        polluter = row["polluter_node_id"]
        return Answer(True, covers.get(cause, ()), (same(polluter),) if polluter else ())
    if any(same(row["node_id"]) == test for row in said["environment_dependent"]):
        return Answer(True, covers["environment"])
    return Answer(False)


def read_doctor(text: str, test: str) -> Answer:
    """pytest-flakedoctor --doctor-json: a verdict by axis; what it held back or did not finish says nothing."""
    said = _object(text)
    if said is None or same(said["nodeid"]) != test:
        return Answer()
    covers = {
        "order": ("order",),
        "time": ("clock", "time zone", "load"),
        "rng": ("random seed", "system entropy"),
        "network": ("network",),
        "fs": ("leftover files", "home folder", "directory order", "umask"),
        "hashseed": ("hash order",),
        "interleave": ("concurrency",),
    }
    verdict = said["verdict"]
    if verdict in ("not-flaky", "deterministic-failure"):
        return Answer(False)
    if not verdict.startswith("flaky-"):
        return Answer()
    blamed = re.findall(r"VERIFY: after (\S+)", json.dumps(said["evidence"]))
    return Answer(
        True,
        covers.get(verdict.removeprefix("flaky-"), ()),
        tuple(dict.fromkeys(b.rstrip('",') for b in blamed)),
    )


def read_whyflaky(text: str, test: str) -> Answer:
    """whyflaky --json: order-dependent, seed-dependent, unattributed, always failing, or not there."""
    said = _object(text)
    if said is None:
        return Answer()
    for row in said["flakes"]:
        if same(row["test_id"]) != test:
            continue
        diagnosis = row["diagnosis"]
        if row["kind"].startswith("always failing"):
            return Answer(False)
        if row["kind"].startswith("order-dependent"):
            return Answer(True, ("order",), tuple(map(same, diagnosis.get("polluters", []))))
        return Answer(True, SEEDS if diagnosis["implicated"] else ())
    return Answer(False)


def read_ipflakies(text: str, test: str) -> Answer:
    """ipflakies: order-dependent or non-deterministic, among the lines of a terminal."""
    said = [line.partition(test)[2].strip() for line in same(text).splitlines() if test in line]
    if any(words.startswith("is order-dependent") for words in said):
        return Answer(True, ("order",))
    if any(words.startswith("is Non-deterministic") for words in said):
        return Answer(True, OTHER_THAN_ORDER)
    if any(words.startswith("is a flaky test") for words in said):
        return Answer(True)  # it was stopped before it knew more
    return Answer(False) if "flaky test(s) found in this project" in text else Answer()


def _object(text: str) -> dict[str, Any] | None:
    """Return the first JSON object of a text that may have other lines, None if there is no whole one."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        said, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _tool(
    name: str, pins: Sequence[str], claims: str, read: Callable[[str, str], Answer], *steps: Step
) -> Tool:
    return Tool(name, (*PYTEST, *pins), claims, steps, read)


TOOLS = (
    _tool(
        "pytest-rerunfailures",
        ["pytest-rerunfailures==16.7"],
        "flaky or not, of what failed",
        read_reruns,
        Step((*SUMMARY, "--reruns", "5")),
    ),
    _tool(
        "pytest-flakefinder",
        ["pytest-flakefinder==1.1.0"],
        "flaky or not",
        _mixed,
        Step((*SUMMARY, "--flake-finder")),
    ),
    _tool(
        "pytest-repeat", ["pytest-repeat==0.9.4"], "flaky or not", _mixed, Step((*SUMMARY, "--count", "10"))
    ),
    _tool(
        "pytest-randomly",
        ["pytest-randomly==5.1.0"],
        "flaky or not, by comparing runs",
        _mixed,
        Step(SUMMARY, times=5),
    ),
    _tool(
        "detect-test-pollution",
        ["detect-test-pollution==1.2.0"],
        "the polluter",
        read_pollution,
        Step(("detect-test-pollution", "--failing-test", "{test}", "--tests", "tests")),
    ),
    _tool(
        "pytest-find-dependencies",
        ["pytest-find-dependencies==0.6.0"],
        "the polluter",
        read_dependencies,
        Step(("python", "-m", "pytest", "-q", "--find-dependencies")),
    ),
    _tool(
        "flakerate",
        ["flakerate==0.1.0"],
        "flaky or not, order or not",
        read_flakerate,
        Step(("flakerate", "run", "-n", "20", "--classify", "--json", "--", "tests")),
    ),
    _tool(
        "flake-exorcist",
        ["flake-exorcist==0.1.0", "pytest-xdist==3.8.0"],
        "flaky or not, one of four causes, the polluter",
        read_exorcist,
        Step(("exorcist", "hunt", "tests", "--fast", "--json")),
    ),
    _tool(
        "pytest-flakedoctor",
        ["pytest-flakedoctor==0.1.2", "hermetic-sandbox==0.1.0"],
        "flaky or not, one of six causes, the polluter",
        read_doctor,
        # its page asks for the whole suite first, which shows a test that fails there and passes alone
        Step(("python", "-m", "pytest", "-q", "--doctor", f"--doctor-json={REPORT}", BUDGET)),
        Step(("python", "-m", "pytest", "-q", "{test}", "--doctor", f"--doctor-json={REPORT}", BUDGET)),
    ),
    _tool(
        "whyflaky",
        ["whyflaky==0.1.0"],
        "flaky or not, order or seed, the polluter",
        read_whyflaky,
        Step(("whyflaky", "scan", ".", "--json", REPORT)),
    ),
    Tool(
        "ipflakies",
        # it holds pytest at 6.2.5 itself
        ("ipflakies==1.1.1", "hypothesis==6.170.17"),
        "flaky or not, order or not",
        (Step(("python", "{pty}", "python", "-m", "ipflakies", "-i", "10")),),
        read_ipflakies,
    ),
)
