"""Makes the run specs of one gate: the same seed, roots and watch lists everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from redbucket.core.importroots import import_roots, module_name, package_root
from redbucket.core.paths import JudgeSide
from redbucket.core.runspec import RunSpec
from redbucket.core.seeds import derive
from redbucket.core.watchlines import watch_lines
from redbucket.engine.ports import Objects
from redbucket.engine.subject import Subject


@dataclass
class Specs:
    """``trees`` maps a world to its tree id; ``fixtures`` and ``watched`` are per tree.

    ``whole`` says that no recorder is in the runs: each is the whole suite in its own order, and nothing is known
    of what a test reads or executes.
    """

    trees: dict[str, str]
    seed: str
    roots: tuple[str, ...]
    timeout: float
    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)
    fixtures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    watched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    whole: bool = False
    made: int = 0

    def make(self, world: str, condition: str = "plain", **over: Any) -> RunSpec:
        """Return the next spec for a world; ``over`` replaces fields of the spec."""
        self.made += 1
        values: dict[str, Any] = {
            "run_id": self.made,
            "world": world,
            "condition": condition,
            "tree": self.trees[world],
            "seed": self.seed,
            "roots": self.roots,
            "timeout": self.timeout,
            "modules": self.modules if world != "B" and world != "R" else {},
            "originals": self.originals if world != "B" and world != "R" else {},
            "fixtures": self.fixtures.get(world, ()),
            "watched": self.watched.get(world, ()),
            "recorded": self.recorded,
        }
        values.update(over)
        return RunSpec(**values)

    def other_seed(self, purpose: str) -> str:
        """Return another seed, the same for the same patch."""
        return derive(self.trees.get("H") or next(iter(self.trees.values())), purpose)


def specs_for(subject: Subject, objects: Objects, *, as_module: bool, timeout: float) -> Specs:
    """Return the maker of specs for worlds B, H, P and R (F comes when it is needed)."""
    judge = subject.judge
    paths = set(subject.sides.merged) | set(subject.sides.base)
    changed = [
        c.path
        for c in subject.product_changes
        if c.path.endswith(".py") and c.new is not None and c.new.is_file and not c.path.endswith("/setup.py")
    ]
    roots = import_roots(paths, changed, as_module=as_module)
    lines: dict[str, tuple[int, ...]] = {}
    whole = subject.policy.run.format == "junit"
    if whole:
        changed = []
    hunks = objects.hunks(subject.base_tree, subject.merged_tree, changed) if changed else {}
    modules: dict[str, str] = {}
    for path in changed:
        watched = watch_lines(subject.merged.read(path), hunks.get(path, ()))
        if watched:
            lines[path] = watched
        root = package_root(path, paths)
        if root is not None:
            modules[path] = module_name(path, root)
    specs = Specs(
        trees={"B": subject.base_tree, "H": subject.h_tree, "P": subject.merged_tree},
        seed=derive(subject.h_tree),
        roots=roots,
        timeout=timeout,
        lines=lines,
        modules=modules,
        originals={
            path: entry.oid for path in changed if (entry := subject.sides.base.get(path)) is not None
        },
        recorded=subject.policy.fixtures.paths,
        data=() if whole else tuple(_data(subject)),
        whole=whole,
    )
    fixtures: dict[str, tuple[str, ...]] = {}
    watched_paths: dict[str, tuple[str, ...]] = {}
    for world, tree in specs.trees.items():
        fixtures[world], watched_paths[world] = _judge_paths(judge, objects, tree)
    specs.fixtures, specs.watched = fixtures, watched_paths
    return specs


def _data(subject: Subject) -> list[str]:
    """Return what an agent's patch changes of the product that is no code: tests may go by it."""
    mine = subject.identity.agent_paths - subject.endorsed
    return [
        change.path
        for change in subject.product_changes
        if change.path in mine
        and change.new is not None
        and change.new.is_file
        and not subject.judge.is_shared_config(change.path)
        and not change.path.endswith((".py", ".pyi"))
    ]


def opening(specs: Specs, full: int) -> list[RunSpec]:
    """Return the specs of the first ``full`` runs with the patch, the first of which watches what was changed.

    Called on a copy of ``specs`` it says what the gate will ask for, wherever those runs are made.
    """
    return [specs.make("H", lines=specs.lines, data=specs.data), *(specs.make("H") for _ in range(full - 1))]


def specs_of_tree(
    tree: str,
    world: str,
    objects: Objects,
    judge: JudgeSide,
    *,
    seed: str,
    timeout: float,
    as_module: bool,
    roots: tuple[str, ...] = (),
) -> Specs:
    """Return the maker of specs for one tree in one world; ``roots`` are found where none are given."""
    entries = objects.entries(tree)
    product = [p for p in entries if p.endswith("/__init__.py") and not judge.is_judge(p)]
    specs = Specs(
        trees={world: tree},
        seed=seed,
        roots=roots or import_roots(entries.keys(), [min(product)] if product else [], as_module=as_module),
        timeout=timeout,
    )
    fixtures, watched = _judge_paths(judge, objects, tree)
    specs.fixtures, specs.watched = {world: fixtures}, {world: watched}
    return specs


def _judge_paths(judge: JudgeSide, objects: Objects, tree: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    fixtures, watched = [], []
    for path, entry in objects.entries(tree).items():
        if entry.is_gitlink:
            continue
        if judge.is_fixture(path):
            fixtures.append(path)
            watched.append(path)
        elif judge.is_test(path) or judge.is_test_config(path) or judge.is_shared_config(path):
            watched.append(path)
        elif judge.policy.run.format == "junit" and judge.is_judge(path):
            watched.append(path)  # a runner's configuration
    return tuple(fixtures), tuple(watched)


def add_world(specs: Specs, subject: Subject, objects: Objects, world: str, tree: str) -> None:
    """Make ``world`` known under ``tree``."""
    specs.trees[world] = tree
    fixtures, watched = _judge_paths(subject.judge, objects, tree)
    specs.fixtures = {**specs.fixtures, world: fixtures}
    specs.watched = {**specs.watched, world: watched}
