"""The reference is that of the code, and nothing of the code is missing in it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest

from redbucket.core import errors, policy
from redbucket.formats.rules import RULES
from tests.docs.reference import DOCS, MADE, PUBLISHED, WRITTEN, page, schema, whole_policy
from tests.gitkit import Repo
from tests.stories.kit import redbucket
from tests.test_help import ALL


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_schema_is_that_of_the_code(name: str) -> None:
    file, text = DOCS / f"{name}.schema.json", json.dumps(schema(name), indent=2) + "\n"
    if os.environ.get("REDBUCKET_REGENERATE"):
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text, "stale: run REDBUCKET_REGENERATE=1 pytest tests/docs"


def test_what_is_printed_is_what_the_schemas_say(tmp_path: Path) -> None:
    """By the commands themselves, with a freeze and a moved fixture to tell of."""
    repo = Repo.init(tmp_path / "repo")
    freeze = '["t.py::test_a"]\nowner = "ada"\nticket = "QA-1"\nexpires = 2020-01-01\nreplay = "c.json"\n'
    repo.commit({"tests/data/a.json": '{"a": 1}\n', "tests/data/b.txt": "1\n", "flakes.toml": freeze})
    repo.commit({"tests/data/a.json": '{"b": 2}\n', "tests/data/b.txt": "2\n", "t.py": "def test_a(): 0\n"})
    for name, words in (
        ("fixtures-diff", ("fixtures", "diff", "--base", "HEAD~1", "--head", "HEAD", "--format", "json")),
        ("flakes", ("flakes", "list", "--format", "json")),
        ("ticket", ("ticket", "--base", "HEAD~1", "--head", "HEAD")),
    ):
        ended = redbucket(*words, "-C", repo.path)
        said = json.loads(ended.out)
        assert said["schema"] == f"redbucket.{name}/1"
        jsonschema.validate(said, schema(name))
        # within a version names stay, so none may be missing in the schema either
        assert said.keys() == schema(name)["$defs"][PUBLISHED[name].__name__]["properties"].keys()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**said, "of": "three"}, schema("ticket"))


@pytest.mark.parametrize("name", MADE)
def test_a_page_is_that_of_the_code(name: str) -> None:
    made = page(name)
    if os.environ.get("REDBUCKET_REGENERATE"):
        (DOCS / name).write_text(made, encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == made, (
        "stale: run REDBUCKET_REGENERATE=1 pytest tests/docs"
    )


def test_every_command_and_option_is_there() -> None:
    text = (DOCS / "commands.md").read_text("utf-8")
    for words, command in ALL.items():
        if words and not command.hidden:
            assert f"\n## redbucket {' '.join(words)}\n" in text
        for param in command.params:
            assert all(f"`{name}`" in text for name in param.opts if name.startswith("--")), param.opts


def test_every_rule_exit_code_and_schema_is_there() -> None:
    rules = (DOCS / "rules.md").read_text("utf-8")
    assert [rule for rule in RULES if f"[{rule}](" not in rules] == []
    codes = {value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
    assert codes == set(errors.EXIT_CODES)
    assert {file.name.partition(".")[0] for file in DOCS.glob("*.schema.json")} == {*WRITTEN, "redbucket"}


def test_the_whole_policy_is_that_of_no_policy() -> None:
    assert policy.parse(whole_policy().encode(), "redbucket.toml") == policy.Policy()
