"""Which freezes count for a patch, in what the judge makes of runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import Any, cast

import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.errors import Undecided
from redbucket.core.flakes import Freeze
from redbucket.core.frozen import Frozen
from redbucket.core.policy import Policy
from redbucket.engine.flakes import Replayed, freezes, require_replay
from redbucket.engine.judge import Judge
from tests.core.trees import MemoryTree
from tests.engine import test_judge
from tests.engine.scripted import F, P, ScriptedBench
from tests.engine.test_judge import CLEAN, A, only

TODAY = date(2026, 9, 15)
FREEZE = Freeze(A, (A,), "ada", "QA-1", date(2026, 10, 2), "r")
TEXT = f'["{A}"]\nowner = "ada"\nticket = "QA-1"\nexpires = 2026-10-02\nreplay = "r"\n'


def judged(monkeypatch: pytest.MonkeyPatch, bench: ScriptedBench, frozen: Frozen) -> Any:
    """The judge of the other tests, given a freeze."""
    made = lambda **fields: Judge(**fields, freezes={A: frozen})  # noqa: E731
    monkeypatch.setattr(test_judge, "Judge", made)
    return only(test_judge.judge(bench))


def noisy_in_head() -> ScriptedBench:
    return ScriptedBench({A: lambda spec, count: F if spec.world == "H" and count % 2 else P, **CLEAN})


def test_introduced_noise_of_a_frozen_test_does_not_block(monkeypatch: pytest.MonkeyPatch) -> None:
    row = judged(monkeypatch, noisy_in_head(), Frozen(FREEZE, ""))
    assert (row.bucket, row.blocks, row.state) == (Bucket.NOISE, False, "frozen until 2026-10-02 by ada")
    assert row.outcomes["H"] == ["failed", "passed", "failed"]


def test_it_blocks_once_the_freeze_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    row = judged(monkeypatch, noisy_in_head(), Frozen(FREEZE, "expired on 2026-09-14"))
    assert (row.bucket, row.blocks, row.introduced) == (Bucket.NOISE, True, True)


def test_what_the_patch_breaks_blocks_although_it_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = ScriptedBench({A: test_judge.broken_by_patch, **CLEAN})
    row = judged(monkeypatch, bench, Frozen(FREEZE, ""))
    assert (row.bucket, row.blocks) == (Bucket.INVARIANT_MISS, True)


def test_messages_that_differ_do_not_make_an_outright_break_noise_to_excuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = ScriptedBench(
        {A: test_judge.broken_by_patch, **CLEAN}, messages={A: lambda spec, count: f"assert {count} == 99"}
    )
    row = judged(monkeypatch, bench, Frozen(FREEZE, ""))
    assert (row.bucket, row.blocks) == (Bucket.NOISE, True)


def subject(base: str | None, head: str | None, *, agent: bool = False, endorsed: bool = False) -> Any:
    trees = [MemoryTree({"tests/test_m.py": "", **({"flakes.toml": t} if t else {})}) for t in (base, head)]
    paths = frozenset({"flakes.toml"})
    return cast(
        "Any",
        SimpleNamespace(
            base=trees[0],
            merged=trees[1],
            endorsed=paths if endorsed else frozenset(),
            identity=SimpleNamespace(agent_paths=paths if agent else frozenset()),
            sides=SimpleNamespace(base=trees[0].entries),
            policy=Policy(),
        ),
    )


@pytest.mark.parametrize(
    ("base", "head", "options", "frozen"),
    [
        (TEXT, TEXT, {}, True),
        (TEXT, None, {}, False),
        (TEXT, None, {"agent": True}, True),
        (None, TEXT, {}, False),
        (None, TEXT, {"agent": True}, False),
        (None, TEXT, {"agent": True, "endorsed": True}, True),
        (TEXT, "[", {"agent": True}, True),
        ("[", TEXT, {}, False),
        (None, None, {}, False),
    ],
)
def test_whose_file_counts(
    base: str | None, head: str | None, options: dict[str, bool], frozen: bool
) -> None:
    assert set(freezes(subject(base, head, **options), TODAY)) == ({A} if frozen else set())


def test_no_replay_is_no_success() -> None:
    with pytest.raises(Undecided) as caught:
        require_replay(b'{"schema": "redbucket.capture/1", "nodeid": "x"}', "x", None)
    assert (caught.value.code, caught.value.exit_code) == ("cannot-replay", 2)


@pytest.mark.parametrize(
    ("seen", "good"),
    [
        (Replayed(20, 7, "noise"), True),
        (Replayed(20, 20, "noise"), True),
        (Replayed(20, 0, "noise"), False),
        (Replayed(20, 7, "invariant_miss"), False),
        (Replayed(20, 7, "fixture_drift"), False),
        (Replayed(20, 7, "unclassified"), False),
        (Replayed(20, 7, ""), False),
    ],
)
def test_only_noise_that_shows_now_is_frozen(seen: Replayed, good: bool) -> None:
    class Machine:
        def replay(self, capture: Any, nodeid: str) -> Replayed:
            return replace(seen, why="")

    assert (require_replay(b'{"schema": "redbucket.capture/1", "nodeid": "x"}', "x", Machine()) == "") is good
