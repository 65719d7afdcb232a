"""The self-check of recorded fixtures and freezes: what each observation means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redbucket.core.agentcalls import shown
from redbucket.core.attributes import UNSET, Attributes
from redbucket.core.paths import Matcher, literal
from redbucket.core.plural import plural
from redbucket.core.report import GateReport
from redbucket.engine.doctor import Check, fail, ok, warn

_FEW = 3
_LINES = 8  # what a person may copy from a terminal


def lock(report: GateReport, manifests: Sequence[str], fixtures: int) -> Check:
    """Say what ``fixtures verify`` found; ``fixtures`` is how many recorded ones base has."""
    check = "fixture-lock"
    if not manifests:
        if fixtures:
            return warn(
                check,
                f"base has {plural(fixtures, 'recorded fixture')} and no lock",
                "redbucket fixtures lock",
            )
        return ok(check, "base has no recorded fixtures")
    said = f"{shown(manifests, _FEW)}: "
    wrong = [f"{f.path}: {f.reason}" for f in report.findings]
    if report.exit_code == 1:
        return fail(
            check, f"{said}{shown(wrong, _FEW)}", "redbucket fixtures verify; redbucket fixtures diff"
        )
    if report.exit_code:
        absent = [problem.reason for problem in report.undecided]
        return warn(check, f"{said}{shown(absent, _FEW)}", report.undecided[0].remedy)
    if wrong:
        return warn(check, f"{said}{shown(wrong, _FEW)}", report.findings[0].remedy)
    # the notes name the lock themselves
    return ok(check, "; ".join(note.reason for note in report.notes) + ", all as locked")


def freezes(report: GateReport, count: int) -> Check:
    """Say what ``flakes check`` found; ``count`` is how many freezes there are."""
    if report.exit_code == 1:
        wrong = [f"{f.nodeid or f.path}: {f.reason}" for f in report.findings]
        return fail("freezes", shown(wrong, _FEW), "redbucket flakes check")
    if report.findings:
        near = [f"{f.nodeid or f.path}: {f.reason}" for f in report.findings]
        return warn("freezes", shown(near, _FEW), "redbucket flakes list")
    return ok(
        "freezes", f"{count} in flakes.toml, none is over or incomplete" if count else "none in flakes.toml"
    )


def rewriters(rewritable: Mapping[str, Sequence[str]]) -> Check | None:
    """Warn of fixers that pre-commit would let at recorded fixtures; None if there are none."""
    if not rewritable:
        return None
    said = [f"{name} gets {shown(paths, 1)}" for name, paths in sorted(rewritable.items())]
    remedy = (
        "give these hooks (or the whole of .pre-commit-config.yaml) an exclude that covers the fixture paths"
    )
    return warn("fixture-fixers", f"pre-commit may rewrite recorded fixtures: {shown(said, _FEW)}", remedy)


def line_ends(attributes: Attributes, paths: Sequence[str], patterns: Sequence[str]) -> Check | None:
    """Warn of text fixtures in ``paths`` that a checkout on another system gets with other line ends."""
    touched = [path for path in paths if _converted(attributes, path)]
    if not touched:
        return None
    # lines to copy: only what reaches these fixtures, and none of it left out
    reaching = {pattern: Matcher([pattern]) for pattern in patterns if not pattern.startswith("!")}
    covering = [name for name, each in reaching.items() if any(map(each.matches, touched))]
    alone = [path for path in touched if not any(reaching[name].matches(path) for name in covering)]
    lines = [f"{_word(pattern)} -text" for pattern in (*covering, *map(literal, alone))]
    said = f"put into .gitattributes, a line each: {', '.join(lines)}"
    if len(lines) > _LINES:
        said = f"give each of [fixtures] paths a line in .gitattributes: {', '.join(lines[:_FEW])}, and so on"
    return warn(
        "fixture-line-ends",
        f"core.autocrlf or eol=crlf would change the bytes of {plural(len(touched), 'fixture')}: "
        f"{shown(touched, _FEW)}",
        said,
    )


def _word(pattern: str) -> str:
    """Return ``pattern`` as git reads it in .gitattributes, where a blank ends an unquoted one."""
    if not any(c.isspace() or c in '"\\' for c in pattern):
        return pattern
    return '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _converted(attributes: Attributes, path: str) -> bool:
    of = attributes.of(path)
    text, eol = (of[name].value if name in of else "" for name in ("text", "eol"))
    old = of["crlf"].value if "crlf" in of else ""  # the name before git 1.7.2
    return UNSET not in (text, old) and old != "=input" and eol != "=lf"
