"""Options and plugins that would spoil a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorder.envs import venv
from tests.recorder.runkit import record

THREE = "def test_a(): assert 0\ndef test_b(): assert 0\ndef test_c(): pass\n"
PLUGINS = (
    "pytest",
    "pytest-xdist",
    "pytest-randomly",
    "pytest-rerunfailures",
    "pytest-cov",
    "pytest-asyncio",
    "pytest-timeout",
    "hypothesis",
    "numpy",
    "pytest-random-order",
)


@pytest.mark.parametrize("addopts", ["-x --lf --ff", "--maxfail=1 --sw", "--collect-only --setup-plan"])
def test_addopts(tmp_path: Path, addopts: str) -> None:
    r = record(tmp_path, {"pytest.ini": f"[pytest]\naddopts = {addopts}\n", "test_a.py": THREE})
    assert list(r.outcomes.values()) == ["failed", "failed", "passed"]
    assert r.footer["complete"]
    assert not r.of("restart")


@pytest.mark.parametrize("addopts", ["", "--full-trace", "--tb=long"])
def test_no_time_goes_into_tracebacks(tmp_path: Path, addopts: str) -> None:
    """pytest's own style walks the whole syntax tree of a file for each entry; a deep one takes seconds."""
    files = {
        "pytest.ini": f"[pytest]\naddopts = {addopts}\n",
        "conftest.py": """
import ast, pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call, walk=ast.walk):
    walked = []
    ast.walk = lambda node: walked.append(node) or walk(node)
    yield
    ast.walk = walk
    item.config.walked = getattr(item.config, "walked", 0) + len(walked)
""",
        "test_a.py": "def deep(n):\n    assert n\n    deep(n - 1)\n\ndef test_a():\n    deep(30)\n\n"
        "def test_b(pytestconfig):\n    assert pytestconfig.walked == 0\n",
    }
    r = record(tmp_path, files)
    assert list(r.outcomes.values()) == ["failed", "passed"]
    assert r.footer["complete"], r.footer["reason"]
    assert "assert 0" in r.of("end")[0]["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "addopts",
    [
        "-n 2 --dist loadfile",
        "-d --tx 2*popen",
        "--cov=pkg --cov-fail-under=100",
        "--reruns 3 -p randomly",
        "--random-order --random-order-seed=3",
        "--timeout=1 --timeout-method=thread",
    ],
)
def test_plugins(tmp_path: Path, addopts: str) -> None:
    files = {
        "pytest.ini": f"[pytest]\naddopts = {addopts}\nasyncio_mode = auto\n",
        "pkg/__init__.py": "def f(x):\n    return x\n",
        "test_a.py": THREE
        + """
import pytest, random, asyncio, os
from pkg import f

FIRST = not os.path.exists("seen")

@pytest.mark.flaky(reruns=2)
def test_retried():
    seen = os.path.exists("seen")
    open("seen", "w").close()
    assert seen

async def test_async():
    await asyncio.sleep(0)
    assert f(1) == 1

@pytest.fixture
async def agen():
    yield 3

async def test_agen(agen):
    assert agen == 3

def test_random(): open("drawn", "a").write(repr(random.random()) + "\\n")
def test_random_again(): open("drawn", "a").write(repr(random.random()) + "\\n")
def test_timeout():
    if "timeout" in os.environ.get("MODE", ""):
        import time; time.sleep(30)
""",
    }
    env = {"MODE": "timeout"} if "timeout" in addopts else {}
    python = venv("3.11", *PLUGINS)
    r = record(tmp_path / "one", files, python=python, env=env)
    assert r.footer["complete"], r.footer
    outcomes = {k.partition("::")[2]: v for k, v in r.outcomes.items()}
    assert list(outcomes) == [
        "test_a",
        "test_b",
        "test_c",
        "test_retried",
        "test_async",
        "test_agen",
        "test_random",
        "test_random_again",
        "test_timeout",
    ]
    assert outcomes["test_a"] == "failed"
    assert outcomes["test_c"] == outcomes["test_async"] == outcomes["test_agen"] == "passed"
    assert r.end("test_retried")["attempts"][0] == "failed"
    assert outcomes["test_retried"] == "failed"
    assert outcomes["test_timeout"] == ("failed" if env else "passed")
    assert not r.of("restart")
    drawn = (r.folder / "H-plain-1" / "tree" / "drawn").read_text().split()
    assert len(set(drawn)) == 2
    assert "random" in r.end("test_random")["entropy"]
    assert "random" not in r.end("test_c").get("entropy", [])
    if "randomly" in addopts:
        again = record(tmp_path / "two", files, python=python, env=env)
        assert (again.folder / "H-plain-1" / "tree" / "drawn").read_text().split() == drawn
        assert "pytest-randomly" in r.footer["pinned"]
    if "cov" in addopts:
        assert not (r.folder / "H-plain-1" / "tree" / ".coverage").exists()


@pytest.mark.slow
def test_retries_of_other_plugins(tmp_path: Path) -> None:
    python = venv("3.10", "pytest<9", "pytest-subtests", "flaky", "pytest-forked")
    r = record(
        tmp_path,
        {
            "test_a.py": """
    import os, unittest, pytest
    from flaky import flaky

    @flaky(max_runs=3)
    def test_flaky():
        seen = os.path.exists("seen")
        open("seen", "w").close()
        assert seen

    def test_subtests(subtests):
        for i in range(3):
            with subtests.test(i=i): assert i != 1

    def test_subtests_fine(subtests):
        for i in range(3):
            with subtests.test(i=i): pass

    class U(unittest.TestCase):
        def test_sub(self):
            for i in range(3):
                with self.subTest(i=i): assert i != 1

    @pytest.mark.forked
    def test_forked(): os._exit(1)
    def test_last(): pass
    """
        },
        python=python,
    )
    assert r.footer["complete"], r.footer
    assert r.outcomes["test_a.py::test_flaky"] == "failed"
    assert r.end("test_flaky")["attempts"] == ["failed", "passed"]
    assert r.outcomes["test_a.py::test_subtests"] == "failed"
    assert r.outcomes["test_a.py::test_subtests_fine"] == "passed"
    assert r.outcomes["test_a.py::U::test_sub"] == "failed"
    assert r.outcomes["test_a.py::test_forked"] in ("failed", "error", "crashed")
    assert r.outcomes["test_a.py::test_last"] == "passed"
    assert "attempts" not in r.end("test_subtests")


def test_names(tmp_path: Path) -> None:
    """Ids that repeat, hold addresses, spaces, newlines, bytes, or look like our own numbering."""
    files = {
        "test_n.py": """
    import pytest

    class P:
        pass

    @pytest.mark.parametrize("x", [P(), P(), "a b", "new\\nline", "\\udc80", "\\x00", b"\\xff", "", "ü", "#2",
                                   "x" * 3000])
    def test_p(x): pass

    @pytest.mark.parametrize("x", [1, 2, 3, 4], ids=["same", "same", "other", "same#2"])
    def test_same(x): pass

    @pytest.mark.parametrize("x", [P(), P()], ids=repr)
    def test_address(x): pass
    """
    }
    one, two = (record(tmp_path / n, files) for n in "ab")
    assert one.footer["complete"]
    assert one.collected == two.collected
    assert len(set(one.collected)) == len(one.collected) == 17
    assert list(one.outcomes) == one.collected
    assert [n for n in one.collected if "0x…" in n] == [
        "test_n.py::test_address[<test_n.P object at 0x…>]",
        "test_n.py::test_address[<test_n.P object at 0x…>]#2",
    ]


def test_ids_repeat_in_custom_items(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "conftest.py": """
    import pytest
    def pytest_collect_file(parent, file_path):
        if file_path.suffix == ".txt":
            return F.from_parent(parent, path=file_path)
    class F(pytest.File):
        def collect(self):
            for name in ("a", "a", "a#2", "a", "\\udcff", "x\\ny"):
                yield I.from_parent(self, name=name)
    class I(pytest.Item):
        def runtest(self): pass
    """,
            "t.txt": "",
        },
    )
    assert r.footer["complete"]
    names = [n.partition("::")[2] for n in r.collected]
    assert len(set(names)) == 6
    assert names[:4] == ["a", "a#2", "a#2#2", "a#3"]
    assert names[4] == "\\udcff"
    assert set(r.outcomes.values()) == {"passed"}


def test_order_and_selection(tmp_path: Path) -> None:
    files = {"test_a.py": "".join(f"def test_{c}(): pass\n" for c in "abcdef")}
    ids = [f"test_a.py::test_{c}" for c in "abcdef"]

    def run(name: str, **spec: object) -> list[str]:
        r = record(tmp_path / name, files, **spec)
        assert r.footer["complete"], r.footer
        assert r.collected == list(r.outcomes) or spec.get("collect_only")
        return r.collected

    assert run("natural") == ids
    assert run("reversed", order="reversed") == ids[::-1]
    assert run("given", order="given", only=(ids[4], ids[1])) == [ids[4], ids[1]]
    assert run("only", only=(ids[4], ids[1])) == [ids[1], ids[4]]
    shuffled = run("shuffled", order="shuffled", shuffle="3")
    assert sorted(shuffled) == ids != shuffled
    assert run("again", order="shuffled", shuffle="3") == shuffled
    assert run("other", order="shuffled", shuffle="4") != shuffled
    collected = record(tmp_path / "collect", files, collect_only=True)
    assert collected.collected == ids
    assert not collected.of("start")
    assert collected.footer["complete"]


def test_a_crash_keeps_order_and_index(tmp_path: Path) -> None:
    files = {
        "test_a.py": "import os\n"
        + "".join(f"def test_{c}(): {'os._exit(1)' if c in 'be' else 'pass'}\n" for c in "abcdef")
    }
    r = record(tmp_path, files, order="shuffled", shuffle="3")
    assert list(r.outcomes) == r.collected
    assert [e.get("index", 0) for e in r.of("end")] == list(range(6))
    assert r.footer["counts"] == {"passed": 4, "crashed": 2}
