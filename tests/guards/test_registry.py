"""What the registry does for all guards: changed sources are read in one go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from redbucket.guards import registry
from redbucket.guards.remedies import ENDORSE, approval
from tests.core.trees import MemoryTree
from tests.guards.contexts import SIDE, context

BASE = {"src/a.py": "A = 1\n", "tests/test_a.py": "def test_a(): assert 1\n", "notes.txt": "a\n"}
EDITS = {"src/a.py": "A = 2\n", "tests/test_a.py": "def test_a(): assert 2\n", "notes.txt": "b\n"}


class Asked(MemoryTree):
    """Remembers what was to be read soon."""

    soon: tuple[str, ...] = ()

    def prefetch(self, paths: Iterable[str]) -> None:
        self.soon += tuple(paths)


@pytest.mark.parametrize(
    ("names", "agent", "of_head", "of_base"),
    [
        (["protected-path"], True, (), ()),
        (["fixture-checksum", "protected-path"], True, (), ()),
        (["altered-test"], True, ("src/a.py", "tests/test_a.py"), ("src/a.py", "tests/test_a.py")),
        (["flake-expiry"], True, ("tests/test_a.py",), ()),
        (["flake-expiry"], False, ("tests/test_a.py",), ()),
        (["gate-evasion"], False, (), ()),
        (None, True, ("src/a.py", "tests/test_a.py"), ("src/a.py", "tests/test_a.py")),
    ],
)
def test_changed_sources_are_read_in_one_go(
    names: list[str] | None, agent: bool, of_head: tuple[str, ...], of_base: tuple[str, ...]
) -> None:
    base, head = Asked(BASE), Asked(EDITS)
    given = replace(context(BASE, EDITS, agent=agent), base=base, head=head)
    registry.check(given, SIDE, names)
    assert (head.soon, base.soon) == (of_head, of_base)


def test_every_way_to_endorse_names_what_it_needs() -> None:
    """Without listed signers ``redbucket endorse`` can't count: each remedy says where to begin."""
    assert approval("a.py", signers=True) == ENDORSE.format(path="a.py")
    without = approval("a.py", signers=False)
    assert "redbucket endorse" not in without
    assert "identity.allowed_signers" in without
    assert "docs/endorse.md" in without
    assert (Path(__file__).parents[2] / "docs/endorse.md").is_file()
