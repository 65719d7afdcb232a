"""The candidates of a draft in one file, to be tried on base and on the patch, and what the two runs say of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from redbucket.core.answers import is_green, is_red
from redbucket.core.candidates import HELD, OUTCOME, Candidate, call_text
from redbucket.core.classification import FAILING
from redbucket.core.records import Outcome, Run, Test

# A law is no law where base gives one and the same result to nearly all that is drawn: anything holds of a constant.
_SAME = 0.9
# Hitting the time limit says something of the patch where base needed no more than this share of it.
_FAST = 0.25


@dataclass(frozen=True)
class Found:
    """A candidate that holds on base.

    ``drawn``, ``literal``: what it draws, or its explicit examples, fail on the patch; ``varied``: base's results
    differ over what it draws.
    """

    one: Candidate
    drawn: bool
    literal: bool
    varied: bool


@dataclass(frozen=True)
class Probe:
    """Some candidates. Each is a test that draws, a test of its explicit examples, and has one of base's results."""

    some: Sequence[Candidate]
    examples: int

    def source(self) -> str:
        """Return one file with all candidates, numbered; what they share is written once."""
        imports = dict.fromkeys(statement for one in self.some for statement in one.imports)
        # each function's copy of base under a name of its own
        copies = {
            text: f"base_{n}()" for n, text in enumerate(dict.fromkeys(o.law.helpers for o in self.some))
        }
        helpers = [text.replace("def base():", f"def {copies[text]}:") for text in copies if text]
        head = [
            "from collections import Counter",
            "from itertools import islice",
            "from hypothesis import HealthCheck, Phase, example, given, reject, settings",
            "from hypothesis import strategies as st",
            *imports,
        ]
        tests = []
        for number, drafted in enumerate(self.some):
            body = tuple(line.replace("base()", copies[drafted.law.helpers]) for line in drafted.law.body)
            one = replace(drafted, law=replace(drafted.law, body=body)) if drafted.law.helpers else drafted
            tests.append(one.test(self._settings("generate"), _name("candidate", number)))
            if one.examples:
                tests.append(one.test(self._settings("explicit"), _name("literal", number)))
            for row, example in enumerate(self._rows(number)):
                alone = replace(one, examples=(example,))
                tests.append(alone.test(self._settings("explicit"), _name("row", number, row)))
        tests += [self._results(number) for number in sorted(set(self._domains().values()))]
        return "\n\n\n".join(["\n".join(head), *helpers, OUTCOME, HELD, *tests]) + "\n"

    def _rows(self, number: int) -> tuple[str, ...]:
        """Return the examples to be tried one by one: once for a function, against base's implementation."""
        one = self.some[number]
        first = next(
            n for n, o in enumerate(self.some) if (o.target.callee, o.by) == (one.target.callee, one.by)
        )
        return one.examples if one.by == "base" and first == number else ()

    def _settings(self, phase: str) -> str:
        return (
            f"@settings(max_examples={self.examples}, deadline=None, database=None, phases=[Phase.{phase}])"
        )

    def _domains(self) -> dict[int, int]:
        """Return {candidate: the first candidate that calls the same function over the same domain}."""
        first: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        found = {}
        for number, one in enumerate(self.some):
            key = (one.target.callee, tuple(pair for pair in one.given if pair[0] != "other"))
            found[number] = first.setdefault(key, number)
        return found

    def _results(self, number: int) -> str:
        one = self.some[number]
        given = [pair for pair in one.given if pair[0] != "other"]
        names = ", ".join(name for name, _ in given)
        settings = self._settings("generate")[:-1] + ", suppress_health_check=list(HealthCheck))"
        return "\n".join(
            [
                f"def {_name('results', number)}():",
                "    seen = Counter()",
                f"    {settings}",
                f"    @given({', '.join(f'{name}={text}' for name, text in given)})",
                f"    def collect({names}):",
                "        try:",
                f"            found = {call_text(one.target, [name for name, _ in given], {})}",
                '            found = list(islice(found, 1000)) if hasattr(found, "__next__") else found',
                "        except Exception:",
                "            return  # what it says no to is outside of its domain",
                "        seen[repr(held(found))] += 1",
                "    collect()",
                f"    assert seen and max(seen.values()) <= {_SAME} * sum(seen.values())",
            ]
        )

    # -- what the runs say --------------------------------------------------------------------------

    def ran(self, base: Run, place: str) -> int:
        """Return how many candidates were tried on base."""
        return sum(bool(_of(base, place, "candidate", number)) for number in range(len(self.some)))

    def held(self, base: Run, place: str) -> list[Candidate]:
        """Return the candidates that hold on base."""
        return [
            one
            for number, one in enumerate(self.some)
            if is_green(_of(base, place, "candidate", number))
            and (not one.examples or is_green(_of(base, place, "literal", number)))
        ]

    def asked(self, held: Collection[Candidate], place: str) -> list[str]:
        """Return the node ids of what is to be tried on the patch."""
        return [
            f"{place}::{_name(kind, number)}"
            for number, one in enumerate(self.some)
            if one in held
            for kind in ("candidate", *(["literal"] if one.examples else []))
        ] + [
            f"{place}::{_name('row', number, row)}"
            for number in range(len(self.some))
            for row in range(len(self._rows(number)))
        ]

    def found(
        self, held: Collection[Candidate], base: Run, head: Run, place: str, patience: float
    ) -> list[Found]:
        """Return what became of those that hold on base; ``patience`` is the time limit of one test, in seconds."""
        domains, red = self._domains(), self._red_rows(head, place)
        found = []
        for number, one in enumerate(self.some):
            if one not in held:
                continue
            drawn, literal = (
                _fails(_of(base, place, kind, number), _of(head, place, kind, number), patience)
                for kind in ("candidate", "literal")
            )
            varied = is_green(_of(base, place, "results", domains[number]))
            failing = red.get(one.target.callee, ())
            # what fails on the patch comes first: a few are shown
            examples = sorted(one.examples, key=lambda e: e.partition(", other=")[0] not in failing)
            found.append(Found(replace(one, examples=tuple(examples)), drawn, literal, varied))
        return found

    def _red_rows(self, head: Run, place: str) -> dict[str, set[str]]:
        """Return {function: the calls of the missed test to which the patch gives another answer than base}."""
        red: dict[str, set[str]] = {}
        for number, one in enumerate(self.some):
            for row, example in enumerate(self._rows(number)):
                if is_red(_of(head, place, "row", number, row)):
                    red.setdefault(one.target.callee, set()).add(example)
        return red


def chosen(found: Sequence[Found]) -> list[Found]:
    """Return one of each law that fails on the patch: on the widest domain whose draws fail, else on the widest.

    A law over results that are all alike on base is none; base's implementation needs no such proof.
    """
    best: dict[tuple[str, str], Found] = {}
    for one in found:
        if not (one.drawn or one.literal):
            continue
        if one.one.by != "base" and one.one.law.name != "runs" and not one.varied:
            continue
        key = (one.one.target.callee, one.one.law.name + repr(one.one.law.body))
        known = best.get(key)
        if known is None or (one.drawn, -one.one.variant) > (known.drawn, -known.one.variant):
            best[key] = one
    return list(best.values())


def _fails(base: Sequence[Test], head: Sequence[Test], patience: float) -> bool:
    if any(t.outcome in FAILING and t.outcome is not Outcome.TIMEOUT for t in head):
        return True
    slow = any(t.outcome is Outcome.TIMEOUT for t in head)
    return slow and sum(t.duration for t in base) <= _FAST * patience


def _name(kind: str, *numbers: int) -> str:
    return "_".join(("test", kind, *map(str, numbers)))


def _of(run: Run, place: str, kind: str, *numbers: int) -> list[Test]:
    wanted = f"{place}::{_name(kind, *numbers)}"
    return [test for nodeid, test in run.tests.items() if nodeid == wanted]
