"""Runs at the end of a connection, on a real sshd: the same verdict, nothing left behind, no green by a break."""

from __future__ import annotations

import json
import os
import pwd
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sshd import Sshd, served
from tests.gitkit import Content
from tests.stories.kit import (
    PYTEST,
    SHOP,
    Shop,
    Told,
    assert_clear,
    policy,
    redbucket,
    started,
    until,
)

BROKEN = SHOP.replace("sum(prices)", "len(prices)")
SAME = SHOP.replace("sum(prices)", "sum(list(prices))")
READS = """\
import json
import unittest

from shop import label


class DataTests(unittest.TestCase):
    def test_recorded(self):
        with open("tests/data/x.json") as f:
            self.assertEqual(json.load(f), label(3))
"""
FILES: Mapping[str, Content] = {"tests/test_data.py": READS, "tests/data/x.json": '"3.00 EUR"'}
PATCHES: Mapping[str, tuple[dict[str, Content], int]] = {
    "green": ({"shop.py": SAME}, 0),
    "miss": ({"shop.py": BROKEN}, 1),
    "drift": ({"tests/data/x.json": '"4.00 EUR"', "shop.py": SAME}, 1),
}


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with served(tmp_path_factory.mktemp("far") / "sshd") as server:
        yield server


@pytest.fixture
def far(sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a folder on the far side that does not exist, and must not exist afterwards."""
    monkeypatch.setenv("REDBUCKET_SSH", sshd.ssh)
    folder = tmp_path / "far side/runs"
    yield sshd.address(str(folder).replace(" ", "%20"), f"python={sys.executable}")
    until(lambda: not sshd.sessions(), "the connections have ended", 60)
    # a far side whose connection was cut ends its runs first
    until(lambda: not folder.parent.exists(), f"nothing is left in {folder}", 60)


def verdict(told: Told) -> dict[str, Any]:
    """What must be the same wherever the runs happen."""
    patch = ("verdict", "exit_code", "merge_tree", "seed", "reruns", "undecided", "findings", "counts")
    row = ("nodeid", "bucket", "introduced", "cause", "outcomes", "spend", "why", "fixtures")
    said = {name: told.report[name] for name in patch}
    return {**said, "rows": [{name: r[name] for name in row} for r in told.report["tests"]]}


@pytest.mark.parametrize("kind", PATCHES)
def test_the_verdict_is_that_of_this_machine(tmp_path: Path, far: str, kind: str) -> None:
    files, code = PATCHES[kind]
    shop = Shop.open(tmp_path, FILES, rules=policy() + "challenge_budget = 0\n")
    shop.patch(files)
    there, here = shop.gate("agent/fix", "--runner", far), shop.gate("agent/fix", "--runner", "local")
    assert verdict(there) == verdict(here)
    assert there.exit_code == code


@pytest.mark.slow
def test_shards_over_a_connection(tmp_path: Path, far: str) -> None:
    shop = Shop.open(tmp_path, FILES, rules=policy() + "challenge_budget = 0\nshards = 2\n")
    shop.patch({"shop.py": BROKEN})
    there, here = shop.gate("agent/fix", "--runner", far), shop.gate("agent/fix", "--shards", "1")
    assert verdict(there) == verdict(here)
    assert (there.exit_code, there.report["shards"]) == (1, 2)


def test_the_policy_names_the_runner(tmp_path: Path, far: str) -> None:
    """And the paths of tests, prepare, env and pytest are as they would be here."""
    tests = (
        "import os, pathlib\n\nfrom shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
        "    assert os.environ['COLOUR'] == 'red'\n    assert pathlib.Path('built.txt').read_text() == 'x'\n"
        "    assert 'far side' in os.getcwd()\n"
    )
    build = "[[\"python\", \"-c\", \"open('built.txt', 'w').write('x')\"]]"
    rules = policy(PYTEST) + f'runner = "{far}"\nenv = {{ COLOUR = "red" }}\nprepare = {build}\n'
    shop = Shop.open(tmp_path, {"tests/test_shop.py": tests}, rules=rules)
    shop.patch({"shop.py": SAME})
    told = shop.gate()
    assert (told.exit_code, told.buckets()) == (0, {"test_total": "stable_pass"}), told.out
    ended = redbucket("rerun", "-C", shop.path, "-n", "1", "--out", tmp_path / "runs")
    assert ended.exit_code == 0
    assert "1 passed once" in ended.err


def test_a_command_of_any_language(tmp_path: Path, far: str) -> None:
    """Its report is brought here; prepare and the command end when their time is over."""
    runner = (
        "import time, shop\ntime.sleep(shop.label(0) == 'slow' and 60)\nbad = shop.total([1, 2]) != 3\n"
        "fault = '<failure message=\"no\"/>' if bad else ''\n"
        "open('out.xml', 'w').write(f'<testsuite tests=\"1\"><testcase classname=\"c\" name=\"adds\">'\n"
        "    f'{fault}</testcase></testsuite>')\nraise SystemExit(int(bad))\n"
    )
    rules = (
        '[run]\ncommand = ["python", "runner.py"]\nformat = "junit"\nreport = "out.xml"\ntimeout = 3\n'
        f'reruns = 2\nchallenge_budget = 0\nrunner = "{far}"\n'
    )
    files: Mapping[str, Content] = {
        "runner.py": runner,
        "tests/__init__.py": None,
        "tests/test_shop.py": None,
    }
    shop = Shop.open(tmp_path, files, rules=rules)
    shop.patch({"shop.py": BROKEN.replace("len(prices)", "len(prices) + 7")})
    there, here = shop.gate(), shop.gate("agent/fix", "--runner", "local")
    assert verdict(there) == verdict(here)
    assert (there.exit_code, there.buckets()) == (1, {"adds": "invariant_miss"})
    shop.patch({"shop.py": SAME.replace('f"{price:.2f} EUR"', '"slow"')})
    late = shop.gate()
    assert (late.exit_code, set(late.problems)) == (2, {"report-incomplete"})


def test_doctor_looks_there(tmp_path: Path, far: str, sshd: Sshd) -> None:
    shop = Shop.open(tmp_path, rules=policy() + f'runner = "{far}"\n')
    said = redbucket("doctor", "-C", shop.path).out
    assert f"on {far}" in " ".join(said.split())
    broken = Shop.open(tmp_path, rules=policy() + 'runner = "ssh://far:1/x"\n', name="broken")
    assert "runner-unreachable" in redbucket("doctor", "-C", broken.path, "--format", "json").out


def test_objects_of_a_clone_are_not_sent(tmp_path: Path, far: str, sshd: Sshd) -> None:
    """The clone there has base: only what the patch brings travels."""
    from redbucket.app.session import session
    from redbucket.core.sshaddress import parse_address
    from redbucket.edges.connection import Connection
    from redbucket.edges.progress import Progress

    big = {f"data/{n}.txt": f"{n}\n" * 2000 for n in range(50)}
    shop = Shop.open(tmp_path, big)
    clone = tmp_path / "a clone"
    shop.repo.git("clone", "--quiet", "--bare", str(shop.path), str(clone))
    shop.patch({"shop.py": SAME})
    sent = {}
    for name, address in (("all", far), ("new", f"{far}&repo={clone}")):
        with session(shop.path, Progress(quiet=True, steps=False)) as opened:
            connection = Connection(parse_address(address), opened.cancelled, opened.scratch, opened.shipped)
            _, shipping = connection.get()
            for branch in ("main", "agent/fix"):
                shipping.ship(opened.scratch.tree_of(opened.repository.resolve(branch)))
            sent[name] = shipping.sent_objects
            connection.close()
    assert sent["new"] == 2  # shop.py and the tree that names it
    assert sent["all"] > 50


def test_a_folder_below_the_home_there(tmp_path: Path, sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in git's addresses: and no folder of that name at the root."""
    monkeypatch.setenv("REDBUCKET_SSH", sshd.ssh)
    tests = "import os\n\n\ndef test_where():\n    assert os.getcwd().startswith(os.environ['FAR'])\n"
    name = f"redbucket-of-{tmp_path.name}"
    home = pwd.getpwuid(os.getuid()).pw_dir
    shop = Shop.open(
        tmp_path,
        {"tests/test_shop.py": tests},
        rules=policy(PYTEST) + f'env = {{ FAR = "{home}/{name}/" }}\n',
    )
    ended = redbucket(
        *("rerun", "-C", shop.path, "-n", "1", "--out", tmp_path / "runs"),
        *("--runner", sshd.address(f"/~/{name}", f"python={sys.executable}")),
    )
    assert "1 passed once" in ended.err
    assert not Path(home, name).exists()
    assert not Path("/~").exists()


def test_what_can_not_be_reached(tmp_path: Path, sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SAME})
    gate = ("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix", "--runner")
    monkeypatch.setenv("REDBUCKET_SSH", sshd.ssh)
    for address, exit_code, error in (
        ("ssh://-oProxyCommand=touch%20owned/x", 3, "bad-runner"),
        ("ssh://far/x?shell=1", 3, "bad-runner"),
        ("telnet://far", 3, "bad-runner"),
        ("ssh://far/x?python=/no/such/python", 4, "runner-unreachable"),
        ("ssh://nobody@far/x", 4, "runner-unreachable"),
        ("ssh://far:1/x", 4, "runner-unreachable"),
        ("ssh://far/proc/nowhere", 4, "not-writable"),
    ):
        assert_clear(redbucket(*gate, address), exit_code, error)
    # what is to be done is done there
    assert "REDBUCKET_TMPDIR" not in redbucket(*gate, "ssh://far/proc/nowhere").err
    assert "/no/such/python --version" in redbucket(*gate, "ssh://far/x?python=/no/such/python").err
    monkeypatch.setenv("REDBUCKET_SSH", "no-such-ssh")
    assert_clear(redbucket(*gate, "ssh://far/x"), 4, "runner-unreachable")
    # a host key that is not the known one
    known = sshd.place / "known"
    before = known.read_text()
    known.write_text(before.replace("AAAA", "AAAB", 1))
    monkeypatch.setenv("REDBUCKET_SSH", sshd.ssh)
    try:
        assert_clear(redbucket(*gate, "ssh://far/x"), 4, "runner-unreachable")
    finally:
        known.write_text(before)


SLOW_TESTS = """\
import os
import time
import unittest

from shop import total


class SlowTests(unittest.TestCase):
    def test_a_mark(self):
        open(os.environ["MARK"], "w").close()

    def test_slow(self):
        time.sleep(1.5)
        self.assertEqual(total([1, 2, 3]), 6)

    def test_z_last(self):
        self.assertEqual(total([2]), 2)
"""


def slow_shop(
    tmp_path: Path, more: str = "", source: str = SAME, files: Mapping[str, Content] | None = None
) -> tuple[Shop, Path]:
    mark = tmp_path / "mark"
    rules = policy() + f'challenge_budget = 0\nreruns = 2\nscout = false\nenv = {{ MARK = "{mark}" }}\n{more}'
    shop = Shop.open(tmp_path, {"tests/test_shop.py": SLOW_TESTS, **(files or {})}, rules=rules)
    shop.patch({"shop.py": source})
    return shop, mark


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "code"), [(BROKEN, 1), pytest.param(SAME, 0, marks=pytest.mark.slow)], ids=["miss", "green"]
)
def test_a_connection_that_breaks_once(tmp_path: Path, far: str, sshd: Sshd, source: str, code: int) -> None:
    """The runs are made again: no test is lost, the verdict is what it is, and the break is said."""
    shop, mark = slow_shop(tmp_path, source=source)

    def cut() -> None:
        until(mark.exists, "a test has begun")
        sshd.cut()

    knife = threading.Thread(target=cut)
    knife.start()
    told = shop.gate("agent/fix", "--runner", far)
    knife.join()
    assert told.exit_code == code
    assert {row["nodeid"].rpartition(".")[2] for row in told.report["tests"]} == {
        "test_a_mark",
        "test_slow",
        "test_z_last",
    }
    assert all(len(row["outcomes"]["H"]) == 2 for row in told.report["tests"])
    assert "connection-broke" in [note["code"] for note in told.report["notes"]]


def test_a_test_that_breaks_its_connection_is_not_green(tmp_path: Path, far: str) -> None:
    """The code under test kills what it hangs on, so that nobody hears how it ends."""
    evil = SAME + (
        "\n\nimport os, signal\n\n\ndef _up(pid):\n"
        "    return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])\n\n\n"
        "_pid = _up(os.getpid())\nwhile _pid > 1 and b'redbucket' not in open(f'/proc/{_pid}/cmdline', 'rb').read():\n"
        "    if b'i.readline' in open(f'/proc/{_pid}/cmdline', 'rb').read():\n"
        "        os.kill(_pid, signal.SIGKILL)\n        break\n    _pid = _up(_pid)\n"
    )
    shop = Shop.open(tmp_path, rules=policy() + "reruns = 1\nchallenge_budget = 0\n")
    shop.patch({"shop.py": evil})
    ended = shop.refused("--base", "main", "--head", "agent/fix", "--runner", far)
    assert_clear(ended, 2, "runner-lost")
    # the killed ones left their folders: the next connection clears them up
    shop.patch({"shop.py": SAME})
    assert shop.gate("agent/fix", "--runner", far).exit_code == 0


@pytest.mark.slow
def test_a_failure_before_a_break_is_not_forgotten(tmp_path: Path, far: str, sshd: Sshd) -> None:
    """Wrong at first, right after the break: that is noise, and not a pass."""
    once = tmp_path / "once"
    first = f"import pathlib\n\n{SHOP}".replace(
        "    return sum(prices)",
        f"    seen = pathlib.Path({str(once)!r})\n    if len(prices) == 2 and not seen.exists():\n"
        "        seen.touch()\n        return 0\n    return sum(prices)",
    )
    told_first = "def test_a_first(self):\n        self.assertEqual(total([1, 1]), 2)\n\n    def test_b_mark"
    tests = SLOW_TESTS.replace("def test_a_mark", told_first)
    mark = tmp_path / "mark"
    rules = policy() + f'challenge_budget = 0\nreruns = 2\nscout = false\nenv = {{ MARK = "{mark}" }}\n'
    shop = Shop.open(tmp_path, {"tests/test_shop.py": tests}, rules=rules)
    shop.patch({"shop.py": first})

    def cut() -> None:
        until(mark.exists, "the failure is told")
        time.sleep(0.3)
        sshd.cut()

    knife = threading.Thread(target=cut)
    knife.start()
    told = shop.gate("agent/fix", "--runner", far)
    knife.join()
    assert told.row("test_a_first")["bucket"] == "noise", told.out
    assert told.row("test_z_last")["bucket"] == "stable_pass"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_redbucket_is_ended_in_the_middle(
    tmp_path: Path, far: str, sshd: Sshd, number: signal.Signals
) -> None:
    """The far side notices, ends the tests, and takes its folder away (the fixture looks)."""
    shop, mark = slow_shop(tmp_path)
    words = ("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix", "--runner", far)
    with started(*words) as process:
        until(mark.exists, "a test has begun")
        process.send_signal(number)
        assert process.wait(60) == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGKILL:  # what the killed one left here is cleared up by the next
        assert redbucket("gate", "-C", shop.path, "--base", "main", "--head", "main").exit_code == 0


@pytest.mark.slow
def test_connections_break_at_random_moments(tmp_path: Path, far: str, sshd: Sshd) -> None:
    """Twenty broken connections: no wrong green, no lost test; what can't be decided is exit 2 or 4."""
    shop, _ = slow_shop(tmp_path, source=BROKEN)
    shop.patch({"shop.py": SAME}, branch="agent/good")
    dice, seen = random.Random(7), []
    cuts: list[int] = []

    def cut(stop: threading.Event, pauses: list[float]) -> None:
        while not (tmp_path / "far side/runs").exists() and not stop.wait(0.02):
            pass  # a first connection that fails is another error
        for pause in pauses:
            if stop.wait(pause):
                return
            cuts.append(sshd.cut())

    while sum(map(bool, cuts)) < 20:
        head, right = dice.choice([("agent/fix", 1), ("agent/good", 0)])
        stop = threading.Event()
        pauses = [dice.uniform(0.0, 4.0) for _ in range(dice.randrange(1, 4))]
        knife = threading.Thread(target=cut, args=(stop, pauses))
        knife.start()
        words = ("gate", "-C", shop.path, "--base", "main", "--head", head, "--runner", far)
        ended = redbucket(*words, "--format", "json")
        stop.set()
        knife.join()
        seen.append((head, ended.exit_code))
        assert ended.exit_code in (right, 2, 4), (ended.out, ended.err)
        if ended.exit_code == right:
            report = json.loads(ended.out)
            assert len(report["tests"]) == 3
            assert all(len(row["outcomes"]["H"]) == 2 for row in report["tests"])
    print(sum(map(bool, cuts)), "cuts:", seen)


@pytest.mark.parametrize("version", ["3.8", pytest.param("3.13", marks=pytest.mark.slow)])
def test_other_interpreters_on_the_far_side(tmp_path: Path, far: str, version: str) -> None:
    """What is sent keeps to Python 3.8."""
    beside = sorted(Path(sys.base_prefix).parent.glob(f"{version}.*/bin/python{version}"))
    found = str(beside[0]) if beside else shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"no Python {version} here")
    rules = policy() + 'challenge_budget = 0\nscout = false\nreruns = 1\nsandbox = "auto"\n'
    shop = Shop.open(tmp_path, rules=rules)
    shop.patch({"shop.py": SAME})
    address = far.replace(sys.executable, found)
    told = shop.gate("agent/fix", "--runner", address)
    assert told.exit_code == 0, told.out
