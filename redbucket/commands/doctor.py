"""``redbucket doctor``: looks at this machine and repository, and tries every hook in a scratch clone."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.commands.options import common, reporting


@click.command(short_help="Check everything that can silently be dead.")
@reporting("text", "json")
@common
def doctor(form: str, output: Path | None, folder: Path, quiet: bool, verbose: bool) -> int:
    """Check everything that can silently be dead, and try the hooks in a scratch clone.

    Exit 0 nothing is dead, 1 something is, 4 the check itself can't run. Hooks are run as a
    commit would run them, so check out a branch that you trust.

    \b
      redbucket doctor
      redbucket doctor --format json
    """
    import msgspec

    from redbucket.app.examination import Examination
    from redbucket.app.output import emit
    from redbucket.app.session import session
    from redbucket.edges.git import Caller
    from redbucket.edges.progress import Progress
    from redbucket.engine.doctor import DoctorReport, State, exit_code, git_version, render

    first = git_version(Caller(folder).run("version").line)
    checks = [first]
    if first.state is not State.FAIL:
        with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
            checks += list(Examination(opened).checks())
    if form == "json":
        report = DoctorReport(exit_code=exit_code(checks), checks=checks)
        text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
    else:
        called = calling()
        told = [msgspec.structs.replace(check, remedy=called.here(check.remedy)) for check in checks]
        text = render(told, min(shutil.get_terminal_size((100, 24)).columns, 120), quiet=quiet)
    emit(text, output)
    return exit_code(checks)
