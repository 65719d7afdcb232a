"""Prints a hook's report: what another hook of the same git command has said in full is named in one line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from redbucket.app.output import finish, say
from redbucket.core.errors import ACCEPTED, Misused
from redbucket.core.report import GateReport
from redbucket.edges.repository import Repository
from redbucket.engine.protected import find_base


def note_unprotected(repository: Repository, protected: tuple[str, ...], current: str | None = None) -> None:
    """Say so where no protected branch exists at all: there nothing is ever judged where it lands."""
    try:
        find_base(repository, protected, current)
    except Misused as error:
        say(f"redbucket: nothing was judged: {error.reason}; {error.remedy}\n")


def tell(
    report: GateReport,
    hook: str,
    environment: Mapping[str, str],
    folder: Path,
    *,
    quiet: bool,
    verbose: bool = False,
) -> int:
    """Print the report of ``hook`` and return its exit code, which nothing that was said before changes.

    ``folder`` is git's own, of this work tree. Only what was really printed counts as said: pre-commit shows the
    output of hooks that fail, and the text ends after a number of findings.
    """
    if report.exit_code == ACCEPTED or not report.findings:
        return finish(report, "text", None, quiet=quiet, verbose=verbose)
    # imported here: a hook that refuses nothing says nothing twice
    from redbucket.core.repeats import mark, without_repeats
    from redbucket.edges.saidalready import SaidAlready
    from redbucket.formats.text import shown_findings

    said = SaidAlready.under(environment, folder, f"{report.base} {report.merge_tree}")
    fresh = without_repeats(report, said.by_others(hook))
    code = finish(fresh, "text", None, quiet=quiet, verbose=verbose)
    said.add(hook, [mark(finding) for finding in shown_findings(fresh, verbose=verbose)])
    return code
