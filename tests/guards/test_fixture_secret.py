"""A secret that newly appears in a recording is refused, and never printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.core.findings import Finding
from tests.core.test_secrets import RANDOM, cassette, drawn
from tests.gitkit import Content
from tests.guards.attacked import Attacked, gravest

NAME = "tests/cassettes/a.yaml"
LEAKED = cassette(request={"Authorization": f"Bearer {RANDOM}"})
MASKED = LEAKED.replace(RANDOM, "REDACTED")


def judge(
    tmp_path: Path, base: dict[str, Content], head: dict[str, Content], *, agent: bool = True, rules: str = ""
) -> list[Finding]:
    repo = Attacked(tmp_path / "repo", "fixture-secret", {"app.py": "", "redbucket.toml": rules, **base})
    return repo.judge(head, agent=agent)


@pytest.mark.parametrize("agent", [True, False])
def test_a_token_in_a_new_cassette(tmp_path: Path, agent: bool) -> None:
    (finding,) = judge(tmp_path, {}, {NAME: LEAKED}, agent=agent)
    assert (finding.path, finding.severity.value) == (NAME, "refuse")
    assert "authorization header at /interactions/0/request/headers/authorization" in finding.reason
    assert RANDOM not in repr(finding) and RANDOM[:6] not in repr(finding)


def test_masked_elsewhere_or_known(tmp_path: Path) -> None:
    assert judge(tmp_path / "1", {}, {NAME: MASKED}) == []
    assert judge(tmp_path / "2", {}, {"app.py": f"KEY = 'ghp_{drawn(36)}'\n"}) == []  # no recording
    assert judge(tmp_path / "3", {NAME: LEAKED}, {NAME: LEAKED + "\n# again\n"}) == []
    assert judge(tmp_path / "4", {NAME: LEAKED}, {NAME: None, "tests/cassettes/b.yaml": LEAKED}) == []
    assert judge(tmp_path / "5", {NAME: LEAKED}, {NAME: MASKED}) == []


def test_a_second_one_in_a_known_file(tmp_path: Path) -> None:
    both = LEAKED.replace("method: GET", f"method: GET\n    note: glpat-{drawn(22)}")
    (finding,) = judge(tmp_path, {NAME: LEAKED}, {NAME: both})
    assert "GitLab token" in finding.reason and "authorization" not in finding.reason


def test_the_policy_may_warn_or_not_look(tmp_path: Path) -> None:
    for level, gravity in (("warn", "warn"), ("off", "")):
        rules = f'[fixtures]\nsecrets = "{level}"\n'
        assert gravest(judge(tmp_path / level, {}, {NAME: LEAKED}, rules=rules)) == gravity
    pem = f"-----BEGIN PRIVATE KEY-----\n{drawn(64)}\n{drawn(64, seed='2')}\n-----END PRIVATE KEY-----\n"
    assert gravest(judge(tmp_path / "pem", {}, {"tests/data/server.key": pem})) == "warn"
