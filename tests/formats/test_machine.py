"""JSON, SARIF, JUnit XML and Markdown, and what all formats share."""

from __future__ import annotations

import ast
import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from redbucket.core.buckets import Bucket
from redbucket.core.report import GateReport, Row
from redbucket.formats import FORMATS, as_json, junit, markdown, sarif
from redbucket.formats.rules import RULES
from tests.formats import reports as r

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "gate.schema.json"
ALL = (r.FULL, r.BROKEN, r.GREEN, r.EMPTY, r.hostile())


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("report", ALL)
def test_every_format_takes_every_report(name: str, report: GateReport) -> None:
    out = FORMATS[name](report, width=80, color=False, verbose=True)
    out.encode()
    assert out.endswith("\n")
    assert out == FORMATS[name](report, width=80, color=False, verbose=True)
    assert all(c.isprintable() or c == "\n" for c in out.replace("\u200b", ""))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_twenty_thousand_rows(name: str) -> None:
    assert FORMATS[name](r.large(20_000))


# JSON


def test_json_keeps_the_names_of_the_contract() -> None:
    given = json.loads(as_json.render(r.FULL))
    assert given["schema"] == "redbucket.gate/1"
    assert {"verdict", "exit_code", "base", "head", "merge_tree", "seed", "identity"} <= given.keys()
    assert given["identity"] == {"agent": True, "marks": ["branch agent/bucketizer"]}
    assert given["tests"][-1]["outcomes"] == {"B": ["passed"] * 3, "H": ["failed"] * 3}
    names = {"nodeid", "bucket", "introduced", "cause", "why", "spend", "doubt", "outcomes", "fixtures"}
    assert names <= given["tests"][0].keys()
    assert {"rule", "severity", "path", "nodeid", "reason", "remedy"} <= given["findings"][0].keys()


def test_json_reads_back_as_the_same_report() -> None:
    read = msgspec.json.decode(as_json.render(r.FULL), type=GateReport)
    assert read.summary.startswith("REFUSE: 1 test broken by this patch")
    assert as_json.read_back(read) == r.FULL
    own = msgspec.structs.replace(r.FULL, summary="words of a command's own")
    assert as_json.read_back(msgspec.json.decode(as_json.render(own), type=GateReport)) == own


def test_json_does_not_depend_on_the_order_of_worlds() -> None:
    turned = msgspec.structs.replace(r.MISS, outcomes=dict(reversed(r.MISS.outcomes.items())))
    one, two = (msgspec.structs.replace(r.EMPTY, tests=[test]) for test in (r.MISS, turned))
    assert as_json.render(one) == as_json.render(two)


def test_json_escapes_what_cannot_be_written_and_keeps_the_rest() -> None:
    given = json.loads(as_json.render(r.hostile()))
    assert given["findings"][0]["path"] == r.EVIL.replace("\udcff", "\\udcff")


def test_the_published_schema_is_that_of_the_code() -> None:
    text = json.dumps(as_json.schema(), indent=2) + "\n"
    if os.environ.get("REDBUCKET_REGENERATE"):
        SCHEMA_FILE.write_text(text, encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == text, (
        "docs/gate.schema.json is stale: run REDBUCKET_REGENERATE=1 pytest tests/formats"
    )


def test_the_schema_names_every_field_that_is_printed() -> None:
    schema = as_json.schema()
    given = json.loads(as_json.render(r.FULL))
    for name, value in (
        ("GateReport", given),
        ("Row", given["tests"][0]),
        ("Finding", given["findings"][0]),
        ("Problem", given["notes"][0]),
        ("IdentityReport", given["identity"]),
        ("MovedFixture", given["moved"][0]),
    ):
        assert value.keys() == schema["$defs"][name]["properties"].keys()
        assert set(schema["$defs"][name].get("required", ())) <= value.keys()


# SARIF


def _run(report: GateReport, **more: Any) -> dict[str, Any]:
    log = json.loads(sarif.render(report, **more))
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    (run,) = log["runs"]
    return dict(run)


@pytest.mark.parametrize("report", ALL)
def test_sarif_is_well_formed(report: GateReport) -> None:
    run = _run(report)
    rules = run["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(set(ids)) == len(ids)
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert uri.isprintable()
        assert not uri.startswith("/")
        assert location["physicalLocation"]["region"]["startLine"] >= 1
    prints = [result["partialFingerprints"]["redbucket/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_sarif_maps_severities_and_blocking_tests() -> None:
    levels = [(result["ruleId"], result["level"]) for result in _run(r.FULL)["results"]]
    assert levels == [
        ("protected-path", "error"),
        ("one-example", "warning"),
        ("untrusted-test", "note"),
        ("bucket-invariant-miss", "error"),
        ("bucket-fixture-drift", "error"),
        ("bucket-noise", "error"),
        ("bucket-unclassified", "error"),
        ("undecided", "error"),
    ]


def test_sarif_declares_every_rule_when_clean_and_tells_that_from_not_run() -> None:
    run = _run(r.GREEN)
    assert run["results"] == []
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(RULES)
    assert {f"bucket-{bucket.value.replace('_', '-')}" for bucket in Bucket} <= set(RULES)
    assert run["invocations"][0]["executionSuccessful"] is True
    assert _run(r.EMPTY)["invocations"][0]["executionSuccessful"] is False


def test_sarif_fingerprints_survive_other_words_and_other_lines() -> None:
    def prints(report: GateReport) -> list[str]:
        return [result["partialFingerprints"]["redbucket/v1"] for result in _run(report)["results"]]

    moved = msgspec.structs.replace(r.PROTECTED, reason="other words", line=99)
    assert prints(r.BROKEN) == prints(msgspec.structs.replace(r.BROKEN, findings=[moved]))


def test_sarif_takes_rules_and_a_place_for_their_help() -> None:
    rules = {"my-rule": "Says something."}
    driver = _run(r.BROKEN, rules=rules, help_uri="https://docs.example/docs/")["tool"]["driver"]
    declared = driver["rules"]
    assert [rule["id"] for rule in declared] == ["bucket-invariant-miss", "my-rule", "protected-path"]
    assert declared[1]["helpUri"] == "https://docs.example/docs/rules/my-rule.md"
    assert driver["informationUri"] == "https://docs.example/docs/"


def test_the_page_of_each_rule_is_there() -> None:
    docs = Path(__file__).parents[2] / "docs"
    declared = _run(r.GREEN, help_uri="x:")["tool"]["driver"]["rules"]
    pages = {rule["id"]: rule["helpUri"].removeprefix("x:/") for rule in declared}
    assert [page for page in pages.values() if not (docs / page).is_file()] == []
    assert all(rule in (docs / page).read_text() for rule, page in pages.items() if page == "buckets.md")


def test_every_rule_that_the_code_can_report_is_declared() -> None:
    source = Path(__file__).parents[2] / "redbucket"
    named = set()
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # Finding(rule="...") and a guard's own RULE = "..."
            if isinstance(node, ast.keyword) and node.arg == "rule":
                value: ast.expr | None = node.value
            elif isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "RULE" for t in node.targets):
                value = node.value
            else:
                continue
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                named.add(value.value)
    assert len(named) > 15
    assert named <= set(RULES)


SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-schema-2.1.0.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("help_uri", ["", "https://docs.example/docs"])
@pytest.mark.parametrize("report", ALL)
def test_sarif_is_valid_by_the_official_schema(report: GateReport, help_uri: str) -> None:
    check = jsonschema.Draft4Validator(SCHEMA)
    log = json.loads(sarif.render(report, help_uri=help_uri))
    assert [error.message for error in check.iter_errors(log)] == []
    log["runs"][0]["results"] = [{"ruleId": "x"}]
    assert not check.is_valid(log)


def test_sarif_points_to_where_a_test_is_defined() -> None:
    def place(row: Row) -> tuple[str, int]:
        report = msgspec.structs.replace(r.EMPTY, tests=[row])
        where = _run(report)["results"][0]["locations"][0]["physicalLocation"]
        return where["artifactLocation"]["uri"], where["region"]["startLine"]

    assert place(msgspec.structs.replace(r.MISS, path="tests/test_b.py", line=12)) == ("tests/test_b.py", 12)
    dotted = msgspec.structs.replace(r.MISS, nodeid="tests.test_b.T.test_edges")
    assert place(msgspec.structs.replace(dotted, path="tests/test_b.py", line=3)) == ("tests/test_b.py", 3)
    assert place(dotted) == (".", 1)


def test_a_test_that_moved_keeps_its_fingerprint() -> None:
    def print_of(row: Row) -> str:
        report = msgspec.structs.replace(r.EMPTY, tests=[row])
        return str(_run(report)["results"][0]["partialFingerprints"]["redbucket/v1"])

    assert print_of(r.MISS) == print_of(msgspec.structs.replace(r.MISS, path="tests/test_b.py", line=12))


def test_sarif_places_are_the_exact_bytes_and_messages_hold_no_link() -> None:
    run = _run(r.hostile())
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert "%FF" in uri
    assert all("](" not in result["message"]["text"] for result in run["results"])


# JUnit XML


@pytest.mark.parametrize("report", ALL)
def test_junit_is_well_formed_and_counts_right(report: GateReport) -> None:
    root = ET.fromstring(junit.render(report))
    for element in (root, *root.iter("testsuite")):
        assert int(element.attrib["tests"]) == len(list(element.iter("testcase")))
        assert int(element.attrib["failures"]) == len(list(element.iter("failure")))
        assert int(element.attrib["errors"]) == len(list(element.iter("error")))
        assert int(element.attrib["skipped"]) == len(list(element.iter("skipped")))
    tests, guards, _ = root.iter("testsuite")
    assert len(list(tests)) == len(report.tests)
    assert len(list(guards)) == len(report.findings)
    assert all(case.attrib["name"] and case.attrib["classname"] for case in guards)


def test_junit_fails_what_blocks_and_nothing_else() -> None:
    root = ET.fromstring(junit.render(r.FULL))
    failed = [case.attrib["name"] for case in root.iter("testcase") if case.find("failure") is not None]
    assert failed == ["test_order", "test_recorded[edges]", "test_edges", "protected-path redbucket.toml"]
    errors = [case.attrib["name"] for case in root.iter("testcase") if case.find("error") is not None]
    assert errors == ["test_sample", "no-seed"]
    (case,) = root.iterfind(".//testcase[@name='test_order']")
    assert case.attrib["classname"] == "tests.test_race.TestPool"
    assert case.attrib["file"] == "tests/test_race.py"
    values = {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
    assert values["bucket"] == "noise"
    assert values["cause"] == "concurrency"
    assert values["nodeid"] == r.NOISE.nodeid


def test_junit_gives_no_two_cases_one_name() -> None:
    twice = msgspec.structs.replace(r.MISS, bucket=Bucket.STABLE_PASS, blocks=False, introduced=None)
    numbered = msgspec.structs.replace(twice, nodeid=f"{twice.nodeid} (2)")
    report = msgspec.structs.replace(
        r.EMPTY,
        tests=[twice, r.MISS, numbered, twice],
        findings=[r.PROTECTED] * 3,
        undecided=r.FULL.undecided * 2,
    )
    root = ET.fromstring(junit.render(report))
    names = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == 9
    assert names[:4] == [
        ("tests.test_b", "test_edges"),
        ("tests.test_b", "test_edges (3)"),
        ("tests.test_b", "test_edges (2)"),
        ("tests.test_b", "test_edges (4)"),
    ]
    # the id itself is not touched
    ids = [p.attrib["value"] for p in root.iter("property") if p.attrib["name"] == "nodeid"]
    assert ids.count(r.MISS.nodeid) >= 3


def test_junit_of_many_cases_of_one_name_takes_no_longer_than_of_many_names() -> None:
    report = msgspec.structs.replace(r.EMPTY, tests=[r.MISS] * 20_000)
    root = ET.fromstring(junit.render(report))
    assert len({case.attrib["name"] for case in root.iter("testcase")}) == 20_000


# Markdown


def test_markdown_has_the_order_of_the_text_and_folds_what_can_wait() -> None:
    out = markdown.render(r.FULL)
    order = [
        "## redbucket: REFUSE",
        "git checkout",
        "<summary>Undecided: 1<",
        "<summary>Findings: 3<",
        "<details open><summary>Broken by this patch: 1 test<",
        "<details><summary>The patch's own tests",
        "Passed every time: 40",
        "only if it fails 63% of the time",
        "does not claim",
    ]
    places = [out.index(part) for part in order]
    assert places == sorted(places)
    assert out.count("\n<details") == out.count("\n</details>\n")


@pytest.mark.parametrize("verbose", [False, True])
def test_markdown_stays_under_the_limit_and_says_the_cut(verbose: bool) -> None:
    long = msgspec.structs.replace(r.MISS, nodeid="漢" * 70_000, why="*" * 70_000, message="`" * 70_000)
    marks = ["a" + "\u0301" * 70_000] * 9
    worst = msgspec.structs.replace(
        r.hostile(),
        tests=[
            msgspec.structs.replace(long, nodeid=mark, blocks=True, bucket=b)
            for b in Bucket
            for mark in marks
        ],
        summary="@" * 70_000,
        seed="@" * 70_000,
        identity=msgspec.structs.replace(r.FULL.identity, marks=marks),
        findings=[msgspec.structs.replace(r.PROTECTED, path=mark) for mark in marks],
    )
    for report in (r.large(20_000), msgspec.structs.replace(r.EMPTY, tests=[long] * 300), worst):
        out = markdown.render(report, verbose=verbose)
        assert len(out.encode()) < 65_000
        assert "**Cut here: " in out
        assert out.count("\n<details") == out.count("\n</details>\n")
        assert out.rstrip().endswith("is left.")


def test_markdown_code_cannot_be_left() -> None:
    assert markdown.code("a`b``c") == "```a`b``c```"
    assert markdown.code("`a`") == "`` `a` ``"
    assert markdown.code("a\n\n</details>") == "`a\\n\\n</details>`"


def test_markdown_prose_makes_no_markup_mention_or_link() -> None:
    assert markdown.prose("@all <b> [x](y) #1 www.x http://x") == (
        "@&#8203;all &lt;b&gt; \\[x\\](y) \\#&#8203;1 www&#8203;.x http:&#8203;//x"
    )
    assert markdown.prose("- a") == "\\- a"
    assert markdown.prose("1. a") == "1\\. a"
    assert markdown.prose("a_b & *c*") == "a\\_b &amp;&#8203; \\*c\\*"
