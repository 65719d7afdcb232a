"""What ``init`` proposes: valid by the reader of each file, and nothing that is there is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pre_commit.clientlib import load_config, load_manifest

from redbucket.core.dependencies import install_lines
from redbucket.core.errors import Misused, Undecided
from redbucket.core.policy import parse
from redbucket.core.sighting import Proposed, Sighting, Source, Trial
from redbucket.engine import init, initci, inithooks, initpolicy
from redbucket.engine.doctor import Configured, configured

TOP = Path(__file__).resolve().parents[2]
SOURCE = Source("https://github.com/owner/redbucket", "0123456789abcdef0123456789abcdef01234567")
ELSEWHERE = Source("https://git.example.org/tools/redbucket.git", "v1.2")


def seen(**over: object) -> Sighting:
    values: dict[str, object] = {
        "top": "/repo",
        "commit": "0" * 40,
        "branch": "main",
        "remote": "",
        "paths": frozenset({"shop.py", "tests/test_shop.py", "tests/samples/x.json"}),
        "files": {},
        "command": ("python", "-m", "pytest"),
        "python": "3.11.7",
        "runner": "pytest 9.2.0",
        "trial": Trial(
            count=3,
            files=frozenset({"tests/test_shop.py"}),
            reads={"tests/samples/x.json": 2},
            elapsed=1,
            longest=1,
        ),
    }
    return Sighting(**{**values, **over})  # type: ignore[arg-type]


def policy_of(sighting: Sighting) -> Proposed:
    return initpolicy.propose(initpolicy.work_out(sighting), sighting)[0]


def test_the_policy_says_what_was_seen() -> None:
    proposed = policy_of(seen(branch="trunk"))
    found = parse(proposed.text.encode(), "redbucket.toml")
    assert found.gate.protected_branches == ("trunk",)
    assert found.run.command == ("python", "-m", "pytest")
    assert found.fixtures.paths[-1] == "tests/samples/**"
    assert "timeout" not in proposed.text


def test_many_fixture_folders_are_not_all_told() -> None:
    reads = {f"tests/part{n}/data/x.json": 1 for n in range(20)}
    many = Trial(count=1, files=frozenset({"tests/test_shop.py"}), reads=reads, elapsed=1, longest=1)
    sighting = seen(trial=many, paths=frozenset({"shop.py", "tests/test_shop.py", *reads}))
    plan = init.plan(sighting, Configured({}), ())
    row = dict(init.sightings(sighting, plan, 20))["fixtures"]
    assert row == ("20 recorded files under tests/part0/**, tests/part1/**, tests/part10/** and 17 more")


def test_slow_tests_get_time() -> None:
    slow = Trial(count=1, elapsed=900, longest=45)
    found = parse(policy_of(seen(trial=slow)).text.encode(), "redbucket.toml")
    assert (found.run.timeout, found.run.budget) == (180, 7200)


def test_properties_are_protected_and_mixed_files_are_not() -> None:
    laws = {"tests/test_laws.py": (3, 3), "tests/test_mixed.py": (3, 1)}
    found = parse(policy_of(seen(properties=laws)).text.encode(), "redbucket.toml")
    assert "tests/test_laws.py" in found.protect.paths
    assert "tests/test_mixed.py" not in found.protect.paths


names = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..") and "/" not in name
)


@given(
    branch=st.text(min_size=1),
    files=st.lists(st.lists(names, min_size=1, max_size=3).map("/".join)),
    reads=st.lists(st.lists(names, min_size=1, max_size=3).map("/".join)),
    command=st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1), min_size=1).filter(
        lambda words: words[0].strip() != ""
    ),
)
def test_whatever_the_names_are_the_policy_is_valid(
    branch: str, files: list[str], reads: list[str], command: list[str]
) -> None:
    trial = Trial(
        count=1, files=frozenset(f"tests/{f}.py" for f in files), reads={f"tests/{r}": 1 for r in reads}
    )
    every = frozenset({*trial.files, *trial.reads})
    sighting = seen(branch=branch, paths=every, trial=trial, command=tuple(command))
    try:
        "".join([branch, *command]).encode()
    except UnicodeEncodeError:  # a lone surrogate, which no TOML can hold
        with pytest.raises(Misused) as refused:
            policy_of(sighting)
        assert refused.value.code == "not-utf8"
        return
    found = parse(policy_of(sighting).text.encode(), "redbucket.toml")
    assert found.gate.protected_branches == (branch,)
    assert found.run.command == tuple(command)


def test_a_policy_that_is_there_is_kept_and_what_it_lacks_is_said() -> None:
    kept = b'[fixtures]\npaths = ["tests/samples/*.json"]\n[gate]\nprotected_branches = ["release"]\n'
    proposed = policy_of(seen(files={"redbucket.toml": kept}))
    assert proposed.text == ""
    (branch, fixtures) = proposed.lacks
    assert branch == "gate.protected_branches lacks main"
    assert "tests/cassettes" not in fixtures
    assert parse(proposed.snippet.encode(), "redbucket.toml").gate.protected_branches == ("release", "main")


def test_a_policy_that_lacks_nothing_is_silent() -> None:
    whole = policy_of(seen()).text.encode()
    again = policy_of(seen(files={"redbucket.toml": whole}))
    assert (again.text, again.lacks) == ("", ())


def test_a_broken_policy_is_said_to_be_broken() -> None:
    proposed = policy_of(seen(files={"redbucket.toml": b"[gate\n"}))
    assert proposed.text == ""
    assert "can't be read" in proposed.lacks[0]


@pytest.mark.parametrize("source", [None, SOURCE, ELSEWHERE])
def test_pre_commit_takes_its_file(source: Source | None, tmp_path: Path) -> None:
    proposed = inithooks.pre_commit(seen(source=source), Configured({}))
    place = tmp_path / ".pre-commit-config.yaml"
    place.write_text(proposed.text)
    load_config(str(place))
    assert configured(yaml.safe_load(proposed.text)).ids == tuple(inithooks.HOOKS)


def test_the_hooks_are_those_of_the_manifest() -> None:
    manifest = load_manifest(str(TOP / ".pre-commit-hooks.yaml"))
    stages = {hook["id"]: tuple(s for s in hook["stages"] if s != "manual") for hook in manifest}
    assert stages == {name: tuple(where) for name, where in inithooks.HOOKS.items()}


def test_pre_commit_hooks_that_are_missing_are_named() -> None:
    raw = b"repos:\n  - repo: local\n    hooks:\n      - id: redbucket-gate\n"
    sighting = seen(files={".pre-commit-config.yaml": raw})
    proposed = inithooks.pre_commit(sighting, configured(yaml.safe_load(raw)))
    assert proposed.text == ""
    assert "redbucket-gate" not in proposed.lacks[0]
    assert "redbucket-flake-expiry" in proposed.lacks[0]
    assert "default_install_hook_types" in proposed.lacks[1]


def _valid(schema: str, place: Path) -> None:
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(place)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("source", [None, SOURCE, ELSEWHERE])
@pytest.mark.parametrize("python", ["3.11.7", "3.8.1", ""])
def test_the_jobs_are_valid(source: Source | None, python: str, tmp_path: Path) -> None:
    at = seen(source=source, python=python)
    for remote, schema in (
        ("git@github.com:o/r", "vendor.github-workflows"),
        ("https://gitlab.com/o/r", "vendor.gitlab-ci"),
    ):
        (job,) = initci.jobs(seen(source=source, python=python, remote=remote))
        place = tmp_path / "job.yml"
        place.write_text(job.text)
        _valid(schema, place)
        assert initci.needs_source([job]) == (source is None)
        assert ("/usr/bin/python3" in job.text) == (python == "3.8.1" and "github" in remote)
    assert initci.jobs(at) == []


def test_a_job_that_is_there_is_enough() -> None:
    files = {".github/workflows/ci.yml": b"run: redbucket gate"}
    assert initci.jobs(seen(files=files)) == []


def test_a_gitlab_file_that_is_there_is_told_to_include_the_job() -> None:
    part, include = initci.jobs(seen(files={".gitlab-ci.yml": b"stages: []\n"}))
    assert part.path == ".gitlab/ci/redbucket.yml"
    assert part.text
    assert (include.path, include.text) == (".gitlab-ci.yml", "")
    assert yaml.safe_load(include.snippet) == {"include": [{"local": part.path}]}


def test_agents_get_settings_unless_theirs_are_there() -> None:
    paths = ("CLAUDE.md", ".cursor/rules/x.md", "docs/GEMINI.md")
    assert inithooks.agents_in_use(paths) == ("claude", "cursor")
    files = {".claude/settings.json": b"{}", ".cursor/hooks.json": b"redbucket agent-hook"}
    (claude,) = inithooks.agent_hooks(seen(agents=("claude", "cursor"), files=files))
    assert (claude.path, claude.text) == (".claude/settings.json", "")
    assert "PreToolUse" in json.loads(claude.snippet)["hooks"]
    (fresh,) = inithooks.agent_hooks(seen(agents=("gemini",)))
    assert json.loads(fresh.text)["hooks"]


@pytest.mark.parametrize(
    ("files", "paths", "expected"),
    [
        (
            {"pyproject.toml": b'[project]\nname="x"\n[project.optional-dependencies]\ntest=["pytest"]\n'},
            (),
            "'.[test]'",
        ),
        (
            {"pyproject.toml": b'[project]\nname="x"\n[dependency-groups]\ndev=["pytest"]\n'},
            (),
            "--group dev",
        ),
        (
            {"setup.cfg": b"[metadata]\nname=x\n[options.extras_require]\ntesting = pytest\n"},
            (),
            "'.[testing]'",
        ),
        ({"setup.py": b""}, ("requirements-dev.txt",), "-r requirements-dev.txt"),
        (
            {"pyproject.toml": b'[project.optional-dependencies]\n"test; rm -rf /" = []\n'},
            (),
            "install -e .\n",
        ),
        ({"pyproject.toml": b"not toml"}, (), "install pytest"),
        ({}, (), "install pytest"),
        ({"pyproject.toml": b"[project]\n"}, ("uv.lock",), "install uv\nuv sync --frozen --all-groups\n"),
        (
            {"pyproject.toml": b'[project.optional-dependencies]\ntest=["pytest"]\n'},
            ("uv.lock",),
            "uv sync --frozen --all-groups --extra test\n",
        ),
        (
            {"pyproject.toml": b"[tool.poetry]\n"},
            ("poetry.lock",),
            "install poetry\nPOETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction\n",
        ),
        ({"pyproject.toml": b"[project]\n"}, ("pdm.lock",), "install pdm\npdm sync -G :all\n"),
        ({"setup.py": b""}, ("docs/uv.lock",), "install -e ."),
    ],
)
def test_dependencies(files: dict[str, bytes], paths: tuple[str, ...], expected: str) -> None:
    lines = install_lines(seen(files=files, paths=frozenset(paths)))
    assert expected in "\n".join(lines) + "\n"


def test_a_branch_that_is_not_utf8_is_no_policy() -> None:
    with pytest.raises(Misused, match="not UTF-8"):
        policy_of(seen(branch="x\udcff"))


def test_no_test_is_no_policy() -> None:
    with pytest.raises(Undecided, match="no test ran, by python -m pytest"):
        init.require_tests(Trial(broken="ImportError: no shop"), ["python -m pytest"], "/usr/bin/python3")


@pytest.mark.parametrize(
    ("kinds", "source", "on_path", "who"),
    [
        (("pre-commit", "agents"), None, False, "pre-commit's hooks and the agents' hooks"),
        (("pre-commit",), None, False, "pre-commit's hooks"),
        # pre-commit fetches the source; the agents' settings name the command all the same
        (("pre-commit", "agents"), SOURCE, False, "the agents' hooks"),
        (("pre-commit",), SOURCE, False, ""),
        # git's own hooks name the interpreter that installed them
        (("policy",), None, False, ""),
        (("pre-commit", "agents"), None, True, ""),
    ],
)
def test_path_is_asked_for_where_a_hook_looks_there(
    kinds: tuple[str, ...], source: Source | None, on_path: bool, who: str
) -> None:
    written = [Proposed(kind, f"{kind}.file") for kind in kinds]
    steps = init.next_steps(
        seen(source=source), written, by_pre_commit=False, on_path=on_path, parents=0, at_top=True
    )
    asked = [why for why, command in steps if command.startswith("pipx install")]
    assert asked == [f"put redbucket on PATH, where {who} look for it"] * bool(who)


@pytest.mark.parametrize("by_pre_commit", [True, False])
def test_what_judges_a_fast_forward_is_said(by_pre_commit: bool) -> None:
    steps = init.next_steps(seen(), [], by_pre_commit=by_pre_commit, on_path=True, parents=0, at_top=True)
    commands = [command for why, command in steps if "fast-forward" in why]
    assert commands == [
        "redbucket install --hooks reference-transaction" if by_pre_commit else "redbucket install"
    ]
