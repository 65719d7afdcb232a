"""The settings of coding agents in a work tree and the user's home, and whether they call ``redbucket agent-hook``."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

_AGENTS = {
    "Claude Code": (".claude", ("settings.json", "settings.local.json")),
    "Codex CLI": (".codex", ("hooks.json", "config.toml")),
    "Cursor": (".cursor", ("hooks.json",)),
    "Gemini CLI": (".gemini", ("settings.json",)),
    "Copilot": (".github/hooks", ()),
}


def agent_settings(top: Path | None) -> tuple[dict[str, str], list[str]]:
    """Return {settings file that calls agent-hook: its program if that is missing}, and agents without one.

    ``top`` is the work tree, where each agent keeps its own folder; what a person set for all repositories counts, too.
    """
    found: dict[str, str] = {}
    unset = []
    for agent, (folder, names) in _AGENTS.items():
        used = False
        places = [] if top is None else [top / folder]
        for place in (*places, *([Path.home() / folder] if names else [])):
            files = [place / name for name in names] if names else sorted(place.glob("*.json"))
            for file in files:
                program = _agent_hook_program(file)
                if program is not None:
                    used = True
                    found[_from_home(file, top)] = program
        if not used and places and places[0].is_dir():
            unset.append(agent)
    return found, unset


def _from_home(file: Path, top: Path | None) -> str:
    for start, name in ((top, ""), (Path.home(), "~/")):
        if start is not None and file.is_relative_to(start):
            return name + str(file.relative_to(start))
    return str(file)


def _agent_hook_program(file: Path) -> str | None:
    """Return None if ``file`` calls no agent-hook, else the program that is missing ("" if it is there)."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    found = re.search(r"[\"']((?:[^\"'\\]|\\.)*\bagent-hook\b(?:[^\"'\\]|\\.)*)[\"']", text)
    if found is None:
        return None
    try:
        words = shlex.split(found[1].replace('\\"', '"'))
    except ValueError:
        return ""
    program = words[0] if words else ""
    return "" if not program or shutil.which(os.path.expandvars(program)) else program
