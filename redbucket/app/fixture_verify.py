"""Puts ``fixtures verify`` together with the real world; lean, as it runs in every commit."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from shlex import quote

from redbucket.app.fixture_rules import Rules, rules_of
from redbucket.core.chosen import Chosen
from redbucket.core.discrepancies import Discrepancy, Kind
from redbucket.core.errors import Misused
from redbucket.core.manifests import Scope
from redbucket.core.paths import JudgeSide
from redbucket.core.plural import plural
from redbucket.core.policy import parse
from redbucket.core.report import GateReport, Problem
from redbucket.edges.staged import Staged
from redbucket.engine.fixtures import Before, Verified, verify

TWO_POLICIES = (
    "this branch changed [fixtures] in redbucket.toml; until that has landed, what either of the two policies"
    " names counts"
)
_SHOWN = 50  # not materialised paths that are named one by one


def run(
    start: Path,
    paths: Sequence[str],
    *,
    revision: str | None = None,
    files: bool = True,
    policy: tuple[bytes, str] | None = None,
    index: Path | None = None,
) -> Verified:
    """Verify and return what was found: of the index, of ``revision``, in a bare repository of HEAD.

    With ``files`` the files of the work tree are looked at, too.
    """
    collecting = gc.isenabled()
    gc.disable()  # a few hundred thousand small objects are made, none of them a cycle
    try:
        with closing(Staged.discover(start, index_file=index, cpus=cpus())) as source:
            if source.work_tree is None and revision is None and index is None:
                if not files:
                    raise Misused(
                        "no-work-tree", "a bare repository has no index", "name a commit: --rev REV"
                    )
                revision = "HEAD"
            commit = source.resolve(revision) if revision is not None else None
            rules = Rules(parse(*policy)) if policy else rules_of(source, commit)
            compare = source.compare if source.work_tree is not None else None
            files = files and source.work_tree is not None
            known = _known(source) if rules.known_ids and not files else None
            scope = Scope(*map(JudgeSide, rules.policies))
            verified = verify(
                source,
                source.opened(source.listing(commit), scope.holds_fixtures),
                scope,
                compare,
                files=files,
                only=chosen(source.top, start, paths),
                known=known,
                before=Before(rules.fork, source.changed_since(rules.fork, commit)) if rules.fork else None,
            )
            verified.both = rules.differ
            if known is not None and not verified.blobs.items() <= known.items():
                _keep(source, {**known, **verified.blobs} if paths else verified.blobs)
            return verified
    finally:
        if collecting:
            gc.enable()


def _known(source: Staged) -> dict[str, str]:
    from redbucket.edges import knownids

    return knownids.read(source.common_dir / "redbucket", source.object_format)


def _keep(source: Staged, blobs: Mapping[str, str]) -> None:
    from redbucket.edges import knownids

    knownids.write(source.common_dir / "redbucket", source.object_format, blobs)


def chosen(top: Path, start: Path, paths: Sequence[str]) -> Chosen | None:
    """Return the files at or below ``paths``, which are relative to ``start``; None for all."""
    if not paths:
        return None
    named: dict[str, str] = {}
    for path in paths:
        place = os.path.normpath(Path(start).resolve() / path)
        name = os.path.relpath(place, os.path.realpath(top))
        if name == os.pardir or name.startswith(os.pardir + os.sep):
            raise Misused("outside-repository", f"{path} is outside {top}", "name paths of the repository")
        named["" if name == os.curdir else name] = path
    return Chosen(named)


def report_of(verified: Verified) -> GateReport:
    """Return the report: a finding for each disagreement, a problem for what is not here."""
    from redbucket.core.findings import Severity
    from redbucket.core.verdict import EXIT_CODES, decide
    from redbucket.guards.fixture_checksum import tell

    findings = [tell(each, Severity.WARN if _harmless(each) else Severity.REFUSE) for each in verified.wrong]
    absent = verified.absent
    problems = [
        Problem(
            code="not-materialised",
            reason=f"{each.path}: {each.reason}",
            remedy=each.remedy,
            path=each.path,
        )
        for each in absent[:_SHOWN]
    ]
    if len(absent) > _SHOWN:
        more = f"and {plural(len(absent) - _SHOWN, 'more fixture')}"
        problems.append(Problem(code="not-materialised", reason=more, remedy=absent[0].remedy))
    problems += [
        Problem(
            code="lock-not-staged",
            reason=f"{path} is in the work tree alone, and a lock counts once git has it: nothing was verified by it",
            remedy=f"git add {quote(path)}",
            path=path,
        )
        for path in verified.unstaged[:_SHOWN]
    ]
    where = verified.locks[0] if len(verified.locks) == 1 else f"{len(verified.locks)} locks"
    where = where if verified.locks else "no lock is here"
    notes = [
        Problem(
            code="verified", reason=f"{plural(verified.count, 'fixture is', 'fixtures are')} listed ({where})"
        )
    ]
    if verified.unstaged and not verified.locks:
        notes = []
    elif not verified.locks:
        notes = [
            Problem(
                code="no-lock", reason="no lock here, so nothing to verify", remedy="redbucket fixtures lock"
            )
        ]
    if verified.idle:
        notes.append(
            Problem(
                code="nothing-recorded",
                reason=f"no recorded fixture is at {', '.join(verified.idle)}, so nothing was verified there",
                remedy="name a fixture or its folder; [fixtures] paths in redbucket.toml says what is one",
            )
        )
    if verified.both:
        notes.append(
            Problem(
                code="two-policies",
                reason=TWO_POLICIES,
                remedy="keep in the lock what the protected branch's policy names",
            )
        )
    verdict = decide([], findings, problems)
    return GateReport(
        verdict=verdict, exit_code=EXIT_CODES[verdict], findings=findings, undecided=problems, notes=notes
    )


def _harmless(each: Discrepancy) -> bool:
    """Return whether the judged bytes are right: only the checkout has other line ends, or the lock lists less.

    That may be a person's wish. The guard, which knows whose hand it was, refuses an agent's.
    """
    return each.kind is Kind.SHRUNK or (each.kind is Kind.LINE_ENDS and not each.seen)


def cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
