"""What pages show to be copied is taken by what reads it."""

from __future__ import annotations

import re

import pytest
import yaml

from redbucket.core import flakes, policy
from tests.docs.sheets import PAGES, TOP, blocks

TOML = [
    pytest.param(block.text, id=f"{page.relative_to(TOP)}:{block.line}")
    for page in PAGES
    for block in blocks(page.read_text("utf-8"))
    if block.language == "toml"
]


@pytest.mark.parametrize("text", TOML)
def test_a_policy_is_read(text: str) -> None:
    if re.search(r"^(owner|replay) = ", text, re.MULTILINE):
        read = flakes.parse(text.encode(), "flakes.toml")
        assert read.entries
        assert [(e.nodeid, e.faults) for e in read.entries if e.faults] == []
    else:
        policy.parse(text.encode(), "redbucket.toml")


def test_hooks_of_pre_commit_are_those_that_are_published() -> None:
    published = {hook["id"] for hook in yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    shown = [
        {hook["id"] for repo in yaml.safe_load(block.text)["repos"] for hook in repo["hooks"]}
        for block in blocks((TOP / "docs/pre-commit.md").read_text("utf-8"))
        if block.language == "yaml"
    ]
    assert shown[0] < published
    assert shown[1] == published
