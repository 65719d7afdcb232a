"""What to do next: short sentences, with commands that can be copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from redbucket.core.findings import IN_PART, refusals
from redbucket.core.plural import plural
from redbucket.core.report import GateReport, Row, Verdict
from redbucket.core.rows import TAKE_OUT
from redbucket.core.wellknown import SHARED_CONFIG
from redbucket.formats.clean import shell
from redbucket.formats.phrases import Group, is_of_locks, uncollected
from redbucket.formats.rules import ENDORSABLE

_NAMED = 3
_LISTED = 40  # paths of a command that is to be pasted: what it leaves out is not put back
_COMMIT = (
    "if it is meant, a person makes this change in a commit and on a branch of their own; to approve an agent's"
    " bytes by a signature instead, name signers in the policy (identity.allowed_signers: docs/endorse.md)"
)
# What a person did not finish is finished, not approved.
_MENDED = frozenset({"flake-expiry"})
_SILENT = frozenset({"skipped", "missing", "xfailed"})
_SIDES = {"H": "with the patch", "B": "without it"}


class Step(NamedTuple):
    """One thing to do; ``subjects`` are node ids or paths, unescaped, ``commands`` are ready for a shell.

    ``of`` is what a subject is.
    """

    text: str
    subjects: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    of: str = "test"


def steps(report: GateReport, groups: dict[Group, list[Row]]) -> list[Step]:
    """Return what to do about the verdict, most urgent first."""
    if is_of_locks(report):
        return _locks(report)
    broken = groups[Group.MISS]
    said = frozenset(row.nodeid for row in broken if uncollected(row))
    drift = groups[Group.DRIFT]
    out = [*_misses(report, broken), *_files(report, said, _drifted(drift)), *_drift(report, drift)]
    if noisy := groups[Group.NOISE]:
        out.append(
            Step(
                "find out why it is noisy, then fix the isolation in the code, for",
                _ids(noisy),
                tuple(f"redbucket explain {_word(row.nodeid)}{_range(report)}" for row in noisy[:1])
                if _recorded(report)
                else (),
            )
        )
    remedies = dict.fromkeys(problem.remedy for problem in report.undecided[:_NAMED] if problem.remedy)
    out += [Step(remedy) for remedy in remedies]
    # what to do about a reason that is told above is told there, too
    told = {problem.reason for problem in report.undecided if problem.remedy}
    if unknown := [row for row in groups[Group.UNCLASSIFIED] if row.why.removesuffix(".") not in told]:
        spends = list(dict.fromkeys(row.spend for row in unknown if row.spend))[:_NAMED]
        out.append(Step("; ".join(spends) or "make the records complete and rerun", _ids(unknown)))
    if report.untrusted_green and (paths := _paths(groups[Group.UNTRUSTED])):
        out.append(
            Step(
                "a human reads the patch's tests and, if they are right, approves them:", (), _endorse(paths)
            )
            if report.signatures
            else Step(
                "before the merge a human reads the patch's tests: nothing else looks at this change"
                " (to make their approval count, name signers in the policy: docs/endorse.md)"
            )
        )
    elif report.untrusted_green:
        out.append(Step("write, in the base, a test that executes the changed lines"))
    if not out and report.verdict is Verdict.ACCEPT and not report.tests:
        if any(note.code == "nothing-to-judge" for note in report.notes):
            return _nothing(report)
        return [Step("run the tests, too:", (), (f"redbucket gate{_range(report)}",))]
    if not out and report.verdict is Verdict.ACCEPT:
        return [Step("nothing to do; no test or guard stands in the way of a merge")]
    if report.verdict is not Verdict.ACCEPT:
        command = report.command or "redbucket gate"
        what = "judge it again:" if command.startswith("redbucket") else "try again:"
        out.append(Step(f"then {what}" if out else f"mend what is missing, then {what}", (), (command,)))
    return list(_once(out))


def _locks(report: GateReport) -> list[Step]:
    """What the findings say themselves: without a patch there is nothing to take out of it."""
    remedies: dict[str, list[str]] = {}
    for problem in report.undecided:
        remedies.setdefault(problem.remedy, []).append(problem.path or "")
    for finding in report.findings:
        remedies.setdefault(finding.remedy, []).append(finding.path or "")
    out = [
        Step(f"{text}:", tuple(filter(None, paths)), of="fixture") for text, paths in remedies.items() if text
    ]
    if report.verdict is not Verdict.ACCEPT:
        return [*out, Step("then verify again:", (), (report.command or "redbucket fixtures verify",))]
    notes = [Step(note.remedy) for note in report.notes if note.remedy]
    return [*out, *notes] or [Step("nothing to do")]


def _nothing(report: GateReport) -> list[Step]:
    named = Step("name the branch that is to be merged:", (), ("redbucket gate --head BRANCH",))
    if any(note.code == "first-commit" for note in report.notes):
        return [Step("commit a patch on a branch, and name it:", (), named.commands)]
    # whoever named a head may stand on another commit
    head = shell(report.head[:12]) if " --head " in report.command else ""
    last = f"--base {head}~1 --head {head}" if head else "--base HEAD~1"
    return [named, Step("or judge the last commit against the one before:", (), (f"redbucket gate {last}",))]


def _once(steps: Iterable[Step]) -> Iterator[Step]:
    """Leave out commands that a step before has, and steps that have nothing else to say."""
    seen: set[str] = set()
    for step in steps:
        fresh = tuple(command for command in step.commands if command not in seen)
        seen.update(fresh)
        if fresh or not step.commands:
            yield step._replace(commands=fresh)


def _misses(report: GateReport, rows: Sequence[Row]) -> list[Step]:
    by: dict[str, list[Row]] = {}
    off = [row for row in rows if row.switched_off]
    for row in rows:
        if not row.switched_off:
            by.setdefault(uncollected(row), []).append(row)
    rest = by.pop("", [])
    out = [
        Step(f"fix the code: {error}. It keeps {_these(stopped)} from being collected:", _ids(stopped))
        for error, stopped in list(by.items())[:_NAMED]
    ]
    if off:
        marks = list(dict.fromkeys(row.switched_off for row in off if row.switched_off))
        more = f" and {plural(len(marks) - _NAMED, 'more marker')}" if len(marks) > _NAMED else ""
        out.append(Step(f"{TAKE_OUT} ({'; '.join(marks[:_NAMED])}{more}):", _ids(off)))
    return [*out, *_failing(report, rest)]


def _these(rows: Sequence[Row]) -> str:
    return "this test" if len(rows) == 1 else "these tests"


def _failing(report: GateReport, rows: Sequence[Row]) -> list[Step]:
    if not rows:
        return []
    # what is only skipped or gone broke no law that could be written down
    asserted = any(not _SILENT.issuperset(row.outcomes.get("H", ["failed"])) for row in rows)
    law = [_law(report)] if asserted else []
    if len(rows) > 1:
        return [Step("fix the code, not the tests, until these pass:", _ids(rows)), *law]
    seen = [f"{_count(kinds)} {where}" for w, where in _SIDES.items() if (kinds := rows[0].outcomes.get(w))]
    seen[1:1] = _revealed(rows[0])
    evidence = f" ({', '.join(seen)})" if seen else ""
    return [Step(f"fix the code, not the test, until this passes{evidence}:", _ids(rows)), *law]


def _revealed(row: Row) -> list[str]:
    """Return how it fails with the patch, where only another condition than the plain runs shows it."""
    if set(row.outcomes.get("H", ())) != {"passed"}:
        return []
    red = [
        (name, kinds)
        for name, kinds in row.outcomes.items()
        if name.startswith("H ") and "passed" not in kinds
    ]
    return [f"{_count(kinds)} with the patch under {name[2:]}" for name, kinds in red[-1:]]


def _law(report: GateReport) -> Step:
    text = "and say what broke as a property over a domain, not as one more example (docs/properties.md)"
    if not _recorded(report):
        return Step(text)  # of other languages nothing is drafted
    gate = (
        report.command if report.command.startswith("redbucket gate") else f"redbucket gate{_range(report)}"
    )
    return Step(
        f"{text}; drafts of it, from a saved report:",
        (),
        (f"{gate} --format json --output REPORT.json", "redbucket draft REPORT.json"),
    )


def _recorded(report: GateReport) -> bool:
    """False where tests were judged by their runner's own report: nothing can be explained or drafted."""
    return not any(note.code == "own-report" for note in report.notes)


def _count(kinds: Sequence[str]) -> str:
    return " and ".join(f"{kind} {n} of {len(kinds)}" for kind, n in Counter(kinds).items())


def _files(report: GateReport, said: Collection[str], drifted: Collection[str]) -> list[Step]:
    """Return what to do about refused files.

    ``said`` are the tests of which the error is named already, ``drifted`` the fixtures that are looked at first.
    """
    refused = [f for f in refusals(report.findings) if f.rule != "fixture-checksum" or f.path not in drifted]
    untouched = set(report.untouched)
    # a file that is source as well is not thrown back whole: its finding says which part it is
    whole = [
        f
        for f in refused
        if f.path
        and f.rule in ENDORSABLE
        and f.path not in untouched
        and not _shared(f.path)
        and not f.remedy.startswith(IN_PART)
        and (report.identity.agent or f.rule not in _MENDED)
    ]
    paths = list(dict.fromkeys(f.path for f in whole if f.path))
    out = []
    if paths:
        out += [
            Step(
                f"{_where(report)}put back what judges, and take out what the patch adds there:",
                (),
                _back(report, paths),
            ),
            Step("or, if it is meant, a human reads and approves it:", (), _endorse(paths))
            if report.signatures
            else Step(_COMMIT),
        ]
    others = [f for f in refused if f not in whole and not (f.rule == "vanished-test" and f.nodeid in said)]
    out += [Step(text) for text in list(dict.fromkeys(f.remedy for f in others if f.remedy))[:_NAMED]]
    return out


def _drift(report: GateReport, rows: Sequence[Row]) -> list[Step]:
    if not rows:
        return []
    fixtures = _drifted(rows)
    back = _back(report, fixtures) if len(fixtures) == 1 else ()
    return [
        Step("look at what moved in the fixtures:", (), (f"redbucket fixtures diff{_range(report)}",)),
        Step(f"if it is not meant, {_where(report)}put the fixture back{':' if back else ''}", (), back),
        *_meant(report, fixtures),
    ]


def _drifted(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(path for row in rows for path in row.fixtures))


def _meant(report: GateReport, fixtures: Sequence[str]) -> list[Step]:
    """Return how a person takes the new bytes over: what locks and refreshes refuses on an agent's branch."""
    said = [f for f in report.findings if f.rule == "fixture-checksum"]
    off = {f.path for f in said if not f.reason.startswith("unlocked")}
    lock = "lock" if len(said) > len(off) and off.isdisjoint(fixtures) else "refresh"
    named = " ".join(map(shell, fixtures[:_NAMED]))
    locking = f"redbucket fixtures {lock} {named}" if named and len(fixtures) <= _NAMED else ""
    if not report.identity.agent:
        text = "if it is meant, change what the tests expect in the same patch"
        # whoever has refreshed the lock already is told that the tests are what is left
        return [
            Step(f"{text}, and refresh the lock:", (), (locking,))
            if locking and off.intersection(fixtures)
            else Step(text)
        ]
    text = (
        "if it is meant, a person takes the new bytes over, with what the tests expect, in a commit and on a branch"
        " of their own"
    )
    gone = {moved.path for moved in report.moved if moved.kind == "gone"}
    taken = (f"git checkout {shell(report.head[:12])} -- {named}", locking)
    commands = taken if locking and report.head and gone.isdisjoint(fixtures) else ()
    out = [Step(f"{text}{':' if commands else ''}", (), commands)]
    if report.signatures:
        out.append(Step("or a human approves them by a signature:", (), _endorse(fixtures)))
    return out


def _shared(path: str) -> bool:
    return path.rpartition("/")[2] in SHARED_CONFIG


def _range(report: GateReport) -> str:
    if not (report.base and report.head):
        return ""
    return f" --base {shell(report.base[:12])} --head {shell(report.head[:12])}"


def _where(report: GateReport) -> str:
    """Say where commits are put right: whoever names a head may stand on another branch."""
    return "on the patch's branch " if _of_commits(report) else ""


def _of_commits(report: GateReport) -> bool:
    """True if commits were judged by name, and not what is about to be committed or merged."""
    return report.command.startswith("redbucket ") and not report.offered


def _back(report: GateReport, paths: Sequence[str]) -> tuple[str, ...]:
    # A leading colon is pathspec magic to git, even after "--".
    out = []
    base = shell(report.base[:12] or "BASE")
    added = set(report.added)
    for command, chosen in (
        (f"git checkout {base} --", [path for path in paths if path not in added]),
        ("git rm -f --", [path for path in paths if path in added]),
    ):
        words = [f"./{path}" if path.startswith(":") else path for path in chosen[:_LISTED]]
        more = f"   # and {plural(len(chosen) - _LISTED, 'more path')}" if len(chosen) > _LISTED else ""
        if words:
            out.append(f"{command} {' '.join(map(shell, words))}{more}")
    if _of_commits(report) and out:
        out.append("git commit -m 'Put back what judges'")  # commits are judged
    return tuple(out)


def _endorse(paths: Sequence[str]) -> tuple[str, ...]:
    more = f"   # and {plural(len(paths) - _NAMED, 'more path')}" if len(paths) > _NAMED else ""
    return (f"redbucket endorse {' '.join(map(_word, paths[:_NAMED]))}{more}",)


def _word(text: str) -> str:
    return f"-- {shell(text)}" if text.startswith("-") else shell(text)


def _ids(rows: Iterable[Row]) -> tuple[str, ...]:
    return tuple(row.nodeid for row in rows)


def _paths(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.nodeid.partition("::")[0] for row in rows))
