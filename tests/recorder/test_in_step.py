"""The recorder can't import redbucket: what it copies must stay in step."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core import fingerprint as core
from redbucket.recorder import failures

RECORDER = Path(failures.__file__).parent


def test_volatile() -> None:
    assert [(p.pattern, p.flags, r) for p, r in failures.VOLATILE] == [
        (p.pattern, p.flags, r) for p, r in core.VOLATILE
    ]


@given(st.lists(st.sampled_from(["a", "b", "a#2", "a#2#2", "a#3", "x 0x7f0011", "x 0x7f0022"])))
def test_names(ids: list[str]) -> None:
    assert failures.unique(ids) == core.align(ids)
    assert len(set(failures.unique(ids))) == len(ids)


@given(st.text())
def test_fingerprints(text: str) -> None:
    assert failures.normalise(text) == core.normalise(text)
    assert failures.fingerprint("call", "E", "f", text) == core.fingerprint("call", "E", "f", text)


@pytest.mark.parametrize("path", sorted(RECORDER.glob("*.py")), ids=lambda p: p.name)
def test_old_python_and_nothing_of_ours(path: Path) -> None:
    tree = ast.parse(path.read_bytes(), feature_version=(3, 8))
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        assert not [n for n in names if n.partition(".")[0] in ("redbucket", "msgspec", "click")]
