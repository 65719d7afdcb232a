"""Runs in a sandbox: the same verdicts, nothing outside in reach, and never silently none. By real bubblewrap."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from redbucket.edges import sandbox
from tests.edges.daskkit import clustered
from tests.edges.sshd import served
from tests.stories.kit import PYTEST, SHOP, Shop, assert_clear, policy, redbucket
from tests.stories.test_remote import BROKEN, SAME, verdict

REASON = sandbox.missing(network=False)
pytestmark = pytest.mark.skipif(bool(REASON), reason=f"no sandbox here: {REASON}")

BRIEF = "challenge_budget = 0\nscout = false\nreruns = 2\n"
LOOKS = """\
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

import pytest

from shop import total

OUTSIDE = os.environ["OUTSIDE"]


def test_total():
    assert total([1, 2]) == 3


def test_home_and_tmp_are_its_own():
    pathlib.Path.home().joinpath("x").write_text("x")
    pathlib.Path(tempfile.mkdtemp(), "x").write_text("x")
    pathlib.Path("/tmp/x").write_text("x")
    pathlib.Path("built.txt").write_text("again")


def test_nothing_outside_is_there_to_be_written():
    for place in (OUTSIDE, "/etc", os.path.dirname(sys.executable)):
        with pytest.raises(OSError):
            pathlib.Path(place, "written").write_text("x")


def test_loopback_is_its_own():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 5).close()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 5)


def test_no_other_process_is_seen():
    assert sum(name.isdigit() for name in os.listdir("/proc")) < 10


def test_no_capability_is_left():
    assert "CapEff:\\t0000000000000000" in pathlib.Path("/proc/self/status").read_text()


def test_a_signal_is_a_signal():
    assert subprocess.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]).returncode == -9
"""


@pytest.fixture
def port() -> Iterator[int]:
    """Somebody on this machine's loopback who must not be spoken to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_what_a_run_can_not_do(tmp_path: Path, port: int) -> None:
    """And what it can; its build, too."""
    outside = tmp_path / "outside"
    outside.mkdir()
    build = (
        "import os, pathlib\\npathlib.Path('built.txt').write_text('x')\\n"
        "try:\\n    pathlib.Path(os.environ['OUTSIDE'], 'built').write_text('x')\\nexcept OSError:\\n    pass"
    )
    rules = (
        policy(PYTEST)
        + BRIEF
        + (
            f'sandbox = "require"\nprepare = [["python", "-c", "{build}"]]\n'
            f'env = {{ OUTSIDE = "{outside}", PORT = "{port}" }}\n'
        )
    )
    shop = Shop.open(tmp_path, {"tests/test_shop.py": LOOKS}, rules=rules)
    shop.patch({"shop.py": SAME})
    told = shop.gate()
    assert set(told.buckets().values()) == {"stable_pass"}, told.out
    assert len(told.buckets()) == 7
    assert told.exit_code == 0
    assert list(outside.iterdir()) == []
    (note,) = told.report["notes"][:1]
    assert note["code"] == "sandbox"
    assert "read-only root" in note["reason"]


def test_the_network_can_be_left(tmp_path: Path, port: int) -> None:
    tests = (
        "import os, socket\n\nfrom shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
        "    socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 5).close()\n"
    )
    rules = policy(PYTEST) + BRIEF + f'sandbox = "require"\nnetwork = true\nenv = {{ PORT = "{port}" }}\n'
    shop = Shop.open(tmp_path, {"tests/test_shop.py": tests}, rules=rules)
    shop.patch({"shop.py": SAME})
    told = shop.gate()
    assert told.buckets() == {"test_total": "stable_pass"}, told.out


CRASHES = """\
import os
import signal
import time
import unittest

from shop import label, total


class CrashTests(unittest.TestCase):
    def test_crash(self):
        if total([5]) == 1:
            os.kill(os.getpid(), signal.SIGSEGV)

    def test_hang(self):
        if total([5]) == 1:
            time.sleep(60)

    def test_label(self):
        self.assertEqual(label(3), "3.00 EUR")
"""


@pytest.mark.slow
def test_the_verdict_is_that_without(tmp_path: Path) -> None:
    """A crash, a hang and a miss are what they are."""
    told = []
    for mode in ("off", "require"):
        rules = policy(timeout=3) + f'challenge_budget = 0\nsandbox = "{mode}"\n'
        shop = Shop.open(tmp_path, {"tests/test_crash.py": CRASHES}, rules=rules, name=mode)
        shop.patch({"shop.py": BROKEN})
        told.append(verdict(shop.gate()))
    for said in told:
        said.pop("merge_tree"), said.pop("seed")  # the policy is in the tree
    assert told[0] == told[1]
    for outcome in ("crashed", "timeout"):
        assert outcome in str(told[0])


def test_never_silently_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "git").symlink_to(next(p for p in _on_path("git")))
    monkeypatch.setenv("PATH", f"{bare}:{Path(sys.executable).parent}")
    shop = Shop.open(tmp_path, rules=policy() + BRIEF + 'sandbox = "require"\n')
    shop.patch({"shop.py": SAME})
    assert_clear(shop.refused("--base", "main", "--head", "agent/fix"), 4, "no-sandbox")
    assert_clear(redbucket("rerun", "-C", shop.path, "-n", "1"), 4, "no-sandbox")
    shop = Shop.open(tmp_path, rules=policy() + BRIEF + 'sandbox = "auto"\n', name="auto")
    shop.patch({"shop.py": SAME})
    assert "had no sandbox" in redbucket("rerun", "-C", shop.path, "-n", "1").err
    told = shop.gate()
    assert told.exit_code == 0
    assert "bubblewrap (bwrap) is not installed" in next(
        note["reason"] for note in told.report["notes"] if note["code"] == "sandbox"
    )


def _on_path(name: str) -> Iterator[Path]:
    for folder in os.environ["PATH"].split(os.pathsep):
        if (Path(folder) / name).exists():
            yield Path(folder) / name


@pytest.mark.slow
def test_over_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox is where the run is."""
    writes = SHOP.replace(
        "return sum", "open(__import__('os').environ['OUTSIDE'], 'w').close()\n    return sum"
    )
    outside = tmp_path / "outside"
    with served(tmp_path / "sshd") as sshd:
        monkeypatch.setenv("REDBUCKET_SSH", sshd.ssh)
        for mode in ("require", "off"):
            runner = sshd.address(tmp_path / "far", f"python={sys.executable}")
            rules = (
                policy()
                + BRIEF
                + f'sandbox = "{mode}"\nrunner = "{runner}"\nenv = {{ OUTSIDE = "{outside}" }}\n'
            )
            shop = Shop.open(tmp_path, rules=rules, name=mode)
            shop.patch({"shop.py": writes})
            assert shop.gate().exit_code == 0  # what it writes is gone with the sandbox
            assert outside.exists() == (mode == "off")


HAD = "each run had a read-only root"
STATE = {
    "shop.py": f"CART = []\n\n\n{SHOP}",
    "tests/test_shop.py": "import shop\n\n\ndef test_add():\n    shop.CART.append(shop.total([1, 2]))\n"
    "    assert shop.CART[0] == 3\n\n\ndef test_empty():\n    assert not shop.CART\n",
}


@pytest.mark.slow
def test_on_a_dask_cluster(tmp_path: Path, port: int) -> None:
    """The code under test sees neither the worker's machine nor its scheduler; who has none says so."""
    outside = tmp_path / "outside"
    outside.mkdir()
    bare = tmp_path / "bare"  # all that is on PATH but bubblewrap
    bare.mkdir()
    for folder in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(folder).iterdir() if Path(folder).is_dir() else ():
            if program.name != "bwrap":
                (bare / program.name).unlink(missing_ok=True)
                (bare / program.name).symlink_to(program)
    with clustered(tmp_path / "dask", 1) as dask:
        runner = dask.address(str(tmp_path / "far"), f"python={sys.executable}")
        rules = policy(PYTEST) + BRIEF + f'sandbox = "require"\nrunner = "{runner}"\n'
        rules += f'env = {{ OUTSIDE = "{outside}", PORT = "{dask.host.rpartition(":")[2]}" }}\n'
        shop = Shop.open(tmp_path, {"tests/test_shop.py": LOOKS}, rules=rules)
        shop.patch({"shop.py": SAME})
        told = shop.gate()
        assert (told.exit_code, set(told.buckets().values())) == (0, {"stable_pass"}), told.out
        assert "sandbox" in [note["code"] for note in told.report["notes"]]
        dask.add(PATH=str(bare))
        ended = shop.refused("--base", "main", "--head", "agent/fix")
        assert ended.errors in (
            ["workers-differ"],
            ["no-sandbox"],
        )  # as the first that is asked has one, or not
        assert "bubblewrap" in ended.err
        dask.kill(0)
        assert_clear(shop.refused("--base", "main", "--head", "agent/fix"), 4, "no-sandbox")
    assert not list(outside.iterdir())
    assert not (tmp_path / "far").exists()


@pytest.mark.slow
def test_explain_and_replay_say_how_they_ran(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, STATE, rules=policy(PYTEST) + f'{BRIEF}sandbox = "require"\n')
    captures = tmp_path / "captures"
    words = ("tests/test_shop.py::test_empty", "-C", shop.path, "--budget", "240", "--captures", captures)
    assert HAD in redbucket("explain", *words).out
    (capture,) = captures.iterdir()
    assert HAD in redbucket("replay", capture, "-C", shop.path, "-n", "3", "--no-shrink").out


@pytest.mark.parametrize("mode", ["off", "require"])
def test_what_looks_at_tests_says_how_they_ran(tmp_path: Path, mode: str) -> None:
    shop = Shop.open(tmp_path, STATE, rules=policy(PYTEST) + f'{BRIEF}sandbox = "{mode}"\n')
    shop.patch({"shop.py": STATE["shop.py"].replace("sum(prices)", "sum(prices) or 1")})
    told = redbucket("oracle", "--mutants", "1", "-C", shop.path, "--base", "main", "--head", "agent/fix")
    assert (HAD in told.out) is (mode == "require"), told


@pytest.mark.parametrize("mode", ["off", "auto", "require"])
def test_the_doctor_tries_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    shop = Shop.open(tmp_path, rules=policy() + f'sandbox = "{mode}"\n')

    def checks() -> dict[str, dict[str, str]]:
        out = redbucket("doctor", "-C", shop.path, "--format", "json").out
        return {check["check"]: check for check in json.loads(out)["checks"]}

    found = checks()["sandbox"]
    assert (found["state"], "bubblewrap is there and starts" in found["detail"]) == ("ok", True)
    monkeypatch.setattr(sandbox, "missing", lambda *, network: "bubblewrap (bwrap) is not installed")
    found = checks()["sandbox"]
    assert found["state"] == {"off": "ok", "auto": "warn", "require": "fail"}[mode]
    assert "is not installed" in found["detail"]
    assert ("docs/sandbox.md" in found["remedy"]) is (mode != "off")
