"""Every command in the docs is run, and what the page shows is what it says."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import click
import pytest

from tests.docs.scenes import SCENES
from tests.docs.sheets import PAGES, TOP, Block, Sheet, Step, blocks, same, sheets, steady, steps
from tests.docs.shell import Shell
from tests.test_help import taken

SHEETS = [sheet for page in PAGES for sheet in sheets(page)]
CONSOLE = [(page, b) for page in PAGES for b in blocks(page.read_text("utf-8")) if b.language == "console"]


@pytest.mark.parametrize(
    "sheet",
    [pytest.param(s, id=s.name, marks=[pytest.mark.slow] if s.slow else []) for s in SHEETS],
)
def test_the_commands_of_a_sheet(sheet: Sheet, tmp_path: Path) -> None:
    """REDBUCKET_REGENERATE=1 writes what was seen into the page, where the page shows the whole of it."""
    shell = Shell(tmp_path)
    with shell.after:
        SCENES[sheet.scene](shell)
        for block in sheet.blocks:
            if "file" in block.marks:
                path = shell.folder / block.marks["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            if block.language == "console":
                for step in steps(block):
                    _typed(step, shell, sheet)


def _typed(step: Step, shell: Shell, sheet: Sheet) -> None:
    code, seen = shell.run(step.command)
    place = f"{sheet.page.relative_to(TOP)}:{step.line}: {step.command}"
    assert "Traceback" not in seen, f"{place}\n{seen}"
    assert code not in (70, 126, 127), f"{place}\n{seen}"
    if not step.shown:
        assert code == step.exit_code, f"{place}\n{seen}"
    elif not same(step.shown, seen):
        if os.environ.get("REDBUCKET_REGENERATE") and "…" not in step.shown:
            text = sheet.page.read_text("utf-8")
            sheet.page.write_text(text.replace(f"{step.command}\n{step.shown}\n", f"{step.command}\n{seen}"))
            return
        raise AssertionError(f"{place}\nthe page shows:\n{step.shown}\nseen:\n{seen}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_each_command_is_run_or_says_why_not(page: Path) -> None:
    in_sheets = {block.line for sheet in sheets(page) for block in sheet.blocks}
    found = [b for p, b in CONSOLE if p == page]
    silent = [b.line for b in found if b.line not in in_sheets and len(b.marks.get("not run", "")) < 10]
    assert silent == [], "a console block needs <!-- in: SCENE --> before it, or <!-- not run: REASON -->"


def words(block: Block) -> list[list[str]]:
    """The redbucket commands of a block, each as its words after ``redbucket``."""
    found = []
    for step in steps(block):
        # a remark ends the line; what a shell makes of its own signs is the shell's
        line = re.split(r"\s#", re.sub(r"\$\([^()]*\)", "x", step.command).replace("\\\n", " "))[0]
        for part in re.split(r"&&|\|\||[|;]", line):
            typed = shlex.split(re.split(r"[<>]", part)[0])
            if typed and typed[0] in ("redbucket", ".venv/bin/redbucket"):
                found.append(typed[1:])
    return found


@pytest.mark.parametrize(
    ("page", "block"), CONSOLE, ids=[f"{page.relative_to(TOP)}:{block.line}" for page, block in CONSOLE]
)
def test_each_redbucket_command_is_taken(
    page: Path, block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in words(block):
        taken(line)


def test_what_does_not_fit_is_noticed(tmp_path: Path) -> None:
    page = "<!-- in: empty -->\n```console\n$ echo one 1.5 s\none 2.5 s\n$ false\n```\n\nx\n"
    page += "```console\n$ redbucket no-such\n```\n"
    first, second = blocks(page)
    assert [s.command for s in steps(first)] == ["echo one 1.5 s", "false"]
    assert second.marks == {}
    with pytest.raises(click.ClickException):
        taken(words(second)[0])
    assert same("a … c 3.1 s", "a\n  b\n  c 12.0 s")
    assert not same("a … c", "a b d")
    assert not same("a", "a b")
    assert steady("commit 0123abc of 2026-11-30") == "commit ID of DATE"
    shell = Shell(tmp_path / "shell")
    sheet = Sheet(TOP / "README.md", "empty", False, 1)
    with pytest.raises(AssertionError, match="the page shows"):
        _typed(Step("echo two", "three", 1), shell, sheet)
    with pytest.raises(AssertionError):
        _typed(Step("false", "", 1), shell, sheet)


def test_a_shell_keeps_its_folder_its_variables_and_its_status(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run("mkdir 'a b' && cd 'a b' && export WORD=here")
    assert shell.run("pwd; echo $WORD") == (0, "/home/you/a b\nhere\n")
    shell.run("(exit 7)")
    assert shell.run("echo $?") == (0, "7\n")
