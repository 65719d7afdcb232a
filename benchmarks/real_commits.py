"""What the static guards say to real commits of real projects.

    python -m benchmarks.real_commits REPOSITORY ... [--limit 80] [--list] [--json FILE]

Every commit that touches tests (merges left out), newest first, is judged against its
own parent twice by all guards: as a person's, and as if an agent had written it. A
person's commit must never be refused, nothing may crash, and each refusal of the
agent form is listed with ``--list``, to be read beside the commit itself. A commit
that carries an agent's mark of its own (a bot's) is nobody's word for a person's: it is
judged as an agent's only. Ends with 1 if a person's commit was refused, or on a crash.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

from redbucket.app.session import Session, session
from redbucket.core.errors import RedbucketError
from redbucket.core.findings import Finding, Severity
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy
from redbucket.edges.progress import Progress
from redbucket.engine.subject import Request

FORMS = {"agent": True, "human": False}
# Objects and trees of one session are kept; another one every so often keeps memory level.
_FRESH_AFTER = 20
Commit = tuple[str, str, str]


@dataclass
class Judged:
    """One commit: what each form of it was told, and how long both took together."""

    project: str
    commit: str
    subject: str
    marks: list[str] = field(default_factory=list)
    findings: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    crash: str = ""
    undecided: str = ""
    seconds: float = 0.0

    def of(self, form: str, severity: Severity) -> list[dict[str, object]]:
        """Return the findings of one form that weigh ``severity``."""
        return [one for one in self.findings.get(form, ()) if one["severity"] == severity.value]

    @property
    def gravest(self) -> str:
        """The gravest severity of the agent form, "" for none."""
        return next((level.value for level in Severity if self.of("agent", level)), "")

    @property
    def wrong(self) -> bool:
        """Whether a person's commit was refused, or anything crashed."""
        return bool(self.crash) or bool(self.of("human", Severity.REFUSE))


def commits(repository: Path) -> Iterator[Commit]:
    """Yield (commit, parent, subject) of the commits that touch tests, newest first."""
    judge = JudgeSide(Policy())
    log = subprocess.run(
        [
            *("git", "-C", str(repository), "log", "-z", "--no-merges", "--no-renames", "--name-only"),
            *("--format=format:%x01%H%x02%P%x02%s%x02", "HEAD"),
        ],
        check=True,
        capture_output=True,
    ).stdout
    for block in log.split(b"\x01")[1:]:
        oid, parent, subject, names = block.split(b"\x02", 3)
        paths = [os.fsdecode(name) for name in names.strip(b"\n\0").split(b"\0")]
        if parent and any(judge.is_test(path) or judge.is_fixture(path) for path in paths):
            yield oid.decode(), parent.decode(), subject.decode("utf-8", "replace")


def judge(opened: Session, project: str, commit: str, parent: str, subject: str) -> Judged:
    """Judge one commit in both forms."""
    result = Judged(project, commit, subject)
    began = time.perf_counter()
    for form, agent in FORMS.items():
        try:
            report = opened.guard(Request(base=parent, head=commit, agent=agent), None)
        except RedbucketError as problem:
            result.undecided = f"{form}: {problem.code}: {problem}"
        except Exception:  # noqa: BLE001 (a crash is a result here)
            result.crash = f"{form}: {traceback.format_exc()}"
        else:
            if form == "human" and report.identity.agent:
                result.marks = list(report.identity.marks)
            else:
                result.findings[form] = [_plain(finding) for finding in report.findings]
    result.seconds = time.perf_counter() - began
    return result


def _plain(finding: Finding) -> dict[str, object]:
    keys = ("rule", "path", "line", "nodeid", "reason")
    return {"severity": finding.severity.value, **{key: getattr(finding, key) for key in keys}}


def batches(repositories: Iterable[Path], limit: int) -> Iterator[tuple[Path, list[Commit]]]:
    """Yield the newest ``limit`` commits of each repository, some at a time."""
    for repository in repositories:
        left = islice(commits(repository), limit)
        while batch := list(islice(left, _FRESH_AFTER)):
            yield repository, batch


def judge_batch(repository: Path, batch: list[Commit]) -> list[Judged]:
    """Judge some commits of one repository in one session."""
    with session(repository, Progress(quiet=True, steps=False)) as opened:
        return [judge(opened, name_of(repository), *one) for one in batch]


def judge_all(repositories: Iterable[Path], limit: int, jobs: int) -> Iterator[Judged]:
    """Judge the newest ``limit`` commits of each repository, in order."""
    with ProcessPoolExecutor(jobs) as pool:
        plan = list(batches(repositories, limit))
        for part in pool.map(judge_batch, *zip(*plan, strict=True)) if plan else ():
            yield from part


def name_of(repository: Path) -> str:
    """Return a short name: the last folder that says something."""
    parts = [part for part in repository.resolve().parts if part not in ("repo", ".git")]
    return parts[-1].removesuffix(".git") if parts else str(repository)


def table(judged: list[Judged]) -> Iterator[str]:
    """Yield the lines of the summary: a row for each project, and one for all."""
    head = ("project", "commits", "crash", "human", "agent", "warned", "noted", "nothing", "bots", "ms")
    yield f"{head[0]:32}" + "".join(f"{word:>9}" for word in head[1:])
    projects = list(dict.fromkeys(one.project for one in judged))
    for name, ones in [
        *((p, [one for one in judged if one.project == p]) for p in projects),
        ("all", judged),
    ]:
        levels = Counter(one.gravest for one in ones)
        row = (
            len(ones),
            sum(bool(one.crash) for one in ones),
            sum(bool(one.of("human", Severity.REFUSE)) for one in ones),
            *(levels[level] for level in ("refuse", "warn", "note", "")),
            sum(bool(one.marks) for one in ones),
            round(1000 * statistics.median(one.seconds for one in ones)) if ones else 0,
        )
        yield f"{name[-31:]:32}" + "".join(f"{number:9}" for number in row)
    yield "(human, agent: refused in that form; ms: median of both forms together)"


def rules(judged: list[Judged]) -> Iterator[str]:
    """Yield how many commits each rule refused, warned of or noted, in the agent form and in a person's."""
    for form in FORMS:
        counts: dict[str, Counter[str]] = {level.value: Counter() for level in Severity}
        for one in judged:
            for level in Severity:
                counts[level.value].update({str(found["rule"]) for found in one.of(form, level)})
        for name, counter in counts.items():
            said = ", ".join(f"{rule} {number}" for rule, number in counter.most_common())
            yield f"{form} {name}: {said or 'none'}"


def listing(judged: Iterable[Judged], severity: Severity) -> Iterator[str]:
    """Yield each finding of the agent form that weighs ``severity``, under its commit."""
    for one in judged:
        if found := one.of("agent", severity):
            yield f"{one.project} {one.commit[:12]} {one.subject}"
            for finding in found:
                place = f"{finding['path'] or ''}:{finding['line'] or ''}".rstrip(":")
                yield f"    {finding['rule']} {place}: {finding['reason']}"


def main() -> int:
    """Judge, print, and return 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--limit", type=int, default=80, help="commits of each repository (80)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--list", action="store_true", help="list each refusal of the agent form")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every finding, one commit a line")
    options = parser.parse_args()
    began = time.monotonic()
    judged = []
    with (options.json or Path(os.devnull)).open("w", encoding="utf-8") as lines:
        for one in judge_all(options.repositories, options.limit, options.jobs):
            judged.append(one)
            lines.write(json.dumps(asdict(one)) + "\n")
            lines.flush()
    if options.list:
        print("\n".join(listing(judged, Severity.REFUSE)), end="\n\n")
    for one in judged:
        if one.wrong:
            print(f"WRONG {one.project} {one.commit}: {one.crash or one.of('human', Severity.REFUSE)}")
        if one.undecided:
            print(f"undecided {one.project} {one.commit}: {one.undecided}")
    print("\n".join([*table(judged), "", *rules(judged)]))
    slow = sorted(judged, key=lambda one: -one.seconds)[:5]
    said = ", ".join(f"{one.project} {one.commit[:12]} {one.seconds:.2f} s" for one in slow)
    print(f"slowest: {said}\n({time.monotonic() - began:.1f} s)")
    return 1 if any(one.wrong for one in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
