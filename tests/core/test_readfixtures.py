"""From files that tests read to patterns of recorded fixtures."""

from __future__ import annotations

from redbucket.core.paths import Matcher
from redbucket.core.policy import Policy
from redbucket.core.readfixtures import candidates, recordings

USUAL = Policy()
TESTS = Matcher(("tests/**", "pkg/tests/**"))
KNOWN = Matcher(USUAL.fixtures.paths)


def patterns(read: list[str], others: list[str], written: tuple[str, ...] = ()) -> tuple[str, ...]:
    return recordings(read, written, {*read, *others}, TESTS, KNOWN).patterns


def test_the_widest_folder_without_python_counts_whole() -> None:
    code = ["tests/test_a.py", "tests/deep/test_b.py"]
    assert patterns(["tests/samples/a/b/x.json", "tests/deep/files/y"], code) == (
        "tests/deep/files/**",
        "tests/samples/**",
    )


def test_beside_python_only_the_files_of_that_kind_count() -> None:
    assert patterns(["tests/a.json", "tests/b.json", "tests/golden"], ["tests/test_a.py"]) == (
        "tests/*.json",
        "tests/golden",
    )


def test_what_the_usual_patterns_cover_is_not_named_again() -> None:
    assert patterns(["tests/data/x.json", "tests/cassettes/y.yaml"], ["tests/test_a.py"]) == ()


def test_a_folder_of_data_beside_the_tests_counts_and_the_product_does_not() -> None:
    read = ["testdata/x.bin", "pkg/locale/de.po", "src/other/y.txt", "docs/z.txt", "LICENSE", ".env/x"]
    found = recordings(read, (), {*read, "pkg/__init__.py", "tests/test_a.py"}, TESTS, KNOWN)
    assert found.patterns == ("testdata/**",)
    assert set(found.left) == set(read) - {"testdata/x.bin"}
    assert all(found.left.values())


def test_tests_inside_a_package_keep_their_data() -> None:
    read = ["pkg/tests/golden/x.json"]
    assert patterns(read, ["pkg/__init__.py", "pkg/tests/__init__.py", "pkg/tests/test_a.py"]) == (
        "pkg/tests/golden/**",
    )


def test_what_tests_write_is_no_recording() -> None:
    found = recordings(["tests/log/x.txt"], {"tests/log/x.txt"}, {"tests/log/x.txt"}, TESTS, KNOWN)
    assert (found.patterns, found.left) == ((), {"tests/log/x.txt": "tests write it"})


def test_names_are_literal_in_a_pattern() -> None:
    name = "tests/a[1] !#*/x.json"
    (pattern,) = patterns([name], ["tests/test_a.py"])
    assert Matcher([pattern]).matches(name)
    assert not Matcher([pattern]).matches("tests/a1 !#b/x.json")


def test_a_name_that_no_policy_can_hold_is_left() -> None:
    read = ["tests/x\udcff/y.json", "tests/x\ny/z.json"]
    found = recordings(read, (), {*read, "tests/test_a.py"}, TESTS, KNOWN)
    assert found.patterns == ()
    assert set(found.left) == set(read)


def test_candidates_are_neither_code_nor_configuration() -> None:
    paths = ["a.py", "pytest.ini", "README.md", "pyproject.toml", ".gitignore", "x.sha256", "conftest.py"]
    assert candidates([*paths, "tests/x.json", "pkg/data.bin"]) == ("tests/x.json", "pkg/data.bin")
