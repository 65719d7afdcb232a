"""A gate that is stopped half-way: children end, nothing is left, the next start clears up."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from redbucket.core.errors import INTERRUPTED
from tests.stories.kit import SHOP, Shop, alive_in, listening, policy, started, until

# The patch hangs one test, and starts a grandchild that leaves its session.
SLEEPY = "import subprocess\nimport sys\nimport time\n\n" + SHOP.replace(
    "    return sum(prices)",
    "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
    "    open('started', 'w').close()\n"
    "    time.sleep(600)",
)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


def hanging(tmp_path: Path) -> Shop:
    shop = Shop.open(tmp_path, rules=policy(timeout=600))
    shop.patch({"shop.py": SLEEPY})
    return shop


def running(shops: Path) -> bool:
    """True once a test of the gate is in the middle of its work."""
    return any(shops.glob("redbucket-*/runs/*/repo/started"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_a_signal_ends_everything_within_two_seconds(tmp_path: Path, shops: Path, number: int) -> None:
    shop = hanging(tmp_path)
    before = shop.snapshot()
    words = ("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix")
    with started(*words) as gate:
        until(lambda: running(shops), "a test runs", 60)
        assert alive_in(shops)
        began = time.monotonic()
        gate.send_signal(number)
        code = gate.wait(30)
        took = time.monotonic() - began
        assert alive_in(shops) == []
        assert gate.stderr is not None
        assert gate.stderr.read().strip() == b"redbucket: interrupted; nothing was changed"
    assert code == INTERRUPTED
    assert took < 2 + slack()
    assert list(shops.iterdir()) == []
    assert shop.snapshot() == before


def slack() -> float:
    """How much longer things take here and now than on an idle machine: ten starts of the interpreter."""
    began = time.monotonic()
    for _ in range(10):
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    return max(0.0, 2 * (time.monotonic() - began) - 0.5)


def test_a_second_signal_does_not_break_off_the_clearing_up(tmp_path: Path, shops: Path) -> None:
    shop = hanging(tmp_path)
    with started("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix") as gate:
        until(lambda: running(shops), "a test runs", 60)
        while gate.poll() is None:
            gate.send_signal(signal.SIGINT)
            time.sleep(0.002)
    assert gate.returncode == INTERRUPTED
    assert list(shops.iterdir()) == []
    assert alive_in(shops) == []


def test_a_kill_leaves_nothing_running_and_the_next_start_clears_up(tmp_path: Path, shops: Path) -> None:
    shop = hanging(tmp_path)
    before = shop.snapshot()
    with started("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix") as gate:
        until(lambda: running(shops), "a test runs", 60)
        gate.kill()
        gate.wait()
        until(lambda: alive_in(shops) == [], "the children notice and end", 10)
    assert shop.snapshot() == before
    assert len(list(shops.iterdir())) == 1
    told = shop.gate("main")
    assert told.exit_code == 0
    assert list(shops.iterdir()) == []


def test_an_interrupt_outside_the_runs(tmp_path: Path, shops: Path) -> None:
    """At any other moment too: soon after the start, while objects are read, while trees are laid out."""
    shop = Shop.open(tmp_path)
    shop.patch({"shop.py": SHOP + "\n# more\n"})
    for moment in range(6):
        with started("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix") as gate:
            until(lambda: any(shops.iterdir()) or gate.poll() is not None, "it begins", 60)
            began = time.monotonic()
            until(lambda moment=moment, began=began: time.monotonic() - began >= 0.05 * moment, "a moment")  # type: ignore[misc]
            gate.send_signal(signal.SIGINT)
            assert gate.wait(30) in (INTERRUPTED, 0)
        assert list(shops.iterdir()) == []
        assert alive_in(shops) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("signal.raise_signal(signal.SIGINT)", INTERRUPTED),
        (
            "try:\n  signal.raise_signal(signal.SIGTERM)\n except BaseException as e:\n  raise RuntimeError from e",
            130,
        ),
        ("try:\n  signal.raise_signal(signal.SIGINT)\n finally:\n  signal.raise_signal(signal.SIGINT)", 130),
        ("signal.signal", 7),
    ],
    ids=["plain", "become-another-error", "once-more-while-clearing-up", "none"],
)
def test_what_an_interrupt_becomes(body: str, expected: int) -> None:
    """In a class body of Python before 3.12 it comes out as RuntimeError (seen while a module was imported)."""
    head = "import signal, sys\nfrom redbucket.app.ending import ended\n"
    code = f"{head}def call():\n {body}\n return 7\nsys.exit(ended(call))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, preexec_fn=listening
    )
    assert done.returncode == expected
    assert ("interrupted" in done.stderr) is (expected == INTERRUPTED)
    assert "bug in redbucket" not in done.stderr


def test_what_the_caller_ignores_stays_ignored(tmp_path: Path) -> None:
    """As under ``nohup``."""
    code = (
        "import signal, sys\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from redbucket.app.ending import ended\n"
        "sys.exit(ended(lambda: signal.raise_signal(signal.SIGHUP) or 7))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 7


def test_a_launcher_that_ignores_what_becomes_of_children(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "redbucket", "-C", tmp_path, "guard", "--base", "main", "--head", "HEAD"],
        capture_output=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    # git said by its status that there is no repository
    assert told.returncode == 3, told.stderr
    assert b"not-a-repository" in told.stderr
