"""The worked example: a small repository, an agent branch of each kind, each judged for real."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from redbucket.app.calling import calling
from redbucket.app.session import session
from redbucket.core.errors import ACCEPTED, BUG, Misused, WorldFailed
from redbucket.core.plural import plural
from redbucket.core.report import GateReport
from redbucket.edges.progress import Progress
from redbucket.engine.subject import Request
from redbucket.formats.clean import shell

_SOURCE = '''\
"""Maps values to the index of the first edge that is not smaller."""

import bisect
import json
import os
from pathlib import Path

# The seed that the tests pin; anything that draws numbers uses it.
SEED = os.environ.get("TEST_SEED", "")


def load_edges(path):
    """Return the edges recorded in a JSON file."""
    return json.loads(Path(path).read_text())


def bucket(value, edges):
    """Return the index of the first edge that is not smaller than value."""
    return bisect.bisect_left(edges, value)


class Counter:
    """Counts how many values fell into each bucket."""

    def __init__(self, edges):
        self.edges = edges
        self.counts = [0] * (len(edges) + 1)

    def add(self, value):
        self.counts[bucket(value, self.edges)] += 1
'''

_TESTS = """\
import threading
import unittest
from pathlib import Path

from bucketizer import Counter, bucket, load_edges

RECORDED = Path(__file__).parent / "data" / "edges.json"
EDGES = [0, 1, 2, 5, 10]


class BucketTests(unittest.TestCase):
    def test_value_on_an_edge(self):
        self.assertEqual(bucket(2, EDGES), 2)

    def test_value_between_edges(self):
        self.assertEqual(bucket(3, EDGES), 3)

    def test_value_above_all_edges(self):
        self.assertEqual(bucket(11, EDGES), 5)

    def test_recorded_edges_length(self):
        self.assertEqual(len(load_edges(RECORDED)), 5)

    def test_recorded_edges_are_sorted(self):
        edges = load_edges(RECORDED)
        self.assertEqual(edges, sorted(edges))


class CounterTests(unittest.TestCase):
    def test_counts_from_two_threads(self):
        self.check_two_threads(EDGES)

    def test_counts_without_edges(self):
        self.check_two_threads([])

    def test_counts_on_the_only_edge(self):
        self.check_two_threads([3])

    def test_starts_empty(self):
        self.assertEqual(sum(Counter(EDGES).counts), 0)

    def check_two_threads(self, edges):
        counter = Counter(edges)
        threads = [threading.Thread(target=self.fill, args=(counter,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(counter.counts), 2 * 40)

    def fill(self, counter):
        for _ in range(40):
            counter.add(3)
"""

_POLICY = """\
# What redbucket reads from the protected branch, and never from a patch.
[gate]
protected_branches = ["main"]

[run]
command = ["python", "-m", "{runner}"{args}]
timeout = 20
"""

_EDGES = "[0, 1, 2, 5, 10]\n"


@dataclass(frozen=True)
class Story:
    """One branch: what the agent says it did, what it did, and what a user learns from the verdict."""

    name: str
    subject: str
    edit: Callable[[Path], None]
    bucket: str
    exit_code: int
    lesson: str
    note: str = field(default="")


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise AssertionError(f"the worked example has no {old!r}")
    path.write_text(text.replace(old, new), encoding="utf-8")


def _module(top: Path) -> Path:
    return top / "bucketizer" / "__init__.py"


def _tests(top: Path) -> Path:
    return top / "tests" / "test_bucketizer.py"


def _miss(top: Path) -> None:
    _replace(_module(top), "bisect.bisect_left(edges, value)", "bisect.bisect_right(edges, value)")


def _drift(top: Path) -> None:
    (top / "tests" / "data" / "edges.json").write_text("[0, 1, 2, 5]\n", encoding="utf-8")


def _race(top: Path) -> None:
    # In about half of the runs a test loses a count: of three tests in three runs hardly ever none is seen both
    # ways, and hardly ever one fails in every run that the challenge adds.
    _replace(
        _module(top),
        "        self.counts[bucket(value, self.edges)] += 1\n",
        "        index = bucket(value, self.edges)\n"
        "        seen = self.counts[index]\n"
        "        if os.urandom(1)[0] < 2:  # a slow path, now and then\n"
        "            time.sleep(0.005)\n"
        "        self.counts[index] = seen + 1\n",
    )
    _replace(_module(top), "import os\n", "import os\nimport time\n")


def _unseeded(top: Path) -> None:
    _replace(_module(top), 'os.environ.get("TEST_SEED", "")', 'os.environ.pop("TEST_SEED", "")')


def _own_tests(top: Path) -> None:
    _module(top).write_text(
        _module(top).read_text(encoding="utf-8") + "\n\ndef label(value, edges):\n"
        '    """Return a readable name of the bucket."""\n'
        '    return f"bucket {bucket(value, edges)}"\n',
        encoding="utf-8",
    )
    (top / "tests" / "test_label.py").write_text(
        "import unittest\n\nfrom bucketizer import label\n\n\n"
        "class LabelTests(unittest.TestCase):\n"
        "    def test_label(self):\n"
        '        self.assertEqual(label(2, [0, 1, 2]), "bucket 2")\n',
        encoding="utf-8",
    )


def _order(top: Path) -> None:
    _replace(
        _module(top),
        "        self.edges = edges\n        self.counts = [0] * (len(edges) + 1)\n",
        "        self.edges = edges\n        self.counts = _COUNTS.setdefault(len(edges), [0] * (len(edges) + 1))\n",
    )
    _replace(_module(top), "class Counter:", "_COUNTS = {}\n\n\nclass Counter:")


def _green(top: Path) -> None:
    _replace(
        _module(top),
        "    return bisect.bisect_left(edges, value)\n",
        "    low, high = 0, len(edges)\n"
        "    while low < high:\n"
        "        middle = (low + high) // 2\n"
        "        if edges[middle] < value:\n"
        "            low = middle + 1\n"
        "        else:\n"
        "            high = middle\n"
        "    return low\n",
    )


STORIES = (
    Story(
        "miss",
        "Speed up bucket()",
        _miss,
        "invariant_miss",
        1,
        "The invariant is broken: a value on an edge belongs to that edge. Write it as a property over all "
        "values and edges; one more equality would only restate this point.",
    ),
    Story(
        "drift",
        "Refresh the recorded edges",
        _drift,
        "fixture_drift",
        1,
        "The code is as it was, the recorded bytes moved. Look at the diff; a human locks or refreshes them.",
    ),
    Story(
        "race",
        "Make the counter faster",
        _race,
        "noise",
        1,
        "The same bytes pass and fail: no property and no fixture helps. The patch brought it, so it blocks.",
    ),
    Story(
        "unseeded",
        "Tidy up the environment",
        _unseeded,
        "unclassified",
        2,
        "Without one pinned seed nothing can be told apart. Pin TEST_SEED and rerun; write nothing.",
    ),
    Story(
        "own-tests",
        "Add label(), with tests",
        _own_tests,
        "untrusted",
        0,
        "The only tests that run the new lines came with the patch. They are listed, and count for nothing: a "
        "person reads them first.",
    ),
    Story(
        "order",
        "Share the counters",
        _order,
        "noise",
        1,
        "The tests depend on their order now: each passes alone. Fix the shared state; do not rerun until green.",
    ),
    Story(
        "green",
        "Write the search by hand",
        _green,
        "stable_pass",
        0,
        "Nothing got worse in three runs. That is no proof, and no reason to merge by itself.",
    ),
)


def build(top: Path, *, runner: str = "unittest") -> None:
    """Make the repository with its branches in the empty folder ``top``."""
    args = ', "discover", "-s", "tests", "-t", "."' if runner == "unittest" else ""
    _git(top, "init", "--quiet", "--initial-branch=main")
    files = {
        "bucketizer/__init__.py": _SOURCE,
        "tests/__init__.py": "",
        "tests/test_bucketizer.py": _TESTS,
        "tests/data/edges.json": _EDGES,
        "redbucket.toml": _POLICY.format(runner=runner, args=args),
    }
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _commit(top, "A bucketizer with tests")
    for story in STORIES:
        _git(top, "checkout", "--quiet", "-b", f"agent/{story.name}", "main")
        story.edit(top)
        _commit(top, story.subject)
    _git(top, "checkout", "--quiet", "main")


def _commit(top: Path, message: str) -> None:
    _git(top, "add", "--all")
    _git(top, "commit", "--quiet", "--message", message)


def _git(top: Path, *words: str) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    person = {"NAME": "Demo", "EMAIL": "demo@example.invalid"}
    env.update({f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in person.items()})
    env.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    try:
        done = subprocess.run(["git", *words], cwd=top, env=env, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise WorldFailed("no-git", "git is not installed", "install git 2.38 or newer") from error
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip()
        raise WorldFailed("git-failed", f"git {words[0]}: {reason}", "see git's own words")


def run(*, keep: Path | None, only: str | None, verbose: bool, say: Callable[[str], None] = print) -> int:
    """Build the example, judge each branch, and print what it teaches; return 0 if all came out as told."""
    stories = [s for s in STORIES if only is None or s.name == only]
    if not stories:
        raise Misused(
            "unknown-demo", f"there is no branch {only!r}", f"known: {', '.join(s.name for s in STORIES)}"
        )
    folder = Path(tempfile.mkdtemp(prefix="redbucket-demo-"))
    top = folder / "bucketizer"
    try:
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            top = keep / "bucketizer"
            if top.exists():
                raise Misused("folder-exists", f"{top} exists", "name another folder with --keep")
        top.mkdir()
        build(top)
        say("A bucketizer: it maps a value to the index of the first edge that is not smaller.")
        branches = plural(len(stories), "agent branch is", "agent branches are")
        say(f"{branches} judged against main, for real.\n")
        wrong = [s for s in stories if not _tell(s, top, verbose=verbose, say=say)]
        if keep is not None:
            say(f"The repository is in {top}. Judge a branch yourself:")
            say(calling().named(f"  redbucket gate -C {shell(str(top))} --base main --head agent/miss"))
        else:
            say("Now your own repository, from inside it:")
            say(calling().named("  redbucket gate --base main --head YOUR-BRANCH"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if wrong:
        print(
            f"redbucket: {', '.join(s.name for s in wrong)} did not come out as told: please report it",
            file=sys.stderr,
        )
    return BUG if wrong else ACCEPTED


def _tell(story: Story, top: Path, *, verbose: bool, say: Callable[[str], None]) -> bool:
    with session(top, Progress(quiet=False, steps=False)) as opened:
        report = opened.gate(Request(base="main", head=f"agent/{story.name}"))
    say(f'agent/{story.name}: "{story.subject}"')
    say(f"  verdict: {report.verdict.value}, exit {report.exit_code} ({report.duration:.1f} s)")
    for line in _seen(report, story.bucket):
        say(f"  {line}")
    say(f"  learn:   {story.lesson}")
    if verbose:
        from redbucket.formats import FORMATS

        say(FORMATS["text"](report, width=100, verbose=True))
    say("")
    return report.exit_code == story.exit_code and story.bucket in report.counts


def _seen(report: GateReport, bucket: str) -> list[str]:
    """Return the two or three lines of the report that matter."""
    counts = ", ".join(f"{number} {name}" for name, number in report.counts.items())
    lines = [f"tests:   {counts}"]
    row = next((r for r in report.tests if r.bucket.value == bucket and bucket != "stable_pass"), None)
    if row is not None:
        lines.append(f"test:    {row.nodeid}")
        lines.append(f"why:     {row.why}")
    if report.untrusted_green:
        lines.append("green:   untrusted: no trusted test ran a changed line")
    return lines
