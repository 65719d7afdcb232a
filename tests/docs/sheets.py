"""Reads pages: their fenced blocks, and the comments above a block that say how it is to be run.

``<!-- in: SCENE -->`` begins a sheet: a fresh home folder, made by that function of scenes.py, and a fresh shell. The
console blocks that follow are typed into it, one after the other. ``<!-- in: SCENE, slow -->`` leaves it to
``-m slow``. ``<!-- file: PATH -->`` saves a block there. ``<!-- exit: N -->`` is the exit status of commands whose
output is not shown (0 otherwise). ``<!-- not run: REASON -->`` says why a block is not run; its redbucket commands are
parsed all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PAGES = (TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").rglob("*.md")))
_FENCE = re.compile(r" *```([\w-]*)$")
_MARK = re.compile(r" *<!-- (in|file|exit|not run): (.+) -->$")
_PROMPT = "$ "


@dataclass(frozen=True)
class Block:
    """A fenced block: ``line`` is that of its first line of text, from 1; ``marks`` the comments right above it."""

    language: str
    text: str
    line: int
    marks: Mapping[str, str]


@dataclass(frozen=True)
class Step:
    """A command as it is typed, on ``line``, and what the page shows as its output ("" for nothing)."""

    command: str
    shown: str
    line: int
    exit_code: int = 0


@dataclass
class Sheet:
    """The blocks of a page that share a home folder and a shell."""

    page: Path
    scene: str
    slow: bool
    line: int
    blocks: list[Block] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The page and the line where it begins."""
        return f"{self.page.relative_to(TOP)}:{self.line}"


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    marks: dict[str, str] = {}
    opened: tuple[str, int, int] | None = None
    kept: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is not None:
            if fence:
                yield Block(opened[0], "".join(f"{text}\n" for text in kept), opened[1], marks)
                opened, kept, marks = None, [], {}
            else:
                kept.append(line[opened[2] :] if not line[: opened[2]].strip() else line)
        elif fence:
            opened = (fence[1], number + 1, len(line) - len(line.lstrip()))
        elif mark := _MARK.match(line):
            marks[mark[1]] = mark[2]
        elif line.strip():
            marks = {}


def steps(block: Block) -> Iterator[Step]:
    """Yield the commands of a console block."""
    command, shown, at = "", list[str](), 0
    code = int(block.marks.get("exit", "0"))
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith(_PROMPT):
            if command:
                yield Step(command, "\n".join(shown), at, code)
            command, shown, at = line.removeprefix(_PROMPT), [], number
        elif command.endswith("\\"):
            command += f"\n{line}"
        else:
            shown.append(line)
    if command:
        yield Step(command, "\n".join(shown), at, code)


def sheets(page: Path) -> Iterator[Sheet]:
    """Yield the sheets of a page; a block that is not run and stands in none is in no sheet."""
    current: Sheet | None = None
    for block in blocks(page.read_text(encoding="utf-8")):
        if "in" in block.marks:
            if current is not None:
                yield current
            scene, _, rest = block.marks["in"].partition(", ")
            current = Sheet(page, scene, rest == "slow", block.line)
        if current is not None and "not run" not in block.marks:
            current.blocks.append(block)
    if current is not None:
        yield current


_UNSTEADY = (
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "ID"),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"\bseed \d+"), "seed N"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
)


def steady(text: str) -> str:
    """Return a text without what differs from run to run (ids, seconds, seeds, dates) and from width to width."""
    for pattern, word in _UNSTEADY:
        text = pattern.sub(word, text)
    return " ".join(text.split())


def same(shown: str, seen: str) -> bool:
    """Return True if a page shows what was seen; ``…`` stands for anything that the page leaves out."""
    parts = [re.escape(steady(part)) for part in shown.split("…")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), steady(seen)) is not None
