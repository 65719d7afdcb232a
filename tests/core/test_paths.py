"""Which paths judge and which are protected."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from redbucket.core.errors import Misused
from redbucket.core.paths import JudgeSide, Matcher, fold, scripts
from redbucket.core.policy import Fixtures, Identity, Judge, Policy, Protect, Run

SIDE = JudgeSide(Policy())


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("tests/**", "tests/a/b.py", True),
        ("tests/**", "src/tests/b.py", False),
        ("conftest.py", "a/b/conftest.py", True),
        ("conftest.py", "a/b/Conftest.PY", True),
        ("Data/**", "data/x", True),
        ("data/**", "DATA/x", True),
        ("é.txt", unicodedata.normalize("NFD", "é.txt"), True),
        ("é.txt", unicodedata.normalize("NFD", "É.txt"), True),
        ("strasse", "Straße", True),
        ("conftest.py", "a\nb/conftest.py", True),
        ("conftest.py", "conftest.py\n", False),
        ("*.pth", "x\udcff.pth", True),
        ("[A-Z]x", "Ax", True),
        ("[!a]x", "Ax", True),
        ("a/*.x", "a/b/c.x", False),
        ("[(?P<ps_d>]x", "<x", True),
        ("a|b", "a", False),
        ("a|b", "x/a|b", True),
        ("logs/", "logs", False),
        ("logs/", "x/logs/y", True),
    ],
)
def test_matching(pattern: str, path: str, expected: bool) -> None:
    assert Matcher([pattern]).matches(path) is expected


def test_a_later_pattern_takes_back() -> None:
    matcher = Matcher(["tests/**", "!tests/vendor/**"])
    assert matcher.matches("tests/a.py")
    assert not matcher.matches("tests/vendor/a.py")


def test_no_pattern_matches_nothing() -> None:
    assert not Matcher([]).matches("a")


@pytest.mark.parametrize("pattern", ["!", "[z-a]"])
def test_a_bad_pattern_is_the_users_mistake(pattern: str) -> None:
    with pytest.raises(Misused):
        Matcher([pattern]).matches("a")


_segment = st.sampled_from(["a", "B", "*", "**", "a*", "?", "[ab]", "c.py", "*.py", "é"])
_patterns = st.lists(
    st.builds(
        lambda take_back, root, parts, tail: take_back + root + "/".join(parts) + tail,
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "/"]),
        st.lists(_segment, min_size=1, max_size=3),
        st.sampled_from(["", "/", "/**"]),
    ),
    max_size=5,
)
_paths = st.lists(st.sampled_from(["a", "b", "B", "c.py", "É", "ab"]), min_size=1, max_size=4).map("/".join)


@given(_patterns.map(lambda patterns: [p.lstrip("!") for p in patterns]), _paths)
def test_one_expression_of_all_changes_no_answer(patterns: list[str], path: str) -> None:
    """Where no pattern takes back another, they are asked in one go."""
    folded = GitIgnoreSpec.from_lines([fold(p) for p in patterns]).match_file(fold(path))
    assert Matcher(patterns).matches(path) is (GitIgnoreSpec.from_lines(patterns).match_file(path) or folded)


@given(_patterns, _paths)
def test_leaving_out_patterns_changes_no_answer(patterns: list[str], path: str) -> None:
    plain = GitIgnoreSpec.from_lines(patterns).match_file(path)
    folded = GitIgnoreSpec.from_lines([fold(p) for p in patterns]).match_file(fold(path))
    assert Matcher(patterns).matches(path) is (plain or folded)


@given(st.text(min_size=1).filter(lambda t: "\0" not in t))
def test_folding_twice_is_folding_once(path: str) -> None:
    assert fold(fold(path)) == fold(path)


@given(st.from_regex(r"[a-zA-Zé]{1,8}(/[a-zA-Zß]{1,8}){0,3}\.py", fullmatch=True))
def test_case_never_hides_a_path(path: str) -> None:
    matcher = Matcher([path])
    assert matcher.matches(path) and matcher.matches(path.upper()) and matcher.matches(path.swapcase())


# path: test, fixture, test configuration, shared configuration, judge, protected
KINDS = {
    "src/a.py": "------",
    "tests/test_a.py": "t---j-",
    "tests/helpers.py": "t---j-",
    "src/test_a.py": "t---j-",
    "src/a_test.py": "t---j-",
    "tests/README.md": "t---j-",
    "tests/expected.json": "-f--j-",
    "tests/data/x.bin": "-f--j-",
    "tests/data/module.py": "tf--j-",
    "tests/data/pyproject.toml": "-f--j-",
    "src/cassettes/one.yaml": "-f--j-",
    "tests/conftest.py": "--c-j-",
    "conftest.py": "--c-j-",
    "tests/data/conftest.py": "--c-j-",
    "pytest.ini": "--c-j-",
    ".coveragerc": "--c-j-",
    "sitecustomize.py": "--c-j-",
    "x.pth": "--c-j-",
    "x.egg-info/entry_points.txt": "--c-j-",
    "pyproject.toml": "---s--",
    "sub/setup.cfg": "---s--",
    "tox.ini": "---s--",
    "tests/tox.ini": "--c-j-",
    "redbucket.toml": "----jp",
    "flakes.toml": "----jp",
    ".redbucket/allowed_signers": "----jp",
    "tests/properties/test_p.py": "t---jp",
    "fixtures.sha256": "----jp",
    "tests/data/fixtures.sha256": "----jp",
    "tests/data/x.bin.sha256": "----jp",
    "src/release.tar.sha256": "------",
    ".pre-commit-config.yaml": "-----p",
    ".github/workflows/ci.yml": "-----p",
    ".GitHub/Workflows/ci.yml": "-----p",
    ".github/ISSUE_TEMPLATE.md": "------",
    ".github/CODEOWNERS": "-----p",
    ".gitlab-ci.yml": "-----p",
    ".claude/settings.local.json": "-----p",
    ".claude/commands/x.md": "------",
    "sub/.claude/hooks/x": "-----p",
    "src/x.egg-info/entry_points.txt": "--c-j-",
    "sub/.github/workflows/x": "------",
    "CLAUDE.md": "------",
    ".cursor/hooks/x.sh": "-----p",
    ".gitmodules": "------",
    "noxfile.py": "------",
    "Makefile": "------",
    "tests/Makefile": "t---j-",
}


@pytest.mark.parametrize("path", KINDS)
def test_the_kinds_of_well_known_paths(path: str) -> None:
    answers = (
        ("t", SIDE.is_test(path)),
        ("f", SIDE.is_fixture(path)),
        ("c", SIDE.is_test_config(path)),
        ("s", SIDE.is_shared_config(path)),
        ("j", SIDE.is_judge(path)),
        ("p", SIDE.is_protected(path)),
    )
    assert "".join(letter if answer else "-" for letter, answer in answers) == KINDS[path]


@given(st.sampled_from(sorted(KINDS)), st.booleans())
def test_whatever_is_a_part_of_the_judge_is_judge(path: str, upper: bool) -> None:
    path = path.upper() if upper else path
    if SIDE.is_test(path) or SIDE.is_fixture(path) or SIDE.is_test_config(path):
        assert SIDE.is_judge(path)
        assert not SIDE.is_shared_config(path)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (("./ci/run-tests.sh", "-q"), "ci/run-tests.sh"),
        (("bash", "scripts/test.sh"), "scripts/test.sh"),
        (("python", "tools/run.py"), "tools/run.py"),
        (("python", "-m", "ci.check"), "ci/check.py"),
        (("python", "-m", "ci.check"), "ci/check/__main__.py"),
        (("pytest", "-c", "conf/other.ini"), "conf/other.ini"),
        (("pytest", "--config-file=conf/x.toml"), "conf/x.toml"),
        (("sh", "-c", "cd a && ./b/c.sh"), "b/c.sh"),
        (("bin/check",), "bin/check"),
        (("make", "test"), "Makefile"),
        (("nox",), "noxfile.py"),
        (("tox", "-e", "py"), "tox.ini"),
    ],
)
def test_scripts_of_the_command_are_protected_and_judge(command: tuple[str, ...], path: str) -> None:
    side = JudgeSide(Policy(run=Run(command=command)))
    assert path in scripts(side.policy)
    assert side.is_protected(path) and side.is_judge(path)
    assert not side.is_protected(f"elsewhere/{path}")


def test_the_default_command_names_no_source() -> None:
    assert scripts(Policy()) == ("pytest.py", "pytest/__main__.py")


def test_policy_patterns_count() -> None:
    side = JudgeSide(
        Policy(
            judge=Judge(tests=("spec/**",)),
            fixtures=Fixtures(paths=("golden/**",), manifests=("LOCK",)),
            protect=Protect(paths=("precious/**",)),
            identity=Identity(allowed_signers="keys/[1].txt"),
        )
    )
    assert side.is_test("spec/a.py") and side.is_fixture("golden/a") and side.is_fixture("spec/a.json")
    assert (
        side.is_protected("sub/LOCK")
        and side.is_protected("precious/x")
        and side.is_protected("keys/[1].txt")
    )
    assert side.is_protected("golden/a.sha256") and side.is_protected("redbucket.toml")
    assert not side.is_judge("tests/helper.py")
