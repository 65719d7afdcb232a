"""Makes one run look like anybody's: none of the usual signs of a gate, and those of a work tree.

A patch that is right only where it sees that it is being judged is wrong here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_DAY = 86_400
_GIT = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    "refs/heads/.keep": "",
    "objects/.keep": "",
}
_USUAL = {"CI": "true", "TERM": "xterm-256color", "EDITOR": "vi", "SSH_TTY": "/dev/pts/0", "SHLVL": "1"}


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return ``env`` without what a gate pins, and with what a terminal and a CI service set."""
    kept = {name: value for name, value in env.items() if name not in ("TEST_SEED", "TZ")}
    return {**_USUAL, **kept}


def tree(folder: Path, seed: str) -> None:
    """Give a laid out tree a ``.git`` and the dates of files that have been there for a while."""
    then = (folder.stat().st_mtime // _DAY - 30) * _DAY
    for place, _, names in os.walk(folder):
        for name in names:
            age = int(hashlib.sha256(f"{seed}{name}".encode(errors="replace")).hexdigest()[:6], 16)
            with contextlib.suppress(OSError):
                os.utime(f"{place}/{name}", (then - age, then - age), follow_symlinks=False)
    for name, text in _GIT.items():
        path = folder / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def command(argv: Sequence[str]) -> list[str]:
    """Return ``argv`` with a shell for its parent."""
    return ["/bin/sh", "-c", '"$@"; exit $?', "sh", *argv]
