"""Options and variables that rewrite expectations are taken out of a run; others stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.recorder.updates import Updates, is_update_variable, unfolded, without_updates
from tests.recorder.runkit import record


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("--snapshot-update -q", "-q"),
        ("--force-regen --regen-all tests", "tests"),
        ("--record-mode=rewrite tests", "tests"),
        ("--record-mode all tests", "tests"),
        ("--vcr-record=new_episodes", ""),
        ("--inline-snapshot=create,report", ""),
        ("--inline-snapshot fix", ""),
        ("--approvaltests-use-reporter=ReporterThatAutomaticallyApproves", ""),
        ("--update-goldens --update-snapshots --regenerate-baselines --golden-update", ""),
        ("--mpl-generate-path=baseline", ""),
    ],
)
def test_updating_options_go(words: str, kept: str) -> None:
    found, removed = without_updates(words.split())
    assert found == kept.split()
    assert sorted([*found, *removed]) == sorted(words.split())


@pytest.mark.parametrize(
    "words",
    [
        "--record-mode=none --inline-snapshot=disable --vcr-record none",
        "--snapshot-details -k update --reruns 3",
        "-- --snapshot-update",
        "tests/test_update.py::test_update --update-interval=3",
        "--inline-snapshot=report,short-report",
        "--record tests --update --snapshot-upd",  # pytest takes no beginnings of options
    ],
)
def test_others_stay(words: str) -> None:
    assert without_updates(words.split()) == (words.split(), [])


@pytest.mark.parametrize(
    "name",
    [
        *("UPDATE_GOLDEN", "update_snapshots", "INSTA_UPDATE", "VCR_RECORD_MODE", "BLESS", "SNAPSHOT_UPDATE"),
        *("MYAPP_UPDATE_GOLDENS", "REGEN", "RECORD_CASSETTES", "APPROVAL_TESTS_USE_REPORTER", "RECORD_MODE"),
    ],
)
def test_variables_count_whatever_their_value(name: str) -> None:
    assert is_update_variable(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "UPDATED",
            "DATEFORMAT",
            "PYTHONHASHSEED",
            "BLESSED_COLORS",
            "ACCEPT_EULA",
            "NO_UPDATE_NOTIFIER",
        ),
        *("RECORD_COUNT", "AUTO_UPDATE", "DISABLE_UPDATE_CHECK", "SNAPSHOT_DIR"),
    ],
)
def test_other_variables(name: str) -> None:
    assert not is_update_variable(name)


CONFTEST = """
    def pytest_addoption(parser):
        parser.addoption("--update-goldens", action="store_true")
"""
TEST = """
    import os, sys
    def test_a(request):
        assert not request.config.getoption("--update-goldens")
        assert "--update-goldens" not in sys.argv
        assert "--update-goldens" not in os.environ.get("PYTEST_ADDOPTS", "")
    def test_b():
        assert not [name for name in os.environ if "GOLDEN" in name]
        assert os.environ["KEPT"] == "1"
"""


PLACES = ["command", "pytest.ini", "pyproject.toml", "setup.cfg", "variable", "file", "file of a file"]


@pytest.mark.parametrize("where", PLACES)
def test_wherever_they_come_from(tmp_path: Path, where: str) -> None:
    ini = {
        "pytest.ini": "[pytest]\naddopts = -q --update-goldens\n",
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-q", "--update-goldens"]\n',
        "setup.cfg": "[tool:pytest]\naddopts = -q --update-goldens\n",
    }
    files = {"conftest.py": CONFTEST, "test_a.py": TEST, **({where: ini[where]} if where in ini else {})}
    env = {"KEPT": "1", "UPDATE_GOLDEN": "0"}
    if where == "variable":
        env["PYTEST_ADDOPTS"] = "-q --update-goldens"
    if where.startswith("file"):
        files.update({"args.txt": "@more.txt\n" if where == "file of a file" else "-q\n--update-goldens\n"})
        files.update({"more.txt": "--update-goldens\n"})
    more = {"command": ("--update-goldens",), "file": ("@args.txt",), "file of a file": ("@args.txt",)}
    command = ("python", "-m", "pytest", *more.get(where, ()))
    r = record(tmp_path, files, command=command, env=env)
    assert set(r.outcomes.values()) == {"passed"}, r.of("end")
    assert r.footer["dropped"] == ["--update-goldens", "UPDATE_GOLDEN"]


def test_a_file_of_options_is_obeyed_in_all_else(tmp_path: Path) -> None:
    files = {"args.txt": "-k\ntest_b\n@none.txt\n", "test_a.py": "def test_a(): pass\ndef test_b(): pass\n"}
    assert unfolded(["-q", "@none.txt", "--", "a@b"]) == ["-q", "@none.txt", "--", "a@b"]
    r = record(tmp_path, files, command=("python", "-m", "pytest", "@args.txt"))
    assert not r.outcomes  # pytest itself refuses a file that is not there
    files["args.txt"] = "-k\ntest_b\n"
    r = record(tmp_path / "again", files, command=("python", "-m", "pytest", "@args.txt"))
    assert list(r.outcomes) == ["test_a.py::test_b"] and r.footer["dropped"] == []


@pytest.mark.parametrize(
    ("flags", "dropped"),
    [
        ("fix", True),
        ("report, create", True),
        ("update,trim", True),
        ("report", False),
        ("disable", False),
        ("short-report,report", False),
    ],
)
def test_inline_snapshots_own_variable_counts_by_its_value(flags: str, dropped: bool) -> None:
    environ = {"INLINE_SNAPSHOT_DEFAULT_FLAGS": flags, "PATH": "/bin"}
    found = Updates()
    found.of_environment(environ)
    assert ("INLINE_SNAPSHOT_DEFAULT_FLAGS" not in environ) is dropped
    assert found.dropped == (["INLINE_SNAPSHOT_DEFAULT_FLAGS"] if dropped else [])


def test_unittest_has_variables_too(tmp_path: Path) -> None:
    test = """
        import os, unittest
        class T(unittest.TestCase):
            def test_a(self):
                self.assertNotIn("UPDATE_SNAPSHOTS", os.environ)
    """
    r = record(
        tmp_path,
        {"test_a.py": test},
        command=("python", "-m", "unittest"),
        env={"UPDATE_SNAPSHOTS": "1"},
    )
    assert list(r.outcomes.values()) == ["passed"]
    assert r.footer["dropped"] == ["UPDATE_SNAPSHOTS"]


def test_an_ordinary_run_drops_nothing(tmp_path: Path) -> None:
    r = record(tmp_path, {"test_a.py": "def test_a(): pass\n"}, env={"PYTEST_ADDOPTS": "-q"})
    assert r.footer["dropped"] == []
