"""What one of the patch's own tests proves: what it did with the patch, beside what it did without it."""

from __future__ import annotations

from redbucket.core.classification import FAILING
from redbucket.core.records import Outcome, Test

# Red because the new name is not there yet proves that the test needs the patch, not that it checks it.
ABSENCE = ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError")
_SILENT = {Outcome.SKIPPED: "is skipped", Outcome.XFAILED: "fails as it is marked to (xfail)"}


def proof(here: Test | None, there: Test | None) -> str:
    """Return a clause about a test that ran so ``here``, with the patch, and ``there``, without it (None: not run)."""
    if here is None or here.outcome in FAILING:
        return "fails even with the patch"
    if here.outcome in _SILENT:
        both = there is not None and there.outcome is here.outcome
        return f"it {_SILENT[here.outcome]} {'with and without' if both else 'with'} the patch, so it shows nothing"
    if there is None:
        return "without the patch it does not run, so it shows nothing about behaviour"
    if there.outcome in _SILENT:
        return f"without the patch it {_SILENT[there.outcome]}, so it shows nothing about behaviour"
    if there.outcome not in FAILING:
        return "passes without the patch too: it proves nothing"
    kind = there.exception.rpartition(".")[2]
    if kind in ABSENCE:
        return f"without the patch it fails for want of a name ({kind}), not by assertion"
    if not kind.isidentifier():
        return "fails without the patch"
    return (
        "fails without the patch, by assertion" if "Assert" in kind else f"fails without the patch ({kind})"
    )
