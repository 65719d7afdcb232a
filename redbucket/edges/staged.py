"""The index or one commit beside the work tree, read by plain git processes.

``fixtures verify`` runs in less time than importing GitPython takes, so this does
without it as long as nothing is wrong.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redbucket.core.errors import Misused, Undecided, WorldFailed
from redbucket.core.patch import GITLINK_MODE
from redbucket.edges.hashing import Seen, compare
from redbucket.edges.sealed import FLAGS, sealed_environment

Listing = tuple[Mapping[str, str], Mapping[str, str]]
# git names a folder that it can't open, and goes on
_CLOSED = re.compile(rb"^warning: could not open directory '(.+)': ", re.MULTILINE)
_NAMED = 200  # paths on one command line
_ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"


@dataclass
class Staged:
    """The paths of the index (or of ``revision``), their blobs, and the files of the work tree.

    ``closed`` are folders of the work tree into which ``others`` could not look.
    """

    top: Path
    git_dir: Path
    common_dir: Path
    work_tree: Path | None
    object_format: str
    cpus: int = 1
    extra: Mapping[str, str] = field(default_factory=dict)
    _objects: Any = None
    closed: list[str] = field(default_factory=list)
    _intended: list[str] = field(default_factory=list)
    _inside: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def discover(cls, start: Path, *, index_file: Path | None = None, cpus: int = 1) -> Staged:
        """Return the repository that holds ``start``; ``index_file`` is the index that a hook names."""
        extra = {"GIT_INDEX_FILE": str(index_file.absolute())} if index_file else {}
        done = _git(
            start,
            extra,
            *("rev-parse", "--path-format=absolute", "--is-bare-repository", "--show-object-format"),
            *("--git-dir", "--git-common-dir", "--show-toplevel"),
        )
        lines = os.fsdecode(done.stdout).split("\n")[:-1]
        if done.returncode and not (len(lines) == 4 and lines[0] == "true"):
            # the slow way knows every reason and its remedy
            from redbucket.edges.repository import Repository

            Repository.discover(start, index_file=index_file)
            raise Misused("not-a-repository", f"{start} is in no repository", "name a folder of one with -C")
        work_tree = Path(lines[4]) if len(lines) > 4 else None
        return cls(
            work_tree or Path(lines[2]), Path(lines[2]), Path(lines[3]), work_tree, lines[1], cpus, extra
        )

    def run(self, *words: str, stdin: bytes = b"") -> bytes:
        """Return what a git command prints. Raises the errors of ``git.failure``."""
        done = _git(self.top, self.extra, *words, stdin=stdin)
        if done.returncode:
            from redbucket.edges.git import failure

            raise failure(words, done.returncode, done.stderr.decode("utf-8", "backslashreplace").strip())
        return done.stdout

    def listing(self, revision: str | None = None) -> tuple[dict[str, str], dict[str, str]]:
        """Return the mode and the id of each path of the index, or of a commit."""
        if revision is not None:
            return self._tree(revision)
        # fixed columns, cut in C: a regular expression takes three times as long for 20,000 paths
        rows = os.fsdecode(self.run("ls-files", "--stage", "-z", "--full-name")).split("\0")[:-1]
        width = 7 + (64 if self.object_format == "sha256" else 40)
        if "".join([row[width + 1] for row in rows]) != "0" * len(rows):
            raise Undecided(
                "unmerged-index", "the index has unmerged paths", "resolve the conflicts and add the files"
            )
        paths = [row[width + 3 :] for row in rows]
        modes = dict(zip(paths, [row[:6] for row in rows], strict=True))
        oids = dict(zip(paths, [row[7:width] for row in rows], strict=True))
        for path in self._only_intended(oids):
            del modes[path], oids[path]
            self._intended.append(path)
        return modes, oids

    def _only_intended(self, oids: Mapping[str, str]) -> list[str]:
        """Return what ``git add -N`` put into the index: it looks like an empty file there, and no commit takes it."""
        nothing, no_tree = (
            hashlib.new(self.object_format, raw).hexdigest() for raw in (b"blob 0\0", b"tree 0\0")
        )
        empty = [path for path, oid in oids.items() if oid == nothing]
        if not empty:
            return []
        words = ("diff-index", "--cached", "--ita-invisible-in-index", "--name-only", "-z", no_tree, "--")
        staged = os.fsdecode(self.run(*words, *(empty if len(empty) <= _NAMED else ()))).split("\0")
        return sorted({*empty} - {*staged})

    def _tree(self, revision: str) -> tuple[dict[str, str], dict[str, str]]:
        # without --format, which quotes names even with -z (git before 2.46 at the least)
        out = os.fsdecode(self.run("ls-tree", "-r", "-z", "--full-tree", revision))
        rows = [row.partition("\t") for row in out.split("\0")[:-1]]
        paths = [row[2] for row in rows]
        modes = dict(zip(paths, [row[0][:6] for row in rows], strict=True))
        # "100644 blob ID", "160000 commit ID"
        return modes, dict(zip(paths, [row[0].rpartition(" ")[2] for row in rows], strict=True))

    def opened(self, listing: Listing, wanted: Callable[[str], bool]) -> Listing:
        """Return a listing with the files of each ``wanted`` submodule in its place, where its commit is here."""
        modes, oids = dict(listing[0]), dict(listing[1])
        links = [path for path, mode in modes.items() if mode == GITLINK_MODE and wanted(path)]
        while links:
            path = links.pop()
            if not self.lends(path, oids[path]):
                continue
            inner_modes, inner_oids = self._tree(oids.pop(path))
            del modes[path]
            modes.update((f"{path}/{name}", mode) for name, mode in inner_modes.items())
            oids.update((f"{path}/{name}", oid) for name, oid in inner_oids.items())
            links += [f"{path}/{name}" for name, mode in inner_modes.items() if mode == GITLINK_MODE]
            self._inside[path] = frozenset(inner_modes)
        return modes, oids

    def lends(self, path: str, commit: str) -> bool:
        """Return whether the submodule at ``path`` has ``commit``; its objects are then read like the others."""
        if not self.checked_out(path):
            return False
        words = ("rev-parse", "--path-format=absolute", "--show-object-format", "--git-path", "objects")
        form, place = os.fsdecode(_git(self.top / path, {}, *words).stdout).split("\n")[:2]
        if form != self.object_format:
            return False
        quoted = '"' + place.replace("\\", "\\\\").replace('"', '\\"') + '"'
        known = self.extra.get(_ALTERNATES, "")
        if quoted not in known:
            self.close()
            self._objects = None
            self.extra = {**self.extra, _ALTERNATES: f"{known}:{quoted}" if known else quoted}
        out = self.run("cat-file", "--batch-check", stdin=f"{commit}\n".encode("ascii"))
        return out.split()[1:2] == [b"commit"]

    def blobs(self, names: Sequence[str]) -> list[bytes | None]:
        """Return the contents of few blobs, by id or by ``REV:PATH`` (no line end in it); None where missing."""
        out = self.run("cat-file", "--batch", stdin=os.fsencode("".join(f"{name}\n" for name in names)))
        found: list[bytes | None] = []
        at = 0
        for _ in names:
            end = out.index(b"\n", at)
            words = out[at:end].split(b" ")
            at = end + 1
            if words[-1] == b"missing" or words[-2:-1] == [b"ambiguous"]:
                found.append(None)
                continue
            size = int(words[-1])
            found.append(out[at : at + size] if words[-2] == b"blob" else None)
            at += size + 1
        return found

    def sha256s(self, oids: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of blobs, streamed."""
        found: dict[str, str] = self._reader().sha256s(oids)
        return found

    def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """Return the sizes of blobs; one that is not in this clone has none."""
        wanted = list(dict.fromkeys(oids))
        if not wanted:
            return {}
        out = self.run(
            "cat-file", "--batch-check", "--buffer", stdin="\n".join([*wanted, ""]).encode("ascii")
        )
        rows = [row.split(" ") for row in out.decode("ascii").splitlines()]
        return {oid: int(row[2]) for oid, row in zip(wanted, rows, strict=True) if len(row) == 3}

    def blob(self, oid: str) -> bytes:
        """Return the content of one of many blobs, through one process. Raises Undecided "missing-object"."""
        content: bytes = self._reader().read(oid)
        return content

    def compare(self, wanted: Sequence[tuple[str, str, str]]) -> dict[str, Seen]:
        """Return what the work tree has otherwise than wanted."""
        return compare(str(self.top), wanted, self.object_format, self.cpus)

    def others(self) -> Callable[[], list[str]]:
        """Start to look for the files that git neither tracks nor ignores; the answer is there when called."""
        words = ("ls-files", "--others", "--exclude-standard", "-z", "--full-name")
        process = subprocess.Popen(
            ["git", *FLAGS, *words],
            cwd=self.top,
            env=sealed_environment(self.extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

        def answer() -> list[str]:
            out, messages = process.communicate()
            if process.returncode:
                self.run(*words)  # raises with git's own reason
            self.closed = list(map(os.fsdecode, _CLOSED.findall(messages)))
            return os.fsdecode(out).split("\0")[:-1] + self._intended + self._others_inside()

        return answer

    def _others_inside(self) -> list[str]:
        """Return what the opened submodules have besides the files of their commit."""
        found = []
        for path, known in self._inside.items():
            words = ("ls-files", "--cached", "--others", "--exclude-standard", "-z")
            names = os.fsdecode(_git(self.top / path, {}, *words).stdout).split("\0")[:-1]
            found += [f"{path}/{name}" for name in names if name not in known]
        return found

    def left_out(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of ``paths`` that a sparse checkout leaves out."""
        return frozenset(path for path, tag in self._tags(paths) if tag.upper() == "S")

    def hidden(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of ``paths`` at which git is told not to look: assume-unchanged, skip-worktree."""
        return frozenset(path for path, tag in self._tags(paths) if tag == "S" or tag.islower())

    def _tags(self, paths: Collection[str]) -> list[tuple[str, str]]:
        """Return each path with the sign that ``git ls-files -v`` gives it."""
        inside = tuple(f"{path}/" for path in self._inside)
        paths = [path for path in paths if not path.startswith(inside)]  # git refuses a path in a submodule
        if not paths:
            return []
        rows = os.fsdecode(self.run("ls-files", "-v", "-z", "--full-name", "--", *paths)).split("\0")[:-1]
        return [(row[2:], row[0]) for row in rows]

    def rewriters(self, paths: Collection[str]) -> dict[str, str]:
        """Return the attribute that has git write other bytes into the work tree, for the paths that have one."""
        found = {path: f"the filter {value}" for path, value in self.filters(paths).items()}
        encoded = self._attribute("working-tree-encoding", paths)
        return {**found, **dict.fromkeys(encoded, "working-tree-encoding")}

    def filters(self, paths: Collection[str]) -> dict[str, str]:
        """Return the filter that attributes name for each of ``paths``, where they name one; none is run."""
        return self._attribute("filter", paths)

    def _attribute(self, name: str, paths: Collection[str]) -> dict[str, str]:
        if not paths:
            return {}
        stdin = os.fsencode("".join(f"{path}\0" for path in paths))
        rows = os.fsdecode(self.run("check-attr", "-z", "--stdin", name, stdin=stdin)).split("\0")
        named = zip(rows[::3], rows[2::3], strict=False)
        return {path: value for path, value in named if value not in ("unspecified", "unset", "set")}

    def is_link(self, path: str) -> bool:
        """Return whether a symbolic link stands in the work tree."""
        return (self.top / path).is_symlink()

    def file(self, path: str) -> bytes:
        """Return the bytes of a file of the work tree; a link is not followed."""
        handle = os.open(self.top / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            return stream.read()

    def checked_out(self, path: str) -> str:
        """Return the commit that the repository in a folder of the work tree is at, "" if there is none."""
        place = self.top / path
        if not (place / ".git").exists():  # git would look further up
            return ""
        done = _git(place, {}, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return done.stdout.decode("ascii").strip()

    def resolve(self, revision: str) -> str:
        """Return the id of the commit that ``revision`` names. Raises Misused "unknown-revision"."""
        if revision.startswith("-") or "\n" in revision or "\0" in revision:
            raise Misused("unknown-revision", f"{revision!r} is not a revision", "name a commit or a branch")
        name = f"{revision}^{{commit}}"
        out = os.fsdecode(self.run("cat-file", "--batch-check", stdin=os.fsencode(f"{name}\n"))).split()
        if len(out) != 3 or out[1] != "commit":
            raise Misused(
                "unknown-revision",
                f"{revision!r} names no commit here",
                "check the spelling, or fetch it first",
            )
        return out[0]

    def fork(self, one: str, other: str) -> str:
        """Return where two commits parted, "" if that is not known: no common history, or a cut one."""
        done = _git(self.top, self.extra, "merge-base", one, other)
        return done.stdout.decode("ascii").strip() if not done.returncode else ""

    def changed_since(self, commit: str, revision: str | None = None) -> dict[str, tuple[str, str]]:
        """Return the mode and the id in ``commit`` of each path that the index (or ``revision``) has otherwise."""
        words = ("diff-index", "--cached") if revision is None else ("diff-tree", "-r")
        sides = (commit,) if revision is None else (commit, revision)
        out = os.fsdecode(self.run(*words, "--raw", "-z", "--no-renames", "--no-abbrev", *sides, "--")).split(
            "\0"
        )
        rows = [(row.split(" "), path) for row, path in zip(out[::2], out[1::2], strict=False)]
        return {path: (row[0].removeprefix(":"), row[2]) for row, path in rows if set(row[2]) != {"0"}}

    def current_branch(self) -> str:
        """Return the short name of the current branch, "" if detached."""
        done = _git(self.top, self.extra, "symbolic-ref", "--quiet", "--short", "HEAD")
        return os.fsdecode(done.stdout).strip()

    def is_unborn(self) -> bool:
        """Return whether the current branch has no commit yet."""
        branch = self.current_branch()
        return bool(branch) and not self.run("for-each-ref", "--count=1", f"refs/heads/{branch}")

    def close(self) -> None:
        """End the processes."""
        if self._objects is not None:
            self._objects.close()

    def _reader(self) -> Any:
        if self._objects is None:
            from redbucket.edges.git import Caller
            from redbucket.edges.objects import Objects

            self._objects = Objects(Caller(self.top, self.extra))
        return self._objects


def _git(
    folder: Path, extra: Mapping[str, str], *words: str, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *FLAGS, *words],
            input=stdin,
            capture_output=True,
            cwd=folder,
            env=sealed_environment(extra),
            check=False,
        )
    except FileNotFoundError as problem:
        if folder.is_dir():
            raise WorldFailed(
                "git-missing", f"git can't be run: {problem}", "install git 2.38 or newer and put it on PATH"
            ) from problem
        raise Misused(
            "not-a-repository", f"{folder} is not a folder", "name a folder of the repository"
        ) from problem
    except NotADirectoryError as problem:
        raise Misused(
            "not-a-repository", f"{folder} is not a folder", "name a folder of the repository"
        ) from problem
