"""Text of ``replay`` and ``explain``: short, and with commands that can be copied."""

from __future__ import annotations

from collections import Counter

from redbucket.core.calling import AS_WRITTEN, Calling
from redbucket.core.entropy import kind_of
from redbucket.core.explanation import Explanation
from redbucket.core.plural import plural
from redbucket.core.replayreport import Rate, ReplayReport
from redbucket.formats.clean import line, lines, shell

_SHOWN = 20
_EXCERPT = 6


def replay_text(report: ReplayReport) -> str:
    """Return what a replay found."""
    name = line(report.nodeid)
    if report.replays:
        out = [f"replays: {name} failed {rate(report.rate)}"]
    else:
        out = [f"does not replay: {name} failed {rate(report.rate)}"]
    before = f"after {_the(report.order)} that ran before it" if report.order else "as the first test"
    out.append(f"  run {before}, tree {report.tree[:12]}")
    if report.replays:
        same = "is" if report.same_failure == 1 else "are"
        of = plural(report.rate.failed, "failure")
        out.append(f"  {report.same_failure} of {of} {same} the recorded one")
        out += [f"  | {part}" for part in lines(report.message)[:_EXCERPT]]
    if report.smallest is not None:
        out += _smallest(report)
    out += [f"  note: {line(note)}" for note in report.notes]
    if not report.replays:
        out.append("  do this: run it more often (-n), or make a new capture: redbucket gate --captures DIR")
    return "\n".join(out)


def _the(order: int) -> str:
    return "the one test" if order == 1 else f"the {plural(order, 'test')}"


def _smallest(report: ReplayReport) -> list[str]:
    left = report.smallest or []
    said = f", which failed {rate(report.smallest_rate)}" if report.smallest_rate else ""
    if not left:
        return [f"  no test before it is needed: it fails alone{said}"]
    few = [f"    {shell(nodeid)}" for nodeid in left[:_SHOWN]]
    more = [f"    ... and {plural(len(left) - _SHOWN, 'more test')}"] if len(left) > _SHOWN else []
    return [
        f"  the smallest order that still fails: {len(left)} of {plural(report.order, 'test')} before it{said}",
        *few,
        *more,
    ]


def rate(value: Rate) -> str:
    """Return "7 of 20 runs (35 %, between 15 % and 59 %)"."""
    return (
        f"{value.failed} of {plural(value.runs, 'run')} ({value.rate:.0%}; "
        f"{value.low:.0%} to {value.high:.0%} with 95 % confidence)"
    )


def explain_text(report: Explanation, calling: Calling = AS_WRITTEN) -> str:
    """Return what the experiments found, most wanted first; ``calling`` says where its commands are typed."""
    if report.cause:
        out = [f"cause: {report.cause}: {line(report.what)}"]
    else:
        out = [f"not found: {line(report.what)}"]
    out.append(f"  {line(report.nodeid)}")
    out += [f"  evidence: {line(one)}" for one in report.evidence]
    if report.state:
        out.append(f"  the state: {', '.join(map(line, report.state))}")
    for label, seen in report.outcomes.items():
        if not report.cause:
            out.append(f"  {label}: {_counted(seen)}")
    if report.base:
        out.append(f"  in base: {_counted(report.base)}")
    if report.commands:
        where = f", in {shell(calling.folder)}" if calling.folder else ""
        out += [f"  see it{where}:", *(f"    {calling.named(command)}" for command in report.commands)]
    if report.fix:
        out.append(f"  fix: {report.fix}")
    out += [f"  | {part}" for part in lines(report.message)[:_EXCERPT]]
    if report.tried:
        out.append(f"  tried, did not flip it: {', '.join(report.tried)}")
    if report.untried:
        out.append(f"  not tried: {_by_reason(report.untried)}")
    if report.touched or report.sites:
        kinds = {kind for site in report.sites if (kind := kind_of(site))} | set(report.touched)
        out.append(f"  it was seen to touch: {', '.join(sorted(kinds)) or 'what may differ from run to run'}")
    for site in report.sites[:_SHOWN]:
        kind = kind_of(site)
        out.append(f"    at {line(site)}" + (f" ({kind})" if kind else ""))
    if len(report.sites) > _SHOWN:
        out.append(f"    and {plural(len(report.sites) - _SHOWN, 'more line')}")
    out += [f"  note: {line(note)}" for note in report.notes]
    out.append(f"  {report.seconds:.0f} s; one run of the suite takes {report.suite_seconds:.1f} s")
    return "\n".join(out)


def _by_reason(untried: list[str]) -> str:
    """Return "a, b (why); c": each reason once, behind what it is the reason for."""
    groups: dict[str, list[str]] = {}
    for one in untried:
        axis, bracket, why = one.partition(" (")
        groups.setdefault(bracket + why, []).append(axis)
    return "; ".join(", ".join(axes) + why for why, axes in groups.items())


def _counted(outcomes: list[str]) -> str:
    return ", ".join(f"{kind} {n} of {len(outcomes)}" for kind, n in Counter(outcomes).items())
