"""The environment of a run: an allow-list, a fresh HOME, pinned seeds.

Nothing of GIT_*, CI, PRE_COMMIT or a coding agent reaches the tests: a patch must
not be able to tell the gate from an ordinary run, nor to reach the user's repository.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from redbucket.edges.interpreter import Launch

PASSED_THROUGH = (
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SYSTEMROOT",
    "SHELL",
    "USER",
    "LOGNAME",
)

# Values that go into a record; of every other variable the name alone: it may hold a secret.
RECORDED = ("COLUMNS", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONHASHSEED", "PYTHONNOUSERSITE", "TEST_SEED", "TZ")

# Tests that use git themselves need somebody to be.
_GITCONFIG = "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n"


def make_home(home: Path, *, empty: bool = False) -> None:
    """Make a HOME that holds nothing but a git identity, or nothing; keep one that exists."""
    if home.exists():
        return
    home.mkdir(parents=True)
    if not empty:
        (home / ".gitconfig").write_text(_GITCONFIG, encoding="utf-8")


def for_run(
    user: Mapping[str, str],
    launch: Launch,
    home: Path,
    tmp: Path,
    seed: str,
    hash_seed: str,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """Return the environment of one run."""
    env = {name: user[name] for name in PASSED_THROUGH if name in user}
    env.setdefault("LANG", "C.UTF-8")
    env["PATH"] = search_path(user.get("PATH", os.defpath), launch)
    env["HOME"] = str(home)
    env["TMPDIR"] = str(tmp)
    env["TZ"] = "UTC"
    env["TEST_SEED"] = seed
    env["PYTHONHASHSEED"] = hash_number(hash_seed or seed)
    if launch.userbase:
        env["PYTHONUSERBASE"] = launch.userbase
    else:
        env["PYTHONNOUSERSITE"] = "1"
    if launch.prefix != sys.base_prefix:
        env["VIRTUAL_ENV"] = launch.prefix
    env.update(extra)
    return env


def recorded(env: Mapping[str, str]) -> dict[str, str | None]:
    """Return {name: value} of an environment, None for a value that no record may hold."""
    return {name: env[name] if name in RECORDED else None for name in sorted(env)}


def hash_number(seed: str) -> str:
    """Return ``seed`` if Python takes it as PYTHONHASHSEED, otherwise a number made of it."""
    if seed.isascii() and seed.isdigit() and int(seed) <= 0xFFFFFFFF:
        return seed
    return str(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big"))


def search_path(path: str, launch: Launch) -> str:
    """Return PATH with the project's environment first and redbucket's own left out."""
    own = Path(sys.prefix).resolve()
    project = Path(launch.prefix).resolve()
    folders = [str(Path(launch.python).parent)]
    for folder in path.split(os.pathsep):
        if folder and (own == project or Path(folder).resolve().parent != own):
            folders.append(folder)
    return os.pathsep.join(dict.fromkeys(folders))
