"""The conditions of experiments, in a real process each."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from redbucket.core.conditions import Conditions
from tests.recorder import envs
from tests.recorder.runkit import Recorded, record

NOON = 1767268800.0  # 2026-01-01T12:00:00Z

CLOCK = """
import datetime, time
from datetime import date, datetime as long_ago_imported

def test_shown():
    assert date.today() == date(2026, 1, 1)
    assert long_ago_imported.now().hour == 12
    assert datetime.datetime.now(datetime.timezone.utc).year == 2026
    assert long_ago_imported.utcnow().minute == 0
    assert time.localtime().tm_year == time.gmtime().tm_year == 2026
    assert abs(time.time() - 1767268800) < 60 and time.time_ns() // 10**15 == 1767
    assert time.strftime("%Y") == "2026" and "2026" in time.ctime()
    assert isinstance(long_ago_imported.now(), datetime.datetime)
    assert type(long_ago_imported.now()) is datetime.datetime

def test_goes_on():
    before, steady = time.time(), time.monotonic()
    time.sleep(0.05)
    assert 0.04 < time.time() - before < 30
    assert 0.04 < time.monotonic() - steady < 30

def test_given_times_stay():
    assert time.gmtime(0).tm_year == 1970
    assert datetime.datetime.fromtimestamp(0, datetime.timezone.utc).year == 1970
    class Mine(datetime.datetime):
        pass
    assert type(Mine.now()) is Mine and type(Mine.today()) is Mine

def test_aligned_again():
    assert int(time.time()) - 1767268800 < 30
"""

NETWORK = """
import socket
import pytest

def test_denied():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        with pytest.raises(OSError):
            s.connect(("192.0.2.1", 9))
        with pytest.raises(OSError):
            s.sendto(b"x", ("192.0.2.1", 9))
        assert s.connect_ex(("192.0.2.1", 9)) != 0
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("example.org", 80)
    with pytest.raises(OSError):
        socket.create_connection(("192.0.2.1", 9), timeout=1)

def test_free_at_home():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    a, b = socket.socketpair()
    a.close(), b.close()
    socket.getaddrinfo("localhost", 80)
"""

ENTROPY = """
import os, random, secrets, uuid

def test_drawn():
    raise AssertionError("%s %s %s %s" % (uuid.uuid4(), secrets.token_hex(4), random.Random().random(), os.urandom(2)))
"""

STATE = """
import locale, logging, os, sys, textwrap, types
import shop

def test_nothing():
    pass

def test_all():
    shop.CART.append(1)
    shop.MODE = "shut"
    shop.Till.open = True
    shop.TILL.coins = 3
    shop.Till.price = lambda self: 0
    shop.DICE.random()
    shop.twice(2)
    shop.TILLS.append(shop.TILL)
    textwrap.dedent = str.strip
    logging.getLogger("shop").addHandler(logging.NullHandler())
    os.environ["SHOP"] = "x"
    os.chdir("/")
    os.umask(0o1)
    logging.disable(10)
    locale.setlocale(locale.LC_NUMERIC, "C.UTF-8")
    sys.modules["fake"] = types.ModuleType("fake")

def test_after():
    assert (shop.CART, shop.MODE, shop.Till.open) == ([], "open", False)
    assert "SHOP" not in os.environ and "fake" not in sys.modules and os.getcwd() != "/"
    assert (shop.Till().price(), shop.twice.cache_info().currsize, len(shop.TILLS)) == (1, 0, 1)
    assert shop.TILLS[0] is not shop.TILL and textwrap.dedent.__name__ == "dedent"
    assert shop.DICE.random() == shop.random.Random(7).random()
    assert not logging.getLogger("shop").handlers
"""
SHOP = """
import functools
import logging
import random

CART = []
DICE = random.Random(7)
LOG = logging.getLogger("shop")
MODE = "open"

class Till:
    open = False

    def __init__(self):
        self.coins = 0

    def price(self):
        return 1

@functools.lru_cache()
def twice(x):
    return 2 * x

TILL = Till()
TILLS = [Till()]
"""


def run(tmp_path: Path, text: str, *, files: dict[str, str] | None = None, **conditions: Any) -> Recorded:
    return record(
        tmp_path,
        {"test_c.py": text, **(files or {})},
        conditions=Conditions(**conditions),
        timeout=60.0,
    )


def test_a_shown_clock_goes_on_from_its_instant(tmp_path: Path) -> None:
    seen = run(tmp_path, CLOCK, clock=NOON)
    assert set(seen.outcomes.values()) == {"passed"}, [e.get("message") for e in seen.of("end")]


def test_the_network_is_denied_and_loopback_is_not(tmp_path: Path) -> None:
    seen = run(tmp_path, NETWORK, no_network=True)
    assert set(seen.outcomes.values()) == {"passed"}, [e.get("message") for e in seen.of("end")]


def test_entropy_repeats_with_its_seed(tmp_path: Path) -> None:
    said = [
        run(tmp_path / str(n), ENTROPY, entropy=seed).end("test_drawn")["message"]
        for n, seed in enumerate(("1", "1", "2"))
    ]
    assert said[0] == said[1] != said[2]


def test_what_a_test_leaves_changed_is_named(tmp_path: Path) -> None:
    seen = run(tmp_path, STATE, files={"shop.py": SHOP}, state=True)
    assert "state" not in seen.end("test_nothing")
    assert set(seen.end("test_all")["state"]) == {
        "shop.CART",
        "shop.MODE",
        "shop.Till.open",
        "shop.TILL.coins",
        "shop.Till.price",
        "shop.DICE",
        "shop.TILLS",
        "the cache of shop.twice",
        "textwrap.dedent",
        "logging.getLogger('shop').handlers",
        "os.environ['SHOP']",
        "the working directory",
        "the umask",
        "logging.disable",
        "the locale",
        "sys.modules['fake']",
    }
    assert seen.end("test_after")["outcome"] == "failed"


def test_what_is_put_back_is_as_it_was(tmp_path: Path) -> None:
    names = ("shop.CART", "shop.MODE", "shop.Till.open", "os.environ['SHOP']", "sys.modules['fake']")
    names += ("shop.Till.price", "shop.DICE", "shop.TILLS", "the cache of shop.twice", "textwrap.dedent")
    names += ("logging.getLogger('shop').handlers",)
    seen = run(tmp_path, STATE, files={"shop.py": SHOP}, restore=(*names, "the working directory"))
    assert seen.end("test_after")["outcome"] == "passed", seen.end("test_after")


SET_UP = """
import os, unittest, shop

def setUpModule():
    os.environ["SHOP"] = "1"

class A(unittest.TestCase):
    @classmethod
    def setUpClass(cls): shop.MODE = "shut"
    def test_a(self): pass
    def test_b(self): shop.CART.append(1)

@unittest.skip("not now")
class S(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError
    def test_s(self): pass

class V(unittest.TestCase):
    def test_v(self): self.assertEqual(shop.MODE, "open")
"""


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_what_a_class_or_module_sets_up_counts_as_its_first_tests(tmp_path: Path, runner: str) -> None:
    def seen(name: str, **conditions: Any) -> Recorded:
        return record(
            tmp_path / name,
            {"test_c.py": SET_UP, "shop.py": "MODE = 'open'\nCART = []\n"},
            command=("python", "-m", runner),
            conditions=Conditions(**conditions),
            timeout=60.0,
        )

    named = seen("named", state=True)
    assert {"shop.MODE", "os.environ['SHOP']"} <= set(named.end("test_a")["state"])
    assert "shop.CART" in named.end("test_b")["state"] and "shop.MODE" not in named.end("test_b")["state"]
    assert "state" not in named.end("test_v")
    assert named.end("test_v")["outcome"] == "failed"
    assert seen("back", restore=("shop.MODE",)).end("test_v")["outcome"] == "passed"


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_twice_counts_the_second_time(tmp_path: Path, runner: str) -> None:
    text = """
    import unittest
    SEEN = []

    class T(unittest.TestCase):
        def test_x(self):
            SEEN.append(1)
            self.assertEqual(len(SEEN), 1)

        def test_y(self):
            pass
    """
    seen = record(
        tmp_path,
        {"test_c.py": text},
        command=("python", "-m", runner),
        conditions=Conditions(twice=True),
        timeout=60.0,
    )
    assert len(seen.collected) == len(seen.outcomes) == 2
    assert (seen.end("test_x")["outcome"], seen.end("test_y")["outcome"]) == ("failed", "passed")
    assert seen.footer["complete"]


def test_twice_works_with_fixtures_and_parameters(tmp_path: Path) -> None:
    text = """
    import pytest

    @pytest.fixture
    def box():
        return []

    class TestIt:
        @pytest.mark.parametrize("n", [1, 2])
        def test_x(self, box, tmp_path, n):
            box.append(n)
            (tmp_path / "made").mkdir()
            assert box == [n]
    """
    seen = run(tmp_path, text, twice=True)
    assert sorted(seen.outcomes.values()) == ["passed", "passed"], [e.get("message") for e in seen.of("end")]


def test_umask_environment_home_and_switch_interval(tmp_path: Path) -> None:
    text = """
    import os, sys
    from pathlib import Path

    def test_x():
        mask = os.umask(0)
        assert mask == 0o27
        assert os.environ["COLUMNS"] == "41" and os.environ["TZ"] == "Asia/Kolkata"
        assert list(Path.home().iterdir()) == []
        assert sys.getswitchinterval() < 1e-5
    """
    seen = run(
        tmp_path,
        text,
        umask=0o27,
        env={"COLUMNS": "41", "TZ": "Asia/Kolkata"},
        empty_home=True,
        switch_interval=1e-6,
    )
    assert seen.end("test_x")["outcome"] == "passed", seen.end("test_x")


def test_load_ends_with_the_run(tmp_path: Path) -> None:
    seen = run(tmp_path, "def test_x(): pass\n", load=2)
    assert seen.outcomes and set(seen.outcomes.values()) == {"passed"}
    spinning = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _reads(p).count(b"os.getppid() == int")]
    began = time.monotonic()
    while spinning and time.monotonic() - began < 5:
        spinning = [p for p in spinning if _reads(p).endswith(f"{__import__('os').getpid()}\0".encode())]
    assert not spinning


def _reads(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_an_ordinary_run_changes_none_of_it(tmp_path: Path) -> None:
    text = """
    import datetime, random, socket, time

    def test_x():
        assert type(time.time) is type(time.localtime) is type(len)
        assert type(datetime.date.today) is type(datetime.datetime.now) is type(len)
        assert random.Random.seed.__module__ == "random"
        assert "connect" not in vars(socket.socket)
    """
    seen = record(tmp_path, {"test_c.py": text})
    assert seen.outcomes == {"test_c.py::test_x": "passed"}, seen.end("test_x")


SITES = """
import datetime, os, random, secrets, subprocess, sys, threading, time, uuid
from datetime import date
import shop

def draw(source):
    return source()

def test_x():
    draw(list)
    draw(time.time)
    shop.stamp()
    uuid.uuid4()
    random.random()
    random.Random(1).random()
    secrets.token_hex(2)
    list(map(os.urandom, [1]))
    thread = threading.Thread(target=time.sleep, args=(0,))
    thread.start()
    thread.join()
    subprocess.check_call([sys.executable, "-c", ""])
    date.today()

def test_y():
    assert True
"""
STAMP = "import datetime\n\ndef stamp():\n    return datetime.datetime.now()\n"


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
def test_the_lines_that_touch_entropy(tmp_path: Path, version: str) -> None:
    seen = record(
        tmp_path,
        {"test_c.py": SITES, "shop.py": STAMP},
        command=(envs.venv(version, "pytest"), "-m", "pytest"),
        conditions=Conditions(sites=True),
        timeout=60.0,
    )
    said = set(seen.end("test_x")["sites"])
    assert {
        "test_c.py:7 time.time",
        "shop.py:4 datetime.now",
        "test_c.py:13 uuid.uuid4",
        "test_c.py:14 random.random",
        "test_c.py:15 random.random",
        "test_c.py:16 secrets.token_hex",
        "test_c.py:17 os.urandom",
        "test_c.py:19 a thread",
        "test_c.py:21 subprocess.Popen",
        "test_c.py:22 date.today",
    } <= said, said
    assert not [s for s in said if s.startswith("test_c.py:11 ")]
    assert "sites" not in seen.end("test_y")


def test_child_processes_start_late(tmp_path: Path) -> None:
    text = """
    import pathlib, subprocess, sys, time
    import pytest

    def test_waits():
        began = time.monotonic()
        assert subprocess.check_output([sys.executable, "-c", "print(1)"]) == b"1\\n"
        assert subprocess.run("exit 3", shell=True).returncode == 3
        assert time.monotonic() - began >= 1

    def test_does_not_wait():
        child = subprocess.Popen(["touch", "made"])
        assert not pathlib.Path("made").exists()
        assert child.wait() == 0 and pathlib.Path("made").exists()

    def test_what_is_not_there():
        with pytest.raises(FileNotFoundError):
            subprocess.run(["no-such-program-here"])
    """
    seen = run(tmp_path, text, late_children=0.5)
    assert set(seen.outcomes.values()) == {"passed"}, [e.get("message") for e in seen.of("end")]
