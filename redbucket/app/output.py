"""What a command prints, where, and with which exit code it ends."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from redbucket import __version__
from redbucket.app.calling import calling
from redbucket.core.errors import ACCEPTED, BUG, INTERRUPTED, Misused, RedbucketError, WorldFailed
from redbucket.core.report import GateReport

_PIECE = 1 << 20


class _Ends(Protocol):
    """A report that says how its command ends."""

    @property
    def exit_code(self) -> int: ...


Report = TypeVar("Report", bound=_Ends)


def finish(report: GateReport, form: str, output: Path | None, *, quiet: bool, verbose: bool) -> int:
    """Print the report and return its exit code; ``quiet`` leaves out a text that accepts."""
    if not (quiet and form == "text" and report.exit_code == 0):
        emit(_render(report, form, output, verbose=verbose), output)
        if output is not None and not quiet:
            from redbucket.formats.phrases import summary

            say(f"redbucket: {summary(report)}; the report is in {output}\n")
    return int(report.exit_code)


def _render(report: GateReport, form: str, output: Path | None, *, verbose: bool) -> str:
    import shutil

    from redbucket.formats import FORMATS as renderers

    more: dict[str, Any] = {"help_uri": documentation()} if form == "sarif" else {}
    if form == "text":  # the other forms are read in other places
        more["calling"] = called = calling()
        if called.folder:
            report = _with_whole_paths(report)
    return renderers[form](
        report,
        **more,
        width=min(shutil.get_terminal_size((80, 24)).columns, 200),
        color=color_wanted(output),
        verbose=verbose,
    )


def _with_whole_paths(report: GateReport) -> GateReport:
    """Return the report with captures by whole paths: a command that works elsewhere must find them."""
    import msgspec

    rows = [
        msgspec.structs.replace(row, capture=str(Path(row.capture).absolute())) if row.capture else row
        for row in report.tests
    ]
    return msgspec.structs.replace(report, tests=rows)


def documentation() -> str:
    """Return the address of the docs folder: REDBUCKET_DOCS, else that of the installed commit; "" if unknown."""
    from redbucket.edges.ownsource import docs_address, installed_source

    return os.environ.get("REDBUCKET_DOCS") or docs_address(installed_source())


def color_wanted(output: Path | None) -> bool:
    """NO_COLOR and FORCE_COLOR win (no-color.org, force-color.org); then a terminal decides."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return (
        output is None and sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    )


def tell(
    report: Report, form: str, output: Path | None, in_words: Callable[[Report], str], *, quiet: bool
) -> int:
    """Print a report as JSON or ``in_words``, and return its exit code; ``quiet`` leaves out words of success."""
    if not (quiet and form == "text" and report.exit_code == 0):
        emit(as_json(report) if form == "json" else in_words(report), output)
    return report.exit_code


def undo(code: int, command: str) -> int:
    """Say on stderr how to get out of a merge that was not accepted; return the exit code."""
    if code and command:
        say(f"redbucket: the merge has stopped half way; undo it: {calling().here(command)}\n")
    return code


def worst(codes: Sequence[int]) -> int:
    """A refusal outweighs "cannot decide", which outweighs accept."""
    for code in (1, 2):
        if code in codes:
            return code
    return max(codes, default=ACCEPTED)


def as_json(report: object) -> str:
    """Return a report of any command as indented JSON."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode("utf-8", "backslashreplace")


def emit(text: str, output: Path | None) -> None:
    """Write text to stdout, or to a file; raise WorldFailed if that can't be done."""
    data = (text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace")
    if output is None:
        _to_stdout(data)
        return
    from redbucket.edges import wholefile

    try:
        wholefile.put(output, data)
    except OSError as error:
        raise WorldFailed("not-writable", f"{output}: {error.strerror}", "name another --output") from error


class ReaderGone(Exception):
    """Whoever read stdout went away. No OSError: click would end with 1, which means "refused" here."""


def _to_stdout(data: bytes) -> None:
    if sys.stdout is None:  # started with `>&-`
        raise WorldFailed(
            "no-stdout", "standard output is closed", "open it, or write to a file with --output"
        )
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError as error:
        abandon_stdout()
        raise ReaderGone from error
    except OSError as error:
        abandon_stdout()
        raise world_failure(error) from error


def abandon_stdout() -> None:
    """Send the rest of stdout nowhere: Python flushes it at the end, and would fail once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_file(path: Path) -> bytes:
    """Return a user's file; raise Misused if it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Misused("unreadable-file", f"{path}: {error.strerror}", "check the path") from error


def chunks_of(path: Path) -> Callable[[], Iterator[bytes]]:
    """Return what reads a user's file in pieces, from its beginning each time; raises Misused as ``read_file``."""

    def pieces() -> Iterator[bytes]:
        try:
            with path.open("rb") as stream:
                while piece := stream.read(_PIECE):
                    yield piece
        except OSError as error:
            raise Misused("unreadable-file", f"{path}: {error.strerror}", "check the path") from error

    return pieces


def world_failure(error: OSError) -> WorldFailed:
    """Return the error that a failed system call means for the user."""
    code = "disk-full" if error.errno in (28, 122) else "system-error"
    where = f"{error.filename}: " if error.filename else ""
    remedy = "free some space, or set REDBUCKET_TMPDIR" if code == "disk-full" else "see the reason above"
    return WorldFailed(code, f"{where}{error.strerror or error}", remedy)


def interrupted() -> int:
    """Say so, and return the exit code."""
    say("redbucket: interrupted; nothing was changed\n")
    return INTERRUPTED


def complain(error: RedbucketError) -> None:
    """Print an error as a line with its remedy, on stderr."""
    word = {2: "cannot decide", 3: "misused", 4: "failed"}.get(error.exit_code, "error")
    lines = [f"redbucket: {word}: {error.reason} [{error.code}]"]
    if error.remedy:
        lines.append(f"  do this: {calling().here(error.remedy)}")
    say("\n".join(lines) + "\n")


def say(text: str) -> None:
    """Write to stderr whatever its encoding is, or nowhere if it is closed or full."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
            sys.stderr.flush()


def report_bug(error: Exception) -> int:
    """Write a log that can be pasted into a report, name it, and return the exit code."""
    import platform
    import tempfile
    import traceback

    text = (
        f"redbucket {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n" + "".join(traceback.format_exception(error))
    )
    try:
        fd, path = tempfile.mkstemp(prefix="redbucket-bug-", suffix=".log")
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        where = f"the details are in {path}: please attach it to a report"
    except OSError:
        where = f"the log could not be written; the last line is {type(error).__name__}: {error}"
    say(f"redbucket: this is a bug in redbucket ({type(error).__name__}); {where}\n")
    return BUG
