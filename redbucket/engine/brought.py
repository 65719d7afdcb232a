"""A bench for a gate whose first runs were made in other jobs: those are taken, the others are run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from redbucket.core.records import Run
from redbucket.core.runspec import RunSpec
from redbucket.core.seals import spec_digest
from redbucket.engine.ports import Bench


@dataclass
class Brought:
    """``runs`` are the brought ones, by the digest of the spec that each of them carried out."""

    bench: Bench
    runs: Mapping[str, Run]
    _home: str = ""

    def run(self, specs: Sequence[RunSpec]) -> list[Run]:
        """Return one run for each spec, in the order of the specs."""
        taken = {n: run for n, spec in enumerate(specs) if (run := self._of(spec)) is not None}
        rest = [self._with_home(spec) for n, spec in enumerate(specs) if n not in taken]
        made = iter(self.bench.run(rest) if rest else ())
        return [taken[n] if n in taken else next(made) for n in range(len(specs))]

    def _of(self, spec: RunSpec) -> Run | None:
        return self.runs.get(spec_digest(spec)) if spec.world == "H" and spec.condition == "plain" else None

    def _with_home(self, spec: RunSpec) -> RunSpec:
        """The HOME that a brought run used is on another machine: use one here first, by the same tests."""
        if spec.used_home not in {f"H-plain-{run.run_id}" for run in self.runs.values()}:
            return spec
        if not self._home:
            first = replace(spec, condition="first use of HOME", used_home="")
            self.bench.run([first])
            self._home = first.name
        return replace(spec, used_home=self._home)
