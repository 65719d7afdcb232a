"""An agent's change of base's tests: refused, warned of, or a note."""

from __future__ import annotations

import pytest

from redbucket.guards import altered_test, untrusted_test, weakened_test
from tests.guards.contexts import SIDE, context, refused, severities

TEST = "tests/test_a.py"
BASE = {
    "src/lib.py": 'def f(x):\n    """Add.\n\n    >>> f(1)\n    2\n    """\n    return x + 1\n',
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef db():\n    return {}\n",
    "tests/helpers.py": "def check(x):\n    assert x == 2\n",
    "tests/bases.py": "class Base:\n    def test_base(self):\n        assert self.make() == 1\n",
    TEST: (
        "from lib import f\nfrom tests.bases import Base\nfrom tests.helpers import check\n\n"
        "def test_f(db):\n    assert f(1) == 2\n\ndef test_check():\n    check(f(1))\n\n"
        "class TestSub(Base):\n    def make(self):\n        return 1\n"
    ),
    "tests/sub/test_c.py": "def test_c(db):\n    assert db == {}\n",
    "tests/data/rows.json": "[]",
    "tests/README.md": "How to test\n",
}
ATTACKS: dict[str, dict[str, str | None]] = {
    "loosened": {TEST: BASE[TEST].replace("== 2", ">= 0")},
    "skipped": {TEST: "import pytest\n" + BASE[TEST].replace("def test_f", "@pytest.mark.skip\ndef test_f")},
    "deleted file": {TEST: None},
    "moved away": {TEST: None, "tests/old_a.py": BASE[TEST]},
    "deleted test": {TEST: BASE[TEST].replace("def test_check():\n    check(f(1))\n", "")},
    "helper emptied": {"tests/helpers.py": "def check(x):\n    pass\n"},
    "helper shadowed": {TEST: BASE[TEST] + "\ndef check(x):\n    pass\n"},
    "base emptied": {"tests/bases.py": "class Base:\n    pass\n"},
    "inherited test overridden": {TEST: BASE[TEST] + "\n    def test_base(self):\n        pass\n"},
    "fixture changed": {"tests/conftest.py": BASE["tests/conftest.py"].replace("{}", "{1: 2}")},
    "autouse fixture": {
        "tests/conftest.py": BASE["tests/conftest.py"]
        + "\n@pytest.fixture(autouse=True)\ndef q():\n    pass\n"
    },
    "new conftest below": {"tests/sub/conftest.py": "def pytest_runtest_makereport(item, call): ...\n"},
    "new conftest in capitals": {"tests/sub/CONFTEST.PY": "def pytest_runtest_makereport(item, call): ...\n"},
    "new Conftest with an autouse fixture": {
        "tests/sub/Conftest.py": "import pytest\n\n@pytest.fixture(autouse=True)\ndef q(): ...\n"
    },
    "fixture hidden below": {"tests/sub/conftest.py": BASE["tests/conftest.py"]},
    "known fixture hidden below": {
        "tests/sub/conftest.py": "import pytest\n\n@pytest.fixture\ndef client(): ...\n"
    },
    "patch at import of a new test": {"tests/test_0.py": "import lib\nlib.f = lambda x: 2\n"},
    "unparsable": {TEST: "def test_f(:\n"},
}
HONEST: dict[str, dict[str, str | None]] = {
    "new file": {"tests/test_b.py": "from lib import f\ndef test_b():\n    assert f(2) == 3\n"},
    "new test": {TEST: BASE[TEST] + "\ndef test_new():\n    assert f(2) == 3\n"},
    "reformatted": {TEST: BASE[TEST].replace("\n\n", "\n\n\n# note\n")},
    "product only": {"src/lib.py": BASE["src/lib.py"].replace("x + 1", "1 + x")},
    "product docstring": {"src/lib.py": BASE["src/lib.py"].replace("Add.", "Adds.")},
    "new fixture": {
        "tests/conftest.py": BASE["tests/conftest.py"] + "\n@pytest.fixture\ndef q():\n    return 1\n"
    },
    "new helper": {"tests/helpers.py": BASE["tests/helpers.py"] + "\ndef other(x):\n    assert x\n"},
    "new conftest": {"tests/sub/conftest.py": "import pytest\n\n@pytest.fixture\ndef q():\n    return 1\n"},
    "fixtures of known names in a new folder": {
        "tests/web/conftest.py": BASE["tests/conftest.py"]
        + "\n@pytest.fixture\ndef client():\n    return 1\n",
        "tests/web/test_w.py": "def test_w(client, db):\n    assert client == 1\n",
    },
    "docs": {"tests/README.md": "How to test well\n"},
    "assertion": {TEST: BASE[TEST].replace("f(1) == 2\n", "f(1) == 2\n    assert f(2) == 3\n")},
    "product doctest, not run": {"src/lib.py": BASE["src/lib.py"].replace("    2\n", "    3\n")},
}


@pytest.mark.parametrize("edits", ATTACKS.values(), ids=ATTACKS)
def test_attacks_are_refused(edits: dict[str, str | None]) -> None:
    findings = altered_test.check(context(BASE, edits), SIDE)
    assert refused(findings)
    for finding in findings:
        assert finding.rule == "altered-test"
        if finding.severity.value == "refuse":
            assert f"redbucket endorse {finding.path}" in finding.remedy
            assert "base's bytes" in finding.remedy
    warned = altered_test.check(context(BASE, edits, altered_tests="warn"), SIDE)
    assert "warn" in severities(warned)
    assert not refused(warned)


@pytest.mark.parametrize("edits", HONEST.values(), ids=HONEST)
def test_honest_patches_pass(edits: dict[str, str | None]) -> None:
    assert severities(altered_test.check(context(BASE, edits), SIDE)) <= {"note"}
    assert severities(weakened_test.check(context(BASE, edits), SIDE)) <= {"note"}


@pytest.mark.parametrize("edits", [*ATTACKS.values(), *HONEST.values()])
def test_people_may(edits: dict[str, str | None]) -> None:
    made = context(BASE, edits, agent=False)
    for guard in (altered_test, weakened_test, untrusted_test):
        assert guard.check(made, SIDE) == []


def test_doctests_count_where_base_runs_them() -> None:
    base = {**BASE, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"}
    edits = {"src/lib.py": BASE["src/lib.py"].replace("    2\n", "    3\n")}
    assert refused(altered_test.check(context(base, edits), SIDE))
    assert refused(altered_test.check(context(base, {"src/lib.py": None}), SIDE))


def test_a_product_file_is_not_thrown_back_for_its_doctests() -> None:
    base = {**BASE, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"}
    changed = {"src/lib.py": BASE["src/lib.py"].replace("    2\n", "    3\n").replace("x + 1", "x + 2")}
    (found,) = altered_test.check(context(base, changed), SIDE)
    assert "git checkout" not in found.remedy
    assert found.remedy.startswith("put its doctests back as they are in base")
    unread = {"src/lib.py": BASE["src/lib.py"].replace("return x + 1", "return (x + 1")}
    (found,) = altered_test.check(context(base, unread), SIDE)
    assert (found.line, found.remedy.partition(",")[0]) == (7, "mend it")
    assert "can't be read as Python any more" in found.reason
    assert "'(' was never closed" in found.reason or "EOF" in found.reason


@pytest.mark.parametrize(
    ("name", "config", "counts"),
    [
        ("pytest.ini", "[pytest]\naddopts = -q --doctest-glob=README.md\n", True),
        ("pytest.ini", "[pytest]\naddopts = --doctest-glob '*.md'\n", True),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = ['--doctest-glob', 'doc/*.md']\n", False),
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\naddopts = "--doctest-glob=*.rst --doctest-glob=*.md"\n',
            True,
        ),
        ("pytest.ini", "[pytest]\naddopts = --doctest-modules\n", False),
    ],
)
@pytest.mark.parametrize("edit", ["wanted", "skipped"])
def test_doctests_of_texts_count_where_base_names_them(
    name: str, config: str, counts: bool, edit: str
) -> None:
    text = "# lib\n\n>>> f(1)\n2\n"
    base = {**BASE, name: config, "README.md": text}
    new = text.replace("2", "3") if edit == "wanted" else text.replace("f(1)", "f(1)  # doctest: +SKIP")
    assert bool(refused(altered_test.check(context(base, {"README.md": new}), SIDE))) is counts
    prose = {"README.md": f"{text}\nMore of it.\n"}
    assert not refused(altered_test.check(context(base, prose), SIDE))


def test_weakenings_are_named_with_their_place() -> None:
    (finding,) = weakened_test.check(context(BASE, ATTACKS["loosened"]), SIDE)
    assert (finding.rule, finding.severity.value) == ("weakened-test", "warn")
    assert finding.nodeid == "tests/test_a.py::test_f"
    assert finding.line == 6
    assert "turns `==` into `>=`" in finding.reason


def test_untrusted_tests_are_listed_by_node_id() -> None:
    findings = untrusted_test.check(context(BASE, ATTACKS["helper emptied"]), SIDE)
    assert [finding.nodeid for finding in findings] == ["tests/test_a.py::test_check"]
    assert severities(findings) == {"note"}
    assert "check in tests/helpers.py" in findings[0].reason


def test_untrusted_whole_file() -> None:
    (finding,) = untrusted_test.check(context(BASE, ATTACKS["unparsable"]), SIDE)
    assert (finding.path, finding.nodeid) == (TEST, None)
