"""Text of ``review``: the decision, the four answers, and what else is known."""

from __future__ import annotations

from redbucket.core.reviewed import PropertyReview, ReviewReport
from redbucket.formats.clean import line, lines, shell

_EXCERPT = 4
_SURVIVORS = 3


def review_text(report: ReviewReport) -> str:
    """Return what a review found."""
    out = [f"{report.verdict}: {line(report.file)}: {line(report.reason)}"]
    for found in report.properties:
        out += _property(found)
    if report.verdict == "keep" and report.place != report.file:
        folder, _, _ = report.place.rpartition("/")
        made = f"mkdir -p {shell(folder)} && " if folder else ""
        out.append(f"  do this: a person moves it: {made}mv {shell(report.file)} {shell(report.place)}")
    out += [f"  note: {line(note)}" for note in report.notes]
    out.append(f"  {report.seconds:.0f} s; base {report.base[:12]}, patch {report.head[:12]}")
    return "\n".join(out)


def _property(found: PropertyReview) -> list[str]:
    out = [f"  {line(found.nodeid)}: {found.verdict}"]
    for answer in found.answers:
        mark = "ok" if answer.good else "NO"
        out.append(f"    {answer.number} {mark} {answer.question}")
        out.append(f"         {line(answer.answer)}")
        out += [f"         - {line(one)}" for one in answer.evidence]
    if found.seeds_tried:
        seeds = f"    fresh seeds: holds on base {found.seeds_held} of {found.seeds_tried}"
        more = f", fails on the patch {found.seeds_found} of {found.seeds_patch}" if found.seeds_patch else ""
        out.append(seeds + more)
        if found.question is None and found.seeds_found < found.seeds_patch:
            out.append("      keep the failing input as an @example: not each seed finds it")
    out.append(f"    takes {found.seconds:.2f} s on base")
    if found.mutants:
        out.append(f"    kills {found.killed} of {found.mutants} small faults of base's changed lines")
        for survivor in found.survivors[:_SURVIVORS]:
            out.append(f"      lets live: {line(survivor.path)}:{survivor.line} {line(survivor.operator)}")
    out += [f"    | {part}" for part in lines(found.message)[:_EXCERPT]]
    return out
