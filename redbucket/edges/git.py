"""git, called so that nothing but the arguments decides. The only importer of GitPython.

GitPython owns long-lived processes and names the errors. The processes are started here,
because its ``execute`` copies ``os.environ`` whole and can't take a variable away, and under
a hook git's own ``GIT_DIR``,
``GIT_INDEX_FILE`` and quarantine variables would send every command astray.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Any

from redbucket.core.errors import Misused, RedbucketError, Undecided, WorldFailed
from redbucket.edges.sealed import FLAGS, sealed_environment

# GitPython costs more to import than all the rest of a static hook, so it is imported where it is used.
_EXECUTABLE = "GIT_PYTHON_GIT_EXECUTABLE"


@dataclass(frozen=True)
class Done:
    """What a finished git command left: exit code, output, messages."""

    code: int
    out: bytes
    err: str

    @property
    def line(self) -> str:
        """The output as text without its last line end."""
        text = os.fsdecode(self.out)
        return text[:-1] if text.endswith("\n") else text


class Caller:
    """Runs git in one folder under one sealed environment."""

    def __init__(
        self, folder: Path, extra: Mapping[str, str] | None = None, flags: tuple[str, ...] = ()
    ) -> None:
        self.folder = folder
        self._environment = sealed_environment(extra)
        self._command = (os.environ.get(_EXECUTABLE) or "git", *FLAGS, *flags)

    def run(
        self,
        *words: str,
        stdin: bytes = b"",
        ok: tuple[int, ...] = (0,),
        extra: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Done:
        """Run ``git words`` to its end. Raises the error that ``failure`` names for a code not in ``ok``."""
        command = [*self._command, *words]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder or self.folder,
                env={**self._environment, **(extra or {})},
            )
        except OSError as problem:
            raise _cannot_start(command, problem) from problem
        out, err = _talk(process, stdin)
        message = err.decode("utf-8", "backslashreplace").strip()
        if process.returncode not in ok:
            raise failure(words, process.returncode, message) from _cause(command, process.returncode, err)
        return Done(process.returncode, out, message)

    @contextlib.contextmanager
    def reading(self, *words: str, stdin: bytes) -> Iterator[IO[bytes]]:
        """Give what ``git words`` prints as it comes; a command that is left before its end is ended.

        How it ends is not looked at: the reader knows what must be there.
        """
        process = self._piped(words)
        assert process.stdin is not None
        assert process.stdout is not None
        feeder = Thread(target=_feed, args=(process.stdin, stdin), daemon=True)
        with process:
            feeder.start()
            try:
                yield process.stdout
            finally:
                process.kill()
                feeder.join()

    def start(self, *words: str) -> Any:
        """Start a long-lived command with pipes for input and output; it ends when it goes out of scope."""
        process = self._piped(words)
        from git import Git

        return Git.AutoInterrupt(process, process.args)

    def _piped(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start ``git words`` with pipes for input and output; what it says of errors is dropped."""
        command = [*self._command, *words]
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env=self._environment,
            )
        except OSError as problem:
            raise _cannot_start(command, problem) from problem


def _cause(command: list[str], code: int, message: bytes) -> Exception | None:
    """Return GitPython's own error; None on the far side of a connection, where there is no GitPython."""
    try:
        from git.exc import GitCommandError
    except ImportError:
        return None
    return GitCommandError(command, code, message)


def _talk(process: subprocess.Popen[bytes], stdin: bytes) -> tuple[bytes, bytes]:
    """Return all that a process writes, once it has ended.

    ``communicate`` asks which pipe is ready before each few thousand bytes: for the listing of a big tree that
    costs as much as git's own work.
    """
    messages: list[bytes] = []
    assert process.stdout is not None
    assert process.stderr is not None
    others = [Thread(target=lambda pipe: messages.append(pipe.read()), args=(process.stderr,), daemon=True)]
    if process.stdin is not None:
        others.append(Thread(target=_feed, args=(process.stdin, stdin), daemon=True))
    with process:
        try:
            for other in others:
                other.start()
            out = process.stdout.read()
            for other in others:
                other.join()
        except BaseException:
            process.kill()
            raise
    return out, b"".join(messages)


def _feed(pipe: IO[bytes], stdin: bytes) -> None:
    # a process that ends early says why by its exit code
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(stdin)


def _cannot_start(command: list[str], problem: OSError) -> RedbucketError:
    if isinstance(problem, FileNotFoundError) and problem.filename == command[0]:
        return WorldFailed(
            "git-missing", f"git can't be run: {problem}", "install git 2.38 or newer and put it on PATH"
        )
    return WorldFailed(
        "git-failed", f"git could not be started: {problem}", "look at the folder and the limits named"
    )


def missing(what: str) -> Undecided:
    """Return the error for an object that a partial or shallow clone left out."""
    return Undecided(
        "missing-object",
        f"{what} is not in this clone",
        # --refetch since git 2.36
        "fetch what it left out: `git fetch --refetch --no-filter`; if it is shallow, `git fetch --unshallow`",
    )


_KNOWN: tuple[tuple[tuple[str, ...], type[RedbucketError], str, str], ...] = (
    (
        ("dubious ownership",),
        WorldFailed,
        "git-dubious-ownership",
        "run `git config --global --add safe.directory FOLDER` as the user that runs redbucket",
    ),
    (
        ("not a git repository", "cannot use bare repository"),
        Misused,
        "not-a-repository",
        "run inside a git repository, or name it with -C",
    ),
    # checkout does not say why a write failed; what can fail there is space, quota or the disk
    (
        ("No space left", "Out of diskspace", "Disk quota", "unable to write file"),
        WorldFailed,
        "disk-full",
        "free some space, or set REDBUCKET_TMPDIR",
    ),
    (
        ("index file open failed: Permission denied",),
        WorldFailed,
        "not-readable",
        "make the git folder and its index readable for the user that runs redbucket",
    ),
    (
        ("Permission denied", "Read-only file system", "insufficient permission"),
        WorldFailed,
        "not-writable",
        "give redbucket a folder that it can write to (REDBUCKET_TMPDIR)",
    ),
    (
        ("corrupt", "inflate", "hash mismatch", "garbage at end of loose", "bad tree", "too-short tree"),
        Undecided,
        "corrupt-object",
        "run `git fsck`, and fetch the object anew from a sound clone",
    ),
    (
        ("invalid path", "Invalid path", "Ignoring path", "File name too long", "malformed"),
        Undecided,
        "unusable-path",
        "rename the path in the patch: no checkout of it is possible here",
    ),
    (
        (
            "unable to read",
            "could not read",
            "Could not read",
            "bad object",
            "missing",
            "unable to find",
            "not a valid object",
            "Not a valid object",
            "promisor",
            "cannot be read",
            "cannot read",
            "not something we can merge",
            "failed to unpack tree object",
            "revision walk setup failed",
            "Failed to traverse parents",
            "Needed a single revision",  # of a tree's name: the commit is there, its tree is not
        ),
        Undecided,
        "missing-object",
        missing("it").remedy,
    ),
)


def failure(words: tuple[str, ...], code: int, message: str) -> RedbucketError:
    """Return the error for a git command that ended with ``code``, with a remedy."""
    line = next((x for x in message.splitlines() if x.startswith(("fatal:", "error:"))), message[:500])
    if "single revision" in line:
        line = f"{words[-1]} is not in this clone"
    for signs, kind, name, remedy in _KNOWN:
        if any(sign in message for sign in signs):
            return kind(name, f"git {words[0]}: {line}", remedy)
    if code == 129:
        return WorldFailed(
            "git-too-old", f"git {words[0]} does not know an option: {line}", "install git 2.38 or newer"
        )
    return WorldFailed(
        "git-failed", f"git {words[0]} ended with code {code}: {line or 'no message'}", "run `git fsck`"
    )
