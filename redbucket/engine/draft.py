"""Drafts properties for a miss: laws that fit the signature, of which base's and the patch's runs choose."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from redbucket.core.answers import first_line, is_green, is_red
from redbucket.core.calls import Target, targets, with_rows
from redbucket.core.candidates import Candidate, candidates, probe, probe_name, proposal
from redbucket.core.drafted import MissDraft, Proposal
from redbucket.core.errors import Misused, Undecided
from redbucket.core.filescope import FileScope, members
from redbucket.core.ghost import ghost_probe, ghost_tests
from redbucket.core.oneexample import Form, read_test
from redbucket.core.patch import FILE_MODE, Entry
from redbucket.core.plural import plural
from redbucket.core.purecopy import pure_copy
from redbucket.core.pytree import source_text
from redbucket.core.records import Run, Test
from redbucket.core.testpath import file_of, pytest_id
from redbucket.core.treescopes import TreeScopes
from redbucket.engine.ports import Bench, Objects
from redbucket.engine.specs import Specs
from redbucket.engine.subject import Subject
from redbucket.engine.troubles import troubles_of

_EXAMPLES = 40
_MOST = 250
_PROPOSED = 6
# Seconds for the examples of one candidate: on a patch that never ends each would take the whole timeout of a test.
_PATIENCE = 10.0
PLACE = "tests/properties/test_redbucket_candidates.py"
Model = Callable[[str], str]


@dataclass
class Draft:
    """The drafting for one patch. ``ask`` sends a prompt to a model, None: no model."""

    subject: Subject
    objects: Objects
    specs: Specs
    bench: Bench
    say: Callable[[str], None]
    over: Callable[[], bool]
    ask: Model | None = None
    notes: list[str] = field(default_factory=list)

    def miss(self, row: dict[str, Any]) -> MissDraft:
        """Return the proposals for one classified row. Raises Misused or Undecided."""
        nodeid = str(row["nodeid"])
        bucket = str(row.get("bucket", ""))
        if bucket != "invariant_miss":
            spend = f": {row['spend']}" if row.get("spend") else ""
            return MissDraft(
                nodeid=nodeid, refused=f"its bucket is {bucket or 'unknown'}, not invariant_miss{spend}"
            )
        scopes = TreeScopes(self.subject.base, self.subject.judge.is_judge)
        scope, node, name = self._test(nodeid, scopes)
        reading = read_test(scope, name)
        if reading is not None and reading.form is Form.PROPERTY:
            line = _asserted(node, reading.line)
            return MissDraft(
                nodeid=nodeid,
                refused=f"it is an invariant already, line {reading.line}: {line}; keep its failing input as an "
                "@example",
            )
        message = str(row.get("message", ""))
        found: dict[str, Target] = {}
        failed = nodeid.partition("[")[2].removesuffix("]")
        for part in with_rows(node, failed):
            for target in targets(scope, part, message):
                found.setdefault(target.callee, target)
                known = found[target.callee]
                found[target.callee] = _merged(known, target)
        chosen = self._nearest(list(found.values()))
        if not chosen:
            raise Undecided(
                "no-function",
                f"{nodeid} calls no function of the project that its source names",
                "write the property by hand, and have it reviewed: redbucket review FILE",
            )
        tried, held, proposals = self._laws(
            nodeid, chosen, "Assertion" not in message and "assert " not in message
        )
        if self.ask is not None:
            proposals += [self._asked(nodeid, row, target) for target in chosen[:1]]
        return MissDraft(
            nodeid=nodeid,
            functions=[t.callee for t in chosen],
            candidates=tried,
            held=held,
            proposals=proposals,
            notes=list(self.notes),
        )

    # -- the test and what it calls ---------------------------------------------------------------

    def _test(
        self, nodeid: str, scopes: TreeScopes
    ) -> tuple[FileScope, ast.FunctionDef | ast.AsyncFunctionDef, str]:
        paths = self.subject.base.entries
        path = file_of(nodeid, paths)
        scope = scopes.scope(path) if path is not None else None
        names = pytest_id(nodeid, paths).partition("[")[0].split("::")[1:]
        if scope is None or not names:
            raise Misused(
                "no-such-test", f"base has no source of {nodeid}", "copy the id from a report of redbucket"
            )
        if len(names) == 1:
            node = scope.functions.get(names[0])
        else:
            owner = scope.classes.get(names[0])
            node = members(owner).get(names[-1]) if owner is not None else None
        if node is None:
            raise Misused(
                "no-such-test", f"base has no test {nodeid}", "copy the id from a report of redbucket"
            )
        return scope, node, ".".join(names)

    def _nearest(self, found: Sequence[Target]) -> list[Target]:
        """Return the functions to draft for: those in changed files first, and no more than three."""
        changed = {c.path for c in self.subject.product_changes}
        return sorted(found, key=lambda t: (t.home.path not in changed, not t.seen))[:3]

    # -- laws --------------------------------------------------------------------------------------

    def _laws(self, nodeid: str, chosen: Sequence[Target], crash: bool) -> tuple[int, int, list[Proposal]]:
        every: list[Candidate] = []
        for target in chosen:
            module = self._module(target)
            every += candidates(target, pure_copy(target.home, target.node, module), crash)
            every += self._ghost(target, every)
        every = every[:_MOST]
        if not every:
            self.notes.append(
                "no domain is known for its parameters: annotate them, or pass literals in the test"
            )
            return 0, 0, []
        self.say(f"trying {plural(len(every), 'candidate')} on base and on the patch")
        source = probe(every, _EXAMPLES)
        base = self._on_base(source, _PATIENCE)
        held = [(n, one) for n, one in enumerate(every) if is_green(_of(base, n))]
        head = self._run("H", source, [_nodeid(n) for n, _ in held], _PATIENCE) if held else base
        good: dict[tuple[str, str], Candidate] = {}
        for number, one in held:
            key = (one.target.callee, one.law.name + repr(one.law.body))
            if key not in good and is_red(_of(head, number)):
                good[key] = one
        ranked = sorted(good.values(), key=lambda c: (c.by == "base", c.target.callee != chosen[0].callee))
        proposals, names = [], set()
        for one in ranked[:_PROPOSED]:
            name, number = one.name, 1
            while name in names:
                number += 1
                name = f"{one.name}_{number}"
            names.add(name)
            text = proposal(one, nodeid)
            proposals.append(
                Proposal(file=f"{name}.py", says=one.law.says, source=text, by=one.by, tried=True)
            )
        if len(ranked) > _PROPOSED:
            self.notes.append(
                plural(
                    len(ranked) - _PROPOSED,
                    "more law holds on base and fails",
                    "more laws hold on base and fail",
                )
                + " on the patch"
            )
        return len(every), len(held), proposals

    def _module(self, target: Target) -> str:
        from redbucket.core.importroots import module_name, package_root

        root = package_root(target.home.path, self.subject.base.entries)
        name = module_name(target.home.path, root) if root is not None else ""
        return name if target.home.path.endswith("__init__.py") else name.rpartition(".")[0]

    def _run(self, world: str, source: str, only: Sequence[str] | None, timeout: float) -> Run:
        entry = Entry(FILE_MODE, self.objects.write_blob(source.encode("utf-8", "surrogateescape")))
        spec = self.specs.make(
            world,
            "draft",
            tree=self.objects.write_tree(self.specs.trees[world], {PLACE: entry}),
            files=(PLACE,),
            only=None if only is None else tuple(only),
            timeout=min(self.specs.timeout, timeout),
        )
        (run,) = self.bench.run([spec])
        return run

    def _on_base(self, source: str, timeout: float) -> Run:
        """Return base's run of candidates. Raises Undecided."""
        base = self._run("B", source, None, timeout)
        troubles = troubles_of([base], base)
        if troubles:
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
        return base

    # -- the ghostwriter ----------------------------------------------------------------------------

    def _ghost(self, target: Target, known: Sequence[Candidate]) -> list[Candidate]:
        """Return what Hypothesis's ghostwriter proposes, its empty strategies replaced by ours."""
        given = next((c.given for c in known if c.target is target), ())
        if not given or self.over():
            return []
        self.say("asking Hypothesis's ghostwriter")
        base = self._on_base(ghost_probe(target), self.specs.timeout)
        test = next(iter(base.tests.values()), None)
        if test is None or "GHOST" not in test.message:
            self.notes.append("Hypothesis's ghostwriter is not at hand where the tests run (it needs black)")
            return []
        return ghost_tests(test.message, target, given)

    # -- a model ------------------------------------------------------------------------------------

    def _asked(self, nodeid: str, row: dict[str, Any], target: Target) -> Proposal:
        from redbucket.core.prompt import answer_text, prompt

        assert self.ask is not None
        self.say("asking the model")
        text = answer_text(self.ask(prompt(row, target)), nodeid)
        return Proposal(
            file=f"test_{target.name}_by_model.py",
            says="written by a model, not run",
            source=text,
            by="model",
        )


def _nodeid(number: int) -> str:
    return f"{PLACE}::{probe_name(number)}"


def _of(run: Run, number: int) -> list[Test]:
    wanted = _nodeid(number)
    return [test for nodeid, test in run.tests.items() if nodeid == wanted]


def _merged(one: Target, other: Target) -> Target:
    from dataclasses import replace

    parameters = []
    for mine, theirs in zip(one.parameters, other.parameters, strict=True):
        known = [repr(v) for v in mine.values]
        values = (*mine.values, *(v for v in theirs.values if repr(v) not in known))
        parameters.append(replace(mine, values=values[:50], fixed=mine.fixed or theirs.fixed))
    seen = (*one.seen, *(row for row in other.seen if row not in one.seen))
    return replace(one, parameters=tuple(parameters), seen=seen[:10])


def _asserted(node: ast.AST, line: int) -> str:
    for part in ast.walk(node):
        if getattr(part, "lineno", 0) == line and isinstance(part, (ast.Assert, ast.Expr)):
            return f"`{source_text(part)}`"
    return "a property over a domain"
