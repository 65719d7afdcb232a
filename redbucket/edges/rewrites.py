"""What in a repository makes git show another history than the objects hold."""

from __future__ import annotations

from pathlib import Path

from redbucket.edges.git import Caller


def rewrites(git: Caller, common_dir: Path) -> tuple[str, ...]:
    """Return the replace refs and the grafts file of a repository, in words; none of them applies here."""
    found = []
    done = git.run("for-each-ref", "--format=%(refname)", "refs/replace")
    names = done.line.split("\n") if done.line else []
    if names:
        found.append(
            f"{len(names)} replace refs ({names[0]})" if len(names) > 1 else f"a replace ref ({names[0]})"
        )
    grafts = common_dir / "info" / "grafts"
    try:
        lines = grafts.read_bytes().splitlines()
    except OSError:
        lines = []
    if any(line.strip() and not line.startswith(b"#") for line in lines):
        found.append("a grafts file (info/grafts)")
    return tuple(found)
