"""Puts ``draft``, ``review`` and ``oracle`` together: which patch, which file, laid where, on which bench."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from redbucket.app.output import read_file
from redbucket.app.remember import now, remember
from redbucket.app.session import Session, UserHistory, read_record
from redbucket.app.stations import recorded_command
from redbucket.core.drafted import DraftReport
from redbucket.core.errors import Misused
from redbucket.core.ledgered import Conversion
from redbucket.core.missed import rows_of
from redbucket.core.oracled import OracleReport
from redbucket.core.propertyplace import place_for, without_paths
from redbucket.core.readers import read
from redbucket.core.report import SCHEMA as GATE
from redbucket.core.reviewed import ReviewReport
from redbucket.core.shards import whole_runs
from redbucket.edges import oraclefile
from redbucket.edges.drafts import write_drafts
from redbucket.engine.bench import ParallelBench
from redbucket.engine.classify import classify_records
from redbucket.engine.draft import PLACE, Draft
from redbucket.engine.oracle import Oracle
from redbucket.engine.review import Review, decision
from redbucket.engine.specs import Specs, specs_for
from redbucket.engine.subject import Request, Subject, examine, require_merged

if TYPE_CHECKING:
    from redbucket.edges.ledger import Ledger

_UNITTEST = (
    "pytest ran it; [run] command starts unittest, which runs a property only in a TestCase, in a folder with an "
    "__init__.py"
)


def subject_of(opened: Session, request: Request) -> Subject:
    """Return the patch, ready to be run. Raises Undecided where it conflicts, Misused where there is none."""
    subject = examine(request, UserHistory(opened.repository), opened.scratch)  # type: ignore[arg-type]
    require_merged(subject)
    if not subject.net:
        raise Misused(
            "nothing-to-judge",
            "head brings nothing that base does not have",
            "name the patch that broke the invariant: --base REV --head REV",
        )
    return subject


def bench_of(
    opened: Session, subject: Subject, budget: float, place: str | None = None
) -> tuple[Specs, ParallelBench, list[str]]:
    """Return the maker of specs, the bench for a patch's worlds, and notes for the report; ``budget`` is in seconds.

    With ``place`` the command runs that file, whatever paths it names. The tests of a property are named and counted
    as pytest does it: unittest's own discovery passes a folder by that is no package.
    """
    run, notes = subject.policy.run, list[str]()
    station = opened.station(run.runner)
    launch = station.resolve(recorded_command(run))
    if place is not None and launch.runner == "unittest":
        launch = station.resolve((launch.python, "-m", "pytest"))
        notes.append(_UNITTEST)
    if place is not None and launch.runner == "pytest":
        launch = replace(launch, args=(*without_paths(launch.args, subject.sides.base), place))
    runner = station.runner(launch, run, (*subject.sides.base, *subject.sides.merged), budget)
    specs = specs_for(subject, opened.scratch, as_module=launch.as_module, timeout=run.timeout)
    return specs, ParallelBench(runner, read_record, station.cpus, opened.cancelled, station.rest), notes


def until(budget: float) -> Callable[[], bool]:
    """Return what says that ``budget`` seconds from now are over."""
    end = time.monotonic() + budget
    return lambda: time.monotonic() > end


def review(
    opened: Session, file: Path, request: Request, *, most: int, budget: float | None = None
) -> ReviewReport:
    """Review a file of properties against a patch."""
    began = time.monotonic()
    source = read_file(file)
    subject = subject_of(opened, request)
    path = _in_repository(opened, file)
    place = place_for(path, file.name, subject.judge, subject.sides.base)
    seconds = budget or subject.policy.run.budget
    specs, bench, notes = bench_of(opened, subject, seconds, place)
    work = Review(
        subject=subject,
        objects=opened.scratch,
        specs=specs,
        bench=bench,
        source=source,
        path=path,
        place=place,
        now=time.time(),
        say=opened.progress.say,
        over=until(seconds),
        most=most,
        notes=notes,
    )
    found = work.run()
    verdict, reason = decision(found)
    if work.over():
        work.notes.append("the time budget ran out before everything was tried")
    if verdict == "keep":
        _remember_kept(opened, subject.patch.head, source)
    return ReviewReport(
        verdict="keep" if verdict == "keep" else "discard",
        exit_code=0 if verdict == "keep" else 1,
        reason=reason,
        file=path or str(file),
        place=place,
        base=subject.patch.base,
        head=subject.patch.head,
        seed=specs.seed,
        properties=found,
        notes=work.notes,
        seconds=round(time.monotonic() - began, 3),
    )


def _remember_kept(opened: Session, head: str, source: bytes) -> None:
    """Keep that these bytes fail on that patch and hold on base: once they land, they answer its misses."""
    oid = opened.scratch.write_blob(source)

    def write(ledger: Ledger) -> None:
        rows = list(ledger.failures(""))
        for nodeid in {r["nodeid"] for r in rows if r["head"] == head and r["bucket"] == "invariant_miss"}:
            ledger.add_conversion(Conversion(now(), str(nodeid), "reviewed", detail=oid))

    remember(opened.repository.common_dir, write)


def draft(
    opened: Session,
    records: Sequence[Path],
    request: Request,
    *,
    test: str | None,
    out: Path,
    model: str | None,
    budget: float | None = None,
) -> DraftReport:
    """Draft properties for the misses of a report or of records, and write them to ``out``."""
    began = time.monotonic()
    rows, ends = _rows(records)
    if request.base is None and ends[0]:
        request = replace(request, base=ends[0], head=ends[1])
    chosen = [r for r in rows if r["nodeid"] == test] if test else [r for r in rows if _is_miss(r)]
    if not chosen:
        if test:
            raise Misused(
                "no-miss", f"{records[0]} holds no row of {test}", "copy the id from it, or leave --test away"
            )
        raise Misused(
            "no-miss",
            f"{records[0]} holds no invariant miss that the patch introduced",
            "there is nothing to draft for; a miss of another patch is in the report of its own gate",
        )
    subject = subject_of(opened, request)
    folder = _in_repository(opened, out)
    if folder and subject.judge.is_protected(f"{folder}/test_x.py"):
        raise Misused(
            "protected-folder",
            f"{folder} is protected: what lies there judges",
            "let drafts be written elsewhere (--out), review them, and have a person move them",
        )
    seconds = budget or subject.policy.run.budget
    specs, bench, notes = bench_of(opened, subject, seconds, PLACE)
    ask = None
    if model is not None:
        from redbucket.edges.model import ask_with

        ask = ask_with(model)
    work = Draft(
        subject,
        opened.scratch,
        specs,
        bench,
        opened.progress.say,
        until(seconds),
        ask,
        notes=notes,
        hasty=budget is not None,
    )
    found = work.misses(chosen)
    written = {p.file: p.source for one in found for p in one.proposals}
    write_drafts(out, written)
    code = 0 if written else 1 if all(one.refused for one in found) else 2
    return DraftReport(
        exit_code=code,
        folder=str(out),
        base=subject.patch.base,
        head=subject.patch.head,
        misses=found,
        seconds=round(time.monotonic() - began, 3),
    )


def oracle(
    opened: Session, request: Request, *, most: int, budget: float | None = None, resume: Path | None = None
) -> OracleReport:
    """Return how strong the tests are on a patch's changed lines; ``resume`` is the file of results."""
    began = time.monotonic()
    subject = subject_of(opened, request)
    seconds = budget or subject.policy.run.budget
    # what was begun may end: the budget stops new mutants, not the run that is under way
    specs, bench, _ = bench_of(opened, subject, seconds + 600)
    work = Oracle(
        subject=subject,
        objects=opened.scratch,
        specs=specs,
        bench=bench,
        most=most,
        say=opened.progress.say,
        over=until(seconds),
    )
    if resume is not None:
        work.known, work.keep = oraclefile.read(resume), oraclefile.keeper(resume)
    return msgspec.structs.replace(work.run(), seconds=round(time.monotonic() - began, 3))


def _is_miss(row: dict[str, Any]) -> bool:
    return row.get("bucket") == "invariant_miss" and row.get("introduced") is not False


def _rows(records: Sequence[Path]) -> tuple[list[dict[str, Any]], tuple[str | None, str | None]]:
    """Return the classified rows, and the base and head that a gate's report names."""
    if len(records) == 1 and records[0].suffix == ".json":
        raw = read_file(records[0])
        data = _json(raw)
        if isinstance(data, list) or (isinstance(data, dict) and data.get("schema") == GATE):
            ends = (data.get("base"), data.get("head")) if isinstance(data, dict) else (None, None)
            return rows_of(raw, str(records[0])), ends
    runs = whole_runs(run for path in records for run in read(read_file(path), str(path)))
    return [msgspec.to_builtins(row) for row in classify_records(runs)], (None, None)


def _json(raw: bytes) -> object:
    """Return what the bytes hold as one JSON value, None if they don't: other readers say why."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _in_repository(opened: Session, file: Path) -> str:
    """Return the file's path in the work tree, "" if it lies elsewhere."""
    top = opened.repository.work_tree
    try:
        return file.resolve().relative_to(top.resolve()).as_posix() if top is not None else ""
    except ValueError:
        return ""
