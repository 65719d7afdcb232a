"""The user's repository: read, never written."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from redbucket.core.errors import Misused, RedbucketError, Undecided
from redbucket.core.patch import Commit
from redbucket.edges import history, rewrites
from redbucket.edges.git import Caller

_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class Repository:
    """One repository as git found it.

    ``git_dir`` is this work tree's own, ``common_dir`` the one that linked work
    trees share. ``work_tree`` is ``None`` in a bare repository.
    ``objects_dirs`` are absolute, the quarantine's first.
    """

    git_dir: Path
    common_dir: Path
    work_tree: Path | None
    is_bare: bool
    is_shallow: bool
    object_format: str
    objects_dirs: tuple[Path, ...]
    index_file: Path
    git: Caller = field(repr=False, compare=False)

    @classmethod
    def discover(
        cls, start: Path, *, index_file: Path | None = None, quarantine: Sequence[Path] = ()
    ) -> Repository:
        """Return the repository that holds ``start``.

        ``index_file`` is the index to judge where a hook names one;
        ``quarantine`` are object folders that a server hook was handed.
        Raises Misused "not-a-repository", WorldFailed "git-dubious-ownership".
        """
        if not start.is_dir():
            raise Misused("not-a-repository", f"{start} is not a folder", "name a folder of the repository")
        extra = {}
        if quarantine:
            extra["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(
                quoted_path(str(folder.resolve())) for folder in quarantine
            )
        if index_file is not None:
            extra["GIT_INDEX_FILE"] = str(index_file.absolute())
        # A hook may stand in the git folder itself. Of a ".git", the folder above has the work tree. A bare one
        # must be named where safe.bareRepository is "explicit"; but only git's own word for it counts, as
        # naming it also turns off git's check of the owner.
        if start.absolute().name == ".git" and (start / "HEAD").is_file():
            start = start.absolute().parent
        elif (told := os.environ.get("GIT_DIR")) and Path(told).resolve() == start.resolve():
            extra["GIT_DIR"] = str(start.absolute())
        git = Caller(start, extra)
        # --show-toplevel comes last: in a bare repository git answers all the others and then fails
        done = git.run(
            *("rev-parse", "--path-format=absolute", "--is-bare-repository", "--is-shallow-repository"),
            *("--show-object-format", "--git-dir", "--git-common-dir"),
            *("--git-path", "objects", "--git-path", "index", "--show-toplevel"),
            ok=(0, 128),
        )
        lines = os.fsdecode(done.out).split("\n")[:-1]
        if done.code and not ("must be run in a work tree" in done.err and len(lines) == 7):
            git.run("rev-parse", "--git-dir")  # raises with git's own reason
        if len(lines) != (7 if done.code else 8):
            raise Misused(
                "unusable-repository", f"git can't say where the repository at {start} is", "move it"
            )
        bare, shallow, object_format, git_dir, common_dir, objects, index = lines[:7]
        top = None if done.code else Path(lines[7])
        return cls(
            git_dir=Path(git_dir),
            common_dir=Path(common_dir),
            work_tree=top,
            is_bare=bare == "true",
            is_shallow=shallow == "true",
            object_format=object_format,
            objects_dirs=(*(folder.resolve() for folder in quarantine), Path(objects).resolve()),
            index_file=index_file.absolute() if index_file is not None else Path(index),
            git=Caller(top or Path(git_dir), extra),
        )

    def resolve(self, revision: str) -> str:
        """Return the id of the commit that ``revision`` names; tags are peeled.

        Raises Misused "unknown-revision" or "ambiguous-revision".
        """
        if not revision or revision.startswith("-") or "\0" in revision:
            raise Misused("unknown-revision", f"{revision!r} is not a revision", "name a commit or a branch")
        done = self.git.run(
            "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", ok=(0, 1, 128)
        )
        # A tag called "main" wins over the branch: whoever may push a tag could choose the base.
        if "ambiguous" in done.err and not _OID.fullmatch(revision):
            raise Misused(
                "ambiguous-revision",
                f"{revision!r} names more than one thing",
                f"write refs/heads/{revision} for the branch, or the full commit id",
            )
        if done.code or not _OID.fullmatch(done.line):
            remedy = "check the spelling, or fetch it first"
            if revision == "HEAD":
                branch = self.current_branch() or "HEAD"
                raise Misused(
                    "unborn-branch",
                    f"there is no commit on {branch!r} yet",
                    "commit something first, or name the commits: redbucket gate --base REV --head REV",
                )
            if near := self._near(revision):
                remedy = f"did you mean {near[0]!r}? If not, fetch it first"
            if self.is_shallow:
                remedy = "this clone is shallow: run `git fetch --unshallow` (CI: full depth)"
            raise Misused("unknown-revision", f"{revision!r} names no commit here", remedy)
        return done.line

    def _near(self, name: str) -> list[str]:
        """Return the branch or tag whose name is most like ``name``, if any is."""
        from difflib import get_close_matches  # who spells right doesn't pay for it

        done = self.git.run("for-each-ref", "--format=%(refname:short)", ok=(0, 1, 128))
        return get_close_matches(name, done.out.decode("utf-8", "replace").splitlines(), n=1, cutoff=0.7)

    def merge_base(self, one: str, other: str) -> str:
        """Return the best common ancestor of two commits (git's first choice of several).

        Raises Undecided "shallow-clone" or "no-merge-base".
        """
        if one == other:
            return one
        if self.is_shallow:
            # a cut history can give a wrong merge base as well as none
            raise Undecided(
                "shallow-clone",
                "the history is cut off, so the merge base can't be trusted",
                "run `git fetch --unshallow` (GitHub Actions: fetch-depth: 0)",
            )
        done = self.git.run("merge-base", one, other, ok=(0, 1))
        if done.code:
            raise Undecided(
                "no-merge-base",
                f"{one[:12]} and {other[:12]} have no common ancestor",
                "rebase the patch on the protected branch, or fetch the rest of the history",
            )
        return done.line

    def head_ref(self) -> str:
        """Return the full name of the branch that HEAD is on, "" if detached."""
        return self.git.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).line

    def current_branch(self) -> str:
        """Return the short name of the branch that HEAD is on, "" if detached."""
        return self.head_ref().removeprefix("refs/heads/")

    def refs_at(self, commit: str) -> tuple[str, ...]:
        """Return the short names of the branches, local and remote, that point at ``commit``."""
        done = self.git.run(
            *("for-each-ref", f"--points-at={commit}", "--format=%(refname)", "refs/heads", "refs/remotes")
        )
        names = []
        for ref in os.fsdecode(done.out).splitlines():
            if ref.startswith("refs/heads/"):
                names.append(ref.removeprefix("refs/heads/"))
            else:
                names.append(ref.removeprefix("refs/remotes/").partition("/")[2])
        return tuple(dict.fromkeys(name for name in names if name and name != "HEAD"))

    def commits(self, merge_base: str, head: str) -> tuple[Commit, ...]:
        """Return the commits of ``merge_base..head``, newest first, with the paths that each touched."""
        return history.commits(self.git, merge_base, head)

    def rewrites(self) -> tuple[str, ...]:
        """Return the replace refs and grafts that are here, in words; none of them applies to what is read."""
        return rewrites.rewrites(self.git, self.common_dir)

    def uncommitted(self) -> bool:
        """Return whether tracked files differ from HEAD: in the index, or by their times in the work tree.

        File contents are not read, so that no filter of the repository's configuration is started.
        """
        if self.work_tree is None:
            return False
        done = self.git.run("diff-index", "--quiet", "--ignore-submodules", "HEAD", "--", ok=(0, 1, 128))
        return done.code == 1

    def has(self, oid: str) -> bool:
        """Return whether the repository has the object ``oid``."""
        if not _OID.fullmatch(oid):
            return False
        try:
            return self.git.run("cat-file", "-e", oid, ok=(0, 1, 128)).code == 0
        except RedbucketError:
            return False


def quoted_path(path: str) -> str:
    """Return ``path`` as git reads it in a list of object folders."""
    if os.pathsep not in path and not path.startswith(('"', "#")) and "\n" not in path:
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
