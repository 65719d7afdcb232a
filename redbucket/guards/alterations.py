"""The alterations of base's judge side that a context holds: shared by the guards that report them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Protocol

from redbucket.core.alteration import altered
from redbucket.core.details import UNCHANGED, Alteration, Detail, Effect
from redbucket.core.imports import conftest_chain
from redbucket.core.pytree import is_conftest, is_python
from redbucket.core.skipmarks import WORDS as SKIP_WORDS
from redbucket.core.testfiles import JudgeFiles
from redbucket.core.testtree import read_module
from redbucket.guards.context import Context, TreeView
from redbucket.guards.remedies import BACK_OR_ENDORSE

REMEDY = BACK_OR_ENDORSE


class Sides(Protocol):
    """What a path is to the judge."""

    def __hash__(self) -> int:
        """Return a hash, by which answers are kept."""

    def is_test(self, path: str) -> bool:
        """Return whether ``path`` is a test, or code that tests use."""

    def is_fixture(self, path: str) -> bool:
        """Return whether ``path`` is a recorded fixture."""

    def is_judge(self, path: str) -> bool:
        """Return whether ``path`` is on the judge side at all."""

    def is_protected(self, path: str) -> bool:
        """Return whether another guard refuses every change of ``path``."""


@lru_cache(maxsize=4)  # two guards ask about one patch, and a patch of 10,000 files takes seconds
def altered_files(context: Context, judge_side: Sides) -> tuple[tuple[str, Alteration], ...]:
    """Return each test file that an agent changed in effect, with what became of it, by path."""
    found = []
    inherited, strange = _inherited(context, judge_side), _strange(context, judge_side)
    for path in sorted(context.agent_paths):
        if not (judge_side.is_test(path) or is_conftest(path)) or judge_side.is_protected(path):
            continue
        alteration = _of_path(context, path, judge_side, inherited, strange)
        if alteration.effect is not Effect.NOTHING:
            found.append((path, alteration))
    return tuple(found)


def _of_path(
    context: Context,
    path: str,
    judge_side: Sides,
    inherited: Callable[[str], Mapping[str, frozenset[str]]],
    strange: Callable[[str], bool],
) -> Alteration:
    old, new = context.base.entries.get(path), context.head.entries.get(path)
    if (old and old.oid) == (new and new.oid) and (old and old.mode[:3]) == (new and new.mode[:3]):
        return UNCHANGED
    if (new and not new.is_file) or (old and not old.is_file):
        what = "puts something that is no file in its place" if new else "removes a link or a submodule"
        return Alteration(Effect.CHANGED, changes=(Detail(what, 1, "", True),))
    outer: frozenset[str] | None = frozenset()
    if is_conftest(path):
        outer = (
            _fixtures(context.base, path) if old or _has_tests_below(context.base, path, judge_side) else None
        )
    return altered(
        context.base.read(path) if old else None,
        context.head.read(path) if new else None,
        path,
        outer_fixtures=outer,
        inherited=inherited(path) if old and is_python(path) else {},
        is_strange=strange,
    )


def _strange(context: Context, judge_side: Sides) -> Callable[[str], bool]:
    """Return a function that says whether a module may be a test file that is the patch's, or that skips."""
    files: dict[str, list[str]] = {}

    def is_strange(module: str) -> bool:
        if not files:
            files[""] = []
            for path, entry in context.head.entries.items():
                if entry.is_file and is_python(path) and judge_side.is_test(path):
                    name = path.removesuffix(".py").removesuffix("/__init__")
                    files.setdefault(name.rpartition("/")[2], []).append(path)
        end = f"/{module.replace('.', '/')}"
        return any(
            f"/{path}".removesuffix(".py").removesuffix("/__init__").endswith(end)
            and (path in context.agent_paths or any(word in context.head.read(path) for word in SKIP_WORDS))
            for path in files.get(module.rpartition(".")[2], ())
        )

    return is_strange


def _has_tests_below(tree: TreeView, conftest: str, judge_side: Sides) -> bool:
    folder = conftest[: conftest.rfind("/") + 1]
    return any(path.startswith(folder) and judge_side.is_test(path) for path in tree.entries)


def _fixtures(tree: TreeView, path: str) -> frozenset[str]:
    names: set[str] = set()
    for other in conftest_chain(path):
        entry = tree.entries.get(other)
        if entry and entry.is_file:
            names.update(read_module(other, tree.read(other)).fixtures)
    return frozenset(names)


def _inherited(context: Context, judge_side: Sides) -> Callable[[str], Mapping[str, frozenset[str]]]:
    """Return a function that says what the classes of a base file inherit from other files."""
    files: list[JudgeFiles] = []

    def of(path: str) -> Mapping[str, frozenset[str]]:
        if b"class " not in context.base.read(path):
            return {}
        if not files:
            judge = [name for name in context.base.entries if is_python(name) and judge_side.is_judge(name)]
            files.append(JudgeFiles(context.base, set(judge), ()))
        graph = files[0].graph
        module = graph.module(path)
        found: dict[str, frozenset[str]] = {}
        for owner in module.members if module else ():
            names: set[str] = set()
            for place, holder in graph.lineage(module, owner)[1:] if module else ():
                other = graph.module(place)
                names |= other.members.get(holder, set()) if other else set()
            if names:
                found[owner] = frozenset(names - module.members[owner] if module else names)
        return found

    return of
