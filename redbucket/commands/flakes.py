"""``redbucket flakes``: dated freezes of noisy tests."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from redbucket.app.calling import calling
from redbucket.app.output import emit, finish, read_file
from redbucket.commands.options import FORMATS, as_typed, common, reporting, request_of, request_options
from redbucket.core.errors import ACCEPTED, REFUSED, Misused


@click.group(short_help="Freeze a noisy test: with an owner, a ticket, a last day.")
def flakes() -> None:
    """Freeze a noisy test for a while: with an owner, a ticket, a last day and a replay.

    \b
      redbucket flakes list
      redbucket flakes check
      redbucket flakes remove tests/test_cart.py::test_empty
    """


@flakes.command(short_help="Fail if a freeze is over, incomplete or stretched.")
@request_options
@click.option("--staged", is_flag=True, help="Check the index against HEAD.")
@reporting(*FORMATS)
@common
def check(
    base: str | None,
    head: str | None,
    head_ref: str,
    policy: Path | None,
    agent: bool,
    staged: bool,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Fail if a freeze is over, incomplete, of a test that is gone, or stretched by the patch.

    Without options the work tree's own flakes.toml is checked, over HEAD.

    \b
      redbucket flakes check
      redbucket flakes check --base origin/main --head agent/fix
      redbucket flakes check --staged
    """
    import msgspec

    from redbucket.app.flakes_desk import tree_to_check
    from redbucket.app.session import session
    from redbucket.edges.progress import Progress
    from redbucket.engine.flakes import RULE

    if staged and (base or head):
        raise click.UsageError("--staged goes without --base and --head")
    request = request_of(base, head, policy, head_ref=head_ref, agent=agent)
    with session(folder, Progress(quiet=quiet, steps=False)) as opened:
        tree = None if staged or base or head else tree_to_check(opened)
        report = opened.guard(request, (RULE,), staged=staged, tree=tree, scope="tree")
    if not report.exit_code:
        report = msgspec.structs.replace(
            report, summary="no freeze is over, incomplete or of a test that is gone"
        )
    report = msgspec.structs.replace(report, command=as_typed())
    return finish(report, form, output, quiet=quiet, verbose=verbose)


@flakes.command(name="list", short_help="Show every freeze, the most urgent first.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write the list there.")
@common
def list_(form: str, output: Path | None, folder: Path, quiet: bool, verbose: bool) -> int:
    """Show every freeze, the most urgent first, with the days that are left of it.

    \b
      redbucket flakes list
      redbucket flakes list --format json
    """
    from redbucket.app.flakes_desk import flakes_bytes, policy_of
    from redbucket.app.output import color_wanted
    from redbucket.app.session import session
    from redbucket.core.flakes import parse
    from redbucket.core.flakeslist import as_json, as_text
    from redbucket.core.policy import FLAKES_NAME
    from redbucket.edges.progress import Progress
    from redbucket.engine.today import utc_today

    with session(folder, Progress(quiet=quiet, steps=False)) as opened:
        found = parse(flakes_bytes(opened) or b"", FLAKES_NAME)
        days = policy_of(opened).freeze.max_days
    today = utc_today()
    text = (
        as_json(found, today, days)
        if form == "json"
        else as_text(found, today, days, color=color_wanted(output))
    )
    emit(text, output)
    return REFUSED if found.broken else ACCEPTED


@flakes.command()
@click.argument("nodeid")
@click.option("--owner", default="", help="Who mends the test.")
@click.option("--ticket", default="", help="Where that is tracked.")
@click.option("--expires", default="", metavar="YYYY-MM-DD", help="The last day of the freeze, in UTC.")
@click.option("--replay", default="", metavar="CAPTURE", help="The capture that shows the noise again.")
@click.option("--reason", default="", help="What is known of the cause.")
@common
def add(
    nodeid: str,
    owner: str,
    ticket: str,
    expires: str,
    replay: str,
    reason: str,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Freeze one noisy test, after its capture was replayed.

    \b
      redbucket flakes add tests/test_cache.py::test_evicts --owner platform \\
          --ticket QA-1412 --expires 2026-10-02 --replay runs/noise-capture.json
    """
    from redbucket.app.flakes_desk import inside, policy_of, refuse, refuse_agents, replayer, top_of
    from redbucket.app.remember import now, remember
    from redbucket.app.session import session
    from redbucket.core.flakesedit import readable, with_entry
    from redbucket.core.freezerequest import requested
    from redbucket.core.frozen import by_test
    from redbucket.core.ledgered import LedgerFreeze
    from redbucket.core.policy import FLAKES_NAME
    from redbucket.core.testpath import pytest_id
    from redbucket.edges.flakesfile import edit
    from redbucket.edges.progress import Progress
    from redbucket.engine.flakes import require_capture, require_replay, require_test
    from redbucket.engine.today import utc_today

    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        top = top_of(opened)
        if refused := refuse_agents(opened):
            return refused
        fields = {"owner": owner, "ticket": ticket, "expires": expires, "reason": reason}
        place = inside(folder / replay, top) if replay.strip() else ""
        days = policy_of(opened).freeze.max_days
        freeze = requested(nodeid, fields, place, utc_today(), days, FLAKES_NAME)
        tree = opened.scratch.tree_view(opened.scratch.tree_of(opened.repository.resolve("HEAD")))
        require_test(nodeid, tree)
        raw = read_file(top / place)
        why = require_capture(raw, place, nodeid, tree) or require_replay(raw, nodeid, replayer(opened))
        if why:
            return refuse(f"{nodeid} is not frozen: {why}", "redbucket explain looks for the cause")

        def change(before: bytes) -> bytes:
            known = by_test(readable(before, FLAKES_NAME), tree.entries)
            if pytest_id(nodeid, tree.entries) in known:
                raise Misused(
                    "already-frozen",
                    f"{nodeid} is in {FLAKES_NAME} already",
                    f"to renew it: redbucket flakes remove {quote(nodeid)}, then add it again",
                )
            return with_entry(before, freeze, FLAKES_NAME)

        edit(top / FLAKES_NAME, opened.repository.common_dir, change)
        made = LedgerFreeze(now(), nodeid, "add", owner, ticket, str(freeze.expires), place)
        remember(opened.repository.common_dir, lambda ledger: ledger.add_freeze(made))
    if not quiet:
        click.echo(
            f"{nodeid} is frozen until {freeze.expires}; commit {FLAKES_NAME} and {place}, "
            "both: freezes count from base\n  "
            + calling().here(f"git add {quote(FLAKES_NAME)} {quote(place)}")
        )
    return ACCEPTED


@flakes.command()
@click.argument("nodeid")
@common
def remove(nodeid: str, folder: Path, quiet: bool, verbose: bool) -> int:
    """End the freeze of one test.

    \b
      redbucket flakes remove tests/test_cache.py::test_evicts
    """
    from redbucket.app.flakes_desk import refuse_agents, top_of
    from redbucket.app.remember import now, remember
    from redbucket.app.session import session
    from redbucket.core.flakesedit import readable, without_entry
    from redbucket.core.ledgered import LedgerFreeze
    from redbucket.core.policy import FLAKES_NAME
    from redbucket.core.testpath import pytest_id
    from redbucket.edges.flakesfile import edit
    from redbucket.edges.progress import Progress

    with session(folder, Progress(quiet=quiet, steps=False)) as opened:
        top = top_of(opened)
        if refused := refuse_agents(opened):
            return refused
        commit = opened.repository.resolve("HEAD")
        paths = opened.scratch.tree_view(opened.scratch.tree_of(commit)).entries

        def change(before: bytes) -> bytes:
            wanted = (nodeid, pytest_id(nodeid, paths))
            entries = readable(before, FLAKES_NAME).entries
            named = [e for e in entries if e.nodeid in wanted or pytest_id(e.nodeid, paths) in wanted]
            if not named:
                raise Misused(
                    "not-frozen",
                    f"{FLAKES_NAME} has no freeze of {nodeid}",
                    "redbucket flakes list shows them",
                )
            for entry in named:
                before = without_entry(before, entry, FLAKES_NAME)
            return before

        edit(top / FLAKES_NAME, opened.repository.common_dir, change)
        ended = LedgerFreeze(now(), nodeid, "remove")
        remember(opened.repository.common_dir, lambda ledger: ledger.add_freeze(ended))
    if not quiet:
        click.echo(f"{nodeid} is no longer frozen; commit {FLAKES_NAME}")
    return ACCEPTED
