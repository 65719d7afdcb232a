"""The animals: a small project each, the test that is asked about, and the cause that is the right answer.

"" means: no cause is to be named. That is right for real failures, for drifted fixtures, and for
tests that are sound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from textwrap import dedent

SOON = date.today() + timedelta(days=90)
LONG_AGO = date.today() - timedelta(days=90)
QUIET = """
def test_one():
    assert 1 + 1 == 2

def test_two():
    assert sorted([2, 1]) == [1, 2]
"""


@dataclass(frozen=True)
class Animal:
    """``kind`` is noise, miss, drift or sound; ``names`` are the tests that may be blamed."""

    name: str
    cause: str
    test: str
    files: dict[str, str] = field(default_factory=dict)
    kind: str = "noise"
    names: tuple[str, ...] = ()


def one(name: str, cause: str, body: str, *, kind: str = "noise", **files: str) -> Animal:
    """An animal that is one test among quiet ones."""
    more = {f"{key.replace('__', '/')}": text for key, text in files.items()}
    return Animal(
        name,
        cause,
        "tests/test_m.py::test_x",
        {"tests/test_a.py": QUIET, "tests/test_m.py": dedent(body), **more},
        kind,
    )


def pair(name: str, polluter: str, victim: str, *, setup: str = "", **files: str) -> Animal:
    """A polluter, quiet tests, and its victim."""
    text = f"{dedent(setup)}\ndef test_polluter():\n{_in(polluter)}\n{QUIET}\ndef test_x():\n{_in(victim)}\n"
    return Animal(
        name,
        "order",
        "tests/test_m.py::test_x",
        {"tests/test_a.py": QUIET, "tests/test_m.py": text, "shop.py": SHOP, **files},
        names=("tests/test_m.py::test_polluter",),
    )


def _in(body: str) -> str:
    return "\n".join("    " + line for line in dedent(body).strip().splitlines())


SHOP = (
    "import random\n\nDICE = random.Random(7)\nCART = []\nMODE = 'open'\n\ndef price(x):\n    return x * 2\n"
)

ANIMALS = (
    pair("global", "shop.CART.append(1)", "assert shop.CART == []", setup="import shop"),
    pair(
        "environment",
        "os.environ['SHOP_MODE'] = 'test'",
        "assert os.environ.get('SHOP_MODE') is None",
        setup="import os",
    ),
    pair(
        "cwd",
        "os.chdir(tempfile.mkdtemp())",
        "assert os.path.exists('shop.py')",
        setup="import os, tempfile",
    ),
    pair("module attribute", "shop.price = lambda x: 0", "assert shop.price(2) == 4", setup="import shop"),
    pair(
        "logging",
        "logging.disable(logging.CRITICAL)",
        "assert logging.getLogger('shop').isEnabledFor(logging.ERROR)",
        setup="import logging",
    ),
    pair(
        "a handler on a logger",
        "logging.getLogger('shop').handlers.append(logging.NullHandler())",
        "assert not logging.getLogger('shop').handlers",
        setup="import logging",
    ),
    pair(
        "warning filters",
        "warnings.simplefilter('error')",
        "warnings.warn('the shop closes soon')",
        setup="import warnings",
        # else pytest puts the filters back after each test by itself
        **{"pytest.ini": "[pytest]\naddopts = -p no:warnings\n"},
    ),
    pair(
        "generator of a module",
        "shop.DICE.random()",
        "assert shop.DICE.random() == random.Random(7).random()",
        setup="import random, shop",
    ),
    pair(
        "process locale",
        "locale.setlocale(locale.LC_NUMERIC, 'C.UTF-8')",
        "assert locale.setlocale(locale.LC_NUMERIC) == 'C'",
        setup="import locale",
    ),
    pair(
        "process umask",
        "os.umask(0o077)",
        "(tmp := __import__('pathlib').Path('made')).write_text('')\nassert tmp.stat().st_mode & 0o044",
        setup="import os",
    ),
    pair(
        "module table",
        "sys.modules['colorsys'] = types.ModuleType('colorsys')",
        "import colorsys\nassert colorsys.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)",
        setup="import sys, types",
    ),
    pair(
        "port",
        "KEPT.append(socket.create_server(('127.0.0.1', PORT)))",
        "socket.create_server(('127.0.0.1', PORT)).close()",
        setup="import os, socket\nKEPT = []\nPORT = 20000 + os.getpid() % 20000",
    ),
    Animal(
        "address in the id",
        "order",
        "tests/test_m.py::test_x[<object object at 0x…>]",
        {
            "tests/test_a.py": QUIET,
            "tests/test_m.py": "import pytest\nimport shop\n\ndef test_polluter():\n    shop.CART.append(1)\n"
            "@pytest.mark.parametrize('o', [object()], ids=repr)\ndef test_x(o):\n    assert shop.CART == []\n",
            "shop.py": SHOP,
        },
        names=("tests/test_m.py::test_polluter",),
    ),
    Animal(
        "broken by an import",
        "order",
        "tests/test_a.py::test_x",
        {
            "tests/test_a.py": "import shop\n\ndef test_x():\n    assert shop.MODE == 'open'\n" + QUIET,
            "tests/test_m.py": "import shop\nshop.MODE = 'closed'\n\ndef test_polluter():\n    assert True\n",
            "shop.py": SHOP,
        },
        names=("tests/test_m.py::test_polluter",),
    ),
    Animal(
        "brittle",
        "order",
        "tests/test_m.py::test_x",
        {
            "tests/test_a.py": QUIET,
            "tests/test_m.py": "import shop\n\ndef test_helper():\n    shop.CART.append('milk')\n"
            + QUIET
            + "\ndef test_x():\n    assert 'milk' in shop.CART\n",
            "shop.py": SHOP,
        },
        names=("tests/test_m.py::test_helper",),
    ),
    Animal(
        "sleeping victim",
        "order",
        "tests/test_a.py::test_x",
        {
            "tests/test_a.py": "import shop\n\ndef test_x():\n    assert shop.CART == []\n" + QUIET,
            "tests/test_m.py": "import shop\n\ndef test_polluter():\n    shop.CART.append(1)\n",
            "shop.py": SHOP,
        },
        names=("tests/test_m.py::test_polluter",),
    ),
    Animal(
        "two polluters together",
        "order",
        "tests/test_m.py::test_x",
        {
            "tests/test_a.py": QUIET,
            "tests/test_m.py": "import shop\n\ndef test_first():\n    shop.CART.append(1)\n"
            + QUIET
            + "\ndef test_second():\n    shop.MODE = 'shut'\n"
            "\ndef test_x():\n    assert not (shop.CART and shop.MODE == 'shut')\n",
            "shop.py": SHOP,
        },
        names=("tests/test_m.py::test_first", "tests/test_m.py::test_second"),
    ),
    one(
        "not idempotent",
        "leftover state",
        "import shop\n\ndef test_x():\n    shop.CART.append(1)\n    assert len(shop.CART) == 1\n",
        **{"shop.py": SHOP},
    ),
    one("random", "random seed", "import random\n\ndef test_x():\n    assert random.random() < 0.5\n"),
    one("uuid", "system entropy", "import uuid\n\ndef test_x():\n    assert uuid.uuid4().int % 2\n"),
    one(
        "secrets",
        "system entropy",
        "import secrets\n\ndef test_x():\n    assert secrets.randbelow(10) < 5\n",
    ),
    one(
        "a generator without a seed",
        "system entropy",
        "import random\n\ndef test_x():\n    assert random.Random().random() < 0.5\n",
    ),
    one(
        "set order",
        "hash order",
        "def test_x():\n    assert list({'apple', 'pear', 'fig', 'plum'})[0] in ('apple', 'pear')\n",
    ),
    one(
        "hash in a child process",
        "hash order",
        "import subprocess, sys\n\ndef test_x():\n"
        "    out = subprocess.check_output([sys.executable, '-c', 'print(hash(\"a\") % 2)'])\n"
        "    assert out.strip() == b'0'\n",
    ),
    one("clock parity", "clock", "import time\n\ndef test_x():\n    assert int(time.time()) % 2 == 0\n"),
    one(
        "midnight",
        "clock",
        "import datetime, time\n\ndef test_x():\n    day = datetime.date.today()\n    time.sleep(0.2)\n"
        "    assert datetime.date.today() == day\n",
    ),
    one(
        "ends one day",
        "clock",
        f"from datetime import date\n\ndef test_x():\n    assert date.today() < date({SOON:%Y, %-m, %-d})\n",
    ),
    one(
        "ended one day",
        "clock",
        "from datetime import datetime\n\ndef test_x():\n"
        f"    assert datetime.now() < datetime({LONG_AGO:%Y, %-m, %-d})\n",
    ),
    one(
        "time zone",
        "time zone",
        "from datetime import datetime\n\ndef test_x():\n    assert datetime.fromtimestamp(0).hour == 0\n",
    ),
    one(
        "locale",
        "locale",
        "from pathlib import Path\n\ndef test_x():\n    assert Path('menu.txt').read_text() == 'caf\\u00e9'\n",
        **{"menu.txt": "café"},
    ),
    one(
        "width",
        "terminal width",
        "import argparse\n\ndef test_x():\n    p = argparse.ArgumentParser('shop')\n"
        "    p.add_argument('--currency', help='the currency in which all prices of the shop are shown')\n"
        "    assert 'the currency in which all prices' in p.format_help()\n",
    ),
    one(
        "umask",
        "umask",
        "from pathlib import Path\n\ndef test_x():\n    Path('made').write_text('')\n"
        "    assert Path('made').stat().st_mode & 0o777 == 0o644\n",
    ),
    one(
        "home",
        "home folder",
        "from pathlib import Path\n\ndef test_x():\n    assert (Path.home() / '.gitconfig').exists()\n",
    ),
    one(
        "directory order",
        "directory order",
        "import os\n\ndef test_x():\n    for name in ('a.txt', 'b.txt'):\n        open(name, 'w').close()\n"
        "    names = [n for n in os.listdir() if n.endswith('.txt')]\n    assert names == sorted(names)\n",
    ),
    one(
        "race",
        "concurrency",
        """
        import threading

        class Counter:
            def __init__(self):
                self.value = 0

            def more(self, value):
                return value + 1

            def add(self):
                self.value = self.more(self.value)

        def test_x():
            counter = Counter()

            def work():
                for _ in range(60000):
                    counter.add()

            threads = [threading.Thread(target=work) for _ in range(4)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            assert counter.value == 240000
        """,
    ),
    one(
        "leftover file",
        "leftover files",
        "import os, tempfile\n\ndef test_x():\n    os.mkdir(os.path.join(tempfile.gettempdir(), 'shop-lock'))\n",
    ),
    one(
        "does not wait for its child",
        "subprocess",
        "import os, subprocess, time\n\ndef test_x():\n    child = subprocess.Popen(['/bin/mkdir', 'made'])\n"
        "    time.sleep(0.4)\n    assert os.path.isdir('made')\n    child.wait()\n",
    ),
    one(
        "deadline",
        "load",
        """
        import time

        def test_x():
            began, cpu = time.perf_counter(), time.process_time()
            while time.process_time() - cpu < 0.15:
                pass
            assert time.perf_counter() - began < 0.3
        """,
    ),
    one(
        "network",
        "network",
        "import socket\n\ndef test_x():\n    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:\n"
        "        s.connect(('192.0.2.1', 9))\n",
    ),
    one(
        "property that remembers",
        "inconsistent property",
        "from hypothesis import given, strategies as st\nSEEN = []\n\n@given(st.integers())\ndef test_x(n):\n"
        "    SEEN.append(n)\n    assert len(SEEN) != 3\n",
    ),
    one("off by one", "", "def test_x():\n    assert sum(range(10)) == 55\n", kind="miss"),
    one(
        "a miss that says timeout",
        "",
        "def test_x():\n    raise TimeoutError('Connection reset by peer: flaky network, try again')\n",
        kind="miss",
    ),
    one(
        "a miss among entropy",
        "",
        "import random, threading, time, uuid\n\ndef test_x():\n"
        "    t = threading.Thread(target=time.sleep, args=(0.01,))\n    t.start()\n    t.join()\n"
        "    random.random(), uuid.uuid4(), time.time()\n    assert round(2.5) == 3\n",
        kind="miss",
    ),
    one(
        "a miss over a domain",
        "",
        "def clamp(x):\n    return max(0, x)\n\ndef test_x():\n"
        "    assert all(0 <= clamp(x) <= 9 for x in range(-5, 20))\n",
        kind="miss",
    ),
    one(
        "a drifted fixture",
        "",
        "import json\n\ndef test_x():\n    assert json.load(open('tests/data/rates.json'))['eur'] == 1.1\n",
        kind="drift",
        **{"tests/data/rates.json": '{"eur": 1.2}'},
    ),
    one(
        "a drifted fixture with a date in it",
        "",
        "import json\n\ndef test_x():\n"
        "    assert json.load(open('tests/data/d.json'))['at'] == '2024-01-01T00:00:00Z'\n",
        kind="drift",
        **{"tests/data/d.json": '{"at": "2024-01-02T00:00:00Z"}'},
    ),
    one("sound", "", "def test_x():\n    assert 'x'.upper() == 'X'\n", kind="sound"),
    one(
        "sound with threads, files and draws",
        "",
        "import random, tempfile, threading\n\ndef test_x(tmp_path):\n    (tmp_path / 'a').write_text('1')\n"
        "    seen = []\n    t = threading.Thread(target=seen.append, args=(1,))\n    t.start()\n    t.join()\n"
        "    assert seen == [1] and 0 <= random.random() < 1\n",
        kind="sound",
    ),
)
