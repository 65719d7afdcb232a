"""Options that rewrite expectations are taken out of a command; others stay."""

from __future__ import annotations

import pytest

from redbucket.core.updateoptions import is_update_variable, without_updates


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("pytest --snapshot-update -q", "pytest -q"),
        ("pytest --snapshot-upd", "pytest"),
        ("pytest --force-regen --regen-all tests", "pytest tests"),
        ("pytest --record-mode=rewrite tests", "pytest tests"),
        ("pytest --record-mode all tests", "pytest tests"),
        ("pytest --vcr-record=new_episodes", "pytest"),
        ("pytest --inline-snapshot=create,report", "pytest"),
        ("pytest --inline-snapshot fix", "pytest"),
        ("pytest --approvaltests-use-reporter=ReporterThatAutomaticallyApproves", "pytest"),
        ("pytest --update-goldens --update-snapshots --regenerate-baselines", "pytest"),
        ("pytest --mpl-generate-path=baseline", "pytest"),
    ],
)
def test_updating_options_go(words: str, kept: str) -> None:
    found = without_updates(words.split())
    assert found.kept == tuple(kept.split())
    assert sorted([*found.kept, *found.removed]) == sorted(words.split())


@pytest.mark.parametrize(
    "words",
    [
        "pytest --record-mode=none --inline-snapshot=disable --vcr-record none",
        "pytest --snapshot-details -k update --reruns 3",
        "pytest -- --snapshot-update",
        "pytest tests/test_update.py::test_update --update-interval=3",
        "pytest --inline-snapshot=report,short-report",
    ],
)
def test_others_stay(words: str) -> None:
    assert without_updates(words.split()) == (tuple(words.split()), ())


@pytest.mark.parametrize(
    "name", ["UPDATE_GOLDEN", "update_snapshots", "INSTA_UPDATE", "VCR_RECORD_MODE", "BLESS"]
)
def test_variables_count_whatever_their_value(name: str) -> None:
    assert is_update_variable(name)


@pytest.mark.parametrize("name", ["PATH", "UPDATED", "DATEFORMAT", "PYTHONHASHSEED", "BLESSED_COLORS"])
def test_other_variables(name: str) -> None:
    assert not is_update_variable(name)
