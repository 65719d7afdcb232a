"""When green is said to rest on the patch's own tests, and when it is not green at all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.policy import Policy
from redbucket.core.report import Row
from redbucket.engine.gate import _untrusted_green
from redbucket.engine.specs import Specs

PASSED = Row(nodeid="t::a", bucket=Bucket.STABLE_PASS, why="", spend="")
BROKEN = Row(nodeid="t::b", bucket=Bucket.INVARIANT_MISS, why="", spend="", introduced=True, blocks=True)
SPECS = Specs(trees={}, seed="7", roots=(".",), timeout=1, lines={"pkg.py": (1,)})


@pytest.mark.parametrize(
    ("rows", "touching", "unwatched", "said"),
    [
        ([PASSED], 0, (), True),
        ([PASSED], 1, (), False),
        # a plugin of pytest's: that nothing was seen says nothing
        ([PASSED], 0, ("pkg.py",), False),
        ([PASSED], 0, ("other.py",), True),
        # seen on jinja2: the only test that ran the changed line was the one that it broke
        ([PASSED, BROKEN], 0, (), False),
    ],
)
def test_untrusted_green_is_said_of_green_only(
    rows: list[Row], touching: int, unwatched: tuple[str, ...], said: bool
) -> None:
    report = SimpleNamespace(
        rows=rows, findings=[], notes=[], untrusted_green=False, subject=SimpleNamespace(policy=Policy())
    )
    _untrusted_green(cast("Any", report), touching, unwatched, SPECS)
    assert report.untrusted_green is said
    assert [f.rule for f in report.findings] == ["untrusted-green"] * said
    assert [note.code for note in report.notes] == ["lines-unwatched"] * ("pkg.py" in unwatched)


@pytest.mark.parametrize("signers", ["", ".redbucket/allowed_signers"])
def test_who_may_endorse_is_told_what_that_needs(signers: str) -> None:
    policy = Policy(identity=msgspec.structs.replace(Policy().identity, allowed_signers=signers or None))
    report = SimpleNamespace(
        rows=[PASSED], findings=[], notes=[], untrusted_green=False, subject=SimpleNamespace(policy=policy)
    )
    _untrusted_green(cast("Any", report), 0, (), SPECS)
    assert "endorses it" in report.findings[0].remedy
    needs = "identity.allowed_signers in the policy: docs/endorse.md"
    assert (needs in report.findings[0].remedy) is not bool(signers)
