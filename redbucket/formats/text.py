"""The report for a terminal: the verdict, what to do, then only what matters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from redbucket.core.buckets import Bucket
from redbucket.core.calling import AS_WRITTEN, Calling
from redbucket.core.findings import Finding, Severity
from redbucket.core.plural import plural
from redbucket.core.report import GateReport, Problem, Row, Verdict
from redbucket.formats import phrases
from redbucket.formats.clean import cut, flow, line, lines, shell, wrap
from redbucket.formats.excerpt import excerpt
from redbucket.formats.phrases import Group
from redbucket.formats.todo import to_do
from redbucket.formats.trialsview import in_words

_LIMITS = {Group.MISS: 8, Group.UNTRUSTED: 5, Group.ALREADY: 10}
_LIMIT = 20
_WIDEST_PROSE = 120  # a longer line of sentences is hard to follow, however wide the terminal is
_EXCERPT, _EXCERPT_VERBOSE = 3, 30
_ODDS = "Doubt of a test: how often a flake of any constant rate would look like that, at the most."
_BRIEF = frozenset({Group.UNTRUSTED, Group.SKIPPED})
_CODES = {"bold": "1", "dim": "2", "red": "1;31", "green": "1;32", "yellow": "1;33"}
_COLOURS = {
    Verdict.ACCEPT: "green",
    Verdict.REFUSE: "red",
    Verdict.UNDECIDED: "yellow",
    Severity.REFUSE: "red",
    Severity.WARN: "yellow",
    Severity.NOTE: "dim",
}
_URGENT = frozenset({Group.MISS, Group.DRIFT, Group.NOISE, Group.BLOCKS})


def render(
    report: GateReport,
    *,
    width: int = 80,
    color: bool = False,
    verbose: bool = False,
    calling: Calling = AS_WRITTEN,
) -> str:
    """Return ``report`` as lines of at most ``width`` columns; only ids, paths and commands may be longer.

    ``calling`` is how whoever reads it calls redbucket, and from where.
    """
    page = _Page(max(40, width), color, verbose, calling)
    return "\n".join(line.rstrip() for line in page.report(report)).strip("\n") + "\n"


def shown_findings(report: GateReport, *, verbose: bool = False) -> list[Finding]:
    """Return the findings that ``render`` says in full, refusals first; it only counts the others."""
    found = phrases.ranked(report.findings)
    return found if verbose else found[:_LIMIT]


class _Page:
    def __init__(self, width: int, color: bool, verbose: bool, calling: Calling) -> None:
        self.width, self.color, self.verbose, self.calling = width, color, verbose, calling
        self.prose = min(width, _WIDEST_PROSE)

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.color and text else text

    def report(self, report: GateReport) -> Iterator[str]:
        groups = phrases.grouped(report.tests)
        word = phrases.verdict_word(report.verdict)
        head, *rest = self.headline(word, [line(part) for part in phrases.reasons(report, groups)])
        yield self.paint(_COLOURS[report.verdict], word) + head[len(word) :]
        yield from rest
        yield from self.steps(report, groups)
        if report.untrusted_green:
            yield ""
            yield from wrap(phrases.UNTRUSTED_GREEN.capitalize(), self.prose)
        yield from self.problems("Undecided", report.undecided, "problem")
        yield from self.findings(
            phrases.ranked(report.findings), shown_findings(report, verbose=self.verbose)
        )
        for group, rows in groups.items():
            if rows and group is not Group.PASSED and (group is not Group.SKIPPED or self.verbose):
                said = [problem.reason for problem in report.undecided] if group is Group.UNCLASSIFIED else []
                yield from self.group(group, rows, said)
        if self.verbose and groups[Group.PASSED]:
            yield from self.passed(groups[Group.PASSED])
        yield from self.counts(report, groups)
        yield from self.problems("Notes", report.notes, "note")
        yield from self.closing(report, groups)

    def headline(self, word: str, reasons: list[str]) -> list[str]:
        for shown in range(len(reasons), 0, -1):
            more = f" and {plural(len(reasons) - shown, 'more reason')}" if shown < len(reasons) else ""
            if len(out := wrap(", ".join(reasons[:shown]) + more, self.width, f"{word}  ", "  ")) == 1:
                break
        return out

    def steps(self, report: GateReport, groups: dict[Group, list[Row]]) -> Iterator[str]:
        todo = to_do(report, groups)
        if not todo:
            return
        yield ""
        if len(todo) == 1 and not todo[0].subjects and not todo[0].commands:
            first, *rest = wrap(line(self.calling.here(todo[0].text)), self.prose, "Next: ")
            yield from (self.paint("bold", "Next:") + first[len("Next:") :], *rest)
            return
        yield self.paint("bold", "Next")
        for number, step in enumerate(todo, 1):
            yield from wrap(line(self.calling.here(step.text)), self.prose, f"  {number}. ")
            yield from self.tests([f"       {line(subject)}" for subject in step.subjects], 3, "       ")
            for command in step.commands:
                # what was typed has its place already
                given = bool(report.command) and command.startswith(report.command)
                place = self.calling.named if given else self.calling.here
                yield f"       $ {place(command)}"

    def tests(self, items: Sequence[str], limit: int, indent: str) -> Iterator[str]:
        shown = len(items) if self.verbose else limit
        yield from items[:shown]
        if len(items) > shown:
            yield f"{indent}{_more(len(items) - shown, 'test')}"

    def problems(self, title: str, problems: Sequence[Problem], each: str) -> Iterator[str]:
        if not problems:
            return
        yield ""
        yield self.paint("bold", title)
        shown = len(problems) if self.verbose else _LIMIT
        for problem in problems[:shown]:
            first, *rest = lines(problem.reason) or [""]
            yield from wrap(f"{line(problem.code)}: {line(first)}", self.prose, "  ", "    ")
            # the end of an output says more than its start
            yield from self.quoted(rest[-_EXCERPT_VERBOSE if self.verbose else -_EXCERPT :], "    ")
            if problem.remedy:
                yield from wrap(line(self.calling.here(problem.remedy)), self.prose, "    -> ", "       ")
        if len(problems) > shown:
            yield f"  {_more(len(problems) - shown, each)}"

    def findings(self, findings: Sequence[Finding], shown: Sequence[Finding]) -> Iterator[str]:
        if not findings:
            return
        yield ""
        yield self.paint("bold", "Findings")
        said: set[str] = set()
        for finding in shown:
            yield from self.finding(finding, said)
            said.add(finding.remedy)
        if len(findings) > len(shown):
            yield f"  {_more(len(findings) - len(shown), 'finding')}"

    def finding(self, finding: Finding, said: Collection[str]) -> Iterator[str]:
        place = line(finding.path or finding.nodeid or "")
        if finding.path and finding.line is not None:
            place += f":{finding.line}"
        severity = self.paint(_COLOURS[finding.severity], f"{finding.severity.value:<6}")
        head = f"  {severity} {line(finding.rule)}"
        plain = 10 + len(line(finding.rule))
        if not place or plain + len(place) <= self.width:
            yield f"{head}  {place}"
        else:
            yield head
            yield f"         {place}"
        if finding.path and finding.nodeid:
            yield f"         {line(finding.nodeid)}"
        yield from wrap(line(finding.reason), self.prose, " " * 9)
        if finding.remedy:
            remedy = "as above" if finding.remedy in said else line(self.calling.here(finding.remedy))
            yield from wrap(remedy, self.prose, " " * 9 + "-> ")

    def group(self, group: Group, rows: Sequence[Row], said: Collection[str] = ()) -> Iterator[str]:
        yield ""
        title = f"{group.value}: {plural(len(rows), 'test')}"
        yield self.paint("red" if group in _URGENT else "bold", title)
        spends = {row.spend for row in rows}
        # Of the patch's own tests the title says it.
        if len(spends) == 1 and (spend := line(rows[0].spend)) and group is not Group.UNTRUSTED:
            # the first thing to do about a miss stands on top: fix the code
            yield from wrap(spend, self.prose, "  then: " if group is Group.MISS else "  to do: ")
        shown = len(rows) if self.verbose else _LIMITS.get(group, _LIMIT)
        if said and not self.verbose:
            yield "  why: see Undecided above"
            shown = 3
        for row in rows[:shown]:
            known = row.why.removesuffix(".") in said and not self.verbose
            shorter = replace(row, why="") if known else row
            yield from self.row(shorter, brief=group in _BRIEF and not self.verbose, spend=len(spends) > 1)
        if len(rows) > shown:
            yield f"  {_more(len(rows) - shown, 'test')}"

    def passed(self, rows: Sequence[Row]) -> Iterator[str]:
        yield ""
        yield self.paint("bold", f"{Group.PASSED.value}: {plural(len(rows), 'test')}")
        for row in rows:
            words = [line(row.nodeid), *self.outcomes(row)]
            if row.fixtures:
                words.append(f"fixtures: {', '.join(map(line, row.fixtures))}")
            yield from flow(filter(None, words), self.width, "  ", "      ")

    def row(self, row: Row, *, brief: bool, spend: bool) -> Iterator[str]:
        yield f"  {self.paint('bold', line(row.nodeid))}"
        odds = phrases.doubt(row.doubt)
        said = [
            line(phrases.state(row)),
            *self.outcomes(row),
            f"cause: {line(row.cause)}" if row.cause else "",
            f"doubt {odds}" if odds else "",
        ]
        # what ends in a blank goes on with the next outcome
        words = [
            part if part.endswith(" ") else f"{part}{';' if any(said[i + 1 :]) else ''}"
            for i, part in enumerate(said)
            if part
        ]
        if words:
            yield from flow(words, self.width, "      ", "      ")
        if row.why:
            yield from wrap(line(row.why), self.prose, "      ")
        if brief:
            return
        if spend and row.spend:
            yield from wrap(line(row.spend), self.prose, "      to do: ")
        if row.capture:
            again = self.calling.here(f"redbucket replay {shell(line(row.capture))}")
            yield from wrap(again, self.width, "      again: ")
        if row.bucket is Bucket.NOISE or self.verbose:
            for label, each in in_words(row.experiments, all_of_them=self.verbose):
                yield from self.listed(label, each)
        if self.verbose:
            yield from self.evidence(row)
        yield from self.excerpt(row.message)

    def outcomes(self, row: Row) -> list[str]:
        """Return the outcomes as words of a line, each but the last with a blank behind it."""
        parts = list(map(line, phrases.outcome_parts(row, conditions=self.verbose)))
        return [f"{part} " for part in parts[:-1]] + parts[-1:]

    def evidence(self, row: Row) -> Iterator[str]:
        tried = [] if row.experiments else row.tried
        for label, values in (("tried", tried), ("fixtures", row.fixtures)):
            if values:
                yield from self.listed(label, [line(value) for value in values])

    def listed(self, label: str, values: Sequence[str]) -> Iterator[str]:
        comma = [f"{v}{',' if i < len(values) - 1 else ''}" for i, v in enumerate(values)]
        yield from flow(comma, self.width, f"      {label}: ", " " * (8 + len(label)))

    def quoted(self, parts: Sequence[str], indent: str) -> Iterator[str]:
        for part in parts:
            yield self.paint("dim", f"{indent}| {cut(part, self.width - len(indent) - 2)}")

    def excerpt(self, message: str) -> Iterator[str]:
        limit = _EXCERPT_VERBOSE if self.verbose else _EXCERPT
        kept = excerpt(message, self.width - 8, limit)
        yield from self.quoted(kept.lines, "      ")
        if kept.left:
            yield self.paint("dim", f"      | {_more(kept.left, 'line', said=not self.verbose)}")

    def counts(self, report: GateReport, groups: dict[Group, list[Row]]) -> Iterator[str]:
        quiet = [(g, phrases.quiet_count(report, groups, g)) for g in (Group.PASSED, Group.SKIPPED)]
        listed = [Group.PASSED] if self.verbose and groups[Group.PASSED] else []
        said = [f"{g.value}: {n:,}" for g, n in quiet if n and g not in listed]
        if said:
            yield ""
            yield from wrap("; ".join(said), self.prose)

    def closing(self, report: GateReport, groups: dict[Group, list[Row]]) -> Iterator[str]:
        yield ""
        shown = [row for group, rows in groups.items() if group is not Group.PASSED for row in rows]
        legend = phrases.legend(shown)
        marks = ", ".join(map(line, report.identity.marks if self.verbose else report.identity.marks[:3]))
        closing = [
            f"{line(legend)}." if legend else "",
            _ODDS if any(row.doubt is not None for row in shown) else "",
            f"Doubt: {phrases.unseen(report)}." if phrases.unseen(report) else "",
            f"An agent's patch: {marks or 'so declared'}."
            if report.identity.agent
            else f"A person's patch: {_of_person(report)} (--agent says otherwise).",
            f"Judged: {line(phrases.facts(report, full=self.verbose))}.",
            f"Trees and records are kept in {line(report.kept)}" if report.kept else "",
            phrases.DISCLAIMER,
        ]
        for part in filter(None, closing):
            yield from (self.paint("dim", one) for one in wrap(part, self.prose, "", "  "))


def _of_person(report: GateReport) -> str:
    if report.signatures and not report.offered:
        return "allowed signers signed its commits, and it bears no mark of an agent"
    return "it bears no mark of an agent"


def _more(n: int, what: str, *, said: bool = True) -> str:
    tail = " (--verbose shows all)" if said else ""
    return f"... and {plural(n, f'more {what}')}{tail}"
