"""A record that was cut off, at whichever byte, is never taken for a whole one."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.core.errors import RedbucketError
from redbucket.core.readers import read

SAMPLES = sorted(
    p for p in (Path(__file__).parent / "samples").iterdir() if p.suffix in (".xml", ".json", ".jsonl")
)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_cut_at_every_byte_is_said(sample: Path) -> None:
    raw = sample.read_bytes().rstrip()
    whole = [run.broken for run in read(raw, sample.name)]
    taken = []
    for size in range(len(raw)):
        try:
            runs = read(raw[:size], sample.name)
        except RedbucketError:
            continue
        if [run.broken for run in runs] == whole and not any(whole):
            taken.append(size)
    assert not any(whole)
    assert taken == []
