"""Puts ``review`` together: which patch, which file, laid where, on which bench."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from redbucket.app.output import read_file
from redbucket.app.session import Session, UserHistory, cpus, read_record
from redbucket.core.errors import Misused, Undecided
from redbucket.core.propertyplace import place_for
from redbucket.core.reviewed import ReviewReport
from redbucket.edges import interpreter
from redbucket.engine.bench import ParallelBench
from redbucket.engine.review import Review, decision
from redbucket.engine.specs import Specs, specs_for
from redbucket.engine.subject import Request, Subject, examine


def subject_of(opened: Session, request: Request) -> Subject:
    """Return the patch, ready to be run. Raises Undecided where it conflicts, Misused where there is none."""
    subject = examine(request, UserHistory(opened.repository), opened.scratch)  # type: ignore[arg-type]
    if subject.conflicts:
        raise Undecided(
            "merge-conflict",
            f"head and base conflict in {subject.conflicts[0]}",
            "merge or rebase head on base, and try again",
        )
    if not subject.net:
        raise Misused(
            "nothing-to-judge",
            "head brings nothing that base does not have",
            "name the patch that broke the invariant: --base REV --head REV",
        )
    return subject


def bench_of(opened: Session, subject: Subject, budget: float) -> tuple[Specs, ParallelBench]:
    """Return the maker of specs and the bench for a patch's worlds; ``budget`` is in seconds."""
    run = subject.policy.run
    launch = interpreter.resolve(run.command, opened.repository.work_tree, os.environ)
    tracked = {p for p in (*subject.sides.base, *subject.sides.merged) if p.endswith(".py")}
    runner = opened.runner(
        launch, tracked=tuple(sorted(tracked)), prepare=run.prepare, env=run.env, budget=budget
    )
    specs = specs_for(subject, opened.scratch, as_module=launch.as_module, timeout=run.timeout)
    return specs, ParallelBench(runner, read_record, cpus(), opened.cancelled)


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
    specs, bench = bench_of(opened, subject, seconds)
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
    )
    found = work.run()
    verdict, reason = decision(found)
    if work.over():
        work.notes.append("the time budget ran out before everything was tried")
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


def _in_repository(opened: Session, file: Path) -> str:
    """Return the file's path in the work tree, "" if it lies elsewhere."""
    top = opened.repository.work_tree
    try:
        return file.resolve().relative_to(top.resolve()).as_posix() if top is not None else ""
    except ValueError:
        return ""
