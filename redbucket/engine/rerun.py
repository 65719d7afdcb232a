"""Specs for running one tree by itself: no worlds, no challenge."""

from __future__ import annotations

from collections.abc import Mapping

from redbucket.core.importroots import import_roots
from redbucket.core.patch import Entry
from redbucket.core.paths import JudgeSide
from redbucket.core.runspec import RunSpec


def plain_specs(
    tree: str,
    entries: Mapping[str, Entry],
    judge: JudgeSide,
    *,
    seed: str,
    reruns: int,
    timeout: float,
    as_module: bool,
) -> list[RunSpec]:
    """Return ``reruns`` equal specs for one tree, in no world."""
    product = [p for p in entries if p.endswith("/__init__.py") and not judge.is_judge(p)]
    roots = import_roots(entries.keys(), [min(product)] if product else [], as_module=as_module)
    fixtures = tuple(p for p in entries if judge.is_fixture(p))
    watched = tuple(p for p in entries if judge.is_judge(p) and not entries[p].is_gitlink)
    return [
        RunSpec(
            run_id=number,
            world="",
            tree=tree,
            seed=seed,
            roots=roots,
            timeout=timeout,
            fixtures=fixtures,
            watched=watched,
        )
        for number in range(1, reruns + 1)
    ]
