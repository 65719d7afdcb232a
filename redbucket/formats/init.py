"""What ``init`` saw and proposes, as text: pure."""

from __future__ import annotations

from collections.abc import Sequence

from redbucket.core.plural import plural
from redbucket.core.sighting import Proposed
from redbucket.formats.clean import line, wrap

_COLUMN = 12  # of the headings
_LINES = 60  # of a new file that are shown without --verbose
_GREEN, _BOLD, _OFF = "\x1b[32m", "\x1b[1m", "\x1b[0m"


def seen_text(place: str, commit: str, rows: Sequence[tuple[str, str]], width: int) -> str:
    """Return what was seen, one heading a row."""
    out = [f"looked at {line(place)}, commit {commit[:12]}"]
    for heading, sentence in rows:
        out += wrap(line(sentence), width, f"  {heading:<{_COLUMN}}", " " * (_COLUMN + 2))
    return "\n".join(out)


def diff_text(each: Proposed, *, color: bool, verbose: bool) -> str:
    """Return a new file as a diff against nothing, or a kept one with what it lacks."""
    bold, off = (_BOLD, _OFF) if color else ("", "")
    if not each.text:
        out = [f"{bold}{line(each.path)}{off}: is there already, and stays as it is"]
        out += [f"  {line(sentence)}" for sentence in each.lacks]
        if each.snippet:
            out += ["  what it could say:", *(f"    {line(part)}" for part in each.snippet.splitlines())]
        return "\n".join(out)
    lines = each.text.splitlines()
    shown = lines if verbose else lines[:_LINES]
    green, end = (_GREEN, _OFF) if color else ("", "")
    out = [f"{bold}--- /dev/null{off}", f"{bold}+++ {line(each.path)}{off}", f"@@ -0,0 +1,{len(lines)} @@"]
    out += [f"{green}+{line(text)}{end}" for text in shown]
    if len(shown) < len(lines):
        out.append(f"  (and {plural(len(lines) - len(shown), 'more line')}; --verbose shows all)")
    if each.why:
        out.append(f"  {line(each.why)}")
    return "\n".join(out)


def steps_text(steps: Sequence[tuple[str, str]], width: int) -> str:
    """Return what to do next, numbered, each command on a line of its own."""
    out = ["next:"]
    for number, (sentence, command) in enumerate(steps, 1):
        out += wrap(line(sentence), width, f"  {number}. ", "     ")
        out.append(f"     $ {line(command)}" if " " in command else f"     {line(command)}")
    return "\n".join(out)
