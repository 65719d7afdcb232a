"""Runs what passed once more without the signs of a gate, where a patch may look for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from redbucket.core.records import Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.testpath import file_of
from redbucket.engine.contraries import choose
from redbucket.engine.look import Look
from redbucket.engine.ports import Objects

# What code uses that looks at its surroundings; honest code does, too: it costs one more run, no more.
_LOOKS = re.compile(
    rb"environ|getenv|argv|\bmodules\b|getp?pid|/proc|\.git\b|getcwd|frame|ctypes|__import__|import_module|\bexec\b"
    rb"|\beval\b|[gs]etattr|\bgc\b|psutil|mtime|ctime|\bstat\b|exists|isatty|gethostname|inspect|platform|__file__"
    rb"|subprocess|\bopen\(|Path\("
)


@dataclass(kw_only=True)
class Masked(Look):
    """The tests without the signs of a gate, where one of the ``changed`` product files looks for such."""

    objects: Objects
    changed: Sequence[str]

    condition = "masked"
    rule = "behaves-for-the-gate"
    reason = (
        "with the patch this test passes here, and fails in a run that does not look like a gate's"
        " (another environment, an ordinary parent, a .git folder); base passes both"
    )
    remedy = (
        "look for what in the patch asks where it runs: the environment, the parent, the folder, the clock"
    )

    def plan(self, passed: Sequence[Test]) -> RunSpec | None:
        """Return a masked run of the tests among ``passed`` that run changed lines, and of a share of the others.

        None where no changed file looks at its surroundings.
        """
        if not self._looks_around():
            return None
        self.names = choose(passed, self.specs.seed)
        return self.spec("H", self.names)

    def spec(self, world: str, names: Sequence[str]) -> RunSpec:
        """Return a masked run of ``names``."""
        return self.specs.make(world, self.condition, only=tuple(names), order="given", masked=True)

    def broken(self, why: str) -> Problem:
        """Return that head's run breaks off, and base's does not."""
        return Problem(
            code="masked-broken",
            reason=f"in a run that does not look like a gate's base runs to its end and head does not: {why}",
            remedy="look for what in the patch asks where it runs, and ends the run there",
        )

    def path_of(self, name: str) -> str | None:
        """Return the file of a test in head."""
        return file_of(name, self.objects.entries(self.specs.trees["H"]))

    def _looks_around(self) -> bool:
        view = self.objects.tree_view(self.specs.trees["H"])
        found = [(path, view.entries.get(path)) for path in self.changed]
        return any(entry.is_file and _LOOKS.search(view.read(path)) for path, entry in found if entry)
