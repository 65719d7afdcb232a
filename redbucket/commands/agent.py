"""``redbucket agent-hook``: the command that coding agents call before they edit a file.

Every import that costs time is made where it is needed: most calls need none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from redbucket.commands.options import common

if TYPE_CHECKING:
    from redbucket.core.agentcalls import Call
    from redbucket.core.patch import Entry
    from redbucket.edges.repository import Repository
    from redbucket.engine.agenthook import Answer, Court, Place

LIMIT = 16 * 1024 * 1024  # bytes of one payload; agents' own limits for one answer are far below
PATIENCE = 5.0  # seconds without a byte on standard input


@click.command("agent-hook", short_help="Entry point for coding agents' hooks.")
@click.option(
    "--check", is_flag=True, help="Compare the work tree's protected files with base's; for after a call."
)
@click.option(
    "--settings",
    type=click.Choice(["claude", "codex", "cursor", "gemini", "copilot"]),
    help="Print that agent's settings for this hook instead.",
)
@common
def agent_hook(check: bool, settings: str | None, folder: Path, quiet: bool, verbose: bool) -> int:
    """Entry point for coding agents: refuse an edit of a protected file before it happens.

    Reads one JSON payload of Claude Code, Codex CLI, Cursor, Gemini CLI or Copilot on
    standard input. Exit 2 with the reason on stderr refuses the call; exit 0 allows it.
    Nothing is ever printed on stdout.

    \b
      redbucket agent-hook --settings claude
      redbucket agent-hook < payload.json
      redbucket agent-hook --check
    """
    from redbucket.core.agentcalls import Call, Kind, parse

    if settings is not None:
        return _print_settings(settings)
    terminal = sys.stdin is None or sys.stdin.isatty()
    if terminal and not check:
        raise click.UsageError(
            "agent-hook reads an agent's JSON on standard input (--settings NAME sets it up)"
        )
    raw, cut = (b"", False) if terminal else _payload()
    call = Call(Kind.HARMLESS) if terminal else parse(raw, cut=cut)
    try:
        answer = _check(call, folder) if check else _answer(call, folder)
    except Exception as error:  # noqa: BLE001 (whatever goes wrong here must not stop an agent's harmless call)
        return _failed(error)
    lines = list(answer.lines)
    if verbose and not answer.code:
        lines.append(
            f"redbucket: allowed: {call.kind.value} call of {call.agent or 'no known agent'} {call.tool}"
        )
    text = "" if quiet and not answer.code else "".join(f"{line}\n" for line in lines)
    with suppress(OSError, AttributeError):  # nobody reads the reason: the code still counts
        sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stderr.flush()
    return answer.code


def _failed(error: Exception) -> int:
    """Say that the call is allowed unjudged, and why."""
    from redbucket.app.output import complain, report_bug, world_failure
    from redbucket.core.errors import RedbucketError

    if isinstance(error, RedbucketError):
        complain(error)
    elif isinstance(error, OSError):
        complain(world_failure(error))
    else:
        report_bug(error)
    print("redbucket: allowed without being judged; the gate still decides", file=sys.stderr)
    return 0


def _payload() -> tuple[bytes, bool]:
    """Return what comes on standard input, and whether it was cut: at the limit, or as nothing came."""
    import select

    parts: list[bytes] = []
    size = 0
    source = sys.stdin.fileno()
    while size <= LIMIT:
        if not select.select([source], [], [], PATIENCE)[0]:
            break  # the agent left its end open: judge what it sent
        part = os.read(source, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)[:LIMIT], size > LIMIT


def _answer(call: Call, folder: Path) -> Answer:
    from redbucket.engine.agenthook import answer

    return answer(call, Disk(folder))


def _check(call: Call, folder: Path) -> Answer:
    from redbucket.engine.agenthook import Answer, checked, differences

    disk = Disk(folder)
    start = next((base for base in call.bases if os.path.isdir(base)), str(folder))  # noqa: PTH112
    tops = disk.tops(os.path.realpath(start))
    judges = disk.judges(tops[0]) if tops else None
    if judges is None:
        return Answer(0)
    if not judges.base:
        return Answer(0, (f"redbucket: nothing to compare with: {judges.doubt}",))
    return checked(differences(judges), judges.base, call)


def _print_settings(agent: str) -> int:
    from redbucket.engine.agenthook import settings

    where, text = settings(agent, f"{_own_command()} agent-hook")
    click.echo(text)
    click.echo(f"redbucket: put this into {where}, beside the hooks that are there already", err=True)
    if agent == "codex":
        click.echo("redbucket: Codex may need its hooks turned on in config.toml ([features])", err=True)
    return 0


def _own_command() -> str:
    """Return how to start this redbucket from anywhere, quoted for a shell."""
    import shlex
    import shutil

    script = Path(sys.argv[0])
    found = script if script.name == "redbucket" and script.is_file() else shutil.which("redbucket")
    words = [str(Path(found).absolute())] if found else [sys.executable, "-m", "redbucket"]
    return shlex.join(words)


class Disk:
    """The work trees on this machine, as far as a call reaches."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder.absolute())
        self._tops: dict[str, list[str]] = {}
        self._real: dict[str, str] = {}
        self._judges: dict[str, Judges | None] = {}

    def places(self, path: str, bases: Sequence[str]) -> list[list[Place]]:
        """Return the repositories and names of every spelling of ``path``."""
        from redbucket.engine.agenthook import Place

        spellings: dict[str, None] = {}
        for text in _plain_forms(path):
            for base in bases or (self._folder,):
                joined = os.path.join(self._folder, base, text)  # noqa: PTH118 (no Path: ".." and "//" stay)
                short = os.path.normpath(joined)
                above, name = os.path.split(short)
                # as written; as git names it; where the bytes go; where ".." after a link leads
                spellings[short] = None
                spellings[os.path.join(self._realpath(above), name)] = None  # noqa: PTH118
                spellings[self._realpath(short)] = None
                if ".." in joined:
                    spellings[self._realpath(joined)] = None
        return [
            [Place(top, place[len(top.rstrip("/")) + 1 :]) for top in self.tops(place)] for place in spellings
        ]

    def _realpath(self, path: str) -> str:
        if path not in self._real:
            self._real[path] = os.path.realpath(path)
        return self._real[path]

    def tops(self, place: str) -> list[str]:
        """Return the folders at and above ``place`` that hold a .git, the innermost first."""
        above: list[str] = []  # a loop: a name may have more levels than Python has
        while place not in self._tops:
            above.append(place)
            parent = os.path.dirname(place)  # noqa: PTH120
            if parent == place:
                break
            place = parent
        found = self._tops.get(place, [])
        for folder in reversed(above):
            if os.path.lexists(f"{folder}/.git"):
                found = [folder, *found]
            self._tops[folder] = found
        return found

    def court(self, top: str) -> Court | None:
        """Return what decides in the repository at ``top``."""
        return self.judges(top)

    def judges(self, top: str) -> Judges | None:
        """Return the same; None where git sees no repository."""
        if top not in self._judges:
            self._judges[top] = Judges.at(top)
        return self._judges[top]


def _plain_forms(path: str) -> list[str]:
    """Return the paths that an agent's text may mean: as it is, as a URI, from the home folder."""
    if path.startswith("file://"):
        from urllib.parse import unquote

        return [path, unquote(path.removeprefix("file://").removeprefix("localhost"))]
    if path.startswith("~"):
        return [path, os.path.expanduser(path)]  # noqa: PTH111
    return [path]


class Judges:
    """One repository's base commit, policy and files."""

    def __init__(self, top: str, repository: Repository | None, doubt: str = "") -> None:
        from redbucket.core.errors import RedbucketError
        from redbucket.core.paths import JudgeSide
        from redbucket.core.policy import Policy

        self._top, self._repository, self.doubt = top, repository, doubt
        self.base = ""
        self._base_entries: Mapping[str, Entry] = {}
        policy = Policy()
        if repository is not None:
            from redbucket.engine.agenthook import base_and_policy

            try:
                self.base, policy = base_and_policy(repository, _Objects(repository))
            except RedbucketError as error:
                self.doubt = f"{error.reason} [{error.code}]"
        self._side = JudgeSide(policy)

    @classmethod
    def at(cls, top: str) -> Judges | None:
        """Return the judges of the repository at ``top``, None if git sees none."""
        from redbucket.core.errors import RedbucketError

        try:
            from redbucket.edges.repository import Repository

            return cls(top, Repository.discover(Path(top)))
        except RedbucketError as error:
            if error.code == "not-a-repository":
                return None
            return cls(top, None, f"{error.reason} [{error.code}]")

    def is_protected(self, name: str) -> bool:
        """Return whether no agent may change ``name``."""
        return bool(name) and self._side.is_protected(name)

    def protected_below(self, folder: str) -> str:
        """Return a protected file of base below ``folder``, "" if there is none."""
        names = sorted(self._listed(self.base, *([folder] if folder else []), recursive=True))
        prefix = f"{folder}/" if folder else ""
        return next((n for n in names if n.startswith(prefix) and self._side.is_protected(n)), "")

    def tracks(self, name: str) -> bool:
        """Return whether base has a folder called ``name``."""
        entry = self._listed(self.base, name).get(name)
        return entry is not None and entry.mode == "040000"

    def base_bytes(self, name: str) -> bytes | None:
        """Return base's bytes of a regular file."""
        entry = self._listed(self.base, name).get(name)
        if entry is None or self._repository is None:
            return None
        return self._repository.git.run("cat-file", "blob", entry.oid).out if entry.is_file else b""

    def present_bytes(self, name: str) -> bytes | None:
        """Return the work tree's bytes of a regular file."""
        place = Path(self._top, name)
        try:
            return place.read_bytes() if place.is_file() and not place.is_symlink() else None
        except OSError:
            return None

    def _listed(self, commit: str, *names: str, recursive: bool = False) -> dict[str, Entry]:
        if self._repository is None or not commit:
            return {}
        return _listed(self._repository, commit, names, recursive=recursive)

    def base_entries(self) -> Mapping[str, Entry]:
        """Return the files of base."""
        if not self._base_entries:
            self._base_entries = self._listed(self.base, recursive=True)
        return self._base_entries

    def ancestor_entries(self) -> Mapping[str, Entry]:
        """Return the files of the merge base of base and HEAD; base's where there is none."""
        from redbucket.core.errors import RedbucketError

        assert self._repository is not None
        try:
            ancestor = self._repository.merge_base(self.base, self._repository.resolve("HEAD"))
        except RedbucketError:
            ancestor = self.base
        return self.base_entries() if ancestor == self.base else self._listed(ancestor, recursive=True)

    def names(self) -> Sequence[str]:
        """Return the files of the work tree that git tracks or would add."""
        assert self._repository is not None
        done = self._repository.git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return [os.fsdecode(name) for name in done.out.split(b"\0") if name]

    def matches(self, name: str, entry: Entry | None) -> bool:
        """Return whether the disk holds ``entry`` at ``name``, by kind and bytes (not by mode)."""
        place = Path(self._top, name)
        if os.path.realpath(place.parent) != os.path.join(os.path.realpath(self._top), *name.split("/")[:-1]):  # noqa: PTH118
            return False  # a folder above is a link: another file stands there
        if entry is None:
            return not os.path.lexists(place)
        if entry.is_gitlink:
            return place.is_dir()
        try:
            if entry.is_symlink:
                return place.is_symlink() and self._is(os.fsencode(place.readlink()), entry)
            if place.is_symlink() or not place.is_file():
                return False
            return self._is(place.read_bytes(), entry) or self._filtered(name) == entry.oid
        except OSError:
            return False

    @staticmethod
    def _is(content: bytes, entry: Entry) -> bool:
        import hashlib

        kind = "sha1" if len(entry.oid) == 40 else "sha256"
        digest = hashlib.new(kind, b"blob %d\0" % len(content), usedforsecurity=False)
        digest.update(content)
        return digest.hexdigest() == entry.oid

    def _filtered(self, name: str) -> str:
        """Return the id that git would store: line ends and filters as the repository's settings say."""
        assert self._repository is not None
        return self._repository.git.run("hash-object", "--", name, ok=(0, 128)).line


class _Objects:
    """The part of ``engine.ports.Objects`` that reads one policy, without a scratch repository."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def tree_of(self, commit: str) -> str:
        return commit

    def entry(self, tree: str, path: str) -> Entry | None:
        return _listed(self._repository, tree, (path,)).get(path)

    def read(self, oid: str) -> bytes:
        return self._repository.git.run("cat-file", "blob", oid).out


def _listed(
    repository: Repository, commit: str, names: Sequence[str], *, recursive: bool = False
) -> dict[str, Entry]:
    """Return the entries of a commit's tree, or of the paths in it."""
    from redbucket.core.patch import Entry

    words = ["ls-tree", "-z", "--full-tree", *(["-r"] if recursive else []), commit]
    out = repository.git.run(*words, *(["--", *names] if names else [])).out
    found = {}
    for line in out.split(b"\0")[:-1]:
        meta, _, path = line.partition(b"\t")
        mode, _, oid = meta.decode("ascii").split(" ")
        found[os.fsdecode(path)] = Entry(mode, oid)
    return found
