"""The four questions of a review, answered from a property's source and from what its runs did."""

from __future__ import annotations

from collections.abc import Sequence

from redbucket.core.classification import FAILING
from redbucket.core.evidence import PASSING
from redbucket.core.extent import LEAST
from redbucket.core.oneexample import Form, Reading
from redbucket.core.records import Outcome, Test
from redbucket.core.reviewed import QUESTIONS, Answer

# Hypothesis's own errors, by what they say of a property.
_STARVED = frozenset({"FailedHealthCheck", "Unsatisfiable", "Unsatisfied", "UnsatisfiedAssumption"})
_UNSTEADY = frozenset(
    {
        "Flaky",
        "FlakyFailure",
        "FlakyReplay",
        "FlakyStrategyDefinition",
        "FlakyBackendFailure",
        "DeadlineExceeded",
    }
)
_REPLAYED = frozenset({"DidNotReproduce", "UnsatisfiedReproduce"})
_UNUSABLE = frozenset(
    {"InvalidArgument", "NoSuchStrategy", "ResolutionFailed", "HypothesisDeprecationWarning"}
)
# Red for want of a name says nothing of what the property asserts.
_ABSENT = frozenset({"ImportError", "ModuleNotFoundError", "NameError", "UnboundLocalError"})
_UNSEEN = "what it tried could not be counted (code that is no Python of the tree)"
_CUT_OFF = "what it tried could not be counted: the run that counts took too long"


def _answer(number: int, good: bool, answer: str, evidence: Sequence[str] = ()) -> Answer:
    return Answer(
        number=number, question=QUESTIONS[number - 1], good=good, answer=answer, evidence=list(evidence)
    )


def kind(test: Test) -> str:
    """Return the last part of the name of a failure's exception."""
    return test.exception.rpartition(".")[2]


def first_line(text: str) -> str:
    """Return the first line of a message that says something, cut to a readable length."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:300]


def domain(reading: Reading | None, counted: Sequence[Test]) -> Answer:
    """Question 1: the source first, then the number of distinct inputs that were really tried on base."""
    starved = next((t for t in counted if kind(t) in _STARVED), None)
    replayed = next((t for t in counted if kind(t) in _REPLAYED), None)
    if reading is not None and reading.form not in (Form.PROPERTY, Form.CRASH, Form.UNKNOWN, Form.UNPINNED):
        answer = "asserts nothing" if reading.form is Form.EMPTY else "replays what is written in it"
        return _answer(1, False, answer, [f"line {reading.line}: {reading.why}"])
    if starved is not None:
        return _answer(1, False, "its conditions leave next to nothing", [first_line(starved.message)])
    if replayed is not None:
        return _answer(1, False, "replays one recorded input", [first_line(replayed.message)])
    known = [t.inputs for t in counted if t.inputs]
    calls, distinct, reached, asserted = (
        (sum(column) for column in zip(*known, strict=True)) if known else (0,) * 4
    )
    evidence = [f"line {reading.line}: {reading.why}"] if reading is not None else []
    unseen = _CUT_OFF if any(t.outcome is Outcome.TIMEOUT for t in counted) else _UNSEEN
    evidence.append(f"{distinct} distinct inputs reached the code ({calls} calls)" if calls else unseen)
    if reached:
        evidence.append(f"{asserted} distinct values reached an assertion ({reached} times)")
    whole = reading is not None and reading.whole
    if calls and distinct < LEAST and not whole:
        return _answer(1, False, f"{_inputs(distinct)} ever reached the code", evidence)
    each = reading is not None and reading.form is Form.PROPERTY and reading.drawn and not whole
    if each and known and asserted < LEAST:
        return _answer(1, False, f"{_inputs(asserted)} ever reached an assertion", evidence)
    if reading is not None and reading.form is Form.CRASH:
        return _answer(1, True, "quantifies, and asserts only that nothing is raised", evidence)
    return _answer(1, True, "quantifies over a domain", evidence)


def only_explicit(first: Answer, seeds: int, killed: int, mutants: int) -> Answer:
    """Question 1, answered again: what the property draws finds nothing, only its explicit examples do."""
    evidence = [
        *first.evidence,
        f"without its @example: fails on the patch 0 of {seeds} times, kills {killed} of {mutants} small faults",
        "draw from a domain that reaches what the patch changed",
    ]
    return _answer(1, False, "replays the failing literal: only its @example fails on the patch", evidence)


def _inputs(count: int) -> str:
    return "no input" if count == 0 else "only one input" if count == 1 else f"only {count} distinct inputs"


def editable(path: str, place: str, *, protected: bool, written: Sequence[str]) -> Answer:
    """Question 2. ``path`` is the file's own in the repository ("" outside), ``place`` where it is to lie.

    ``written`` are files among it and what it imports that an agent's patch wrote.
    """
    if written:
        return _answer(
            2,
            False,
            f"yes: the patch itself wrote {', '.join(written[:3])}",
            [f"a person writes it, or moves it to {place} and endorses it"],
        )
    if path and protected:
        return _answer(2, True, "no: its path is protected at base", [path])
    where = f"it lies at {path}, which is not protected" if path else "it lies outside the repository"
    return _answer(2, True, f"not once it lies at {place}", [where, f"{place} is protected at base"])


def separates(base: Sequence[Test], head: Sequence[Test], base_error: str, head_error: str) -> Answer:
    """Question 3: it must pass on base, and fail on the patch by what it asserts."""
    evidence = [f"base: {_outcomes(base, base_error)}", f"patch: {_outcomes(head, head_error)}"]
    red = [t for t in head if t.outcome in FAILING]
    if base_error or not base:
        return _answer(3, False, "it can't be run on base", evidence)
    bad = next((t for t in base if t.outcome in FAILING), None)
    if bad is not None and kind(bad) in _UNUSABLE:
        return _answer(3, False, "it can't be run on base: Hypothesis does not take it as it is", evidence)
    if bad is not None:
        same = "it fails on base: not an invariant"
        return _answer(3, False, same if red or head_error else f"{same}; it passes on the patch", evidence)
    if not any(t.outcome in PASSING for t in base):
        return _answer(3, False, "it does not run on base: skipped", evidence)
    if head_error:
        return _answer(3, False, "it fails on the patch for want of a name, not by what it asserts", evidence)
    if not red:
        return _answer(3, False, "it passes on the patch: not the miss", evidence)
    if all(kind(t) in _ABSENT for t in red):
        return _answer(3, False, "it fails on the patch for want of a name, not by what it asserts", evidence)
    if all(kind(t) in _UNUSABLE | _STARVED for t in red):
        return _answer(3, False, "it fails on the patch before it asserts anything", evidence)
    return _answer(3, True, "it fails on the patch and passes on base", evidence)


def _outcomes(tests: Sequence[Test], error: str) -> str:
    if error:
        return first_line(error.strip().rpartition("\n")[2]) or first_line(error)
    if not tests:
        return "no such test"
    worst = next((t for t in tests if t.outcome in FAILING), tests[0])
    failed = sum(t.outcome in FAILING for t in tests)
    count = f" ({failed} of {len(tests)} rows)" if len(tests) > 1 and failed else ""
    text = f": {first_line(worst.message)}" if worst.outcome in FAILING and worst.message else ""
    return f"{worst.outcome.value}{count}{text}"


def steady(
    named: Sequence[str], seen: Sequence[str], flips: Sequence[str], runs: Sequence[Test], tried: str
) -> Answer:
    """Question 4. ``named`` is what its source names, ``seen`` what the recorder saw, ``flips`` what flipped it."""
    odd = next((t for t in runs if kind(t) in _UNSTEADY), None)
    evidence = [*named, *(f"the recorder saw: {what}" for what in seen)]
    if odd is not None:
        return _answer(
            4, False, "it contradicts itself, or looks at the time it takes", [first_line(odd.message)]
        )
    if named:
        return _answer(4, False, f"yes: {named[0].partition(':')[0]}", evidence)
    if "network" in seen:
        return _answer(4, False, "yes: network", evidence)
    if flips:
        return _answer(4, False, f"yes: {flips[0]}", [*flips, *evidence])
    return _answer(4, True, "not that was seen", [*evidence, tried] if tried else evidence)


def is_red(tests: Sequence[Test]) -> bool:
    """Return whether a property failed in a run, whatever its rows are."""
    return any(t.outcome in FAILING for t in tests)


def is_green(tests: Sequence[Test]) -> bool:
    """Return whether a property ran and passed in a run."""
    return bool(tests) and not is_red(tests) and any(t.outcome is not Outcome.SKIPPED for t in tests)
