"""Drafts and reviews properties on functions of public projects, with planted and with historically real faults.

For each function there is a repository whose ``main`` holds a commit of the project, and a branch of an agent
with the fault: an edit, or the source as it was before the commit that fixed it. The gate classifies the miss,
``draft`` proposes, ``review`` judges each proposal. Besides: twelve vacuous proposals, each to be discarded by the
right question, and the oracle's two numbers on one real patch with and without a real oracle.

    python -m benchmarks.properties                       clones the projects from GitHub
    python -m benchmarks.properties --sources DIR         git folders DIR/boltons, DIR/humanize, DIR/more-itertools,
                                                          DIR/packaging

Needs Hypothesis in the environment that runs it. It ends with 1 if a vacuous proposal is kept or discarded by another
question, or if a fault on which the drafts were tuned has no kept property.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gitkit import Content, Link, Repo

AGENT = "Claude <noreply@anthropic.com>"
REMOTE = {
    "boltons": "https://github.com/mahmoud/boltons",
    "humanize": "https://github.com/python-humanize/humanize",
    "more-itertools": "https://github.com/more-itertools/more-itertools",
    "packaging": "https://github.com/pypa/packaging",
}


@dataclass(frozen=True)
class Fault:
    """One function with a fault. ``edit`` is (old, new) of a planted one; None: the source before ``commit``."""

    function: str
    project: str
    commit: str
    source: str
    test: str
    edit: tuple[str, str] | None = None
    generated: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """Return "planted" or "real"."""
        return "planted" if self.edit else "real"


_BOLTONS = "766b5547392fe8d54c1e000098499dc556bb5cb7"
_MORE = "2fe1b2eeb9d75f994113fe3ac76d14b6bcd6fb10"
_VERSION = (("src/humanize/_version.py", '__version__ = "4"\n'),)
_INSTALLED = (
    *_VERSION,
    ("src/humanize-4.dist-info/METADATA", "Metadata-Version: 2.1\nName: humanize\nVersion: 4\n"),
)
_CARRY = "7574e0cc377d80db0d2756fc2c5e0b8799a6f8b4"

FAULTS = (
    Fault(
        "clamp",
        "boltons",
        _BOLTONS,
        "boltons/mathutils.py",
        "tests/test_mathutils.py::test_clamp_examples",
        ("return min(max(x, lower), upper)", "return max(x, lower)"),
    ),
    Fault(
        "parse_int_list",
        "boltons",
        _BOLTONS,
        "boltons/strutils.py",
        "tests/test_strutils.py::test_parse_int_list",
        ("max(range_limits)+1))", "max(range_limits)))"),
    ),
    Fault(
        "divide",
        "more-itertools",
        _MORE,
        "more_itertools/more.py",
        "tests/test_more.py::DivideTest::test_basic",
        ("stop += q + 1 if i <= r else q", "stop += q + 1 if i < r else q"),
    ),
    Fault(
        "chunked",
        "more-itertools",
        _MORE,
        "more_itertools/more.py",
        "tests/test_more.py::ChunkedTests::test_odd",
        (
            "iterator = iter(partial(take, n, iter(iterable)), [])",
            "iterator = iter(partial(take, n + 1, iter(iterable)), [])",
        ),
    ),
    Fault(
        "ordinal",
        "humanize",
        _CARRY,
        "src/humanize/number.py",
        "tests/test_number.py::test_ordinal",
        ("value % 100 in (11, 12, 13)", "value % 100 in (11, 12)"),
        _VERSION,
    ),
    Fault(
        "bytes2human", "boltons", _BOLTONS, "boltons/strutils.py", "tests/test_strutils.py::test_bytes2human"
    ),
    Fault(
        "naturalsize",
        "humanize",
        "823ad6096e1e5ba82ea876ce761fc2efebd76157",
        "src/humanize/filesize.py",
        "tests/test_filesize.py::test_naturalsize",
        generated=_VERSION,
    ),
    Fault(
        "metric",
        "humanize",
        _CARRY,
        "src/humanize/number.py",
        "tests/test_number.py::test_metric",
        generated=_VERSION,
    ),
)

# the drafts were tuned on none of these
FRESH = (
    Fault(
        "singularize",
        "boltons",
        "1e61524",
        "boltons/strutils.py",
        "tests/test_strutils.py::test_singularize_double_s",
    ),
    Fault(
        "split",
        "boltons",
        "4aa77cd",
        "boltons/iterutils.py",
        "tests/test_iterutils.py::TestSplit::test_maxsplit_zero_returns_unsplit_values",
    ),
    Fault(
        "backoff",
        "boltons",
        "ead236e",
        "boltons/iterutils.py",
        "tests/test_iterutils.py::test_backoff_constant_factor",
    ),
    Fault(
        "Bits", "boltons", "c1c25da", "boltons/mathutils.py", "tests/test_mathutils.py::test_bits_len_bound"
    ),
    Fault(
        "exactly_n",
        "more-itertools",
        "adeda34",
        "more_itertools/more.py",
        "tests/test_more.py::ExactlyNTests::test_false",
    ),
    Fault(
        "intword",
        "humanize",
        "520aac1",
        "src/humanize/number.py",
        "tests/test_number.py::test_intword",
        generated=_INSTALLED,
    ),
    Fault(
        "scientific",
        "humanize",
        "43ebe21",
        "src/humanize/number.py",
        "tests/test_number.py::test_scientific",
        generated=_INSTALLED,
    ),
    Fault(
        "is_normalized_name",
        "packaging",
        "ba17fce",
        "src/packaging/utils.py",
        "tests/test_utils.py::test_is_normalized_name",
    ),
)

_HEAD = "import random\nimport time\n\nfrom hypothesis import assume, given\n"
_HEAD += "from hypothesis import strategies as st\n\nfrom boltons.mathutils import clamp\n\n\n"
_N = "@given(st.integers(-9, 99))\n"
# twelve proposals for the fault in clamp (its upper bound is forgotten), and the question that must discard each
VACUOUS: tuple[tuple[int, str, str], ...] = (
    (1, "one equality", "def test(): assert clamp(5, 0, 1) == 1\n"),
    (
        1,
        "rows of a table",
        "def test():\n    for x, wanted in [(5, 1), (-1, 0)]:\n        assert clamp(x, 0, 1) == wanted\n",
    ),
    (1, "just", "@given(st.just(5))\ndef test(x):\n    assert clamp(x, 0, 1) == 1\n"),
    (1, "what is drawn is not used", f"{_N}def test(x):\n    assert clamp(5, 0, 1) == 1\n"),
    (1, "both sides alike", f"{_N}def test(x):\n    assert clamp(x, 0, 1) == clamp(x, 0, 1)\n"),
    (
        1,
        "a condition that leaves one value",
        f"{_N}def test(x):\n    r = clamp(x, 0, 1)\n    if abs(x - 5) < 1:\n        assert r == 1\n",
    ),
    (
        1,
        "a filter over nothing",
        "@given(st.integers())\ndef test(x):\n    assume(x % 1009 == 5)\n    assert clamp(x, 0, 1) <= 1\n",
    ),
    (3, "true of the fault as well", f"{_N}def test(x):\n    assert clamp(x, 0, 1) >= 0\n"),
    (3, "false of base as well", f"{_N}def test(x):\n    assert clamp(x, 0, 1) == x\n"),
    (3, "a name that is not there", f"{_N}def test(x):\n    assert clamped(x, 0, 1) <= 1\n"),
    (
        4,
        "a clock",
        f"{_N}def test(x):\n    t = time.time()\n    assert clamp(x, 0, 1) <= 1\n    assert time.time() - t < 5\n",
    ),
    (
        4,
        "entropy without a seed",
        "def test():\n    r = random.Random()\n    for _ in range(50):\n        assert clamp(r.random(), 0, 0) == 0\n",
    ),
)


def redbucket(*words: str | Path) -> tuple[int, str, str]:
    """Run redbucket and return its exit code, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "redbucket", *map(str, words)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def git(source: Path, *words: str) -> bytes:
    """Run git on a project's clone."""
    return subprocess.run(["git", "-C", str(source), *words], capture_output=True, check=True).stdout


def tree(source: Path, commit: str) -> Iterator[tuple[str, Content]]:
    """Yield the files and links of a commit."""
    for entry in git(source, "ls-tree", "-r", "-z", commit).split(b"\0"):
        if entry.startswith((b"100", b"120")):
            head, _, name = entry.partition(b"\t")
            content = git(source, "cat-file", "blob", head.split()[2].decode())
            yield name.decode(), Link(content.decode()) if entry.startswith(b"120") else content


def prepared(fault: Fault, source: Path, place: Path) -> Repo:
    """Make the repository: main with the sound code, agent/fault with the fault."""
    repo = Repo.init(place)
    files: dict[str, Content] = {
        path: data
        for path, data in tree(source, fault.commit)
        if path.endswith((".py", ".toml", ".cfg", ".ini")) and not path.startswith(("docs/", "misc/"))
    }
    # the class of the missed test, or its file: the gate need not run the whole suite for this
    file = fault.test.rpartition("::")[0]
    files["redbucket.toml"] = (
        f'[run]\ncommand = ["python", "-m", "pytest", "{file}"]\ntimeout = 60\nscout = false\n'
    )
    files.update(fault.generated)
    repo.commit(files, "sound")
    repo.branch("agent/fault")
    if fault.edit:
        old = files[fault.source]
        assert isinstance(old, bytes)
        text = old.decode()
        assert text.count(fault.edit[0]) >= 1, fault
        wrong: bytes = text.replace(*fault.edit, 1).encode()
    else:
        wrong = git(source, "show", f"{fault.commit}^:{fault.source}")
    repo.commit({fault.source: wrong}, "fault", author=AGENT)
    repo.switch("main")
    return repo


ENDS = ("--base", "main", "--head", "agent/fault")


def judged(fault: Fault, repo: Repo, folder: Path) -> dict[str, Any]:
    """Gate, draft, and review each proposal; return what came out."""
    began = time.monotonic()
    verdict = folder / "verdict.json"
    code, out, err = redbucket("gate", "-C", repo.path, *ENDS, "--format", "json", "--output", verdict)
    report = json.loads(verdict.read_text()) if verdict.exists() else {"tests": []}
    misses = [
        row["nodeid"]
        for row in report["tests"]
        if row["bucket"] == "invariant_miss" and row["nodeid"].partition("[")[0] == fault.test
    ]
    found: dict[str, Any] = {"misses": len(misses), "proposed": 0, "kept": [], "discarded": [], "error": ""}
    if not misses:
        found["error"] = f"gate {code}: {err[-300:]}"
        return found
    drafts = folder / "drafts"
    code, out, err = redbucket(
        *("draft", verdict, "-C", repo.path, "--test", misses[0], "--out", drafts, "--format", "json")
    )
    if code not in (0, 2):
        found["error"] = f"draft {code}: {err[-300:]}"
        return found
    (miss,) = json.loads(out)["misses"]
    found["candidates"], found["held"] = miss["candidates"], miss["held"]
    for one in miss["proposals"]:
        found["proposed"] += 1
        code, out, err = redbucket(
            *("review", drafts / one["file"], "-C", repo.path, *ENDS, "--format", "json", "--mutants", "4")
        )
        review = json.loads(out) if out else {"verdict": f"error: {err[-200:]}", "properties": []}
        props = review["properties"]
        note = f"{props[0]['killed']}/{props[0]['mutants']}" if props else ""
        found["kept" if review["verdict"] == "keep" else "discarded"].append(
            (one["says"], one["by"], review.get("reason", review["verdict"]), note)
        )
    found["seconds"] = round(time.monotonic() - began)
    return found


def vacuous(source: Path, folder: Path) -> list[tuple[int, int | None, str]]:
    """Return (wanted question, answered question, name) of the twelve proposals."""
    repo = prepared(FAULTS[0], source, folder / "vacuous")
    file = folder / "test_vacuous.py"
    tests = [text.replace("def test(", f"def test_{n}(") for n, (_, _, text) in enumerate(VACUOUS)]
    file.write_text(_HEAD + "\n\n".join(tests))
    _, out, err = redbucket("review", file, "-C", repo.path, *ENDS, "--format", "json")
    assert out, err
    answers = {p["nodeid"].rpartition("_")[2]: p["question"] for p in json.loads(out)["properties"]}
    return [(wanted, answers[str(n)], name) for n, (wanted, name, _) in enumerate(VACUOUS)]


def oracles(source: Path, folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the oracle's report on the fix of bytes2human, with its tests and with a hollow one in their place."""
    fault = FAULTS[5]
    found = []
    hollow = "from boltons import strutils\n\n\ndef test_bytes2human():\n    for n in range(5):\n"
    hollow += "        assert strutils.bytes2human(1024**n)\n"
    for name, own in (("its own tests, by a person", None), ("a hollow test, by an agent", hollow)):
        repo = Repo.init(folder / name.split()[1])
        files = dict(tree(source, f"{fault.commit}^"))
        kept: dict[str, Content] = {
            p: d for p, d in files.items() if p.endswith((".py", ".toml", ".cfg", ".ini"))
        }
        kept["redbucket.toml"] = '[run]\ncommand = ["python", "-m", "pytest", "tests/test_strutils.py"]\n'
        if own:
            kept["redbucket.toml"] = '[run]\ncommand = ["python", "-m", "pytest", "tests"]\n'
            kept["tests"] = None
            kept = {p: d for p, d in kept.items() if not p.startswith("tests/")}
            kept["tests/test_other.py"] = "def test_other():\n    assert 1\n"
        del_tests = kept.pop("tests", None)
        assert del_tests is None
        repo.commit(kept, "before")
        repo.branch("agent/fix" if own else "fix")
        edit: dict[str, Content] = {fault.source: git(source, "show", f"{fault.commit}:{fault.source}")}
        if own:
            edit["tests/test_bytes.py"] = own
        else:
            edit["tests/test_strutils.py"] = git(source, "show", f"{fault.commit}:tests/test_strutils.py")
        repo.commit(edit, "fix", author=AGENT if own else "Ada <ada@example.org>")
        head = "agent/fix" if own else "fix"
        repo.switch("main")
        _, out, err = redbucket(
            "oracle", "-C", repo.path, "--base", "main", "--head", head, "--format", "json"
        )
        assert out, err
        found.append((name, json.loads(out)))
    return found


def drafted(faults: Sequence[Fault], sources: Path, work: Path) -> int:
    """Print the table of some faults; return how many have no kept property."""
    without = 0
    print(
        "| function | fault | candidates | hold on base | proposed | kept | the kept properties (faults killed) |"
    )
    print("|---|---|---|---|---|---|---|")
    for fault in faults:
        folder = work / fault.function
        folder.mkdir()
        found = judged(fault, prepared(fault, sources / fault.project, folder / "repo"), folder)
        kept = "; ".join(f"{says} ({note})" for says, _, _, note in found["kept"]) or found["error"] or "none"
        print(
            f"| {fault.project} `{fault.function}` | {fault.kind} | {found.get('candidates', '')} | "
            f"{found.get('held', '')} | {found['proposed']} | {len(found['kept'])} | {kept} |",
            flush=True,
        )
        for says, by, reason, _ in found["discarded"]:
            print(f"<!-- discarded: {says} ({by}): {reason} -->", flush=True)
        without += not found["kept"]
    return without


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=Path, help="a folder of clones; default: clone from GitHub")
    parser.add_argument(
        "--only", action="append", help="a function's name, or vacuous, or oracle: only these"
    )
    options = parser.parse_args(arguments)
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        sources = options.sources or work / "sources"
        for project, address in REMOTE.items() if options.sources is None else ():
            subprocess.run(["git", "clone", "--quiet", address, str(sources / project)], check=True)
        wanted = set(options.only or [*(f.function for f in (*FAULTS, *FRESH)), "vacuous", "oracle"])
        wrong += drafted([f for f in FAULTS if f.function in wanted], sources, work)
        fresh = [f for f in FRESH if f.function in wanted]
        if fresh:
            print("\nOn which nothing was tuned:\n")
            missed = drafted(fresh, sources, work)
            print(f"\n{len(fresh) - missed} of {len(fresh)} of these have a kept property", flush=True)
        if "vacuous" in wanted:
            print("\n| vacuous proposal | must be discarded by | was discarded by |\n|---|---|---|")
            for must, did, what in vacuous(sources / "boltons", work):
                wrong += must != did
                print(f"| {what} | {must} | {did} |", flush=True)
        if "oracle" in wanted:
            print("\n| the fix of `bytes2human` with | trusted: executed, noticed | own |\n|---|---|---|")
            for what, report in oracles(sources / "boltons", work):
                cells = []
                for side in (report["trusted"], report["own"]):
                    cells.append(
                        f"{side['executed']} of {side['lines']}, {side['noticed']} of {side['mutable']}"
                    )
                print(f"| {what} | {' | '.join(cells)} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
