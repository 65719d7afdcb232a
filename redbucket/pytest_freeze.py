"""An opt-in pytest plugin: shows frozen failures as such. Load it with ``-p redbucket.pytest_freeze``.

For a person's own runs. A report stays what it is (a recorder, a JUnit file and
``--lf`` see a failure); only its category on the terminal and the exit status
change. From the day after the expiry a failure is a failure again.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.errors import RedbucketError
from redbucket.core.flakes import Flakes, parse
from redbucket.core.frozen import Frozen, freezes_for
from redbucket.core.policy import FLAKES_NAME, POLICY_NAME, Policy
from redbucket.core.policy import parse as parse_policy


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--flakes``."""
    parser.addoption(
        "--flakes", metavar="FILE", help=f"Freezes to show. Default: {FLAKES_NAME} in the rootdir."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the freezes, once."""
    path = Path(config.getoption("--flakes") or config.rootpath / FLAKES_NAME)
    flakes = parse(path.read_bytes(), path.name) if path.is_file() else Flakes()
    today = datetime.now(timezone.utc).date()
    max_days = _policy(config.rootpath / POLICY_NAME).freeze.max_days
    config.pluginmanager.register(FreezePlugin(flakes, _Below(config.rootpath), today, max_days))


def _policy(path: Path) -> Policy:
    try:
        return parse_policy(path.read_bytes(), path.name)
    except (OSError, RedbucketError):
        return Policy()  # the gate says what is wrong with it


class _Below:
    """The files below a folder, as far as one is asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and (self._root / path).is_file()


class FreezePlugin:
    """Turns the failure of a frozen test into "frozen"."""

    def __init__(self, flakes: Flakes, paths: _Below, today: date, max_days: int) -> None:
        self._broken = flakes.broken
        self._freezes: Mapping[str, Frozen] = freezes_for(flakes, None, paths, today, max_days)
        self._lapsed: dict[str, str] = {}

    def _frozen(self, report: Any) -> Frozen | None:
        if not isinstance(report, pytest.TestReport) or not report.failed:
            return None
        found = self._freezes.get(report.nodeid)
        if found is not None and found.lapsed:
            self._lapsed[report.nodeid] = found.lapsed
            return None
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, tuple[str, Mapping[str, bool]]] | None:
        """Return the category of a frozen failure."""
        found = self._frozen(report)
        if found is None:
            return None
        return "frozen", "z", (f"FROZEN (until {found.freeze.expires})", {"yellow": True})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> Generator[None, None, None]:
        """Leave a frozen failure out of the count that makes the exit status and --maxfail."""
        session = self._session
        if session is not None and self._frozen(report) is not None:
            # taken off first: the session adds one and then looks whether that is too many
            session.testsfailed -= 1
        yield

    _session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep the session: it counts."""
        self._session = session

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List what was frozen, and what is no longer."""
        write = terminalreporter.write_line
        frozen = terminalreporter.stats.get("frozen", [])
        if frozen or self._lapsed or self._broken:
            terminalreporter.section("freezes")
        if self._broken:
            write(f"every freeze counts as expired: {self._broken}", red=True)
        for report in frozen:
            freeze = self._freezes[report.nodeid].freeze
            write(f"FROZEN {report.nodeid}: until {freeze.expires} by {freeze.owner} ({freeze.ticket})")
            last = (report.longreprtext.strip().splitlines() or [""])[-1]
            write(f"       {last[:200]}")
        for nodeid, lapsed in self._lapsed.items():
            write(f"FAILED {nodeid}: its freeze {lapsed}", red=True)
