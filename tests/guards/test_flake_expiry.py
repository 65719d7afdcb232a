"""flake-expiry: every way in which a freeze or a marker is refused, and what is left in peace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from redbucket.core.findings import Finding
from redbucket.guards.flake_expiry import check
from tests.guards.contexts import SIDE, context, refused, severities

TODAY = "2026-09-15"
TEST = "tests/test_a.py"
ID = f"{TEST}::test_x"


def capture(nodeid: str = ID) -> str:
    return json.dumps({"schema": "redbucket.capture/1", "nodeid": nodeid})


def freeze(nodeid: str = ID, expires: str = "2026-10-02", **more: str) -> str:
    fields = {
        "owner": "ada",
        "ticket": "QA-1",
        "replay": f"runs/{nodeid.replace('.test_', '::test_').rpartition('::')[2]}.json",
        **more,
    }
    lines = "".join(f'{key} = "{value}"\n' for key, value in fields.items() if value)
    return f'["{nodeid}"]\nexpires = {expires}\n{lines}'


PLAIN = {
    TEST: "def test_x(): pass\ndef test_y(): pass\n",
    "src/lib.py": "x = 1\n",
    **{f"runs/{name}.json": capture(f"{TEST}::{name}") for name in ("test_x", "test_x[1]", "test_y")},
}
BASE = {**PLAIN, "flakes.toml": freeze()}


def found(
    base: Mapping[str, str],
    edits: Mapping[str, str | None] | None = None,
    *,
    agent: bool = True,
    today: str = TODAY,
    scope: str = "",
) -> list[Finding]:
    made = context(base, edits or {"src/lib.py": "x = 2\n"}, agent=agent)
    return check(replace(made, extra={"today": today, "scope": scope}), SIDE)


def reasons(findings: list[Finding]) -> str:
    return "\n".join(f.reason for f in findings)


def test_a_freeze_in_force_is_silent() -> None:
    assert found(BASE) == []
    assert found(BASE, scope="tree") == []
    assert found(BASE, today="2026-10-02") == []


@pytest.mark.parametrize("agent", [True, False])
def test_an_expired_freeze_refuses_whoever_comes(agent: bool) -> None:
    (finding,) = found(BASE, agent=agent, today="2026-10-03")
    assert finding.severity.value == "refuse"
    assert (finding.rule, finding.path, finding.nodeid) == ("flake-expiry", "flakes.toml", ID)
    assert "expired on 2026-10-02 (owner ada, QA-1)" in finding.reason
    assert f"redbucket flakes remove {ID}" in finding.remedy


def test_a_test_that_is_skipped_as_well_is_named() -> None:
    skipped = {**BASE, TEST: "import pytest\n@pytest.mark.skip\ndef test_x(): pass\n"}
    assert "tests/test_a.py still skips it (line 2)" in reasons(found(skipped, today="2026-10-03"))


def test_taking_an_expired_freeze_out_is_the_way_out_for_a_person() -> None:
    assert found(BASE, {"flakes.toml": None}, agent=False, today="2026-10-03") == []
    assert found(BASE, {"flakes.toml": ""}, agent=False, today="2026-10-03") == []
    # an agent's edit of the file does not count: base's entry still stands
    assert refused(found(BASE, {"flakes.toml": None}, today="2026-10-03"))


def test_a_person_may_renew_within_the_cap() -> None:
    (note,) = found(BASE, {"flakes.toml": freeze(expires="2026-10-20")}, agent=False, today="2026-10-03")
    assert note.severity.value == "note"
    assert "extends the freeze" in note.reason
    assert refused(found(BASE, {"flakes.toml": freeze(expires="2027-10-20")}, agent=False))


@pytest.mark.parametrize("field", ["owner", "ticket", "replay"])
def test_a_missing_field_refuses_and_leaves_the_others_in_force(field: str) -> None:
    base = {**BASE, "flakes.toml": freeze(f"{TEST}::test_y", **{field: ""}) + freeze()}
    (finding,) = found(base)
    assert finding.nodeid == f"{TEST}::test_y"
    assert f"{field} is missing" in finding.reason


def test_a_malformed_date_refuses() -> None:
    assert "expires is not a date" in reasons(found({**BASE, "flakes.toml": freeze(expires="3")}))
    assert "more than 30 days" in reasons(found({**BASE, "flakes.toml": freeze(expires="2099-01-01")}))


def test_a_file_that_cannot_be_read_refuses() -> None:
    (finding,) = found({**BASE, "flakes.toml": "[\n"})
    assert finding.severity.value == "refuse"
    assert "every freeze counts as expired" in finding.reason


def test_without_a_date_nothing_is_in_force() -> None:
    assert "no date" in reasons(check(context(BASE, {"src/lib.py": "x = 2\n"}), SIDE))


@pytest.mark.parametrize(
    ("nodeid", "says"),
    [(f"{TEST}::test_gone", "has no test_gone"), ("tests/test_gone.py::test_x", "its file does not exist")],
)
def test_an_entry_for_a_test_that_is_gone(nodeid: str, says: str) -> None:
    findings = found({**BASE, "flakes.toml": freeze(nodeid)})
    assert refused(findings)
    assert says in reasons(findings)


def test_removing_a_frozen_test_leaves_its_entry_without_one() -> None:
    edits = {TEST: "def test_y(): pass\n"}
    assert "has no test_x" in reasons(found(BASE, edits, agent=False))
    assert found(BASE, {**edits, "flakes.toml": ""}, agent=False) == []


def test_what_follows_from_a_renamed_test_is_said() -> None:
    """To correct the id alone would not do: the capture is of the old name."""
    edits = {TEST: "def test_new(): pass\ndef test_y(): pass\n"}
    (finding,) = found(BASE, edits, agent=False)
    assert "frozen anew under its new name, with a capture of its own" in finding.remedy
    assert "correct the id" not in finding.remedy
    slip = BASE["flakes.toml"] + freeze(f"{TEST}::test_xx")
    remedies = [
        f.remedy for f in found(BASE, {"flakes.toml": slip}, agent=False) if f.nodeid == f"{TEST}::test_xx"
    ]
    assert any(remedy.startswith("correct the id") for remedy in remedies)


def test_an_entry_for_all_rows_of_a_test_covers_none() -> None:
    rows = {**BASE, TEST: "@pytest.mark.parametrize('n', [1])\ndef test_x(n): pass\n"}
    (finding,) = found(rows)
    assert finding.severity.value == "warn"
    assert "names one row" in finding.reason
    assert found({**rows, "flakes.toml": freeze(f"{ID}[1]")}) == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not JSON"),
        ("[]", "no capture"),
        (json.dumps({"schema": "redbucket.capture/1"}), "names no test"),
        (
            json.dumps({"schema": "redbucket.capture/1", "nodeid": "tests/test_a.py::test_y"}),
            "of another test",
        ),
        (json.dumps({"schema": "redbucket.capture/1", "nodeid": ID, "bucket": "invariant_miss"}), "no noise"),
    ],
)
def test_a_replay_in_the_tree_must_be_a_capture_of_the_test(content: str, says: str) -> None:
    assert says in reasons(found({**BASE, "runs/test_x.json": content}))


@pytest.mark.parametrize("nodeid", [ID, "tests.test_a.test_x"])
def test_a_good_replay_is_silent(nodeid: str) -> None:
    assert found({**BASE, "runs/test_x.json": capture(nodeid)}) == []


NO_CAPTURE = {k: v for k, v in PLAIN.items() if k != "runs/test_x.json"}


@pytest.mark.parametrize("agent", [True, False])
def test_a_replay_that_base_lacks_is_a_warning(agent: bool) -> None:
    (finding,) = found({**NO_CAPTURE, "flakes.toml": freeze()}, agent=agent)
    assert (finding.severity.value, finding.nodeid) == ("warn", ID)
    assert "its replay runs/test_x.json is not in the tree" in finding.reason
    assert "git add runs/test_x.json" in finding.remedy
    # the patch that takes the capture away hears it, too
    (finding,) = found(BASE, {"runs/test_x.json": None}, agent=agent)
    assert finding.severity.value == "warn"


def test_a_freeze_that_a_person_adds_comes_with_its_replay() -> None:
    findings = found(NO_CAPTURE, {"flakes.toml": freeze()}, agent=False)
    assert [f.severity.value for f in findings] == ["note", "refuse"]
    assert "is not in the tree" in findings[1].reason
    with_it = {"flakes.toml": freeze(), "runs/test_x.json": capture()}
    assert severities(found(NO_CAPTURE, with_it, agent=False)) == {"note"}
    other = {"flakes.toml": freeze(replay="runs/lost.json")}
    assert refused(found(BASE, other, agent=False))


@pytest.mark.parametrize("path", ["./runs/test_x.json", "runs//test_x.json", "runs\\\\test_x.json"])
def test_another_spelling_of_the_path_finds_the_replay(path: str) -> None:
    assert found({**BASE, "flakes.toml": freeze(replay=path)}) == []
    broken = {**BASE, "flakes.toml": freeze(replay=path), "runs/test_x.json": "{"}
    assert "not JSON" in reasons(found(broken))


def test_an_expired_freeze_without_its_replay_is_said_once() -> None:
    (finding,) = found({**NO_CAPTURE, "flakes.toml": freeze()}, today="2026-10-03")
    assert "expired on" in finding.reason


@pytest.mark.parametrize(
    ("flakes", "says"),
    [
        (
            freeze(expires="2026-10-03"),
            "extends the freeze of tests/test_a.py::test_x from 2026-10-02 to 2026-10-03",
        ),
        (freeze() + freeze(f"{TEST}::test_y"), "adds a freeze of tests/test_a.py::test_y until 2026-10-02"),
        (freeze(f"{TEST}::test_y"), "adds a freeze of tests/test_a.py::test_y"),
        ("[", "makes the file unreadable"),
    ],
)
def test_an_agent_stretches_nothing_and_hears_it_once(flakes: str, says: str) -> None:
    (finding,) = found(BASE, {"flakes.toml": flakes})
    assert finding.severity.value == "refuse"
    assert f"an agent {says}" in finding.reason
    assert severities(found(BASE, {"flakes.toml": flakes}, agent=False)) <= {"note", "refuse"}


def test_the_same_test_under_its_other_name_is_no_new_freeze() -> None:
    assert found(BASE, {"flakes.toml": freeze("tests.test_a.test_x")}) == []


def test_ending_a_freeze_early_is_no_matter_of_this_guard() -> None:
    assert found(BASE, {"flakes.toml": freeze(expires="2026-09-20")}) == []
    assert found(BASE, {"flakes.toml": None}) == []


SKIP = "import pytest\n@pytest.mark.skip\ndef test_x(): pass\ndef test_y(): pass\n"


def test_an_agent_switches_no_test_off() -> None:
    for base in (BASE, PLAIN):
        (finding,) = found(base, {TEST: SKIP})
        assert (finding.severity.value, finding.path, finding.line) == ("refuse", TEST, 2)
        assert finding.nodeid == ID
    assert refused(found(PLAIN, {"tests/test_new.py": SKIP}))


def test_a_persons_marker_is_one_note_or_none_where_it_is_frozen() -> None:
    (note,) = found(PLAIN, {TEST: SKIP.replace("def test_y", "@pytest.mark.xfail\ndef test_y")}, agent=False)
    assert note.severity.value == "note"
    assert "the patch adds 2 skip or xfail markers without a freeze" in note.reason
    assert found(BASE, {TEST: SKIP}, agent=False) == []


def test_markers_that_base_has_are_one_note_where_one_looks_for_them() -> None:
    many = {**PLAIN, **{f"tests/test_{n}.py": SKIP for n in range(50)}}
    assert found(many) == []
    (note,) = found(many, scope="tree")
    assert note.severity.value == "note"
    assert "base has 50 skip or xfail markers" in note.reason
    assert "and 47 more" in note.reason


def test_markers_that_move_or_stay_are_not_added() -> None:
    base = {**PLAIN, TEST: SKIP}
    moved = {TEST: None, "tests/test_moved.py": SKIP}
    assert not refused(found(base, moved))
    assert not refused(found(base, {TEST: SKIP + "\ndef test_z(): pass\n"}))
    assert not refused(found(base, {TEST: SKIP.replace("mark.skip", "mark.skip(reason='x')")}))


def test_conditions_and_product_code_are_left_alone() -> None:
    edits = {
        TEST: BASE[TEST] + "\n@pytest.mark.skipif(sys.platform == 'win32', reason='x')\ndef test_z(): pass\n",
        "src/lib.py": "from unittest import skip\n@skip\ndef f(): pass\n",
    }
    assert found(PLAIN, edits) == []


def test_many_refusals_are_cut() -> None:
    body = "import pytest\n" + "".join(f"@pytest.mark.skip\ndef test_{n}(): pass\n" for n in range(200))
    findings = found(PLAIN, {"tests/test_new.py": body})
    assert len(findings) == 11
    assert "190 more" in findings[-1].reason
