"""Text of ``oracle``: two numbers side by side, for the trusted tests and for the patch's own."""

from __future__ import annotations

from redbucket.core.oracled import OracleReport, Strength
from redbucket.formats.clean import line, lines

_SURVIVORS = 10


def oracle_text(report: OracleReport, *, verbose: bool = False) -> str:
    """Return how strong the tests are on the changed lines."""
    out = ["changed lines            executed        fault noticed   mutants killed"]
    out.append(_row("trusted tests", report.trusted))
    out.append(_row("the patch's own tests", report.own))
    most = len(report.survivors) if verbose else _SURVIVORS
    for survivor in report.survivors[:most]:
        out.append(f"survives: {line(survivor.path)}:{survivor.line} ({line(survivor.operator)})")
        out += [f"  {part}" for part in lines(survivor.diff)[3:]]
        out.append(f"  ran it: {', '.join(map(line, survivor.tests))}")
    if len(report.survivors) > most:
        out.append(f"... and {len(report.survivors) - most} more survivors (-v, or --format json)")
    if report.sampled < report.possible:
        out.append(
            f"{report.sampled} of {report.possible} mutants, the same each time for this tree (--mutants)"
        )
    if report.untried:
        out.append(f"{report.untried} mutants were not tried for want of time: go on with --resume FILE")
    if report.resumed:
        out.append(f"{report.resumed} results were taken from the file of --resume")
    out += [f"note: {line(note)}" for note in report.notes]
    out.append(f"{report.seconds:.0f} s; base {report.base[:12]}, patch {report.head[:12]}")
    return "\n".join(out)


def _row(name: str, strength: Strength) -> str:
    executed = f"{strength.executed} of {strength.lines}"
    noticed = f"{strength.noticed} of {strength.mutable}"
    hung = f" ({strength.hung} by a hang)" if strength.hung else ""
    return f"{name:<24} {executed:<15} {noticed:<15} {strength.killed} of {strength.mutants}{hung}"
