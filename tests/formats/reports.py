"""Reports to render: one of each kind, a hostile one, a large one."""

from __future__ import annotations

import msgspec

from redbucket.core.buckets import Bucket
from redbucket.core.experiments import Experiment, Tries
from redbucket.core.explanation import Explanation
from redbucket.core.findings import Finding, Severity
from redbucket.core.oracled import ChangedLine, Fate, OracleReport, SampledMutant, Strength, Survivor
from redbucket.core.report import GateReport, IdentityReport, MovedFixture, Problem, Row, Verdict

BASE = "1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c"
HEAD = "abcdef0123456789abcdef0123456789abcdef01"
FREEZE = "capture the input; fix isolation; freeze only with owner, ticket, expiry, replay"
MISS_SPEND = "strengthen a property over a domain; a single equality is rejected; keep the revealing seed"


def row(nodeid: str, bucket: Bucket, **more: object) -> Row:
    return Row(nodeid=nodeid, bucket=bucket, **more)  # type: ignore[arg-type]


def trials(text: str = "") -> list[Experiment]:
    """Experiments of each kind; with ``text`` every free text of them is that."""
    plain = Experiment(condition="plain", head=Tries(failed=1, runs=3), base=Tries(failed=0, runs=1))
    quick = Experiment(
        condition=text or "threads switched every microsecond", changes=text or "concurrency", confirmed=True
    )
    return [
        plain,
        Experiment(
            condition=text or "alone", changes=text or "order", head=Tries(failed=0, runs=1), flipped=False
        ),
        Experiment(
            condition="reversed",
            changes="order",
            head=Tries(failed=2, runs=8),
            base=Tries(failed=0, runs=8),
            flipped=True,
        ),
        msgspec.structs.replace(quick, head=Tries(failed=19, runs=20), flipped=True),
    ]


MISS = row(
    "tests/test_b.py::test_edges",
    Bucket.INVARIANT_MISS,
    introduced=True,
    blocks=True,
    why="it failed 3 of 3 runs in the same way, and nothing that was tried (alone, reversed, hash-seed)"
    " flips it; base passes",
    spend=MISS_SPEND,
    doubt=0.015625,
    outcomes={"H": ["failed"] * 3, "B": ["passed"] * 3},
    message="AssertionError: assert 3 == 2\n  left  = bucket(7)\n  right = 2\n  at pkg/bucket.py:12",
    tried=["alone", "reversed", "hash-seed"],
)
DRIFT = row(
    "tests/test_data.py::test_recorded[edges]",
    Bucket.FIXTURE_DRIFT,
    introduced=True,
    blocks=True,
    why="it fails with the patch's bytes of tests/data/edges.json and passes with the base's",
    spend="diff the fixture; a human locks or refreshes; no freeze",
    outcomes={"H": ["failed"] * 3, "B": ["passed"] * 3, "F": ["failed"]},
    fixtures=["tests/data/edges.json"],
)
NOISE = row(
    "tests/test_race.py::TestPool::test_order",
    Bucket.NOISE,
    introduced=True,
    blocks=True,
    cause="concurrency",
    why="it passed 2 and failed 1 of 3 runs with one seed",
    spend=FREEZE,
    doubt=0.25,
    outcomes={"H": ["passed", "failed", "passed"], "B": ["passed"] * 3, "H alone": ["passed"]},
    experiments=trials(),
)
UNCLASSIFIED = row(
    "tests/test_seed.py::test_sample",
    Bucket.UNCLASSIFIED,
    why="no seed is recorded in 3 of 3 runs",
    spend="pin TEST_SEED and rerun; write nothing",
    outcomes={"H": ["failed"] * 3},
)
UNTRUSTED = row(
    "tests/test_new.py::test_green",
    Bucket.UNTRUSTED,
    why="the patch wrote it",
    spend="ignored for merge",
    outcomes={"P": ["passed"] * 3},
)
RED = row(
    "tests/test_old.py::test_red",
    Bucket.INVARIANT_MISS,
    introduced=False,
    why="it failed 3 of 3 runs in the same way; base fails too",
    spend=MISS_SPEND,
    outcomes={"H": ["failed"] * 3, "B": ["failed"] * 3},
    message="ValueError: old",
)
NOISY = row(
    "tests/test_old.py::test_noisy",
    Bucket.NOISE,
    introduced=False,
    cause="clock",
    why="it was mixed in base",
    spend=FREEZE,
    outcomes={"H": ["failed", "timeout", "passed"], "B": ["passed", "crashed", "passed"]},
)
PASSES = [
    row(f"tests/test_ok.py::test_{i}", Bucket.STABLE_PASS, why="it passed 3 of 3 runs") for i in range(40)
]
SKIPPED = row("tests/test_win.py::test_reg", Bucket.SKIPPED, why="it was skipped in 3 of 3 runs")
PROTECTED = Finding(
    rule="protected-path",
    severity=Severity.REFUSE,
    path="redbucket.toml",
    reason="the policy decides what is accepted, and an agent's patch changes it",
    remedy="put it back, or ask a human to endorse it",
)
WARNING = Finding(
    rule="one-example",
    severity=Severity.WARN,
    path="tests/test_new.py",
    line=4,
    nodeid="tests/test_new.py::test_green",
    reason="a single equality proves one example",
    remedy="quantify over a domain",
)
NOTE = Finding(rule="untrusted-test", severity=Severity.NOTE, reason="1 test is the patch's own")
MOVED = [
    MovedFixture(
        path="tests/data/edges.json",
        kind="payload",
        places=[("/rates/0", "1", "2"), ("/name", '"a"', "(absent)")],
    ),
    MovedFixture(
        path="tests/data/notes.txt",
        kind="payload",
        lines=[
            "@@ -1,3 +1,3 @@",
            " same",
            "-old one",
            "-old two",
            "+new one",
            " end",
            "\\ No newline at end of file",
        ],
        more=True,
    ),
    MovedFixture(path="tests/data/key.txt", kind="not shown", said="a secret was found in it"),
]


def oracle(text: str = "") -> OracleReport:
    """Return what an oracle saw, with own tests; with ``text`` every free text of it is that."""
    path, test = text or "pkg/money.py", text or "tests/test_m.py::test_split"
    code = [
        text or c for c in ("    share = amount // parts", "    rest = amount % parts", "    return None")
    ]
    diff = f"--- a\n+++ b\n@@ -2 +2 @@\n-{code[0]}\n+{code[0]}"
    killed = SampledMutant(path=path, line=2, operator=text or "// to *", trusted=Fate.KILLED, own=Fate.HUNG)
    lives = SampledMutant(path=path, line=2, operator=text or "return None", trusted=Fate.SURVIVED)
    unseen = SampledMutant(path=path, line=9, operator=text or "drop the return", trusted=Fate.NOT_RUN)
    mutants = [
        msgspec.structs.replace(killed, trusted_by=test, own_by=test),
        msgspec.structs.replace(lives, diff=diff, own=Fate.UNTRIED),
        msgspec.structs.replace(unseen, own=Fate.NOT_RUN),
    ]
    return OracleReport(
        base=text or BASE,
        head=text or HEAD,
        trusted=Strength(
            tests=2, lines=3, executed=2, mutable=2, noticed=1, mutants=3, killed=1, failing=[test]
        ),
        own=Strength(tests=1, lines=3, executed=1, mutable=2, noticed=1, mutants=3, killed=1, hung=1),
        survivors=[
            Survivor(path=path, line=2, operator=mutants[1].operator, diff=mutants[1].diff, tests=[test])
        ],
        lines=[
            ChangedLine(path=path, line=2, code=code[0], trusted=2, own=1),
            ChangedLine(path=path, line=3, code=code[1], trusted=1),
            ChangedLine(path=path, line=9, code=code[2]),
        ],
        mutants=mutants,
        possible=7,
        sampled=3,
        untried=1,
        notes=[text or "a note"],
        seconds=3.2,
    )


COMMON = {
    "base": BASE,
    "head": HEAD,
    "merge_tree": "9" * 40,
    "seed": "8812",
    "reruns": 3,
    "duration": 12.34,
    "interpreter": "/usr/bin/python3",
    "identity": IdentityReport(agent=True, marks=["branch agent/bucketizer"]),
}

FULL = GateReport(
    verdict=Verdict.REFUSE,
    exit_code=1,
    tests=[*PASSES, SKIPPED, RED, NOISY, UNTRUSTED, UNCLASSIFIED, NOISE, DRIFT, MISS],
    findings=[NOTE, WARNING, PROTECTED],
    undecided=[Problem(code="no-seed", reason="one run has no seed", remedy="set TEST_SEED")],
    notes=[
        Problem(code="dirty-work-tree", reason="the work tree is not judged, only commits are", path="a.py")
    ],
    moved=MOVED,
    oracle=oracle(),
    **COMMON,  # type: ignore[arg-type]
)
BROKEN = GateReport(
    verdict=Verdict.REFUSE,
    exit_code=1,
    tests=[*PASSES, MISS, UNTRUSTED, RED],
    findings=[PROTECTED],
    **COMMON,  # type: ignore[arg-type]
)
GREEN = GateReport(
    verdict=Verdict.ACCEPT,
    exit_code=0,
    tests=[*PASSES, SKIPPED],
    **COMMON,  # type: ignore[arg-type]
)
EMPTY = GateReport(verdict=Verdict.UNDECIDED, exit_code=2)

# Escapes, bidi and zero-width characters, markup of every format, a mention, links, a byte that is not UTF-8.
EVIL = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u2066\u200b\r\nACCEPT\x00\udcff`x`</details><script>"
    "@everyone ![i](http://e.example/i.png) [l](javascript:1) http://e.example"
    " www.e.example a@e.example #12 ]]>"
    "&amp;\"'|*_{0}"
)


def hostile() -> GateReport:
    """Return a report whose every free text is hostile."""
    test = row(
        f"tests/{EVIL}.py::test[{EVIL}]",
        Bucket.INVARIANT_MISS,
        introduced=True,
        blocks=True,
        cause=EVIL,
        why=EVIL,
        spend=EVIL,
        state=EVIL,
        outcomes={EVIL: [EVIL], "H": ["failed"]},
        fixtures=[EVIL],
        message=f"{EVIL}\n```\n</failure>\n{EVIL}",
        tried=[EVIL],
        experiments=trials(EVIL),
    )
    finding = Finding(
        rule="protected-path", severity=Severity.REFUSE, path=EVIL, nodeid=EVIL, reason=EVIL, remedy=EVIL
    )
    problem = Problem(code=EVIL, reason=EVIL, remedy=EVIL, path=EVIL)
    other = [
        row(f"{EVIL}::{bucket.value}", bucket, why=EVIL, spend=EVIL, message=EVIL, blocks=blocks)
        for bucket in Bucket
        for blocks in (True, False)
    ]
    return GateReport(
        verdict=Verdict.REFUSE,
        exit_code=1,
        summary=EVIL,
        base=EVIL,
        head=EVIL,
        seed=EVIL,
        identity=IdentityReport(agent=True, marks=[EVIL]),
        tests=[test, *other],
        findings=[finding],
        undecided=[problem],
        notes=[problem],
        untrusted_green=True,
        moved=[
            MovedFixture(path=EVIL, kind=EVIL, said=EVIL, places=[(EVIL, EVIL, EVIL)]),
            MovedFixture(path=EVIL, kind="payload", lines=[f"-{EVIL}", f"+{EVIL}", EVIL, f"@@ {EVIL}"]),
        ],
        oracle=oracle(EVIL),
        interpreter=EVIL,
        kept=EVIL,
    )


def large(n: int) -> GateReport:
    """Return a report of ``n`` rows, a third of which are passes."""
    makers = (MISS, NOISE, PASSES[0])
    tests = [msgspec.structs.replace(makers[i % 3], nodeid=f"tests/test_{i}.py::test") for i in range(n)]
    return GateReport(verdict=Verdict.REFUSE, exit_code=1, tests=tests, reruns=3)


def long_oracle(n: int) -> OracleReport:
    """Return what an oracle saw of ``n`` changed lines of one file, with a survivor on every hundredth."""
    lines = [
        ChangedLine(path="a.py", line=i + 1, code=f"    x{i} = f(x{i - 1}) + {i}", trusted=i % 3)
        for i in range(n)
    ]
    mutants = [
        SampledMutant(
            path="a.py", line=i + 1, operator="+ to -", trusted=Fate.SURVIVED, diff="---\n+++\n@@\n-a\n+b"
        )
        for i in range(0, n, 100)
    ]
    numbers = Strength(tests=2, lines=n, executed=n // 3 * 2, mutable=len(mutants), mutants=len(mutants))
    return OracleReport(trusted=numbers, own=Strength(lines=n), lines=lines, mutants=mutants)


def explanation(text: str = "") -> Explanation:
    """Return what ``explain`` found, with every part; with ``text`` every free text of it is that."""
    return Explanation(
        nodeid=text or "tests/test_race.py::test_order",
        exit_code=0,
        cause=text or "concurrency",
        what=text or "it fails more often with threads switched every microsecond",
        tests=[text or "tests/test_race.py::test_other"],
        state=[text or "pkg.STATE"],
        evidence=[text or "chance alone: 0.002"],
        commands=[text or "python -m pytest tests/test_race.py::test_order"],
        tried=[text or "hash order"],
        untried=[text or "load"],
        fix=text or "guard it with a lock",
        experiments=trials(text),
        touched=[text or "thread"],
        sites=[text or "pkg.py:3 time.time"],
        message=text or "AssertionError: assert [1] == [2]\n- [2]\n+ [1]",
        base=["passed"] * 3,
        notes=[text or "a note"],
        capture=text or "noise.json",
        tree=text or "f" * 40,
        seed=text or "7",
    )
