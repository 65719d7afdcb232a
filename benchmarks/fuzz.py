"""Gives every reader of foreign bytes inputs that are led by coverage, one process a reader.

    pip install -e '.[test,fuzz]'
    python -m benchmarks.fuzz [--seconds 30] [NAME ...]

The readers, their good samples and the errors that each documents are those of
``tests/core/test_any_bytes.py``, and with them the four forms of records. Any other error, an
input that takes more than ten seconds, and a gigabyte of memory end a reader's run: the input is
kept, its path is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

LONGEST = 4096  # bytes of an input
SLOWEST = 10  # seconds for one input
MOST_MEMORY = 1024  # MiB
_DONE = re.compile(r"Done (\d+) runs")
_FEATURES = re.compile(r"cov: (\d+) ft: (\d+)")


def readers() -> dict[str, tuple[Callable[[bytes], object], list[bytes]]]:
    """Return {name: (what must take any bytes, good samples)}."""
    from tests.core.samples import SAMPLES
    from tests.core.test_any_bytes import READERS, give
    from tests.core.test_readers_fuzz import judge

    found: dict[str, tuple[Callable[[bytes], object], list[bytes]]] = {
        name: ((lambda raw, name=name: give(name, raw)), [sample]) for name, (_, sample, _) in READERS.items()
    }
    for what, pattern in (("JUnit XML", "*.xml"), ("records", "*.json*")):
        found[what] = (judge, [path.read_bytes() for path in sorted(SAMPLES.glob(pattern))])
    return found


def one(name: str, corpus: str, seconds: int, crashes: str) -> None:
    """Fuzz one reader; does not return."""
    import atheris

    with atheris.instrument_imports(include=["redbucket.core"]):
        take, _ = readers()[name]

    def keeping(raw: bytes) -> None:
        try:
            take(raw)
        except BaseException:
            Path(crashes, name.replace(" ", "-")).write_bytes(raw)
            raise

    words = [
        *(f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={SLOWEST}"),
        *(f"-rss_limit_mb={MOST_MEMORY}", f"-artifact_prefix={crashes}/", "-print_final_stats=1", corpus),
    ]
    atheris.Setup([sys.argv[0], *words], keeping)
    atheris.Fuzz()


def main() -> int:
    """Fuzz each reader and print a line for it; 1 if an input was kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=int, default=30, help="for each reader")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", help=argparse.SUPPRESS)
    parser.add_argument("--crashes", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.corpus, options.seconds, options.crashes)
    known = readers()
    if unknown := set(options.names) - known.keys():
        sys.exit(f"no reader is called {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    crashes = Path(tempfile.mkdtemp(prefix="redbucket-fuzz-"))
    total = broken = 0
    for name in options.names or known:
        with tempfile.TemporaryDirectory() as corpus:
            for number, sample in enumerate(known[name][1]):
                Path(corpus, str(number)).write_bytes(sample)
            more = ["--corpus", corpus, "--seconds", str(options.seconds), "--crashes", str(crashes)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.fuzz", "--one", name, *more],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
        runs = _DONE.search(done.stdout)
        if runs is None:
            broken += 1
            print(f"{name:14} ended with {done.returncode}:\n{done.stdout[-2000:]}", flush=True)
            continue
        total += int(runs[1])
        reached = _FEATURES.findall(done.stdout)
        print(
            f"{name:14} {int(runs[1]):>9,} inputs, {reached[-1][0] if reached else '?':>5} places", flush=True
        )
    kept = sorted(crashes.iterdir())
    print(f"{total:,} inputs, {len(kept)} kept")
    for path in kept:
        print(f"  {path}")
    if not kept:
        crashes.rmdir()
    return 1 if kept or broken else 0


if __name__ == "__main__":
    sys.exit(main())
