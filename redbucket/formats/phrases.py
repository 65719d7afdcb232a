"""The sentences and groups that the reports for people share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum

from redbucket.core.buckets import Bucket
from redbucket.core.doubt import blind_spot
from redbucket.core.findings import Finding, Severity, refusals
from redbucket.core.plural import plural
from redbucket.core.report import GateReport, Row, Verdict

DISCLAIMER = "This does not claim a proof, a security review, or that no flake is left."
_OF_LOCKS = frozenset({"verified", "no-lock", "lock-not-staged"})
UNTRUSTED_GREEN = "untrusted green: no trusted test that passed was seen to run a changed line"

# pytest's own letters, so that none of them is a world's
_LETTERS = {"passed": ".", "skipped": "s", "missing": "-", "xfailed": "x", "xpassed": "X"}
# The letters of JSON's worlds as words: "F" and "P" would read as outcomes.
WORLD_NAMES = {"H": "patch", "B": "base", "F": "other-fixtures", "P": "own-tests", "R": "own-tests-without"}
_LONGEST_RUN = 9
WORLDS = {
    "H": "with the patch",
    "B": "without it (the base)",
    "F": "with the patch, and the other side's bytes of the fixtures that it moved",
    "P": "the patch's own tests",
    "R": "the patch's tests without the patch",
}


class Group(Enum):
    """Where a row stands in a report, most urgent first; the value is the title."""

    MISS = "Broken by this patch"
    DRIFT = "Fixture drift"
    NOISE = "Made noisy by this patch"
    BLOCKS = "Blocks for another reason"
    UNCLASSIFIED = "Cannot be classified"
    UNTRUSTED = "The patch's own tests, ignored for the merge"
    ALREADY = "Red or noisy, but not shown to come from this patch"
    SKIPPED = "Skipped every time"
    PASSED = "Passed every time"


def group_of(row: Row) -> Group:
    """Return the group of ``row``: whatever blocks is never in a quiet one."""
    urgent = row.blocks or row.introduced is True
    match row.bucket:
        case Bucket.UNCLASSIFIED:
            return Group.UNCLASSIFIED
        case Bucket.INVARIANT_MISS:
            return Group.MISS if urgent else Group.ALREADY
        case Bucket.FIXTURE_DRIFT:
            return Group.DRIFT if urgent else Group.ALREADY
        case Bucket.NOISE:
            return Group.NOISE if urgent else Group.ALREADY
    if row.blocks:
        return Group.BLOCKS
    quiet = {Bucket.UNTRUSTED: Group.UNTRUSTED, Bucket.SKIPPED: Group.SKIPPED}
    return quiet.get(row.bucket, Group.PASSED)


def grouped(rows: Iterable[Row]) -> dict[Group, list[Row]]:
    """Return the rows by group, most urgent first, in the report's order; empty groups too."""
    groups: dict[Group, list[Row]] = {group: [] for group in Group}
    for row in rows:
        groups[group_of(row)].append(row)
    return groups


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, refusals first."""
    order = list(Severity)
    return sorted(findings, key=lambda f: order.index(f.severity))


def verdict_word(verdict: Verdict) -> str:
    """Return the verdict as it opens a report."""
    return "CANNOT DECIDE" if verdict is Verdict.UNDECIDED else verdict.value.upper()


def is_of_locks(report: GateReport) -> bool:
    """Return whether fixtures were verified against their locks: no patch, and no test, was looked at."""
    return any(each.code in _OF_LOCKS for each in (*report.notes, *report.undecided))


def reasons(report: GateReport, groups: dict[Group, list[Row]]) -> list[str]:
    """Return what the verdict rests on, most urgent first; never empty."""
    if report.summary:
        return [report.summary]
    parts = [
        f"{plural(len(groups[group]), 'test')} {_says(groups[group], says)}{_by(groups[group])}"
        for group, says in _REASONS.items()
        if groups[group]
    ]
    # what can't be collected is broken, and said: it is not gone as well
    said = {row.nodeid for row in groups[Group.MISS] if uncollected(row)}
    refused = Counter(
        f.rule for f in refusals(report.findings) if f.rule != "vanished-test" or f.nodeid not in said
    )
    for rule, n in refused.most_common():
        one, many = _RULES.get(rule, (f"finding of {rule}", f"findings of {rule}"))
        parts.append(f"{n:,} {one if n == 1 else many}")
    if report.undecided:
        parts.append(f"{plural(len(report.undecided), 'thing')} left undecided")
    if report.untrusted_green:
        parts.append("no trusted test runs the change")
    if parts:
        return parts
    passed = quiet_count(report, groups, Group.PASSED)
    if not passed and not report.tests:
        if any(note.code == "nothing-to-judge" for note in report.notes):
            return ["there is nothing to judge"]
        if is_of_locks(report):
            return [note.reason for note in report.notes] or ["no lock was verified"]
        alone = report.verdict is Verdict.ACCEPT
        return [
            "the guards alone looked, and refuse nothing; no test was run" if alone else "no test was run"
        ]
    already = len(groups[Group.ALREADY])
    return [f"{plural(passed, 'test')} passed every time, none got worse"] + (
        [f"{already:,} red or noisy as before"] if already else []
    )


def uncollected(row: Row) -> str:
    """Return the error that keeps a test from being collected, in one line; "" if it was collected."""
    gone = set(row.outcomes.get("H", ())) == {"missing"}
    return row.message.partition("\n")[0].strip() if gone else ""


def _says(rows: Sequence[Row], says: str) -> str:
    """Return what happened to ``rows``: what the patch's own markers do breaks nothing."""
    return "switched off by this patch" if all(row.switched_off for row in rows) else says


def _by(rows: Sequence[Row]) -> str:
    """Return the error that keeps most of ``rows`` from being collected, as the end of a sentence."""
    errors = Counter(filter(None, map(uncollected, rows)))
    if not errors:
        return ""
    error, count = errors.most_common(1)[0]
    return f": {error}" if count == len(rows) else f" ({count:,} by {error})"


def summary(report: GateReport) -> str:
    """Return the verdict and what it rests on, in one line."""
    return f"{verdict_word(report.verdict)}: {', '.join(reasons(report, grouped(report.tests)))}"


_REASONS = {
    Group.MISS: "broken by this patch",
    Group.DRIFT: "with a drifted fixture",
    Group.NOISE: "made noisy by this patch",
    Group.BLOCKS: "blocked for another reason",
    Group.UNCLASSIFIED: "that cannot be classified",
}

_RULES = {
    "protected-path": ("protected file changed", "protected files changed"),
    "broken-policy": ("policy that can't be read", "policies that can't be read"),
    "altered-test": ("test of base altered by an agent", "tests of base altered by an agent"),
    "vanished-test": ("test of base gone", "tests of base gone"),
    "runner-tamper": ("change of how tests run", "changes of how tests run"),
    "gate-evasion": ("evasion in the code", "evasions in the code"),
    "git-trap": ("trap in names, links or attributes", "traps in names, links or attributes"),
    "merge-conflict": ("conflict with base", "conflicts with base"),
    "fixture-checksum": ("fixture off its lock", "fixtures off their lock"),
    "flake-expiry": (
        "switched-off test or freeze that does not hold",
        "switched-off tests or freezes that do not hold",
    ),
    "judge-rewritten": ("test file rewritten while it ran", "test files rewritten while they ran"),
    "untrusted-green": ("change that no trusted test runs", "changes that no trusted test runs"),
}


def quiet_count(report: GateReport, groups: dict[Group, list[Row]], group: Group) -> int:
    """Return how many tests are in a group that is only counted; the report may leave its rows out."""
    bucket = Bucket.SKIPPED if group is Group.SKIPPED else Bucket.STABLE_PASS
    return len(groups[group]) or report.counts.get(bucket.value, 0)


def file_in(nodeid: str) -> str:
    """Return the file that an id names, "" for none: unittest's dotted ids name none."""
    file, colons, _ = nodeid.partition("::")
    return file if colons or "/" in file or file.endswith(".py") else ""


def state(row: Row) -> str:
    """Return introduced, already red, already noisy or ""."""
    if row.state or row.introduced is None:
        return row.state
    if row.introduced:
        return "introduced"
    return "already noisy" if row.bucket is Bucket.NOISE else "already red"


def doubt(value: float | None) -> str:
    """Return how often a flake would look like that: "1 in 64", "25%", or "" if nothing is known."""
    if value is None or value != value:
        return ""
    if value >= 1:
        return "no bound"
    if value >= 0.1:
        return f"{value:.0%}"
    return f"1 in {int(1 / value + 1e-9):,}" if value > 1e-9 else "below 1 in a billion"


def outcomes(row: Row, *, conditions: bool = True) -> str:
    """Return the outcomes by world, compactly: "patch FFF  base ..."; with ``conditions`` each experiment's too."""
    return "  ".join(outcome_parts(row, conditions=conditions))


def outcome_parts(row: Row, *, conditions: bool = True) -> list[str]:
    """Return the parts of ``outcomes``, a world or an experiment each."""
    return [
        f"{world(name)} {_letters(kinds)}"
        for name, kinds in row.outcomes.items()
        if kinds and (conditions or " " not in name)
    ]


def legend(rows: Iterable[Row]) -> str:
    """Return what the letters of ``rows`` mean, only those that occur."""
    kinds: dict[str, None] = {}
    worlds: dict[str, None] = {}
    for row in rows:
        for world, seen in row.outcomes.items():
            if seen:
                worlds[world.partition(" ")[0]] = None
                kinds.update(dict.fromkeys(seen))
    said = [
        ("Runs", [f"{WORLD_NAMES[world]} = {says}" for world, says in WORLDS.items() if world in worlds]),
        ("Letters", [f"{letter(kind)} {kind}" for kind in kinds]),
    ]
    return ". ".join(f"{title}: {', '.join(parts)}" for title, parts in said if parts)


def world(key: str) -> str:
    """Return the name of a world, or of an experiment in one: "B alone" is "base alone"."""
    name, _, condition = key.partition(" ")
    return f"{WORLD_NAMES.get(name, name)} {condition}".strip()


def letter(kind: str) -> str:
    """Return the letter of an outcome."""
    return _LETTERS.get(kind, kind[:1].upper())


def _letters(kinds: list[str]) -> str:
    if len(kinds) <= _LONGEST_RUN:
        return "".join(map(letter, kinds))
    return "+".join(f"{n}{letter(kind)}" for kind, n in Counter(kinds).items())


def unseen(report: GateReport) -> str:
    """Return what so few runs can't see, "" if there were none."""
    return blind_spot(report.reruns) if report.reruns > 0 else ""


def facts(report: GateReport, *, full: bool) -> str:
    """Return what was judged, for the last lines of a report."""
    return "; ".join(judged(report, full=full))


def judged(report: GateReport, *, full: bool) -> list[str]:
    """Return what was judged, each fact by itself."""
    size = None if full else 10
    # a hook or a CI job names its base by the id itself
    branch = "" if report.base.startswith(report.base_name) else report.base_name
    named = [
        (f"base {branch}".strip(), report.base),
        ("head", report.head),
        ("merge tree", report.merge_tree if full else ""),
    ]
    if report.offered:  # it is in no commit yet, so base and head are one
        named = [(f"{report.offered} over HEAD", report.base), *named[2:]]
    said = [f"{name} {oid[:size]}" for name, oid in named if oid]
    said += [f"seed {report.seed}"] if report.seed else []
    said += [plural(report.reruns, "run")] if report.reruns else []
    said += [report.interpreter] if report.interpreter and full else []
    said += [f"{report.duration:.1f} s"] if report.duration else []
    return [*said, f"exit {report.exit_code}"]
