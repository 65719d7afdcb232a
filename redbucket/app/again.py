"""What a person types again once the reason of a hook's refusal is mended."""

from __future__ import annotations

from redbucket.engine.subject import Request
from redbucket.formats.clean import shell


def again(request: Request, *, staged: bool) -> str:
    """Return the command: git's own where it is known, else a gate of the same two ends."""
    if staged:
        return "git commit"
    if request.base == "HEAD":
        return f"git merge {shell(request.head_ref)}" if request.head_ref else "git merge"
    words = [f"--base {shell(request.base[:12])}"] if request.base else []
    head = request.head_ref or (request.head or "HEAD")[:12]
    return " ".join(["redbucket gate", *words, f"--head {shell(head)}"])
