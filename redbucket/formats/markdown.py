"""The report as GitHub-flavoured Markdown: a pull-request comment or a job summary.

What the patch controls stands in code spans and fences, or escaped so that it makes no markup, mention
or link. A comment of more than 65,536 characters is refused by GitHub, so the end is cut and the cut said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from redbucket.core.buckets import Bucket
from redbucket.core.findings import Finding
from redbucket.core.plural import plural
from redbucket.core.report import GateReport, Problem, Row
from redbucket.formats import phrases
from redbucket.formats.clean import cut, line, shell
from redbucket.formats.excerpt import excerpt
from redbucket.formats.phrases import Group
from redbucket.formats.steps import Step
from redbucket.formats.todo import to_do
from redbucket.formats.trialsview import in_words

LIMIT = 65_000  # counted in bytes of UTF-8, which is never less than characters
_SLACK = 2_000
_CODE, _PROSE, _COMMAND, _STEPS = 400, 600, 2_000, 20_000
_EXCERPT, _EXCERPT_VERBOSE, _QUOTED = 3, 30, 200
_MARKS = re.compile(r"([\\`*_\[\]#!|~$])")
_STARTS = re.compile(r"^(\d*)([-+=.)])")  # what makes a list or a heading, but only at the start
# Mentions, references and bare links are found in the rendered text, where an escape is gone already.
_FOUND_LATER = re.compile(r"(@|#|!|&|~|\bwww(?=\.)|:(?=//))", re.IGNORECASE)
_OPEN = frozenset({Group.MISS, Group.DRIFT, Group.NOISE, Group.BLOCKS, Group.UNCLASSIFIED})


def render(report: GateReport, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """Return ``report`` as Markdown of at most ``LIMIT`` bytes; ``width`` and ``color`` change nothing."""
    groups = phrases.grouped(report.tests)
    word = phrases.verdict_word(report.verdict)
    start = [f"## redbucket: {word}", "", prose(", ".join(phrases.reasons(report, groups))), ""]
    if report.untrusted_green:
        start += [f"**{phrases.UNTRUSTED_GREEN.capitalize()}.**", ""]
    for step in to_do(report, groups):
        if _size(part := _step(step)) + _size(start) < _STEPS:
            start += part
    end = _closing(report, groups, verbose=verbose)
    room = LIMIT - _SLACK - _size(start) - _size(end)
    body, left = [], 0
    for title, is_open, count, blocks in _sections(report, groups, verbose=verbose):
        opened = [f"<details{' open' if is_open else ''}><summary>{title}</summary>", ""]
        room -= _size(opened) + 16
        kept: list[str] = []
        for block in blocks if room > 0 else ():
            room -= _size([block])
            if room < 0:
                break
            kept.append(block)
        left += count - len(kept)
        if kept:
            body += [*opened, *kept, "", "</details>", ""]
    if left:
        body += [
            f"**Cut here: {left:,} more entries do not fit; `--format json` has all.**",
            "",
        ]
    return "\n".join([*start, *body, *end]) + "\n"


def code(text: str) -> str:
    """Return ``text`` as a code span that it can't leave."""
    text = cut(line(text), _CODE)
    if not text.strip():
        return ""
    fence = "`" * (_backticks(text) + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def prose(text: str) -> str:
    """Return ``text`` as words without markup, mentions or links."""
    text = cut(" ".join(line(text).split()), _PROSE)
    out = []
    for number, part in enumerate(_FOUND_LATER.split(text)):
        escaped = _MARKS.sub(r"\\\1", part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
        out.append(f"{escaped}&#8203;" if number % 2 else escaped)
    return _STARTS.sub(r"\1\\\2", "".join(out))


def _fence(parts: Sequence[str], language: str, indent: str) -> list[str]:
    ticks = "`" * max(3, max(map(_backticks, parts), default=0) + 1)
    return [indent + part for part in (f"{ticks}{language}", *parts, ticks)]


def _backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _size(parts: Iterable[str]) -> int:
    return sum(len(part.encode()) + 1 for part in parts)


def _step(step: Step) -> list[str]:
    out = [f"- {prose(step.text)} {', '.join(filter(None, map(code, step.subjects[:3])))}".rstrip()]
    if len(step.subjects) > 3:
        out[0] += f" and {plural(len(step.subjects) - 3, f'more {step.of}')}"
    commands = [c if len(c) <= _COMMAND else f"# too long for a comment: {c[:60]}..." for c in step.commands]
    return [*out, *(_fence(commands, "sh", "  ") if commands else []), ""]


def _sections(
    report: GateReport, groups: dict[Group, list[Row]], *, verbose: bool
) -> Iterator[tuple[str, bool, int, Iterator[str]]]:
    """Yield title, whether it is open, the number of entries, and the entries, made only when asked for."""
    if report.undecided:
        yield (
            f"Undecided: {len(report.undecided):,}",
            True,
            len(report.undecided),
            map(_problem, report.undecided),
        )
    if found := phrases.ranked(report.findings):
        yield f"Findings: {len(found):,}", True, len(found), map(_finding, found)
    for group, rows in groups.items():
        if rows and group is not Group.PASSED and (verbose or group is not Group.SKIPPED):
            title = f"{group.value}: {plural(len(rows), 'test')}"
            yield title, group in _OPEN, len(rows), (_row(row, verbose=verbose) for row in rows)
    if report.notes:
        yield f"Notes: {len(report.notes):,}", False, len(report.notes), map(_problem, report.notes)


def _problem(problem: Problem) -> str:
    remedy = f" Remedy: {prose(problem.remedy)}" if problem.remedy else ""
    return f"- {code(problem.code)} {prose(problem.reason)}{remedy}"


def _finding(finding: Finding) -> str:
    place = finding.path or finding.nodeid or ""
    if finding.path and finding.line is not None:
        place += f":{finding.line}"
    remedy = f"\n  Remedy: {prose(finding.remedy)}" if finding.remedy else ""
    head = f"- **{finding.severity.value}** {code(finding.rule)} {code(place)}"
    return f"{head}\n  {prose(finding.reason)}{remedy}"


def _row(row: Row, *, verbose: bool) -> str:
    odds = phrases.doubt(row.doubt)
    said = [
        prose(phrases.state(row)),
        code(phrases.outcomes(row)),
        f"cause {prose(row.cause)}" if row.cause else "",
        f"doubt {odds}" if odds else "",
    ]
    out = [f"- {code(row.nodeid)}", f"  {', '.join(filter(None, said))}", f"  {prose(row.why)}"]
    out.append(f"  To do: {prose(row.spend)}" if row.spend else "")
    out.append(f"  Again: {code(f'redbucket replay {shell(row.capture)}')}" if row.capture else "")
    if row.bucket is Bucket.NOISE or verbose:
        for label, each in in_words(row.experiments, all_of_them=True):
            out.append(f"  {label.capitalize()}: {prose(', '.join(each))}")
    if verbose:
        out += [f"  Tried: {prose(', '.join(row.tried))}" if row.tried and not row.experiments else ""]
        out += [f"  Fixtures: {', '.join(map(code, row.fixtures))}" if row.fixtures else ""]
    out = [part for part in out if part.strip()]
    kept = excerpt(row.message, _QUOTED, _EXCERPT_VERBOSE if verbose else _EXCERPT)
    if kept.lines:
        more = [f"... and {plural(kept.left, 'more line')}"] if kept.left else []
        out += ["", *_fence(kept.lines + more, "text", "  ")]
    return "\n".join(out)


def _closing(report: GateReport, groups: dict[Group, list[Row]], *, verbose: bool) -> list[str]:
    quiet = [(g, phrases.quiet_count(report, groups, g)) for g in (Group.PASSED, Group.SKIPPED)]
    marks = ", ".join(filter(None, map(code, report.identity.marks[:5])))
    said = [
        "; ".join(f"{g.value}: {n:,}" for g, n in quiet if n),
        prose(phrases.legend(row for g, rows in groups.items() if g is not Group.PASSED for row in rows)),
        prose(phrases.unseen(report)),
        f"An agent's patch: {marks}" if report.identity.agent and marks else "",
        prose(phrases.facts(report, full=verbose)),
        "" if phrases.is_of_locks(report) else phrases.DISCLAIMER,
    ]
    return [f"{part}  " for part in said if part]
