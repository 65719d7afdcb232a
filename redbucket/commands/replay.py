"""``redbucket replay``: run a captured noise input again."""

from __future__ import annotations

from pathlib import Path

import click

from redbucket.app.calling import calling
from redbucket.app.output import read_file, tell
from redbucket.commands.options import common, reporting


@click.command(short_help="Run a capture again, and say how often it fails.")
@click.argument("capture", type=click.Path(path_type=Path))
@click.option(
    "--runs", "-n", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many times."
)
@click.option(
    "--shrink/--no-shrink",
    default=True,
    show_default=True,
    help="Look for the fewest tests before it that still make it fail.",
)
@click.option("--policy", type=click.Path(path_type=Path), help="The launcher's policy, if the gate had one.")
@reporting("text", "json")
@common
def replay(
    capture: Path,
    runs: int,
    shrink: bool,
    policy: Path | None,
    form: str,
    output: Path | None,
    folder: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run a capture again in its recorded conditions, and say how often it fails.

    Exit 1 if it never failed, 2 if the recorded tree can't be had here.

    \b
      redbucket gate --captures runs/
      redbucket replay runs/noise-test_cache.json
      redbucket replay runs/noise-test_cache.json -n 50 --no-shrink
    """
    from redbucket.app.noise_desk import replay_of
    from redbucket.app.session import session
    from redbucket.core.noisecapture import decode
    from redbucket.edges.progress import Progress
    from redbucket.formats.noise import replay_text

    recorded = decode(read_file(folder / capture), str(capture))
    with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
        ready = replay_of(opened, recorded, read_file(policy) if policy else None)
        report = opened.told(ready.report(runs, str(capture), shrink=shrink))
    return tell(report, form, output, lambda told: calling().here(replay_text(told)), quiet=quiet)
