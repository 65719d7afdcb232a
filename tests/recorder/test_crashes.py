"""A crash, a hang or an early exit costs one test; the rest goes on, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from tests.recorder.runkit import record

LETHAL = """
    import atexit, ctypes, os, signal, sys, threading, time
    import pytest

    def test_first(): pass
    def test_exit(): os._exit(0)
    def test_segfault(): ctypes.string_at(0)
    def test_oom(): os.kill(os.getpid(), signal.SIGKILL)
    def test_abort(): os.abort()
    def test_pytest_exit(): pytest.exit("bye", returncode=0)
    def test_interrupt(): raise KeyboardInterrupt
    def test_thread():
        threading.Thread(target=lambda: os._exit(0)).start()
        time.sleep(5)
    @pytest.fixture
    def setup_exit(): os._exit(0)
    def test_setup(setup_exit): pass
    @pytest.fixture
    def teardown_exit():
        yield
        os._exit(0)
    def test_teardown(teardown_exit): pass
    def test_close_fds(): os.closerange(3, 256)
    def test_close_and_open():
        os.closerange(3, 256)
        for i in range(20): os.open("scratch.txt", os.O_RDWR | os.O_CREAT)
    def test_fork_child():
        pid = os.fork()
        if not pid: os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    def test_no_children():
        with pytest.raises(ChildProcessError): os.wait()
    def test_atexit(): atexit.register(os._exit, 0)
    def test_last(): pass
"""


def test_each_costs_one_test(tmp_path: Path) -> None:
    r = record(tmp_path, {"test_l.py": LETHAL})
    outcomes = {k.partition("::")[2]: v for k, v in r.outcomes.items()}
    fine = {"test_first", "test_fork_child", "test_no_children", "test_atexit", "test_last"}
    assert outcomes == {n: "passed" if n in fine else "crashed" for n in outcomes}
    assert len(outcomes) == len(r.collected) == 16
    assert r.footer["complete"], r.footer
    assert [e.get("index", 0) for e in r.of("end")] == list(range(16))
    assert [e["nodeid"] for e in r.of("start")] == r.collected
    assert len(r.of("restart")) == 11
    assert "SIGSEGV" in r.end("test_segfault")["message"]
    assert "SIGKILL" in r.end("test_oom")["message"]
    assert "channel" in r.end("test_close_fds")["message"]
    assert "pytest.exit" in r.end("test_pytest_exit")["message"]
    # what a test writes to the number that was ours goes nowhere near the record's lines
    assert (r.folder / "H-plain-1" / "tree" / "scratch.txt").read_bytes() == b""


def test_hangs(tmp_path: Path) -> None:
    began = time.monotonic()
    r = record(
        tmp_path,
        {
            "test_h.py": """
    import ctypes, signal, threading, time, os

    def test_loop():
        while True: pass
    def test_c_call():
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
        ctypes.CDLL(None).sleep(1000)
    def test_ignores():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            try: time.sleep(1000)
            except BaseException: pass
    def test_swallows():
        lock = threading.Lock(); lock.acquire(); lock.acquire()
    def test_ok(): pass
    def test_lingering_thread():
        threading.Thread(target=time.sleep, args=(1000,)).start()
    """
        },
        timeout=2.0,
    )
    assert list(r.outcomes.values()) == ["timeout"] * 4 + ["passed"] * 2
    assert r.footer["complete"], r.footer
    assert r.end("test_loop")["fingerprint"] == "timeout:0"
    assert time.monotonic() - began < 60  # of 4000 s that they would sleep


@pytest.mark.slow
def test_files_that_kill_the_process_on_import(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "test_a.py": "def test_a(): pass\n",
            "test_exit.py": "import os\nos._exit(0)\n",
            "test_hang.py": "import time\ntime.sleep(1000)\n",
            "test_segv.py": "import ctypes\nctypes.string_at(0)\n",
            "test_z.py": "def test_z(): pass\n",
        },
        start_timeout=8.0,
        timeout=1.0,
    )
    assert r.outcomes == {"test_a.py::test_a": "passed", "test_z.py::test_z": "passed"}
    errors = {k: v for e in r.of("collected") for k, v in e.get("errors", {}).items()}
    assert set(errors) == {"test_exit.py", "test_hang.py", "test_segv.py"}
    assert "exit status 0 while test_exit.py was imported" in errors["test_exit.py"]
    assert "watchdog" in errors["test_hang.py"]
    assert r.footer["complete"]


@pytest.mark.parametrize(
    "body",
    ["import pytest; pytest.exit('x', returncode=0)", "import sys; sys.exit(0)", "raise KeyboardInterrupt"],
)
def test_a_session_that_ends_before_collection_is_incomplete(tmp_path: Path, body: str) -> None:
    r = record(tmp_path, {"test_a.py": "def test_a(): pass\n", "test_b.py": body + "\n"})
    errors = {k: v for e in r.of("collected") for k, v in e.get("errors", {}).items()}
    # older pytest takes a SystemExit for an error of the file
    assert not r.footer["complete"] or "test_b.py" in errors


def test_conftest_that_exits(tmp_path: Path) -> None:
    r = record(tmp_path, {"conftest.py": "import os; os._exit(0)\n", "test_a.py": "def test_a(): pass\n"})
    assert not r.footer["complete"]
    assert "exit status 0 before the first test" in r.footer["reason"]


def test_should_stop(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "test_a.py": """
    def test_a(request): request.session.shouldstop = "enough"
    def test_b(request): request.session.shouldfail = "enough"
    def test_c(): pass
    """
        },
    )
    assert list(r.outcomes.values()) == ["passed"] * 3
    assert r.footer["complete"]


def test_fork_child_that_runs_on(tmp_path: Path) -> None:
    """A child that returns from the test goes on through pytest, and says nothing."""
    r = record(
        tmp_path,
        {
            "test_a.py": """
    import os
    def test_fork():
        pid = os.fork()
        if pid: os.waitpid(pid, 0)
    def test_b(): pass
    def test_c(): assert 0
    """
        },
    )
    assert list(r.outcomes.values()) == ["passed", "passed", "failed"]
    assert len(r.of("end")) == len(r.of("start")) == 3
    assert r.footer["complete"]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


DAEMON = """
    import os, subprocess, sys
    def test_daemon():
        code = "import os,time; os.setsid(); open('pid','w').write(str(os.getpid())); time.sleep(1000)"
        subprocess.Popen([sys.executable, "-c", code], env={})
        while not (os.path.exists("pid") and open("pid").read()): pass
    def test_b(): pass
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_daemon_that_keeps_the_pipes(tmp_path: Path) -> None:
    began = time.monotonic()
    r = record(tmp_path, {"test_a.py": DAEMON})
    assert time.monotonic() - began < 60
    assert set(r.outcomes.values()) == {"passed"}
    pid = int((r.folder / "H-plain-1" / "tree" / "pid").read_text())
    time.sleep(0.1)
    assert not _alive(pid)


def test_cancel(tmp_path: Path) -> None:
    cancelled = threading.Event()
    files = {"test_a.py": DAEMON.replace("def test_b(): pass", "def test_b():\n        while True: pass")}
    times: list[float] = []

    def cancel() -> None:
        # a run's folder has its name only once the run has ended
        while not list((tmp_path / "runs").glob("*/tree/pid")):
            time.sleep(0.02)
        time.sleep(0.3)
        times.append(time.monotonic())
        cancelled.set()

    threading.Thread(target=cancel, daemon=True).start()
    r = record(tmp_path, files, cancelled=cancelled, timeout=60.0)
    assert time.monotonic() - times[0] < 30  # of 4000 s; how fast is for a quiet machine to say
    assert r.footer["reason"] == "cancelled"
    pid = int((r.folder / "H-plain-1" / "tree" / "pid").read_text())
    time.sleep(0.1)
    assert not _alive(pid)


def test_cancel_during_prepare(tmp_path: Path) -> None:
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    began = time.monotonic()
    r = record(
        tmp_path, {"a": ""}, prepare=[["python", "-c", "import time; time.sleep(100)"]], cancelled=cancelled
    )
    assert time.monotonic() - began < 30
    assert not r.footer["complete"]


def test_prepare_that_fails(tmp_path: Path) -> None:
    r = record(tmp_path, {"a": ""}, prepare=[["python", "-c", "raise SystemExit('no compiler')"]])
    assert "no compiler" in r.footer["reason"]
    r = record(tmp_path / "b", {"a": ""}, prepare=[["no-such-command"]])
    assert "no-such-command" in r.footer["reason"]


def test_budget(tmp_path: Path) -> None:
    r = record(
        tmp_path, {"test_a.py": "import time\ndef test_a(): time.sleep(60)\n"}, deadline=2.0, timeout=50.0
    )
    assert "budget" in r.footer["reason"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_killed_parent_leaves_nothing(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    script = tmp_path / "script.py"
    files = {
        "test_a.py": DAEMON.replace("os.setsid(); ", "").replace(
            "def test_b(): pass", "def test_b():\n        while True: pass"
        )
    }
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            sys.path.insert(0, {str(root)!r})
            from pathlib import Path
            from tests.recorder.runkit import record
            record(Path({str(tmp_path)!r}), {files!r}, timeout=60.0)
            """
        )
    )
    parent = subprocess.Popen([sys.executable, str(script)])
    pid_files: list[Path] = []
    try:
        until = time.monotonic() + 20
        while not (pid_files and pid_files[0].read_text()):
            pid_files = list((tmp_path / "runs").glob("*/tree/pid"))
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    needle = str(tmp_path / "runs").encode()
    until = time.monotonic() + 30
    while left := [p for p in Path("/proc").iterdir() if p.name.isdigit() and _mentions(p, needle)]:
        assert time.monotonic() < until, [(p / "cmdline").read_bytes() for p in left]
        time.sleep(0.05)
    stray = int(pid_files[0].read_text())
    while _alive(stray):
        assert time.monotonic() < until
        time.sleep(0.05)


def _mentions(process: Path, needle: bytes) -> bool:
    try:
        return needle in (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    except OSError:
        return False
