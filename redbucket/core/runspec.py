"""What one run is asked to do: plain values, the same for every kind of runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from redbucket.core.conditions import PLAIN, Conditions
from redbucket.core.records import Shard

Order = Literal["natural", "given", "reversed", "shuffled"]


@dataclass(frozen=True)
class RunSpec:
    """One run of the test command over one tree.

    ``order`` and ``only`` choose and order the node ids ("given" = in the order of
    ``only``), ``files`` limits them to those files, ``without`` to all others; ``shard`` says of which whole run it
    is a part; ``lines`` are the product lines to watch, by path; ``data`` changed
    files that are no code, of which it is said who opens them; ``modules`` the
    changed Python files and the dotted names under which they must be imported
    from the tree, ``originals`` their ids in base; ``roots`` the folders of the tree that go on the import path;
    ``recorded`` are the patterns under which no file may appear;
    ``masked`` hides from the run that it is a gate's;
    ``used_home`` names an earlier run whose HOME and TMPDIR are used again;
    ``conditions`` are those of an experiment; ``again`` is a run that is made once more, for what the first met was no
    doing of the tests.
    Times are in seconds.
    """

    run_id: int
    world: str
    tree: str
    seed: str
    condition: str = "plain"
    hash_seed: str = ""
    order: Order = "natural"
    shuffle: str = ""
    only: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    shard: Shard | None = None
    collect_only: bool = False
    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = (".",)
    fixtures: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    used_home: str = ""
    masked: bool = False
    conditions: Conditions = PLAIN
    timeout: float = 60.0
    again: bool = False

    @property
    def name(self) -> str:
        """Return a file name for the run's folder and record."""
        whole = f"{self.world or 'run'}-{self.condition.replace(' ', '-')}-{self.run_id}"
        shard = "" if self.shard is None else f"-shard-{self.shard.number}"
        return f"{whole}{shard}{'-again' if self.again else ''}"


def full_runs(reruns: int, scope: str) -> int:
    """Return how many whole runs with the patch the gate begins with."""
    return reruns if scope == "all" else 1
