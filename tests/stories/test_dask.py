"""Runs on the workers of a real dask cluster: the same verdict, nothing left behind, no green by a loss."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import redbucket as package
from tests.edges.daskkit import Dask, clustered
from tests.stories.kit import SHOP, Shop, Told, assert_clear, policy, redbucket, started, until
from tests.stories.test_remote import BROKEN, FILES, PATCHES, SAME, slow_shop, verdict

BRIEF = "challenge_budget = 0\nscout = false\nreruns = 2\n"


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    with clustered(tmp_path_factory.mktemp("cluster") / "dask", 2) as dask:
        yield dask


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Dask]:
    """A cluster whose processes may be killed."""
    with clustered(tmp_path / "dask", 2) as dask:
        yield dask


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on the workers that does not exist, and must not exist afterwards."""
    folder = tmp_path / "far side/runs"
    yield folder
    until(lambda: not folder.parent.exists(), f"nothing is left in {folder}", 60)


def at(dask: Dask, folder: Path) -> str:
    return dask.address(str(folder).replace(" ", "%20"), f"python={sys.executable}")


def gate(shop: Shop, where: str, head: str = "agent/fix") -> tuple[str | Path, ...]:
    return ("gate", "-C", shop.path, "--base", "main", "--head", head, "--runner", where)


@pytest.mark.parametrize(
    "kind", ["miss", *(pytest.param(k, marks=pytest.mark.slow) for k in ("green", "drift"))]
)
def test_the_verdict_is_that_of_this_machine(tmp_path: Path, standing: Dask, folder: Path, kind: str) -> None:
    files, code = PATCHES[kind]
    shop = Shop.open(
        tmp_path, FILES, rules=policy() + f'challenge_budget = 0\nrunner = "{at(standing, folder)}"\n'
    )
    shop.patch(files)
    there, here = shop.gate(), shop.gate("agent/fix", "--runner", "local")
    assert verdict(there) == verdict(here)
    assert there.exit_code == code
    assert there.report["notes"] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", PATCHES)
def test_shards_on_several_workers(tmp_path: Path, standing: Dask, folder: Path, kind: str) -> None:
    """The verdict is that of a whole suite on this machine, and the report says how it was split."""
    files, code = PATCHES[kind]
    shop = Shop.open(tmp_path, FILES, rules=policy() + "challenge_budget = 0\n")
    shop.patch(files)
    there = shop.gate("agent/fix", "--runner", at(standing, folder), "--shards", "2")
    here = shop.gate("agent/fix", "--runner", "local")
    assert verdict(there) == verdict(here)
    assert (there.exit_code, there.report["shards"]) == (code, 2)
    assert [note["code"] for note in there.report["notes"]] == ["shards"]


@pytest.mark.parametrize(
    ("source", "code"), [pytest.param(BROKEN, 1, marks=pytest.mark.slow), (SAME, 0)], ids=["miss", "green"]
)
def test_a_worker_that_is_killed_with_a_shard(
    tmp_path: Path, own: Dask, folder: Path, source: str, code: int
) -> None:
    """The shard is made again on another worker, whole; the others' count as they are."""
    more = {
        "tests/test_data.py": FILES["tests/test_data.py"],
        "tests/data/x.json": FILES["tests/data/x.json"],
    }
    shop, mark = slow_shop(tmp_path, "shards = 2\n", source=source, files=more)
    told = lost_in_the_middle(shop, own, folder, mark, threading.Event())
    assert (told.exit_code, told.report["shards"]) == (code, 2), told.out
    names = [row["nodeid"].rpartition(".")[2] for row in told.report["tests"]]
    assert sorted(names) == ["test_a_mark", "test_recorded", "test_slow", "test_z_last"]
    assert all(len(row["outcomes"]["H"]) == 2 for row in told.report["tests"])
    assert {"connection-broke", "shards"} <= {note["code"] for note in told.report["notes"]}


def lost_in_the_middle(shop: Shop, own: Dask, folder: Path, mark: Path, lose: threading.Event) -> Told:
    """Judge the patch; one worker, whichever runs a test, is killed once ``mark`` is there."""

    def kill() -> None:
        until(mark.exists, "a test has begun", 120)
        own.kill(0)
        lose.set()

    knife = threading.Thread(target=kill)
    knife.start()
    told = shop.gate("agent/fix", "--runner", at(own, folder))
    knife.join()
    return told


@pytest.mark.slow  # with a shard it is the same, and more
@pytest.mark.parametrize(("source", "code"), [(BROKEN, 1), (SAME, 0)], ids=["miss", "green"])
def test_a_worker_that_is_killed(tmp_path: Path, own: Dask, folder: Path, source: str, code: int) -> None:
    """Its run is made again on another: no test is lost, none counts twice, and the loss is said."""
    shop, mark = slow_shop(tmp_path, source=source)
    killed = threading.Event()
    told = lost_in_the_middle(shop, own, folder, mark, killed)
    assert killed.is_set()
    assert told.exit_code == code, told.out
    names = [row["nodeid"].rpartition(".")[2] for row in told.report["tests"]]
    assert names == ["test_a_mark", "test_slow", "test_z_last"]
    assert all(len(row["outcomes"]["H"]) == 2 for row in told.report["tests"])
    assert "connection-broke" in [note["code"] for note in told.report["notes"]]


def test_the_worker_that_had_a_home_is_gone(tmp_path: Path, own: Dask, folder: Path) -> None:
    """A run that wants to be where an earlier one was is made elsewhere."""
    from redbucket.app.session import session
    from redbucket.core.daskaddress import parse_dask
    from redbucket.edges.daskcluster import Cluster
    from redbucket.edges.progress import Progress

    shop = Shop.open(tmp_path)
    with session(shop.path, Progress(quiet=True, steps=False)) as opened:
        cluster = Cluster(parse_dask(at(own, folder)), opened.cancelled, opened.scratch, opened.shipped)
        try:
            with cluster.taken("one", "", time.monotonic() + 60) as first:
                pass
            with cluster.taken("two", first.name, time.monotonic() + 60) as again:
                assert again == first
            own.add()
            for number in (0, 1):
                own.kill(number)
            until(lambda: bool(first.link.lost), "the loss is noticed", 60)
            with cluster.taken("three", first.name, time.monotonic() + 60) as other:
                assert other.name != first.name
        finally:
            cluster.close()


@pytest.mark.slow
def test_a_scheduler_that_is_killed_decides_nothing(tmp_path: Path, own: Dask) -> None:
    """Neither do workers that are all gone. What they left is cleared up by themselves, when they notice."""
    shop, mark = slow_shop(tmp_path)

    def kill() -> None:
        until(mark.exists, "a test has begun", 120)
        own.scheduler.kill()

    knife = threading.Thread(target=kill)
    knife.start()
    ended = shop.refused("--base", "main", "--head", "agent/fix", "--runner", at(own, tmp_path / "far"))
    knife.join()
    assert_clear(ended, 2, "runner-lost")


@pytest.mark.slow
def test_code_that_kills_its_worker_is_not_green(tmp_path: Path, own: Dask, folder: Path) -> None:
    """The far side, and the worker above it, so that nobody hears how the test ends."""
    evil = SAME + (
        "\n\nimport os, signal\n\n\ndef _up(pid):\n"
        "    return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])\n\n\n"
        "_pid = _up(os.getpid())\nwhile _pid > 1:\n"
        "    said = open(f'/proc/{_pid}/cmdline', 'rb').read()\n    _next = _up(_pid)\n"
        "    if b'dask_worker' in said or b'i.readline' in said:\n        os.kill(_pid, signal.SIGKILL)\n"
        "    _pid = _next\n"
    )
    for _ in range(2):
        own.add()
    shop = Shop.open(tmp_path, rules=policy() + BRIEF)
    shop.patch({"shop.py": evil})
    ended = shop.refused("--base", "main", "--head", "agent/fix", "--runner", at(own, folder))
    assert_clear(ended, 2, "runner-lost")
    # the killed ones left their folders: the next far side clears them up
    own.add()
    shop.patch({"shop.py": SAME})
    assert shop.gate("agent/fix", "--runner", at(own, folder)).exit_code == 0


@pytest.mark.slow
def test_a_failure_before_a_loss_is_not_forgotten(tmp_path: Path, own: Dask, folder: Path) -> None:
    """Wrong in the attempt that was lost, right in the next: that is noise, and not a pass."""
    once, mark = tmp_path / "once", tmp_path / "mark"
    first = f"import pathlib\n\n{SHOP}".replace(
        "    return sum(prices)",
        f"    seen = pathlib.Path({str(once)!r})\n    if len(prices) == 2 and not seen.exists():\n"
        "        seen.touch()\n        return 0\n    return sum(prices)",
    )
    tests = (
        "import os, time, unittest\n\nfrom shop import total\n\n\nclass Tests(unittest.TestCase):\n"
        "    def test_a_first(self):\n        self.assertEqual(total([1, 1]), 2)\n\n"
        "    def test_b_slow(self):\n        open(os.environ['MARK'], 'w').close()\n        time.sleep(2)\n"
    )
    own.kill(1)
    rules = policy() + BRIEF + f'env = {{ MARK = "{mark}" }}\n'
    shop = Shop.open(tmp_path, {"tests/test_shop.py": tests}, rules=rules)
    shop.patch({"shop.py": first})

    def kill() -> None:
        until(mark.exists, "a test has begun", 120)
        own.add()
        threading.Event().wait(1)  # the failure is told
        own.kill(0)

    knife = threading.Thread(target=kill)
    knife.start()
    told = shop.gate("agent/fix", "--runner", at(own, folder))
    knife.join()
    assert told.row("test_a_first")["bucket"] == "noise", told.out
    assert told.row("test_b_slow")["bucket"] == "stable_pass"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_redbucket_is_ended_in_the_middle(
    tmp_path: Path, standing: Dask, folder: Path, number: signal.Signals
) -> None:
    """The workers notice, end the tests, and take the folder away (the fixture looks); they take other runs then."""
    shop, mark = slow_shop(tmp_path)
    with started(*gate(shop, at(standing, folder))) as process:
        until(mark.exists, "a test has begun", 120)
        process.send_signal(number)
        assert process.wait(60) == (130 if number == signal.SIGINT else -number)
    assert shop.gate("agent/fix", "--runner", at(standing, folder)).exit_code == 0


def test_what_can_not_be_reached(tmp_path: Path, standing: Dask, folder: Path) -> None:
    shop = Shop.open(tmp_path, rules=policy() + BRIEF)
    shop.patch({"shop.py": SAME})
    assert_clear(redbucket(*gate(shop, "dask://127.0.0.1:1")), 4, "runner-unreachable")
    assert_clear(redbucket(*gate(shop, "dask://127.0.0.1:x")), 3, "bad-runner")
    assert_clear(redbucket(*gate(shop, standing.address("/proc/nowhere"))), 4, "not-writable")


def test_workers_that_are_not_like_the_others(tmp_path: Path, own: Dask, folder: Path) -> None:
    """Another interpreter, or another redbucket: said, and never a verdict."""
    own.kill(1)
    other = tmp_path / "bin/python3"
    other.parent.mkdir()
    other.symlink_to(Path(sys.executable).resolve())  # without the virtual environment
    own.add(PATH=f"{other.parent}{os.pathsep}{os.environ['PATH']}")
    shop = Shop.open(tmp_path, rules=policy() + BRIEF)
    shop.patch({"shop.py": SAME})
    where = own.address(str(folder).replace(" ", "%20"), "python=python3")
    assert_clear(redbucket(*gate(shop, where)), 4, "workers-differ")

    older = tmp_path / "older/redbucket"
    older.mkdir(parents=True)
    real = Path(package.__file__).parent
    (older / "__init__.py").write_text(f"__path__ = [{str(real)!r}]\n__version__ = '0.0.1'\n")
    worker = own.add(PYTHONPATH=str(older.parent))
    log = own.place / f"worker-{own.workers.index(worker)}.log"
    until(lambda: "Registered to" in log.read_text(), "it is there", 60)
    ended = redbucket(*gate(shop, where))
    assert_clear(ended, 4, "runner-version")
    assert "0.0.1" in ended.err
