"""``redbucket report``: a gate's JSON report in another format."""

from __future__ import annotations

from pathlib import Path

import click

from redbucket.app.output import finish, read_file
from redbucket.commands.options import FORMATS, common, reporting
from redbucket.core.errors import ACCEPTED


@click.command(short_help="Show a saved JSON report in another format.")
@click.argument("file", metavar="GATE.json", type=click.Path(path_type=Path))
@reporting(*FORMATS)
@common
def report(file: Path, form: str, output: Path | None, folder: Path, quiet: bool, verbose: bool) -> int:
    """Show a saved JSON report in another format, without judging again. Exit 0, whatever it says.

    \b
      redbucket gate --format json --output verdict.json
      redbucket report verdict.json --format html --output report.html
      redbucket report verdict.json --format sarif --output report.sarif
    """
    from redbucket.core.savedreport import saved_report
    from redbucket.formats.as_json import read_back

    read = read_back(saved_report(read_file(folder / file), str(file)))
    finish(read, form, output, quiet=quiet, verbose=verbose)
    return ACCEPTED
