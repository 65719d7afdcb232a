"""Disturbs gates at random moments and counts what came of it: ``python -m benchmarks.soak [--rounds 200]``.

Each round judges a branch that must be accepted, or one that must be refused, and meanwhile
kills, starves or confuses the gate. Afterwards: no disturbed gate accepted the bad branch or
claimed a bug, the user's repository is as it was to the byte, and an undisturbed gate gives
the right verdict and leaves no process and no file. Ends with 1 if anything was wrong.

``--seed`` repeats a soak's choices (the moments are the machine's). Faults that need root or
Linux are left out, and named, where they can't be done.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.otherclock import OtherClock
from tests.stories.kit import CONSOLE, SHOP, Shop, alive_in
from tests.stories.kit import policy as kit_policy

GOOD, BAD = "agent/good", "agent/bad"
RIGHT = {GOOD: 0, BAD: 1}
# Exit codes of a gate that was disturbed: it may still be right, say that it can't decide, that the
# world failed, or be stopped. Never an acceptance of what is bad, never a bug (70) or misuse (3).
STOPPED = {130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGXFSZ, -signal.SIGXCPU}
_PATIENCE = 120.0
_LEDGER = ".git/redbucket/ledger.sqlite"


@dataclass
class Gate:
    """One running gate, and what it is judged in."""

    shop: Shop
    tmp: Path
    process: subprocess.Popen[bytes]
    random: random.Random
    span: float  # seconds that an undisturbed gate takes
    clock: OtherClock

    def moment(self) -> None:
        """Wait until some moment of the gate's life."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(self.random.uniform(0, self.span))

    def children(self) -> list[int]:
        """Return the ids of all processes that the gate started, directly or not."""
        found, todo = [], [self.process.pid]
        while todo:
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{todo.pop()}/task").iterdir():
                    more = [int(pid) for pid in (task / "children").read_text().split()]
                    found += more
                    todo += more
        return found


Fault = Callable[[Gate], None]


def send(number: signal.Signals) -> Fault:
    """Send a signal to the gate."""

    def fault(gate: Gate) -> None:
        gate.moment()
        gate.process.send_signal(number)

    return fault


def kill_child(gate: Gate) -> None:
    """Kill one of the gate's processes, as an out-of-memory killer would."""
    gate.moment()
    with contextlib.suppress(ProcessLookupError, IndexError):
        os.kill(gate.random.choice(gate.children()), signal.SIGKILL)


def stop_and_go(gate: Gate) -> None:
    """Stop the gate and all that it started for a while: clocks jump for all of them."""
    gate.moment()
    stopped = [gate.process.pid, *gate.children()]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        time.sleep(gate.random.uniform(0.1, 1.0))


def collect_garbage(gate: Gate) -> None:
    """Repack the repository and drop what no ref holds."""
    gate.moment()
    gate.shop.repo.git("reflog", "expire", "--expire=now", "--all")
    gate.shop.repo.git("gc", "--quiet", "--prune=now", check=False)


def move_refs(gate: Gate) -> None:
    """Swap the branches: the verdict is bound to ids, not to names."""
    gate.moment()
    ids = {name: gate.shop.repo.git("rev-parse", name) for name in RIGHT}
    for name, other in ((GOOD, BAD), (BAD, GOOD)):
        gate.shop.repo.git("update-ref", f"refs/heads/{name}", ids[other])


def second_gate(gate: Gate) -> None:
    """Start another gate in the same repository and temporary folder."""
    gate.moment()
    with started(gate.shop, GOOD, gate.tmp) as other:
        if finished(other) != 0:
            raise AssertionError("the gate beside it did not accept what is good")


def set_clock(*times: str) -> Fault:
    """Set the time of day, in one jump or in several."""

    def fault(gate: Gate) -> None:
        for time_of_day in times:
            gate.moment()
            gate.clock.show(time_of_day)

    return fault


def nothing(gate: Gate) -> None:
    """Leave it alone; what disturbs it was there before it started."""


@dataclass(frozen=True)
class Kind:
    """A fault, and what the gate is started with."""

    name: str
    fault: Fault
    limit: Callable[[random.Random], None] | None = None
    disk: Callable[[random.Random], str] | None = None  # mount options of a temporary folder of its own
    may_refuse_good: bool = False
    clock: str = ""  # whose clock is another one: "the gate's", or that of "all" that it starts


def _limit(kind: int, low: int, high: int) -> Callable[[random.Random], None]:
    def limit(chance: random.Random) -> None:
        value = chance.randint(low, high)
        resource.setrlimit(kind, (value, value))

    return limit


KINDS = (
    Kind("SIGKILL of the gate", send(signal.SIGKILL)),
    Kind("SIGTERM of the gate", send(signal.SIGTERM)),
    Kind("SIGINT of the gate", send(signal.SIGINT)),
    # a test whose process was killed looks like a test that kills its process
    Kind("SIGKILL of a child", kill_child, may_refuse_good=True),
    Kind("stopped and continued", stop_and_go),
    Kind("git gc meanwhile", collect_garbage),
    Kind("refs moved meanwhile", move_refs),
    Kind("two gates at once", second_gate),
    Kind("full disk", nothing, disk=lambda chance: f"size={chance.randint(40, 2000)}k"),
    Kind("no inodes left", nothing, disk=lambda chance: f"size=64m,nr_inodes={chance.randint(10, 300)}"),
    Kind("few file descriptors", nothing, limit=_limit(resource.RLIMIT_NOFILE, 8, 60)),
    Kind(
        "small files only", nothing, limit=_limit(resource.RLIMIT_FSIZE, 1_000, 60_000), may_refuse_good=True
    ),
    Kind("read-only temporary folder", nothing, disk=lambda chance: "ro"),
    # 2040-01-01, the first second and the last that a kernel lets a clock show, and back
    Kind("clock set an hour ahead", set_clock("+3600"), clock="the gate's"),
    Kind("clock set an hour back", set_clock("-3600"), clock="the gate's"),
    Kind("clock set to and fro", set_clock("=2208988800", "=0", "=8277292035", "+0"), clock="the gate's"),
    Kind("clock ahead for all", set_clock("=2208988800"), clock="all"),
    Kind("clock back for all", set_clock("=0"), clock="all"),
)


@contextlib.contextmanager
def started(
    shop: Shop,
    head: str,
    tmp: Path,
    limit: Callable[[], None] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    policy: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a gate; at the end it lives no more."""
    words = ["gate", "-C", str(shop.path), "--base", "main", "--head", head, "--format", "json", "--quiet"]
    if policy is not None:
        words += ["--policy", str(policy)]
    process = subprocess.Popen(
        [CONSOLE, *words],
        stdin=subprocess.DEVNULL,
        stdout=(tmp.parent / "out").open("wb"),
        stderr=(tmp.parent / "err").open("wb"),
        env={**os.environ, "REDBUCKET_TMPDIR": str(tmp), **(env or {})},
        preexec_fn=limit,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def finished(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a gate; one that does not end counts as hung."""
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"still running after {_PATIENCE:g} s") from error


@contextlib.contextmanager
def mounted(place: Path, options: str) -> Iterator[bool]:
    """Mount a small file system; False if this machine does not let us."""
    command = ["mount", "-t", "tmpfs", "-o", options, "redbucket-soak", str(place)]
    done = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)


@dataclass
class Soak:
    """One soak: a repository, and the counts."""

    place: Path
    chance: random.Random
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.shop = Shop.open(self.place)
        self.tmp = self.place / "tmp"
        self.tmp.mkdir()
        self.clock = OtherClock(self.place)
        self.shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")}, branch=GOOD)
        self.shop.patch({"shop.py": SHOP.replace("sum(prices)", "len(prices)")}, branch=BAD)
        self.ids = {name: self.shop.repo.git("rev-parse", name) for name in RIGHT}
        began = time.monotonic()
        for name in RIGHT:
            self.undisturbed(name)
        self.span = (time.monotonic() - began) / len(RIGHT)

    def undisturbed(self, name: str) -> None:
        """Judge a branch in peace: the verdict is right, and nothing is left."""
        with started(self.shop, name, self.tmp) as process:
            got = finished(process)
        if got != RIGHT[name]:
            raise AssertionError(f"an undisturbed gate of {name} ends with {got}: {self.said()}")
        if left := sorted(p.name for p in self.tmp.iterdir()):
            raise AssertionError(f"left in the temporary folder: {left}")
        if alive := alive_in(self.tmp):
            raise AssertionError(f"left running: {alive}")

    def said(self) -> str:
        """Return what the last gate said on stderr."""
        return (self.place / "err").read_text(errors="replace").strip()[-600:]

    def round(self, kind: Kind, head: str) -> None:
        """Disturb one gate, then look at everything."""
        before = self.look()
        with contextlib.ExitStack() as stack:
            if kind.disk and not stack.enter_context(mounted(self.tmp, kind.disk(self.chance))):
                self.left_out.add(kind.name)
                return
            if kind.clock and not self.clock.built():
                self.left_out.add(kind.name)
                return
            stack.callback(self.clock.show, "+0")
            own = random.Random(self.chance.random())
            limit = (lambda: kind.limit(own)) if kind.limit else None
            env = self.clock.environment() if kind.clock else None
            policy = self._same_clock() if kind.clock == "all" else None
            with started(self.shop, head, self.tmp, limit, env=env, policy=policy) as process:
                kind.fault(Gate(self.shop, self.tmp, process, self.chance, self.span, self.clock))
                code = finished(process)
        self.counts.setdefault(kind.name, Counter())[_word(code)] += 1
        allowed = {0, 2, 4, *STOPPED} if head == GOOD else {1, 2, 4, *STOPPED}
        if kind.may_refuse_good or kind.fault is move_refs:
            allowed |= (
                {0, 1} if kind.fault is move_refs else {1}
            )  # which of the two was judged, the report says
        if code not in allowed:
            self.wrong.append(f"{kind.name}: {head} ended with {code}: {self.said()}")
        if "Traceback" in self.said():
            self.wrong.append(f"{kind.name}: a traceback: {self.said()}")
        if code in (0, 1) and kind.fault is not second_gate:
            self._bound_to_ids(kind, head)
        for name, oid in self.ids.items():
            self.shop.repo.git("update-ref", f"refs/heads/{name}", oid)
        if kind.fault not in (collect_garbage, move_refs) and self.look() != before:
            self.wrong.append(f"{kind.name}: the user's repository is not as it was")
        try:
            self.undisturbed(self.chance.choice(list(RIGHT)))
        except AssertionError as error:
            self.wrong.append(f"after {kind.name}: {error}")

    def _same_clock(self) -> Path:
        """Return a policy that shows the tests' processes the gate's clock."""
        path = self.place / "policy.toml"
        variables = ", ".join(f'{name} = "{value}"' for name, value in self.clock.environment().items())
        path.write_text(f"{kit_policy()}env = {{ {variables} }}\n", encoding="utf-8")
        return path

    def _bound_to_ids(self, kind: Kind, head: str) -> None:
        report = json.loads((self.place / "out").read_bytes())
        verdicts = {self.ids[name]: code for name, code in RIGHT.items()}
        right = verdicts[report["head"]] == report["exit_code"]
        if not right and not (kind.may_refuse_good and report["exit_code"] == 1):
            self.wrong.append(f"{kind.name}: the wrong verdict for {report['head'][:10]} ({head})")

    def look(self) -> dict[str, str]:
        """Return the user's repository, to the byte."""
        # the ledger is redbucket's own, and gets a line from each gate that ends by itself
        return {name: state for name, state in self.shop.snapshot().items() if not name.startswith(_LEDGER)}


def _word(code: int) -> str:
    words = {0: "accepted", 1: "refused", 2: "cannot decide", 4: "the world failed", 130: "interrupted"}
    return words.get(code, "killed" if code < 0 else f"exit {code}")


def main() -> int:
    """Soak, print the counts, return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no round after that time")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", help="one kind of fault")
    options = parser.parse_args()
    seed = random.randrange(1 << 30) if options.seed is None else options.seed
    kinds = [kind for kind in KINDS if not options.only or kind.name == options.only]
    with tempfile.TemporaryDirectory(prefix="redbucket-soak-") as folder:
        soak = Soak(Path(folder).resolve(), random.Random(seed))
        end = time.monotonic() + 60 * options.minutes
        done = 0
        while done < options.rounds and time.monotonic() < end:
            soak.round(kinds[done % len(kinds)], soak.chance.choice([GOOD, BAD, BAD]))
            done += 1
    print(f"{done} rounds, seed {seed}")
    for name, counts in soak.counts.items():
        print(f"  {name:28} {', '.join(f'{n} {word}' for word, n in counts.most_common())}")
    for name in sorted(soak.left_out):
        print(f"  {name:28} left out: this machine does not let us mount a file system, or has no compiler")
    print(f"wrong: {len(soak.wrong)}")
    for each in soak.wrong:
        print(f"  {each}")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
