"""Runs what passed once more without the signs of a gate, where a patch may look for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from redbucket.core.findings import Finding, Severity
from redbucket.core.records import Run, Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.testpath import file_of
from redbucket.engine.confirming import Confirming, failed
from redbucket.engine.contraries import choose
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs

CONDITION = "masked"
RULE = "behaves-for-the-gate"
# What code uses that looks at its surroundings; honest code does, too: it costs one more run, no more.
_LOOKS = re.compile(
    rb"environ|getenv|argv|\bmodules\b|getp?pid|/proc|\.git\b|getcwd|frame|ctypes|__import__|import_module|\bexec\b"
    rb"|\beval\b|[gs]etattr|\bgc\b|psutil|mtime|ctime|\bstat\b|exists|isatty|gethostname|inspect|platform|__file__"
    rb"|subprocess|\bopen\(|Path\("
)


@dataclass
class Masked:
    """One look at the tests that passed in head."""

    specs: Specs
    objects: Objects
    bench: Bench
    over: Callable[[], bool]
    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)

    def wanted(self, paths: Sequence[str]) -> bool:
        """True if a changed product file looks at its surroundings."""
        view = self.objects.tree_view(self.specs.trees["H"])
        found = (view.entries.get(path) for path in paths)
        return any(e.is_file and _LOOKS.search(view.read(p)) for p, e in zip(paths, found, strict=True) if e)

    def plan(self, passed: Sequence[Test]) -> RunSpec:
        """Return a masked run of the tests among ``passed`` that run changed lines, and of a share of the others."""
        self._names = choose(passed, self.specs.seed)
        return self._spec("H", self._names)

    def take(self, run: Run) -> None:
        """Look closer at what is red in the planned run, or at why it broke: is it so in base, and again?"""
        confirmed = Confirming(self.bench, self._spec, failed, self.over).look(run, self._names)
        if confirmed.names:
            paths = self.objects.entries(self.specs.trees["H"])
            self.findings += [_finding(name, file_of(name, paths)) for name in confirmed.names]
        if confirmed.broken:
            self.problems.append(_broken(confirmed.broken))

    def _spec(self, world: str, names: Sequence[str]) -> RunSpec:
        return self.specs.make(world, CONDITION, only=tuple(names), order="given", masked=True)


def _finding(name: str, path: str | None) -> Finding:
    return Finding(
        rule=RULE,
        severity=Severity.REFUSE,
        path=path,
        nodeid=name,
        reason="with the patch this test passes here, and fails in a run that does not look like a gate's"
        " (another environment, an ordinary parent, a .git folder); base passes both",
        remedy="look for what in the patch asks where it runs: the environment, the parent, the folder, the clock",
    )


def _broken(reason: str) -> Problem:
    return Problem(
        code="masked-broken",
        reason="in a run that does not look like a gate's base runs to its end and head does not: "
        + reason[:300],
        remedy="look for what in the patch asks where it runs, and ends the run there",
    )
