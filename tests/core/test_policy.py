"""The policy: defaults, refusals that name the key, and the published schema."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from redbucket.core.errors import Misused
from redbucket.core.policy import Policy, Run, parse, schema

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "redbucket.schema.json"

CONTRACT = b"""
[gate]
protected_branches = ["main"]
untrusted_green = "warn"
altered_tests = "refuse"
[identity]
agent_branches = ["agent/*", "claude/*", "codex/*", "copilot/*", "cursor/*", "devin/*", "jules/*"]
agent_authors = []
[protect]
paths = ["redbucket.toml", "flakes.toml", "tests/properties/**"]
[judge]
tests = ["tests/**", "test/**", "**/test_*.py", "**/*_test.py"]
[fixtures]
paths = ["tests/data/**", "**/cassettes/**", "**/__snapshots__/**"]
manifests = ["fixtures.sha256"]
[run]
command = ["python", "-m", "pytest"]
prepare = []
timeout = 60
budget = 3600
reruns = 3
scope = "all"
runner = "local"
env = { }
"""


def test_absent_keys_take_the_documented_defaults() -> None:
    assert parse(b"", "redbucket.toml") == Policy() == parse(CONTRACT, "redbucket.toml")


def test_values_are_read() -> None:
    text = b"""[run]
prepare = [["make", "ext"]]
timeout = 0.5
runner = "ssh://host/path"
env = { DJANGO_SETTINGS_MODULE = "x" }
scout = false
"""
    assert parse(text, "p").run == Run(
        prepare=(("make", "ext"),),
        timeout=0.5,
        runner="ssh://host/path",
        env={"DJANGO_SETTINGS_MODULE": "x"},
        scout=False,
    )


@pytest.mark.parametrize(
    ("text", "code", "key"),
    [
        ("[run]\nrerun = 3", "policy-unknown-key", "run.rerun"),
        ("[gte]", "policy-unknown-key", "gte"),
        ("[fixtures]\nzzz = 1", "policy-unknown-key", "fixtures.zzz"),
        ("run = 3", "policy-type", "run"),
        ("[run]\nreruns = true", "policy-type", "run.reruns"),
        ("[run]\nreruns = 2.5", "policy-type", "run.reruns"),
        ('[run]\ntimeout = "5"', "policy-type", "run.timeout"),
        ('[run]\ncommand = "pytest"', "policy-type", "run.command"),
        ('[run]\nprepare = ["make"]', "policy-type", "run.prepare[0]"),
        ("[run.env]\nA = 1", "policy-type", "run.env.A"),
        ("[protect]\npaths = [3]", "policy-type", "protect.paths[0]"),
        ("[run]\nreruns = 0", "policy-value", "run.reruns"),
        ("[run]\nreruns = -1", "policy-value", "run.reruns"),
        ("[run]\ntimeout = 0", "policy-value", "run.timeout"),
        ("[run]\ntimeout = nan", "policy-value", "run.timeout"),
        ("[run]\nbudget = inf", "policy-value", "run.budget"),
        ("[run]\nbudget = -inf", "policy-value", "run.budget"),
        ("[run]\ncommand = []", "policy-value", "run.command"),
        ("[run]\ncommand = ['']", "policy-value", "run.command"),
        ("[run]\nprepare = [[]]", "policy-value", "run.prepare[0]"),
        ('[run]\nrunner = "ftp://x"', "policy-value", "run.runner"),
        ('[run]\nrunner = "ssh://"', "policy-value", "run.runner"),
        ('[run]\nscope = "some"', "policy-value", "run.scope"),
        ('[gate]\naltered_tests = "allow"', "policy-value", "gate.altered_tests"),
        ('[run.env]\n"A=B" = "1"', "policy-value", "run.env.A=B"),
        ('[run.env]\nA = "\\u0000"', "policy-value", "run.env.A"),
        ('[protect]\npaths = [""]', "policy-value", "protect.paths[0]"),
        ('[protect]\npaths = ["a", " "]', "policy-value", "protect.paths[1]"),
        ('[protect]\npaths = ["/etc/passwd"]', "policy-value", "protect.paths[0]"),
        ('[judge]\ntests = ["C:\\\\tests"]', "policy-value", "judge.tests[0]"),
        ('[judge]\ntests = ["../tests/**"]', "policy-value", "judge.tests[0]"),
        ('[judge]\ntests = ["!a/../b"]', "policy-value", "judge.tests[0]"),
        ('[fixtures]\npaths = ["#x"]', "policy-value", "fixtures.paths[0]"),
        ('[identity]\nallowed_signers = "../signers"', "policy-value", "identity.allowed_signers"),
    ],
)
def test_a_bad_key_is_named_with_file_and_remedy(text: str, code: str, key: str) -> None:
    with pytest.raises(Misused) as caught:
        parse(text.encode(), "here/redbucket.toml")
    assert caught.value.code == code
    assert caught.value.reason.startswith(f"here/redbucket.toml: {key}: ")
    assert caught.value.remedy
    assert caught.value.exit_code == 3


def test_the_nearest_key_is_suggested() -> None:
    with pytest.raises(Misused) as caught:
        parse(b"[gate]\nuntrusted_gren = 1", "p")
    assert "untrusted_green" in caught.value.remedy


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"[run", "policy-syntax"),
        (b"a = 1\na = 2", "policy-syntax"),
        (b"\xff\xfe[\x00", "policy-encoding"),
        (b"\xef\xbb\xbf[run]", "policy-encoding"),
    ],
)
def test_what_is_no_toml(raw: bytes, code: str) -> None:
    with pytest.raises(Misused) as caught:
        parse(raw, "p")
    assert caught.value.code == code


def test_the_published_schema_is_the_one_that_the_code_gives() -> None:
    text = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("REDBUCKET_REGENERATE"):
        SCHEMA_FILE.parent.mkdir(exist_ok=True)
        SCHEMA_FILE.write_text(text, encoding="utf-8")
    assert SCHEMA_FILE.exists() and SCHEMA_FILE.read_text(encoding="utf-8") == text, (
        "docs/redbucket.schema.json is stale; regenerate it: "
        "REDBUCKET_REGENERATE=1 python -m pytest tests/core/test_policy.py"
    )


def test_every_key_of_the_schema_is_described_and_closed() -> None:
    for name, table in schema()["$defs"].items():
        assert table["additionalProperties"] is False, name
        if name != "Policy":
            for key, value in table["properties"].items():
                assert value.get("description"), f"{name}.{key}"
