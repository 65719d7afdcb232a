"""What ``init`` proposes for pre-commit and for coding agents' own hooks."""

from __future__ import annotations

from collections.abc import Iterable

from redbucket.core.sighting import Proposed, Sighting, Source
from redbucket.engine.agenthook import settings
from redbucket.engine.doctor import PRE_COMMIT_STAGES, Configured

PRE_COMMIT = ".pre-commit-config.yaml"
# As in .pre-commit-hooks.yaml: where each runs, the quick ones first.
HOOKS = {
    "redbucket-protected-paths": PRE_COMMIT_STAGES,
    "redbucket-untrusted-tests": PRE_COMMIT_STAGES,
    "redbucket-fixture-checksums": PRE_COMMIT_STAGES,
    "redbucket-flake-expiry": PRE_COMMIT_STAGES,
    "redbucket-gate": PRE_COMMIT_STAGES[1:],
}
_TYPES = f"default_install_hook_types: [{', '.join(PRE_COMMIT_STAGES)}]\n"
# Each agent's settings in a repository.
SETTINGS = {
    "claude": (".claude/settings.json", ".claude/settings.local.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "cursor": (".cursor/hooks.json",),
    "gemini": (".gemini/settings.json",),
    "copilot": (".github/hooks/redbucket.json",),
}
# Files and folders that say that an agent is in use here.
SIGNS = {
    "claude": ("CLAUDE.md", ".claude"),
    "codex": ("AGENTS.md", ".codex"),
    "cursor": (".cursorrules", ".cursor"),
    "gemini": ("GEMINI.md", ".gemini"),
    "copilot": (".github/copilot-instructions.md", ".github/hooks"),
}


def agents_in_use(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the agents whose files are among ``paths``."""
    seen = set()
    for path in paths:
        seen.add(path)
        parts = path.split("/")[:-1]
        seen.update("/".join(parts[:length]) for length in range(1, len(parts) + 1))
    return tuple(agent for agent, signs in SIGNS.items() if seen.intersection(signs))


def pre_commit(seen: Sighting, configured: Configured) -> Proposed:
    """Return the proposal for pre-commit; ``configured`` is what the file that is there names."""
    if PRE_COMMIT not in seen.files:
        why = "for those who use pre-commit; others leave it out and run: redbucket install"
        return Proposed("pre-commit", PRE_COMMIT, _TYPES + "repos:\n" + _repo(HOOKS, seen.source), why=why)
    if configured.trouble:
        return Proposed("pre-commit", PRE_COMMIT, lacks=(configured.trouble,))
    missing = [name for name in HOOKS if name not in configured.ids]
    lacks = (
        [f"it lacks the {'hook' if len(missing) == 1 else 'hooks'} {', '.join(missing)}"] if missing else []
    )
    snippet = f"repos:\n  # after what is there\n{_repo(missing, seen.source)}" if missing else ""
    if b"default_install_hook_types" not in seen.files[PRE_COMMIT]:
        lacks.append("without default_install_hook_types, `pre-commit install` leaves merges and pushes out")
        snippet = _TYPES + snippet
    return Proposed("pre-commit", PRE_COMMIT, lacks=tuple(lacks), snippet=snippet)


def _repo(names: Iterable[str], source: Source | None) -> str:
    """Return one entry of ``repos``: redbucket's own repository, or the commands that are installed here."""
    if source is not None:
        lines = [f"  - repo: {source.address}", f"    rev: {source.revision}", "    hooks:"]
        return "\n".join([*lines, *(f"      - id: {name}" for name in names)]) + "\n"
    lines = ["  - repo: local   # runs the redbucket that is on PATH", "    hooks:"]
    for name in names:
        lines += [
            f"      - id: {name}",
            f"        name: {name.replace('-', ' ')}",
            f"        entry: {name}",
            "        language: system",
            f"        stages: [{', '.join((*HOOKS[name], 'manual'))}]",
            "        always_run: true",
            "        pass_filenames: false",
            "        require_serial: true",
        ]
    return "\n".join(lines) + "\n"


def agent_hooks(seen: Sighting) -> list[Proposed]:
    """Return a proposal for each agent in use whose settings don't call redbucket."""
    found = []
    for agent in seen.agents:
        files = SETTINGS[agent]
        if any(b"agent-hook" in seen.files.get(path, b"") for path in files):
            continue
        _, text = settings(agent, "redbucket agent-hook")
        if files[0] in seen.files:
            lacks = ("it does not call redbucket agent-hook; put this beside the hooks that are there",)
            found.append(Proposed("agents", files[0], lacks=lacks, snippet=text))
        else:
            found.append(Proposed("agents", files[0], text + "\n"))
    return found
