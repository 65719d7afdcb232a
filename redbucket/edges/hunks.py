"""Hunks of changed files, parsed by unidiff from text that names can't disturb."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from redbucket.core.patch import Change, Hunk

if TYPE_CHECKING:
    from redbucket.edges.scratch import Scratch

# One file, both sides together. unidiff needs about 3 microseconds and 500 bytes of memory for a line.
FILE_LIMIT = 4 * 1024 * 1024
TOTAL_LIMIT = 64 * 1024 * 1024


class Hunks(dict[str, tuple[Hunk, ...]]):
    """Hunks by path. ``skipped`` are files too large to be parsed: never to be read as "no hunks"."""

    skipped: tuple[str, ...] = ()


def read_hunks(scratch: Scratch, changes: Iterable[Change]) -> Hunks:
    """Return the hunks of each change; a submodule, or a change of mode alone, has none.

    Raises Undecided if an object is missing.
    """
    answer = Hunks()
    pairs: list[tuple[str, str, str]] = []
    for change in changes:
        old = change.old.oid if change.old and not change.old.is_gitlink else ""
        new = change.new.oid if change.new and not change.new.is_gitlink else ""
        answer[change.path] = ()
        if old != new:
            pairs.append((change.path, old, new))
    sizes = scratch.objects.sizes(oid for _, *oids in pairs for oid in oids if oid)
    sizes[""] = 0
    skipped: list[str] = []
    chosen: list[tuple[str, str, str]] = []
    total = 0
    for path, old, new in pairs:
        size = sizes[old] + sizes[new]
        if size > FILE_LIMIT or total + size > TOTAL_LIMIT:
            del answer[path]
            skipped.append(path)
            continue
        total += size
        chosen.append((path, old, new))
    answer.skipped = tuple(skipped)
    if chosen:
        answer.update(_diff(scratch, chosen))
    return answer


def _diff(scratch: Scratch, pairs: list[tuple[str, str, str]]) -> dict[str, tuple[Hunk, ...]]:
    """Diff two flat trees whose names are numbers, so that no name is ever quoted, cut or misread."""
    from unidiff.patch import PatchSet  # imported late: most hooks never need a hunk

    trees = [_flat_tree(scratch, [pair[side] for pair in pairs]) for side in (1, 2)]
    done = scratch.git.run(
        "diff-tree",
        *("-p", "-U0", "--text", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color"),
        *("--full-index", "--diff-algorithm=myers", "--no-indent-heuristic"),
        *("--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0", *trees),
    )
    text = done.out.decode("utf-8", "surrogateescape")
    answer: dict[str, tuple[Hunk, ...]] = {}
    for file in PatchSet.from_string(text):
        hunks = tuple(
            Hunk(
                old_start=hunk.source_start,
                new_start=hunk.target_start,
                removed=tuple(line.value.removesuffix("\n") for line in hunk if line.is_removed),
                added=tuple(line.value.removesuffix("\n") for line in hunk if line.is_added),
            )
            for hunk in file
        )
        answer[pairs[int(file.path)][0]] = hunks
    return answer


def _flat_tree(scratch: Scratch, oids: list[str]) -> str:
    lines = (f"100644 blob {oid}\t{number:08d}\0" for number, oid in enumerate(oids) if oid)
    return scratch.git.run("mktree", "-z", stdin="".join(lines).encode("ascii")).line
