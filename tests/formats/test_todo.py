"""What a report ends with, in both forms that say it."""

from __future__ import annotations

import msgspec
import pytest

from redbucket.core.report import GateReport, Problem, Verdict
from redbucket.formats import markdown, text
from tests.formats import reports as r

ALONE = GateReport(verdict=Verdict.ACCEPT, exit_code=0, base=r.BASE, head=r.HEAD)
INDEX = msgspec.structs.replace(ALONE, head=r.BASE)


@pytest.mark.parametrize("form", [text, markdown])
def test_a_commit_is_not_to_be_judged_against_itself(form) -> None:  # type: ignore[no-untyped-def]
    assert "redbucket gate" not in form.render(INDEX)
    assert "Next" not in text.render(INDEX)
    # a range has tests to run; a gate that found nothing, and a refusal of the index, have a way on
    assert f"redbucket gate --base {r.BASE[:12]} --head {r.HEAD[:12]}" in form.render(ALONE)
    nothing = msgspec.structs.replace(INDEX, notes=[Problem(code="nothing-to-judge", reason="same")])
    assert "redbucket gate --head BRANCH" in form.render(nothing)
    refused = msgspec.structs.replace(
        INDEX, verdict=Verdict.REFUSE, exit_code=1, command="redbucket guard --staged"
    )
    assert "redbucket guard --staged" in form.render(refused)
