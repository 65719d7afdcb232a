"""Other languages: what judges there, and when a report can be believed."""

from __future__ import annotations

import json
from itertools import product

import pytest

from redbucket.core.foreign_config import compose, judging_changes
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy, Run
from redbucket.core.records import Outcome
from redbucket.core.reportcheck import contradiction
from redbucket.core.shared_config import compose as compose_any
from redbucket.core.shared_config import judging_part

JUNIT = JudgeSide(Policy(run=Run(command=("npm", "test"), format="junit", report="junit.xml")))
RECORD = JudgeSide(Policy())

TESTS = (
    "src/cart.test.ts",
    "src/__tests__/cart.js",
    "pkg/calc_test.go",
    "core/src/test/java/a/FooTest.java",
    "src/FooTests.cs",
    "tests/MathTest.php",
    "spec/cart_spec.rb",
    "tests/cart.mjs",
)
CONFIG = (
    "jest.config.ts",
    "web/vitest.config.mts",
    ".npmrc",
    "pom.xml",
    "a/build.gradle.kts",
    ".config/nextest.toml",
)


@pytest.mark.parametrize("path", TESTS)
def test_tests_of_other_languages(path):
    assert JUNIT.is_judge(path)
    assert JUNIT.is_test(path)
    assert not JUNIT.is_fixture(path)


@pytest.mark.parametrize("path", CONFIG)
def test_configuration_judges_where_it_is_used(path):
    assert JUNIT.is_judge(path)
    assert JUNIT.is_protected(path)
    assert not RECORD.is_judge(path)
    assert not RECORD.is_protected(path)


@pytest.mark.parametrize(
    "path", ["src/cart.ts", "calc.go", "src/main/java/a/Foo.java", "package.json", "README.md"]
)
def test_products_are_products(path):
    assert not JUNIT.is_judge(path)
    assert not JUNIT.is_protected(path)


def test_data_among_tests_is_data():
    assert JUNIT.is_fixture("pkg/testdata/in.json")
    assert JUNIT.is_fixture("core/src/test/resources/in.xml")


PACKAGE = {
    "name": "cart",
    "version": "1.0.0",
    "scripts": {"test": "jest", "build": "tsc", "lint": "eslint ."},
    "jest": {"testMatch": ["**/*.test.js"]},
    "dependencies": {"left-pad": "^1.3.0"},
    "devDependencies": {"jest": "^30.0.0"},
}


def package(**changes):
    return json.dumps({**PACKAGE, **changes}).encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"scripts": {**PACKAGE["scripts"], "test": "true"}},
        {"scripts": {**PACKAGE["scripts"], "build": "node evil.js"}},
        {"scripts": {**PACKAGE["scripts"], "pretest": "node evil.js"}},
        {"scripts": {**PACKAGE["scripts"], "postinstall": "node evil.js"}},
        {"scripts": {}},
        {"jest": {"testMatch": []}},
        {"jest": {**PACKAGE["jest"], "setupFiles": ["./evil.js"]}},
        {"mocha": {"require": "./evil.js"}},
        {"overrides": {"expect": "file:./evil"}},
        {"resolutions": {"expect": "1.0.0"}},
        {"devDependencies": {"jest": "file:./evil"}},
        {"devDependencies": {"jest": "npm:evil@1"}},
        {"devDependencies": {"jest": "git+https://example.org/evil.git"}},
        {"devDependencies": {"jest": "somebody/evil"}},
        {"dependencies": {"left-pad": "link:../evil"}},
        {"workspaces": ["evil"]},
    ],
)
def test_what_starts_or_replaces_the_runner_judges(changes):
    assert judging_changes("package.json", package(), package(**changes))
    assert compose_any("package.json", package(), package(**changes)) == package()


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "1.0.1"},
        {"dependencies": {"left-pad": "^1.4.0", "lodash": "4.17.21"}},
        {"devDependencies": {"jest": "^30.1.0", "eslint": "^9.0.0"}},
        {"scripts": {**PACKAGE["scripts"], "format": "prettier ."}},
        {"type": "module", "exports": "./cart.js"},
    ],
)
def test_what_the_product_needs_does_not(changes):
    assert judging_changes("web/package.json", package(), package(**changes)) == []
    assert compose("web/package.json", package(), package(**changes)) == package(**changes)


@pytest.mark.parametrize(
    ("path", "old", "new", "judges"),
    [
        ("go.mod", "module a\n\ngo 1.22\n", "module a\n\ngo 1.23\n\nrequire b v1.2.3\n", False),
        ("go.mod", "module a\n", "module a\nreplace github.com/stretchr/testify => ./evil\n", True),
        ("go.mod", "module a\n", "module a\nreplace (\n\tx => ./evil // y\n)\n", True),
        ("go.mod", "module a\n", "module a\ntoolchain local\n", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\n[dependencies]\nserde='1'\n", False),
        (
            "Cargo.toml",
            "[package]\nname='a'\n",
            "[package]\nname='a'\n[dev-dependencies]\nproptest='1'\n",
            False,
        ),
        ("Cargo.toml", "[package]\nname='a'\n", "[dev-dependencies]\nproptest={path='evil'}\n", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[lib]\ntest=false\n", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[package]\nautotests=false\n", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[[test]]\nname='a'\nharness=false\n", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[patch.crates-io]\nproptest={path='evil'}\n", True),
        ("composer.json", "{}", '{"require": {"a/b": "^1"}}', False),
        ("composer.json", "{}", '{"scripts": {"test": "true"}}', True),
        ("package.json", "{}", "{", True),
        ("package.json", "{", "{ ", True),
        ("package.json", "{}", "[]", True),
    ],
)
def test_other_manifests(path, old, new, judges):
    before, after = old.encode(), new.encode()
    assert bool(judging_changes(path, before, after)) is judges
    assert compose(path, before, after) == (before if judges else after)


def test_a_manifest_that_comes_or_goes():
    assert compose("package.json", None, package()) is None
    assert compose("package.json", package(), None) == package()
    assert compose("package.json", None, b'{"name": "a"}') == b'{"name": "a"}'
    assert compose("package.json", b'{"name": "a"}', None) is None
    assert judging_part("package.json", b"{}") == {}


def test_a_report_is_held_against_the_status_of_the_command():
    """Written down once more, as a table: signal, then red without a failure."""
    statuses = (0, 1, 2, 127, 128, 130, 137, 139, -9, -11)
    for status, outcomes in product(statuses, ([], [*Outcome], ["passed"], ["skipped"])):
        seen = [Outcome(o) for o in outcomes]
        red = bool(
            set(seen) & {Outcome.FAILED, Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.XPASSED}
        )
        signalled = status in (130, 137, 139, -9, -11)
        doubtful = signalled or (status != 0 and not red)
        assert bool(contradiction(status, seen)) is doubtful, (status, seen)
    assert "SIGKILL" in contradiction(137, [Outcome.FAILED])
    assert "SIGKILL" in contradiction(-9, [])
    assert "exit status 3" in contradiction(3, [Outcome.PASSED])
