"""Does head go on doing what base does not? One pair of runs says nothing of a coin, interleaved pairs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from redbucket.core.classification import FAILING
from redbucket.core.compare import SURE, redder_by_chance
from redbucket.core.records import Outcome, Run
from redbucket.core.runspec import RunSpec
from redbucket.engine.ports import Bench

# One pair tells that base does it, too, for most; six of six against none are 1 in 924 by chance (Fisher),
# and a coin that shows eight times of ten in head has its six or so of ten in base.
_ROUNDS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Confirmed:
    """``names`` do it in head and not in base, by more than chance; ``broken`` says why head's runs broke off.

    ``unsure`` says why base's runs broke off, with which what head shows was to be compared.
    """

    names: list[str] = field(default_factory=list)
    broken: str = ""
    unsure: str = ""


@dataclass(frozen=True)
class Confirming:
    """What is asked of each test, in pairs of one run of base and one of head.

    ``make`` gives the run of some tests in a world; ``shows`` says whether a run shows what was seen of a test.
    """

    bench: Bench
    make: Callable[[str, Sequence[str]], RunSpec]
    shows: Callable[[Run, str], bool]
    over: Callable[[], bool]

    def look(self, first: Run, names: Sequence[str]) -> Confirmed:
        """Return those of ``names`` that show it in head's ``first`` run and, confirmed, in head alone.

        None, and why, if base's own runs break. A run that broke off before it showed anything is looked at, too.
        """
        seen = [name for name in names if self.shows(first, name)]
        if self.over():
            return Confirmed()
        if not seen:
            return Confirmed(broken=self.breaks(names)) if _why_broken(first) else Confirmed()
        confirmed, vanished = self._confirm(seen, seen)
        if vanished and not confirmed.broken:
            # what one test leaves behind, or a patch that counts the tests: seen in their company alone
            more, _ = self._confirm(vanished, names)
            confirmed = Confirmed(confirmed.names + more.names, more.broken, more.unsure)
        return confirmed

    def _confirm(self, names: Sequence[str], company: Sequence[str]) -> tuple[Confirmed, list[str]]:
        """Return what is confirmed of ``names``, run among ``company``, and what no run of the first pair shows."""
        left = dict.fromkeys(names, 0)
        guilty: list[str] = []
        vanished: list[str] = []
        pairs = 0
        for more in _ROUNDS:
            if not left or self.over():
                break
            pairs += more
            runs = self._pairs(list(left) if company is names else company, more)
            base, head = runs[::2], runs[1::2]
            if cut := [why for run in base if (why := _why_broken(run))]:
                return Confirmed(guilty, unsure=cut[0]), []
            for name in list(left):
                left[name] += sum(self.shows(run, name) for run in head)
                if any(self.shows(run, name) for run in base):
                    del left[name]
                elif not left[name]:
                    vanished.append(name)
                    del left[name]
                elif redder_by_chance(left[name], pairs, 0, pairs) < SURE:
                    guilty.append(name)
                    del left[name]
            broken = [why for run in head if (why := _why_broken(run))]
            if broken:
                return Confirmed(guilty, broken[0]), []
        return Confirmed(guilty), vanished

    def breaks(self, names: Sequence[str]) -> str:
        """Return why another run of head breaks off, "" if it does not, or base's does, too."""
        base, head = self._pairs(names, 1)
        return "" if _why_broken(base) else _why_broken(head)

    def _pairs(self, names: Sequence[str], count: int) -> Sequence[Run]:
        return self.bench.run([self.make(world, names) for _ in range(count) for world in ("B", "H")])


def failed(run: Run, name: str) -> bool:
    """Return whether a test ran and failed; one that is not there says nothing."""
    test = run.tests.get(name)
    return test is not None and test.outcome in (FAILING - {Outcome.MISSING})


def _why_broken(run: Run) -> str:
    """Return why a run's record can't be believed, empty for a complete one."""
    return run.cut or run.sentinels
