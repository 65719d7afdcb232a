"""Puts ``init`` together: look, propose, show, ask, write what is new."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.app.fixture_lock import first_lock, laid_out
from redbucket.app.fixture_verify import cpus
from redbucket.app.lookout import Lookout
from redbucket.app.output import color_wanted, emit
from redbucket.app.session import session
from redbucket.core.errors import ACCEPTED, UNDECIDED, Misused, RedbucketError
from redbucket.core.identity import marks_of_branch, marks_of_environment
from redbucket.core.lockedit import Refused
from redbucket.core.plural import plural
from redbucket.core.policy import POLICY_NAME, Policy
from redbucket.core.sighting import Proposed, Sighting, Source
from redbucket.edges import firstwrite
from redbucket.edges.progress import Progress
from redbucket.edges.repository import Repository
from redbucket.edges.staged import Staged
from redbucket.engine import init
from redbucket.engine.doctor import Configured
from redbucket.formats.init import diff_text, seen_text, steps_text

_QUESTION = "Write {path}? [y]es, [n]o, [a]ll the rest, [q]uit"


def run(
    folder: Path,
    command: Sequence[str],
    *,
    branch: str | None,
    source: Source | None,
    without: Sequence[str],
    no_run: bool,
    budget: float,
    yes: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Look, show, ask, write; return 0, or 2 where nobody could be asked.

    Raises Refused "human-only" where an agent would write, after everything was shown.
    """
    progress = Progress(quiet=quiet, steps=verbose)
    with session(folder, progress) as opened:
        if opened.repository.work_tree is None:
            raise Misused("no-work-tree", "a bare repository has no files to set up", "run it in a clone")
        try:
            lookout = Lookout(opened, branch, source, budget)
            seen = lookout.look(command, run=not no_run)
            plan = init.plan(seen, _configured(seen), without)
        finally:
            progress.clear()
        parents = int(opened.repository.git.run("rev-list", "--count", "-n", "2", "HEAD").line) - 1
        marks = [
            *marks_of_environment(os.environ),
            *marks_of_branch(opened.repository.current_branch(), Policy()),
        ]
    lock, recorded = _lock(folder, plan.policy)
    proposed = list(plan.proposed)
    if "lock" not in without and (lock.text or lock.lacks):
        proposed.insert(1 if proposed and proposed[0].what == "policy" else 0, lock)
    rows = init.sightings(seen, plan, recorded)
    fresh, told = _shown(seen, rows, proposed, quiet=quiet, verbose=verbose)
    for text in told:
        emit(text, None)
    written = _decided(Path(seen.top), fresh, marks, yes=yes)
    if written is None:
        return UNDECIDED
    if not fresh and not quiet:
        emit("nothing to write: all of it is there", None)
    if quiet:
        return ACCEPTED
    by_pre_commit = shutil.which("pre-commit") is not None and any(
        each in written or not (each.text or each.lacks)
        for each in plan.proposed
        if each.what == "pre-commit"
    )
    on_path = all(map(shutil.which, ("redbucket", "redbucket-protected-paths")))
    waiting, ignored = _not_committed(folder, [lock.path, *(each.path for each in written)])
    steps = init.next_steps(
        seen,
        written,
        by_pre_commit=by_pre_commit,
        on_path=on_path,
        parents=parents,
        at_top=Path.cwd().resolve() == Path(seen.top).resolve(),
        waiting=waiting,
        ignored=ignored,
    )
    # its first step goes to the top of the repository
    emit("\n" + steps_text([(why, calling().named(step)) for why, step in steps], _width()), None)
    return ACCEPTED


def _not_committed(folder: Path, paths: Sequence[str]) -> tuple[list[str], set[str]]:
    """Return the files that init writes, and ``paths``, that are in no commit; and those that git ignores."""
    ours = list(dict.fromkeys([*init.OURS, *paths]))
    repository = Repository.discover(folder)
    top = repository.work_tree
    listed = repository.git.run(
        "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--", *ours, folder=top
    )
    rows = [os.fsdecode(row) for row in listed.out.split(b"\0") if row]
    new = {row[3:] for row in rows if row[:2] == "??" or row[0] == "A"}
    others = repository.git.run(
        "ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", *ours, folder=top
    )
    ignored = {os.fsdecode(path) for path in others.out.split(b"\0") if path}
    return [path for path in ours if path in new | ignored and _is_ours(top, path)], ignored


def _is_ours(top: Path | None, path: str) -> bool:
    """Return whether a file speaks of redbucket: settings of an agent, or of a CI, may be the user's own."""
    try:
        return top is not None and (path == POLICY_NAME or b"redbucket" in (top / path).read_bytes())
    except OSError:
        return False


def _configured(seen: Sighting) -> Configured:
    from redbucket.engine.doctor import configured
    from redbucket.engine.inithooks import PRE_COMMIT

    raw = seen.files.get(PRE_COMMIT)
    if raw is None:
        return Configured({})
    import yaml

    try:
        return configured(yaml.safe_load(raw))
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        return Configured({}, trouble=f"it can't be read: {' '.join(str(problem).split())[:200]}")


def _lock(folder: Path, policy: Policy) -> tuple[Proposed, int]:
    """Return the proposal for the lock of what the index holds, and how many fixtures the policy covers."""
    with closing(Staged.discover(folder, cpus=cpus())) as source:
        try:
            desk = laid_out(source, policy)
        except RedbucketError as error:
            return Proposed(
                "lock", policy.fixtures.manifests[0], lacks=(f"{error.reason}; {error.remedy}",)
            ), 0
        covered = sum(1 for path in desk.modes if desk.scope.is_recorded(path))
        path, data, count = first_lock(desk)
        if any(not lock.sidecar for lock in desk.locks.locks):
            kept = next(lock.path for lock in desk.locks.locks if not lock.sidecar)
            lacks = (f"{plural(count, 'fixture is', 'fixtures are')} not listed: redbucket fixtures lock",)
            return Proposed("lock", kept, lacks=lacks if count else ()), covered
        why = f"locks the staged bytes of {plural(count, 'file')}; look at them before you commit it"
        return Proposed("lock", path, data.decode("utf-8", "surrogateescape"), why=why), covered


def _shown(
    seen: Sighting,
    rows: Sequence[tuple[str, str]],
    proposed: Sequence[Proposed],
    *,
    quiet: bool,
    verbose: bool,
) -> tuple[list[Proposed], list[str]]:
    """Return the files that can be made, and what is to be said of all of them."""
    fresh, told = [], []
    if not quiet:
        told.append(seen_text(seen.top, seen.commit, rows, _width()))
    for each in proposed:
        if each.text and not firstwrite.is_free(Path(seen.top), each.path):
            blocked = f"something is at {each.path}, or a link stands on the way"
            each = Proposed(each.what, each.path, lacks=(blocked,), snippet=each.text)
        if each.text:
            fresh.append(each)
        elif not each.lacks:
            continue
        if not quiet:
            told.append("\n" + diff_text(each, color=color_wanted(None), verbose=verbose))
    return fresh, told


def _decided(
    top: Path, fresh: Sequence[Proposed], marks: Sequence[str], *, yes: bool
) -> list[Proposed] | None:
    """Return what was written, None where there is something to write and nobody to ask."""
    if not fresh:
        return []
    if marks:
        raise Refused(
            "human-only",
            f"only a human sets the judge up; this looks like an agent's work: {', '.join(marks)}",
            "nothing was written; let a human run it in a shell and on a branch of their own: redbucket init",
        )
    if yes:
        chosen = list(fresh)
    elif sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        chosen = _asked(fresh)
    else:
        remedy = f"redbucket init --yes writes all of it; --without NAME leaves one kind out ({', '.join(init.WHAT)})"
        click.echo(
            f"redbucket: nothing was written, for nobody can be asked here: {', '.join(e.path for e in fresh)}\n"
            f"  do this: {calling().here(remedy)}",
            err=True,
        )
        return None
    written = []
    for each in chosen:
        if firstwrite.create(top, each.path, each.text.encode("utf-8", "surrogateescape")):
            click.echo(f"wrote {each.path}")
            written.append(each)
        else:
            click.echo(f"redbucket: {each.path} came up meanwhile, and stays as it is", err=True)
    return written


def _asked(fresh: Sequence[Proposed]) -> list[Proposed]:
    """Ask for each before anything is written, so that an interrupt leaves nothing half done."""
    chosen: list[Proposed] = []
    for number, each in enumerate(fresh):
        question = _QUESTION.format(path=each.path)
        answer = click.prompt(question, type=click.Choice(list("ynaq")), show_choices=False, err=True)
        if answer == "a":
            return chosen + list(fresh[number:])
        if answer == "q":
            return chosen
        if answer == "y":
            chosen.append(each)
    return chosen


def _width() -> int:
    return min(shutil.get_terminal_size((80, 24)).columns, 120)
