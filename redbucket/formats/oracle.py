"""Text of ``oracle``: two numbers side by side, for the trusted tests and for the patch's own."""

from __future__ import annotations

from redbucket.core.oracled import OracleReport, Strength
from redbucket.core.plural import plural
from redbucket.formats.clean import line, lines

_SURVIVORS = 10
_FAILING = 3


def oracle_text(report: OracleReport, *, verbose: bool = False) -> str:
    """Return how strong the tests are on the changed lines."""
    out = ["changed lines            executed        fault noticed   mutants killed"]
    out.append(_row("trusted tests", report.trusted))
    out.append(_row("the patch's own tests", report.own))
    out += _not_asked("trusted test", report.trusted, verbose=verbose)
    out += _not_asked("test of the patch's own", report.own, verbose=verbose)
    most = len(report.survivors) if verbose else _SURVIVORS
    for survivor in report.survivors[:most]:
        out.append(f"survives: {line(survivor.path)}:{survivor.line} ({line(survivor.operator)})")
        out += [f"  {part}" for part in lines(survivor.diff)[3:]]
        out.append(f"  ran it: {', '.join(map(line, survivor.tests))}")
    if len(report.survivors) > most:
        out.append(f"... and {plural(len(report.survivors) - most, 'more survivor')} (-v, or --format json)")
    if report.sampled < report.possible:
        out.append(
            f"{report.sampled} of {report.possible} mutants, the same each time for this tree (--mutants)"
        )
    if report.untried:
        untried = plural(report.untried, "mutant was", "mutants were")
        out.append(f"{untried} not tried for want of time: go on with --resume FILE")
    if report.resumed:
        out.append(f"{plural(report.resumed, 'result was', 'results were')} taken from the file of --resume")
    out += [f"note: {line(note)}" for note in report.notes]
    out.append(f"{report.seconds:.0f} s; base {report.base[:12]}, patch {report.head[:12]}")
    return "\n".join(out)


def _not_asked(what: str, strength: Strength, *, verbose: bool) -> list[str]:
    """Say which tests fail as it is: without this a line that they alone run reads as one that no test runs."""
    count = len(strength.failing)
    if not count:
        return []
    what = what.replace("test", "test" if count == 1 else "tests", 1)
    there = (
        f"{strength.failing_there} of them ran a changed line"
        if count > 1
        else ("it ran a changed line" if strength.failing_there else "it ran no changed line")
    )
    out = [
        f"{count:,} {what} {'fails' if count == 1 else 'fail'}, and a failing test can't be asked; {there}:"
    ]
    shown = strength.failing if verbose else strength.failing[:_FAILING]
    out += [f"  {line(nodeid)}" for nodeid in shown]
    if count > len(shown):
        out.append(f"  ... and {plural(count - len(shown), 'more test')} (-v, or --format json)")
    return out


def _row(name: str, strength: Strength) -> str:
    executed = f"{strength.executed} of {strength.lines}"
    noticed = f"{strength.noticed} of {strength.mutable}"
    hung = f" ({strength.hung} by a hang)" if strength.hung else ""
    return f"{name:<24} {executed:<15} {noticed:<15} {strength.killed} of {strength.mutants}{hung}"
