"""The interpreter that ``[run] command`` names by a path: is it there at all?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from redbucket.core.errors import WorldFailed
from redbucket.edges.interpreter import parse_command


def require_there(command: Sequence[str], work_tree: Path | None) -> None:
    """Raise WorldFailed "no-interpreter" where the command names an interpreter that is not there.

    Nothing is raised for a command that names none by a path, nor for one that is there and does not start.
    """
    named = parse_command(command).interpreter
    if "/" not in named or work_tree is None or (work_tree / named).exists():
        return
    main = _main_of(work_tree)
    remedy = "make that environment, or name one that is there in [run] command"
    if main is not None and not Path(named).is_absolute() and (main / named).exists():
        top = Path(named).parts[0]
        remedy = (
            "a linked work tree has nothing that git ignores: make the environment here, too, or link it: "
            f"ln -s {quote(str(main / top))} {quote(str(work_tree / top))}"
        )
    raise WorldFailed("no-interpreter", f"{work_tree / named}, which run.command names, is not there", remedy)


def _main_of(work_tree: Path) -> Path | None:
    """Return the main work tree of a linked one, None if it is none."""
    try:
        text = (work_tree / ".git").read_text("utf-8", "surrogateescape")
    except OSError:
        return None  # a folder, as in a main work tree
    folder = (work_tree / text.removeprefix("gitdir:").strip()).resolve()
    # MAIN/.git/worktrees/NAME
    return folder.parents[2] if folder.parent.name == "worktrees" and len(folder.parents) > 2 else None
