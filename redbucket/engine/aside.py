"""What is clean so far, run in other ways, all at once: contraries, masked, as it would land, and the scout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from redbucket.core.records import Outcome, Run, Test
from redbucket.core.report import Problem
from redbucket.core.runspec import RunSpec
from redbucket.core.trials import Trials
from redbucket.engine.challenge import Challenge, is_clean
from redbucket.engine.confirming import Confirming, failed
from redbucket.engine.contraries import Contraries
from redbucket.engine.judged import Judged
from redbucket.engine.landing import Landing
from redbucket.engine.leaning import Leaning
from redbucket.engine.look import Look
from redbucket.engine.masked import Masked
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.scout import choose_scouted
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject

# The run whose HOME is used once more: the first of head.
USED_HOME = "H-plain-1"


@dataclass
class Aside:
    """One look at the tests that are clean; ``unscouted`` says what the scout left out."""

    subject: Subject
    objects: Objects
    specs: Specs
    bench: Bench
    say: Callable[[str], None]
    over: Callable[[], bool]
    unscouted: str = ""

    def look(
        self,
        names: Sequence[str],
        trials: Trials,
        challenge: Challenge,
        out: Judged,
        first: Run,
        asleep: RunSpec | None = None,
    ) -> list[str]:
        """Run what is clean so far in other ways, all at once; return the ids that the scout ran.

        ``first`` is the run of head that watched what was changed, ``asleep`` a run of base
        that goes along, for what head skips.

        An agent's code runs in the process that says whether tests passed: could they
        fail at all, and do they pass where nothing tells that this is a gate, and beside
        the patch's own tests?
        """
        clean = [t for n in names for t in trials.tests(n, "H")[:1] if is_clean(trials, n)]
        looks: list[Look] = [
            Leaning(
                self.specs, self.bench, self.over, subject=self.subject, objects=self.objects, first=first
            )
        ]
        if self.specs.lines or self.specs.modules:
            looks += [
                Contraries(self.specs, self.bench, self.over, objects=self.objects),
                Masked(self.specs, self.bench, self.over, objects=self.objects),
                Landing(self.specs, self.bench, self.over, subject=self.subject),
            ]
        takers: list[tuple[RunSpec, Callable[[Run], None]]] = []
        passed = [t for t in clean if t.outcome is Outcome.PASSED and "[#" not in t.nodeid]
        if self.subject.identity.agent and passed:
            for look in looks:
                spec = look.plan(passed)
                if spec is not None:
                    takers.append((spec, look.take))
        scout = self._scouted(clean)
        if scout:
            spec = self._scout("H", scout)
            takers.append((spec, partial(self._took_scout, challenge, out, spec)))
        if asleep is not None:
            takers.append((asleep, partial(_took, challenge, asleep)))
        if not takers:
            return []
        what = {
            "contrary": "can they fail",
            "masked": "do they pass unwatched",
            "landing": "beside the patch's own tests",
            "data": "with base's data",
            "scout": "other seeds, a used HOME",
            "absent": "does base skip them, too",
        }
        said = ", ".join(f"{what[spec.condition]} ({len(spec.only or ())})" for spec, _ in takers)
        self.say(f"running tests in other ways: {said}")
        specs = [spec for spec, _ in takers]
        for (_, take), run in zip(takers, self.bench.run(specs), strict=True):
            take(run)
        for look in looks:
            out.findings += look.findings
            out.problems += look.problems
        return scout

    def _scouted(self, clean: Sequence[Test]) -> list[str]:
        if not self.subject.policy.run.scout or self.over():
            return []
        scouted, left_out = choose_scouted(clean, self.specs.seed)
        if scouted and left_out:
            self.unscouted = f"{left_out} of the {left_out + len(scouted)} tests that run changed lines"
        return scouted

    def _scout(self, world: str, names: Sequence[str]) -> RunSpec:
        other = self.specs.other_seed("scout")
        return self.specs.make(
            world,
            "scout",
            only=tuple(names),
            order="shuffled",
            shuffle=other,
            seed=other,
            hash_seed=other,
            used_home=USED_HOME,
        )

    def _took_scout(self, challenge: Challenge, out: Judged, spec: RunSpec, run: Run) -> None:
        """Take the scout's run; that it breaks off, each time and in head alone, is no green."""
        _took(challenge, spec, run)
        if not run.broken or self.over():
            return
        why = Confirming(self.bench, self._scout, failed, self.over).breaks(spec.only or ())
        if why:
            out.problems.append(
                Problem(
                    code="scout-broken",
                    reason="in another order, with other seeds and a HOME that was used before, base runs to its end"
                    f" and head does not: {why[:300]}",
                    remedy="look for what in the patch ends the run at its second start, or under another seed",
                )
            )


def _took(challenge: Challenge, spec: RunSpec, run: Run) -> None:
    challenge.took([spec], [run])
