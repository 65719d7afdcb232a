"""What the patch's own tests prove, in words."""

from __future__ import annotations

import pytest

from redbucket.core import records
from redbucket.core.proof import proof
from redbucket.core.records import Outcome


def did(outcome: str, exception: str = "") -> records.Test:
    return records.Test(nodeid="t.py::test_a", outcome=Outcome(outcome), seed="7", exception=exception)


@pytest.mark.parametrize(
    ("here", "there", "said"),
    [
        (did("failed"), did("passed"), "fails even with the patch"),
        (None, did("passed"), "fails even with the patch"),
        (did("passed"), did("passed"), "passes without the patch too: it proves nothing"),
        (did("passed"), None, "without the patch it does not run, so it shows nothing about behaviour"),
        (did("passed"), did("failed", "AssertionError"), "fails without the patch, by assertion"),
        (did("passed"), did("failed", "org.x.AssertionFailedError"), "fails without the patch, by assertion"),
        (did("passed"), did("failed", "builtins.ValueError"), "fails without the patch (ValueError)"),
        (did("passed"), did("failed", "some words, and no class"), "fails without the patch"),
        (
            did("passed"),
            did("error", "ImportError"),
            "without the patch it fails for want of a name (ImportError), not by assertion",
        ),
        (
            did("passed"),
            did("skipped"),
            "without the patch it is skipped, so it shows nothing about behaviour",
        ),
        # that it is skipped without the patch says nothing where it is with it, too
        (did("skipped"), did("skipped"), "it is skipped with and without the patch, so it shows nothing"),
        (did("skipped"), did("failed"), "it is skipped with the patch, so it shows nothing"),
        (did("skipped"), None, "it is skipped with the patch, so it shows nothing"),
        (
            did("xfailed"),
            did("xfailed"),
            "it fails as it is marked to (xfail) with and without the patch, so it shows nothing",
        ),
    ],
)
def test_proof(here: records.Test | None, there: records.Test | None, said: str) -> None:
    assert proof(here, there) == said
