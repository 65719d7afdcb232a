"""Puts the matrix together: a ticket, one run in a job of its own, and the gate that collects them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from redbucket.app.session import Session, UserHistory
from redbucket.core.brought import Expected, accepted
from redbucket.core.errors import Misused
from redbucket.core.plural import plural
from redbucket.core.policy import scope_of
from redbucket.core.readers import read
from redbucket.core.records import Run
from redbucket.core.report import GateReport, Problem
from redbucket.core.runspec import RunSpec, full_runs
from redbucket.core.seals import KEY_BYTES, Seal, Ticket, digest_of, sealed, spec_digest
from redbucket.edges.build import version
from redbucket.edges.recordfolder import offers, put
from redbucket.engine.brought import Brought
from redbucket.engine.ports import Bench
from redbucket.engine.specs import opening, specs_for
from redbucket.engine.subject import Request, Subject, examine, require_judgeable, require_merged


def draw(opened: Session, request: Request) -> Ticket:
    """Return the ticket of one gate: base and head as ids, and how many runs there are to be."""
    subject = examine(request, UserHistory(opened.repository), opened.scratch)  # type: ignore[arg-type]
    run = subject.policy.run
    reruns, scope = request.reruns or run.reruns, scope_of(run, request.scope)
    of = full_runs(reruns, scope)
    return Ticket(
        base=subject.patch.base,
        base_name=subject.base_name,
        head=subject.patch.head,
        head_ref=subject.patch.branch,
        agent=request.agent,
        reruns=reruns,
        scope=scope,
        timeout=request.timeout or run.timeout,
        of=of,
        runs=list(range(1, of + 1)),
        key=secrets.token_hex(KEY_BYTES),
    )


def run_one(opened: Session, ticket: Ticket, request: Request, number: int, out: Path) -> Run | None:
    """Make run ``number`` of the gate and put its sealed record into ``out``; None: there is nothing to judge.

    ``request`` has the launcher's policy, if any. The returned run's source is the record's place.
    Raises Undecided where the patch conflicts.
    """
    if number not in ticket.runs:
        raise Misused(
            "bad-run", f"the ticket has runs 1 to {ticket.of}, not {number}", "start one job for each of them"
        )
    request = _asked(ticket, request)
    subject = examine(request, UserHistory(opened.repository), opened.scratch)  # type: ignore[arg-type]
    require_merged(subject)
    if not subject.net:
        return None
    require_judgeable(subject)
    bench, runner, launch = opened.workbench(subject, request)
    installed = opened.station(request.runner or subject.policy.run.runner).packages(launch)
    specs = specs_for(subject, opened.scratch, as_module=launch.as_module, timeout=ticket.timeout)
    spec = opening(specs, ticket.of)[number - 1]
    opened.progress.say(f"run {number} of {ticket.of}: running the tests with the patch")
    try:
        (run,) = bench.run([spec])
    finally:
        opened.progress.clear()
    made = Path(run.source)
    expected = _expected(subject, [spec], installed)
    seal = sealed(
        Seal(
            version=expected.version,
            ticket=ticket.name,
            base=expected.base,
            head=expected.head,
            tree=expected.tree,
            run=number,
            of=ticket.of,
            policy=expected.policy,
            spec=expected.specs[0],
            environment=dict(expected.environment),
            record=runner.records[made],
        ),
        ticket,
    )
    place = put(made, msgspec.json.encode(seal), f"run-{number}-of-{ticket.of}", out)
    return msgspec.structs.replace(run, source=str(place))


def gate_of_records(
    opened: Session,
    ticket: Ticket,
    request: Request,
    folder: Path,
    *,
    keep: Path | None,
    captures: Path | None,
) -> GateReport:
    """Judge the ticket's patch by the runs whose records lie in ``folder``; what else is needed is run here."""
    report = opened.gate(
        _asked(ticket, request),
        keep=keep,
        captures=captures,
        brought=_Collector(opened, ticket, folder, request.runner).bring,
    )
    return msgspec.structs.replace(report, base_name=ticket.base_name)


def _asked(ticket: Ticket, request: Request) -> Request:
    """Return the request with what the ticket says."""
    return replace(
        request,
        base=ticket.base,
        head=ticket.head,
        head_ref=ticket.head_ref,
        agent=ticket.agent,
        reruns=ticket.reruns,
        scope=ticket.scope,
        timeout=ticket.timeout,
    )


@dataclass(frozen=True)
class _Collector:
    opened: Session
    ticket: Ticket
    folder: Path
    runner: str | None

    def bring(
        self, subject: Subject, first: Sequence[RunSpec], bench: Bench
    ) -> tuple[Bench, list[Problem], list[Problem]]:
        """Return a bench with the brought runs, what is wrong with them, and what to note."""
        station = self.opened.station(self.runner or subject.policy.run.runner)
        launch = station.resolve(subject.policy.run.command, subject.policy.run.format)
        expected = _expected(subject, first, station.packages(launch))
        good, problems = accepted(offers(self.folder), self.ticket, expected)
        runs: dict[str, Run] = {}
        for number, offer in good.items():
            assert offer.record is not None
            (run,) = read(offer.record, offer.name)
            runs[spec_digest(first[number - 1])] = run
        note = Problem(
            code="brought-records",
            reason=f"{plural(len(good), 'run')} with the patch were made in other jobs, each sealed under this gate's "
            "ticket; what else was needed was run here",
        )
        notes = [note]
        if subject.policy.run.shards > 1:
            unused = (
                f"[run] shards = {subject.policy.run.shards} was not used: a run of a job of its own is whole"
            )
            notes.append(Problem(code="shards-unused", reason=unused, remedy=""))
        return Brought(bench, runs), problems, [] if problems else notes


def _expected(subject: Subject, specs: Sequence[RunSpec], installed: dict[str, str]) -> Expected:
    return Expected(
        version=version(),
        base=subject.patch.base,
        head=subject.patch.head,
        tree=subject.h_tree,
        policy=digest_of(subject.policy),
        specs=tuple(spec_digest(spec) for spec in specs),
        environment=installed,
    )
