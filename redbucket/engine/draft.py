"""Drafts properties for a miss: laws that fit the signature, of which base's and the patch's runs choose."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from redbucket.core.answers import first_line
from redbucket.core.calls import Target
from redbucket.core.candidates import Candidate, candidates, proposal
from redbucket.core.drafted import MissDraft, Proposal
from redbucket.core.errors import Misused, RedbucketError, Undecided, WorldFailed
from redbucket.core.filescope import FileScope, members
from redbucket.core.ghost import ghost_probe, ghost_tests
from redbucket.core.methods import begun
from redbucket.core.missedcalls import targets
from redbucket.core.missedrows import failed_rows, with_rows
from redbucket.core.oneexample import Form, read_test
from redbucket.core.patch import FILE_MODE, Entry
from redbucket.core.plural import plural
from redbucket.core.probing import Found, Probe, chosen
from redbucket.core.purecopy import pure_copy
from redbucket.core.pytree import source_text
from redbucket.core.records import Run
from redbucket.core.testpath import file_of, pytest_id
from redbucket.core.treescopes import TreeScopes
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject
from redbucket.engine.troubles import troubles_of

_EXAMPLES = 40
_MOST = 300
# With a budget of the caller's own, so many candidates are tried at a time: what was tried by then is not lost.
_SLICE = 25
_PROPOSED = 6
# What concerns one miss, and must not keep the others from being drafted for.
_OF_ONE = frozenset({"no-such-test", "no-test-function", "no-function", "draft-broken"})
# Seconds for the examples of one candidate: on a patch that never ends each would take the whole timeout of a test.
_PATIENCE = 10.0
# What is to be proposed is tried on base with as many examples as Hypothesis draws by itself; that many times at most
# a narrower domain is looked for.
_THOROUGH, _THOROUGH_PATIENCE, _TURNS = 100, 30.0, 3
PLACE = "tests/properties/test_redbucket_candidates.py"
Model = Callable[[str], str]


@dataclass
class Draft:
    """The drafting for one patch. ``ask`` sends a prompt to a model, None: no model.

    ``hasty``: the caller's own budget may end it at any moment.
    """

    subject: Subject
    objects: Objects
    specs: Specs
    bench: Bench
    say: Callable[[str], None]
    over: Callable[[], bool]
    ask: Model | None = None
    notes: Sequence[str] = ()
    hasty: bool = False
    _files: dict[str, str] = field(default_factory=dict)

    def misses(self, rows: Sequence[dict[str, Any]]) -> list[MissDraft]:
        """Return the proposals for classified rows: one draft for the rows of one test. Raises Misused or Undecided.

        Of several tests, one that nothing can be drafted for is told of, and the others are drafted for.
        """
        tests: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            tests.setdefault((str(row["nodeid"]).partition("[")[0], str(row.get("bucket", ""))), []).append(
                row
            )
        found = []
        for some in tests.values():
            also = [str(row["nodeid"]) for row in some[1:]]
            try:
                found.append(self._miss(some[0], also))
            except RedbucketError as error:
                if len(tests) == 1 or error.code not in _OF_ONE:
                    raise
                nodeid = str(some[0]["nodeid"])
                reason = error.reason.replace(f"{nodeid} ", "it ", 1)
                what = f"{reason}: {error.remedy}" if error.remedy else reason
                found.append(MissDraft(nodeid=nodeid, also=also, notes=[what]))
        return found

    def _miss(self, row: dict[str, Any], also: list[str]) -> MissDraft:
        nodeid = str(row["nodeid"])
        bucket = str(row.get("bucket", ""))
        if bucket != "invariant_miss":
            spend = f": {row['spend']}" if row.get("spend") else ""
            return MissDraft(
                nodeid=nodeid,
                also=also,
                refused=f"its bucket is {bucket or 'unknown'}, not invariant_miss{spend}",
            )
        scopes = TreeScopes(self.subject.base, self.subject.judge.is_judge)
        scope, node, name = self._test(nodeid, scopes)
        reading = read_test(scope, name)
        failed = {one.partition("[")[2].removesuffix("]") for one in (nodeid, *also)}
        literal = failed_rows(node, scope, failed)  # of a table that is partly generated
        if reading is not None and reading.form is Form.PROPERTY and not literal:
            line = _asserted(node, reading.line)
            return MissDraft(
                nodeid=nodeid,
                also=also,
                refused=f"it is an invariant already, line {reading.line}: {line}; keep its failing input as an "
                "@example",
            )
        message = str(row.get("message", ""))
        found: dict[str, Target] = {}
        owner = scope.classes.get(name.partition(".")[0]) if "." in name else None
        for part in with_rows(node, scope, failed, begun(scope, owner, node)):
            for target in targets(scope, part, message):
                found.setdefault(target.callee, target)
                known = found[target.callee]
                found[target.callee] = _merged(known, target)
        near = self._nearest(list(found.values()))
        if not near:
            raise Undecided(
                "no-function",
                f"{nodeid} calls no function of the project that its source names",
                "write the property by hand, and have it reviewed: redbucket review FILE",
            )
        notes = list(self.notes)
        tried, held, proposals = self._laws(
            nodeid, near, "Assertion" not in message and "assert " not in message, notes
        )
        if self.ask is not None:
            proposals += self._asked(nodeid, row, near[0], notes)
        return MissDraft(
            nodeid=nodeid,
            also=also,
            functions=[t.callee for t in near],
            candidates=tried,
            held=held,
            proposals=proposals,
            notes=notes,
        )

    # -- the test and what it calls ---------------------------------------------------------------

    def _test(
        self, nodeid: str, scopes: TreeScopes
    ) -> tuple[FileScope, ast.FunctionDef | ast.AsyncFunctionDef, str]:
        paths = self.subject.base.entries
        path = file_of(nodeid, paths)
        scope = scopes.scope(path) if path is not None else None
        names = pytest_id(nodeid, paths).partition("[")[0].split("::")[1:]
        if path is None:
            raise Misused(
                "no-such-test", f"base has no source of {nodeid}", "copy the id from a report of redbucket"
            )
        if scope is None or not names:
            raise Undecided(
                "no-test-function",
                f"{nodeid} is no test function (a doctest, or no Python)",
                "write the property by hand, and have it reviewed: redbucket review FILE",
            )
        if len(names) == 1:
            node = scope.functions.get(names[0])
        else:
            owner = scope.classes.get(names[0])
            node = members(owner).get(names[-1]) if owner is not None else None
        if node is None:
            raise Undecided(
                "no-test-function",
                f"{path} defines no test function {names[-1]} (a doctest has none, nor one that a base class brings)",
                "write the property by hand, and have it reviewed: redbucket review FILE",
            )
        return scope, node, ".".join(names)

    def _nearest(self, found: Sequence[Target]) -> list[Target]:
        """Return the functions to draft for: those in changed files first, and no more than three."""
        changed = {c.path for c in self.subject.product_changes}
        return sorted(found, key=lambda t: (t.home.path not in changed, t.makes, not t.seen))[:3]

    # -- laws --------------------------------------------------------------------------------------

    def _laws(
        self, nodeid: str, near: Sequence[Target], crash: bool, notes: list[str]
    ) -> tuple[int, int, list[Proposal]]:
        every: list[Candidate] = []
        for target in near:
            module = self._module(target)
            whole = target.on.owner if target.on is not None else target.node
            every += candidates(target, pure_copy(target.home, whole, module), crash)
            if target.on is None and not target.is_async:  # the ghostwriter writes for plain functions
                every += self._ghost(target, every, notes)
        if len(every) > _MOST:  # base as the oracle is the surest to fit, on each domain
            every = sorted(every, key=lambda c: c.by != "base")[:_MOST]
        if not every:
            notes.append("no domain is known for its parameters: annotate them, or pass literals in the test")
            return 0, 0, []
        self.say(f"trying {plural(len(every), 'candidate')} on base and on the patch")
        tried, held, found = 0, 0, list[Found]()
        step = _SLICE if self.hasty else _MOST
        # base as the oracle is the surest to fit: with little time it comes first
        order = sorted(every, key=lambda c: (c.by != "base", c.variant)) if self.hasty else every
        for start in range(0, len(order), step):
            if self.over():
                break
            probe = Probe(order[start : start + step], _EXAMPLES)
            more = self._tried(probe, first=start == 0)
            tried += more[0]
            held += len(more[1])
            found += more[1]
        if tried < len(every):
            notes.append(
                f"the time budget ran out: {len(every) - tried} of {plural(len(every), 'candidate')} not tried"
            )
        ranked = sorted(
            self._steady(found, notes),
            key=lambda f: (not f.drawn, f.one.by == "base", f.one.target.callee != near[0].callee),
        )
        proposals = self._proposals(ranked[:_PROPOSED], nodeid, notes)
        if len(ranked) > _PROPOSED:
            notes.append(
                plural(
                    len(ranked) - _PROPOSED,
                    "more law holds on base and fails",
                    "more laws hold on base and fail",
                )
                + " on the patch"
            )
        return tried, held, proposals

    def _tried(self, probe: Probe, *, first: bool) -> tuple[int, list[Found]]:
        """Return how many candidates were tried on base, and those that hold there, with what the patch says."""
        base = self._run("B", probe.source(), None, _PATIENCE)
        self._check(base, first=first)
        held = probe.held(base, PLACE)
        wanted = probe.asked(held, PLACE)
        if not wanted or self.over():
            return probe.ran(base, PLACE), [Found(one, False, False, False) for one in held]
        head = self._run("H", probe.source(), wanted, _PATIENCE)
        return probe.ran(base, PLACE), probe.found(held, base, head, PLACE, _PATIENCE)

    def _steady(self, found: Sequence[Found], notes: list[str]) -> list[Found]:
        """Return what to propose: on the widest domain on which base holds under fresh seeds, too.

        A domain in which some values take for ever, or meet a fault that base has itself, is seen by chance alone.
        """
        left, sure, unsure = list(found), list[Found](), list[Found]()
        for turn in range(_TURNS):
            picked = chosen(left)
            fresh = [one for one in picked if one not in sure]
            if not fresh or self.over():
                break
            probe = Probe([one.one for one in fresh], _THOROUGH)
            seeds = [self.specs.other_seed(f"draft {turn} {number}") for number in range(2)]
            wanted = probe.asked(probe.some, PLACE)
            runs = self._runs("B", probe.source(), wanted, _THOROUGH_PATIENCE, seeds)
            held = [probe.held(run, PLACE) for run in runs]
            for one in fresh:
                if all(one.one in some for some in held):
                    sure.append(one)
                else:
                    left.remove(one)
                    unsure.append(one)
        steady = chosen(left) if self.over() else [one for one in chosen(left) if one in sure]
        gone = {one.one.law.says for one in unsure} - {one.one.law.says for one in steady}
        notes += [
            f"not proposed, for under other seeds base breaks it, or takes too long: {s}"
            for s in sorted(gone)
        ]
        return steady

    def _proposals(self, ranked: Sequence[Found], nodeid: str, notes: list[str]) -> list[Proposal]:
        """Return the files, each under a name of its own; what another miss has been given already is only named."""
        proposals = []
        for found in ranked:
            one = found.one
            text = proposal(one, nodeid)
            # another miss of the same function is answered by the same law, with other examples
            rest = proposal(replace(one, examples=()), "")
            name, number = f"{one.name}.py", 1
            while self._files.get(name, rest) != rest:
                number += 1
                name = f"{one.name}_{number}.py"
            if name in self._files:
                notes.append(f"{name} is proposed above, and answers this miss, too")
                continue
            self._files[name] = rest
            proposals.append(
                Proposal(file=name, says=one.law.says, source=text, by=one.by, tried=True, drawn=found.drawn)
            )
        return proposals

    def _module(self, target: Target) -> str:
        from redbucket.core.importroots import module_name, package_root

        root = package_root(target.home.path, self.subject.base.entries)
        name = module_name(target.home.path, root) if root is not None else ""
        return name if target.home.path.endswith("__init__.py") else name.rpartition(".")[0]

    def _run(self, world: str, source: str, only: Sequence[str] | None, timeout: float) -> Run:
        (run,) = self._runs(world, source, only, timeout, [self.specs.seed])
        return run

    def _runs(
        self, world: str, source: str, only: Sequence[str] | None, timeout: float, seeds: Sequence[str]
    ) -> list[Run]:
        entry = Entry(FILE_MODE, self.objects.write_blob(source.encode("utf-8", "surrogateescape")))
        tree = self.objects.write_tree(self.specs.trees[world], {PLACE: entry})
        specs = [
            self.specs.make(
                world,
                "draft",
                tree=tree,
                files=(PLACE,),
                only=None if only is None else tuple(only),
                timeout=min(self.specs.timeout, timeout),
                seed=seed,
            )
            for seed in seeds
        ]
        return self.bench.run(specs)

    def _check(self, base: Run, *, first: bool = True) -> None:
        """Raise Undecided where a run of base says nothing; what the time budget cut off may say something."""
        troubles = troubles_of([base], base)
        if troubles and not (self.over() and (base.tests or not first)):
            raise Undecided(troubles[0].code, troubles[0].reason, troubles[0].remedy)
        error = next(iter(base.errors.values()), "")
        if "hypothesis" in error and "No module" in error:
            raise Undecided(
                "no-hypothesis",
                f"{base.session.interpreter} has no Hypothesis",
                "install it where the tests run: pip install hypothesis",
            )
        if error:
            raise Undecided("draft-broken", f"the candidates do not import on base: {first_line(error)}", "")

    # -- the ghostwriter ----------------------------------------------------------------------------

    def _ghost(self, target: Target, known: Sequence[Candidate], notes: list[str]) -> list[Candidate]:
        """Return what Hypothesis's ghostwriter proposes, its empty strategies replaced by ours."""
        given = next((c.given for c in known if c.target is target), ())
        if not given or self.over():
            return []
        self.say("asking Hypothesis's ghostwriter")
        base = self._run("B", ghost_probe(target), None, self.specs.timeout)
        self._check(base)
        test = next(iter(base.tests.values()), None)
        if test is None or "GHOST" not in test.message:
            said = "Hypothesis's ghostwriter is not at hand where the tests run (it needs black)"
            if said not in notes:
                notes.append(said)
            return []
        return ghost_tests(test.message, target, given)

    # -- a model ------------------------------------------------------------------------------------

    def _asked(self, nodeid: str, row: dict[str, Any], target: Target, notes: list[str]) -> list[Proposal]:
        from redbucket.core.prompt import answer_text, prompt

        assert self.ask is not None
        self.say("asking the model")
        try:
            text = answer_text(self.ask(prompt(row, target)), nodeid)
        except WorldFailed as error:  # the laws are there all the same
            notes.append(f"{error.reason} [{error.code}]: {error.remedy}")
            return []
        name, number = f"test_{target.name}_by_model.py", 1
        while name in self._files:
            number += 1
            name = f"test_{target.name}_by_model_{number}.py"
        self._files[name] = text
        return [Proposal(file=name, says="written by a model, not run", source=text, by="model")]


def _merged(one: Target, other: Target) -> Target:
    parameters = []
    for mine, theirs in zip(one.parameters, other.parameters, strict=True):
        known = [repr(v) for v in mine.values]
        values = (*mine.values, *(v for v in theirs.values if repr(v) not in known))
        left_out = mine.left_out or theirs.left_out
        fixed = mine.fixed or theirs.fixed
        parameters.append(replace(mine, values=values[:50], fixed=fixed, left_out=left_out))
    seen = (*one.seen, *(row for row in other.seen if row not in one.seen))
    return replace(one, parameters=tuple(parameters), seen=seen[:10])


def _asserted(node: ast.AST, line: int) -> str:
    for part in ast.walk(node):
        if getattr(part, "lineno", 0) == line and isinstance(part, (ast.Assert, ast.Expr)):
            return f"`{source_text(part)}`"
    return "a property over a domain"
