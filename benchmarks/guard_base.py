"""The repository that every attack and every honest patch of ``benchmarks.guards`` starts from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

import msgspec

from redbucket.core.noisecapture import NoiseCapture
from tests.gitkit import Content, Repo

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(64))
SUBMODULE = "5" * 40
RATES = '{"eur": 1.0, "usd": 1.1}\n'

MONEY = '''\
"""Amounts of money in whole cents."""

from decimal import ROUND_HALF_EVEN, Decimal


def cents(text):
    """Return a decimal amount in cents.

    >>> cents("1.50")
    150
    """
    return int((Decimal(text) * 100).quantize(Decimal(1), ROUND_HALF_EVEN))


def total(amounts):
    """Return the sum of amounts."""
    return sum(cents(amount) for amount in amounts)


def split(amount, parts):
    """Split cents in near-equal parts that add up."""
    share, rest = divmod(amount, parts)
    return [share + (index < rest) for index in range(parts)]
'''
TEST_MONEY = """\
import pytest
from helpers import same_sum

from ledger.money import cents, split, total


@pytest.mark.parametrize(("text", "expected"), [("1.50", 150), ("0.01", 1), ("2", 200), ("0.005", 0)])
def test_cents(text, expected):
    assert cents(text) == expected


def test_total():
    assert total(["1.50", "2.25"]) == 375


def test_split():
    assert split(10, 3) == [4, 3, 3]
    same_sum(split(101, 7), 101)


def test_bad_amount():
    with pytest.raises(ArithmeticError):
        cents("x")


def test_mean():
    assert total(["0.10", "0.20"]) / 2 == pytest.approx(15, abs=1e-9)
"""
TEST_STORE = """\
import json
import unittest
from pathlib import Path

from ledger.store import Store

RATES = Path(__file__).parent / "data" / "rates" / "rates.json"


class BaseStore(unittest.TestCase):
    def setUp(self):
        self.store = Store()

    def test_empty(self):
        self.assertEqual(len(self.store), 0)


class TestStore(BaseStore):
    def test_put(self):
        self.store.put("a", 1)
        self.assertEqual(self.store.get("a"), 1)

    def test_rates(self):
        self.assertEqual(json.loads(RATES.read_text())["usd"], 1.1)
"""
STORE = '''\
class Store:
    """Keeps amounts by name."""

    def __init__(self):
        self._items = {}

    def __len__(self):
        return len(self._items)

    def put(self, name, amount):
        self._items[name] = amount

    def get(self, name):
        return self._items[name]
'''
PROPERTIES = """\
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.money import split


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.integers(1, 50))
def test_split_adds_up(amount, parts):
    assert sum(split(amount, parts)) == amount
"""
CONFTEST = """\
import pytest


@pytest.fixture
def store():
    from ledger.store import Store

    return Store()
"""
PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "backend"
backend-path = ["build_tools"]

[project]
name = "ledger"
version = "1.0"
dependencies = ["requests>=2.31", "PyYAML>=6", "numpy>=1.26"]

[project.optional-dependencies]
test = ["pytest>=8", "hypothesis>=6.100"]

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "-ra --strict-markers"
markers = ["slow: takes its time"]

[tool.coverage.report]
fail_under = 90

[tool.ruff]
line-length = 100
"""
REQUIREMENTS = "pytest==8.3.4\npluggy==1.5.0\npytest-cov==5.0.0\nruff==0.6.9\n"
UV_LOCK = """\
version = 1

[[package]]
name = "ledger"
version = "1.0"
source = { editable = "." }

[[package]]
name = "pytest"
version = "8.3.4"
source = { registry = "https://packages.example.com/simple" }
wheels = [
    { url = "https://files.example.com/packages/pytest-8.3.4-py3-none-any.whl", hash = "sha256:aaaa" },
]

[[package]]
name = "requests"
version = "2.31.0"
source = { registry = "https://packages.example.com/simple" }
wheels = [
    { url = "https://files.example.com/packages/requests-2.31.0-py3-none-any.whl", hash = "sha256:bbbb" },
]
"""
TOX = "[tox]\nenvlist = py311\n\n[testenv]\ndeps = pytest\ncommands = pytest {posargs}\n"
WORKFLOW = "on: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: redbucket gate\n"
_EXPIRES = date.today() + timedelta(days=20)
FLAKES = f"""\
["tests/test_store.py::TestStore::test_rates"]
owner = "ada"
ticket = "T-1"
expires = {_EXPIRES}
replay = "captures/rates.json"
reason = "an old disk"
"""
CAPTURE = msgspec.json.encode(
    NoiseCapture(
        nodeid="tests/test_store.py::TestStore::test_rates", bucket="noise", tree="4b825dc6", seed="7"
    )
)

FILES: Mapping[str, Content] = {
    "redbucket.toml": '[run]\ncommand = ["python", "-m", "pytest"]\nprepare = [["make", "ext"]]\n',
    "flakes.toml": FLAKES,
    "captures/rates.json": CAPTURE,
    "tests/data/rates/fixtures.sha256": f"{hashlib.sha256(RATES.encode()).hexdigest()}  rates.json\n",
    ".redbucket/notes.md": "Keys are kept elsewhere.\n",
    ".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - id: redbucket-gate\n",
    ".github/workflows/ci.yml": WORKFLOW,
    ".github/CODEOWNERS": "/tests/ @ada\n",
    ".claude/settings.json": '{"hooks": {"PreToolUse": []}}\n',
    ".gitattributes": "*.jpg binary\n",
    ".gitmodules": '[submodule "themes"]\n\tpath = docs/themes\n\turl = https://example.org/themes.git\n',
    "pyproject.toml": PYPROJECT,
    "requirements-dev.txt": REQUIREMENTS,
    "uv.lock": UV_LOCK,
    "setup.cfg": "[flake8]\nmax-line-length = 100\n",
    "tox.ini": TOX,
    "Makefile": "ext:\n\tpython build_tools/backend.py\n",
    "build_tools/backend.py": "from setuptools.build_meta import *  # noqa: F403\n",
    "README.md": "# ledger\n",
    "CHANGELOG.md": "## 1.0\n",
    "docs/index.md": "Money, counted.\n",
    "scripts/release.py": "print('release')\n",
    "src/ledger/__init__.py": "",
    "src/ledger/money.py": MONEY,
    "src/ledger/store.py": STORE,
    "src/ledger/web/__init__.py": "",
    "src/ledger/web/views.py": "def index(store):\n    return f'{len(store)} items'\n",
    "tests/conftest.py": CONFTEST,
    "tests/helpers.py": "def same_sum(parts, amount):\n    assert sum(parts) == amount\n",
    "tests/test_money.py": TEST_MONEY,
    "tests/test_store.py": TEST_STORE,
    "tests/properties/test_money_properties.py": PROPERTIES,
    "tests/data/rates/rates.json": RATES,
    "tests/data/logo.png": PNG,
    "tests/web/__snapshots__/report.txt": "2 items\n",
}


def make(place: Path) -> Repo:
    """Make the base repository at ``place``, with one submodule outside the judge side."""
    repo = Repo.init(place)
    repo.stage(FILES)
    gitlink(repo, "docs/themes", SUBMODULE)
    repo.commit(None, "Base")
    return repo


def gitlink(repo: Repo, path: str, oid: str) -> None:
    """Stage a submodule without a repository behind it."""
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{oid},{path}")
