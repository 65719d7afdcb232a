"""One real repository for the guards' tests: attacked heads on branches of their own, judged as the command does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from redbucket.app.session import session
from redbucket.core.findings import Finding
from redbucket.edges.progress import Progress
from redbucket.engine.subject import Request
from tests.gitkit import Content, Repo

Edits = Mapping[str, Content] | Callable[[Repo], None]


class Attacked:
    """A base repository, and a guard that is asked about patches to it."""

    def __init__(self, place: Path, guard: str, base: Mapping[str, Content]) -> None:
        self.repo = Repo.init(place)
        self.repo.commit(base, "Base")
        self.guard = guard
        self._count = 0

    def judge(self, edits: Edits, *, agent: bool = True, message: str = "Work") -> list[Finding]:
        """Make a patch on a new branch and return what the guard says of it."""
        self._count += 1
        branch = f"{'agent' if agent else 'feature'}/{self._count}"
        self.repo.git("checkout", "--quiet", "--force", "-b", branch, "main")
        if callable(edits):
            edits(self.repo)
        else:
            self.repo.stage(edits)
        self.repo.commit(None, message)
        self.repo.git("checkout", "--quiet", "--force", "main")
        self.repo.git("clean", "-ffdxq")
        with session(self.repo.path, Progress(quiet=True, steps=False)) as opened:
            return opened.guard(Request(base="main", head=branch), [self.guard]).findings


def gravest(findings: list[Finding]) -> str:
    """Return the gravest severity, "" for none."""
    return next(
        (level for level in ("refuse", "warn", "note") if any(f.severity.value == level for f in findings)),
        "",
    )
