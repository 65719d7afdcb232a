"""Which configured pre-commit hooks would get a recorded fixture."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from redbucket.core.fixers import fixers, rewritable

TAGS = {
    "tests/data/a.json": {"file", "text", "json"},
    "tests/data/b.txt": {"file", "text", "plain-text"},
    "tests/data/c.npz": {"file", "binary"},
    "tests/cassettes/d.yaml": {"file", "text", "yaml"},
}


def given(config: str) -> dict[str, list[str]]:
    data: Any = yaml.safe_load(config)
    return rewritable(fixers(data), TAGS, lambda path: frozenset(TAGS[path]))


def hook(*lines: str, top: str = "") -> str:
    return f"{top}\nrepos:\n- repo: x\n  hooks:\n" + "".join(f"  - {line}\n" for line in lines)


def test_what_a_fixer_gets() -> None:
    found = given(
        hook("id: end-of-file-fixer", "id: pretty-format-json", "id: check-yaml", "id: redbucket-gate")
    )
    assert found == {
        "end-of-file-fixer": ["tests/data/a.json", "tests/data/b.txt", "tests/cassettes/d.yaml"],
        "pretty-format-json": ["tests/data/a.json"],
    }


@pytest.mark.parametrize(
    "config",
    [
        hook("{id: trailing-whitespace, exclude: '^tests/(data|cassettes)/'}"),
        hook("id: trailing-whitespace", top="exclude: ^tests/"),
        hook("id: trailing-whitespace", top="files: ^src/"),
        hook("{id: trailing-whitespace, files: '\\.py$'}"),
        hook("{id: trailing-whitespace, types: [python]}"),
        hook("{id: trailing-whitespace, exclude_types: [text]}"),
        hook("{id: trailing-whitespace, stages: [manual]}"),
        hook("id: black", "id: ruff-format", "id: isort", "id: taplo-format", "id: check-json"),
        hook("{id: prettier, types_or: [javascript, css]}"),
        "repos: [7, {hooks: [7, {id: prettier, exclude: '('}]}]",
        "7",
        "",
    ],
)
def test_covered_or_none_of_its_business(config: str) -> None:
    assert given(config) == {}


def test_an_exclude_that_covers_a_part_only() -> None:
    found = given(hook("{id: mixed-line-ending, exclude: ^tests/data/}"))
    assert found == {"mixed-line-ending": ["tests/cassettes/d.yaml"]}
    both = given(hook("{id: mixed-line-ending, exclude: ^tests/data/}", top="exclude: cassettes"))
    assert both == {}
