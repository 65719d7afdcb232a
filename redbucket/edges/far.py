"""The far side of a connection: a site that is told what to do. Sent there as text, nothing is installed.

Standard library only, Python 3.8. It ends, and takes all that it made with it, when the connection ends or falls
silent. After a kill the next one that starts in this folder clears up.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import queue
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Any

from redbucket.core.errors import Misused, RedbucketError
from redbucket.edges import anycommand, barestore, installed, interpreter, orphans, sandbox, workshop
from redbucket.edges.frames import (
    BODY,
    CANCEL,
    ERROR,
    EVENT,
    MAGIC,
    PULSE,
    REQUEST,
    RESULT,
    Gone,
    Reader,
    Writer,
)
from redbucket.edges.git import Caller
from redbucket.edges.interpreter import Launch
from redbucket.edges.recordercopy import RecorderCopy
from redbucket.edges.reportfiles import NotAReport
from redbucket.edges.site import Place, Site

_MADE = ".redbucket-made"  # says which folders were made for the workshops here
_DAY = 86_400.0
_WAIT = 20.0  # seconds for runs to end that have been told to
_PASSED = frozenset(
    {"reports", "mask", "digest", "stamps", "note_files", "new_files", "post", "leave", "knows"}
)


def _here(folder: str) -> str:
    """Return a folder of an address; ``/~`` is the home here, as in git's addresses."""
    return os.path.expanduser(folder[1:]) if folder == "/~" or folder.startswith("/~/") else folder  # noqa: PTH111 (a text)


class Far:
    """One connection's site and the calls that are under way."""

    def __init__(self, reader: Reader, writer: Writer, recorder: Mapping[str, str]) -> None:
        self._reader, self._writer, self._recorder = reader, writer, recorder
        self._cancelled = threading.Event()
        self._bodies: dict[int, queue.Queue[bytes]] = {}
        self._threads: list[threading.Thread] = []
        self._workshop: workshop.Workshop | None = None
        self._parent: Path | None = None
        self._lock = threading.Lock()
        self._packs = 0

    def serve(self) -> None:
        """Answer calls until the other side is gone."""
        try:
            while True:
                frame = self._reader.frame()
                if frame.kind == REQUEST:
                    self._bodies[frame.call] = queue.Queue()
                    thread = threading.Thread(
                        target=self._answer, args=(frame.call, frame.json()), daemon=True
                    )
                    self._threads = [t for t in self._threads if t.is_alive()] + [thread]
                    thread.start()
                elif frame.kind == BODY:
                    self._bodies[frame.call].put(frame.data)
                elif frame.kind == CANCEL:
                    self._cancelled.set()
                elif frame.kind == PULSE:
                    self._writer.send(PULSE)
        except Gone:
            pass
        finally:
            self._end()

    def _end(self) -> None:
        self._cancelled.set()
        for thread in self._threads:
            thread.join(_WAIT)
        orphans.end()
        if self._workshop is not None:
            self._workshop.close()
        if self._parent is not None:
            _clear_away(self._parent)

    def _answer(self, call: int, asked: list[Any]) -> None:
        name, arguments = asked
        try:
            result = self._do(call, name, arguments)
            self._writer.say(RESULT, call, result)
        except Gone:
            self._cancelled.set()
        except BaseException as error:  # noqa: BLE001 (it is raised again on the other side)
            if isinstance(error, OSError):
                error = workshop.cannot_write(Path(error.filename or "a folder of the far side"), error)
            if isinstance(error, RedbucketError):
                said = [type(error).__name__, error.code, error.reason, error.remedy]
            else:
                said = ["Bug", "", traceback.format_exc(), ""]
            try:
                self._writer.say(ERROR, call, said)
            except Gone:
                self._cancelled.set()
        finally:
            del self._bodies[call]

    def _do(self, call: int, name: str, given: dict[str, Any]) -> Any:
        if name in _PASSED:
            return getattr(self._site, name)(**given)
        if name == "environment":
            place, launch = Place(**given.pop("place")), Launch.of(given.pop("launch"))
            return self._site.environment(launch, place, **given)
        if name == "confine":
            return self._site.confine(Launch.of(given.pop("launch")), Place(**given.pop("place")), **given)
        if name == "settle":
            return asdict(self._site.settle(**given))
        if name == "process":
            return asdict(
                self._site.process(**given, on_event=lambda event: self._writer.say(EVENT, call, event))
            )
        return getattr(self, f"_{name}")(call, **given)

    # -- what only the far side does -----------------------------------------------------------------

    def _open(self, call: int, folder: str, repo: str, object_format: str) -> dict[str, Any]:
        """Make the workshop and the store for objects."""
        parent = Path(_here(folder)) if folder else workshop.temporary_root()
        missing = [str(p) for p in (parent, *parent.parents) if not p.exists()]
        self._parent = parent
        if missing:
            parent.mkdir(parents=True)
            (parent / _MADE).write_text(json.dumps(missing))
        self._workshop = workshop.Workshop(parent)
        self._workshop.__enter__()
        root = self._workshop.root
        store, runs = root / "objects.git", root / "runs"
        runs.mkdir(mode=0o700)
        barestore.lay_down(store, object_format, _objects_of(repo))
        self._git = Caller(store, {**barestore.SEALED, "GIT_DIR": str(store)})
        self._indexes: dict[str, Path] = {}
        self._site = Site(
            folder=runs,
            lay_out=self._lay_out,
            user_env=os.environ,
            cancelled=self._cancelled,
            elsewhere=self._workshop.elsewhere,
            recorder=RecorderCopy(self._recorder),
        )
        orphans.adopt()
        probe = root / "CaseProbe"
        probe.touch()
        folds = (root / "caseprobe").exists()
        probe.unlink()
        return {"cpus": _cpus(), "folds": folds, "root": str(root)}

    def _plain(self, call: int, **given: Any) -> tuple[int, str, str]:
        """Run a command until the other side says that its time is over."""
        said = self._bodies[call]
        return self._site.plain(**given, left=lambda: _DAY if said.empty() else -1.0)

    def _report(self, call: int, tree: str, name: str) -> str:
        """Send a report in pieces; return why it is none, "" for one that is."""
        try:
            for piece in self._site.report(tree, name)():
                self._writer.say(EVENT, call, {"data": base64.b64encode(piece).decode("ascii")})
        except NotAReport as error:
            return str(error)
        return ""

    def _resolve(self, call: int, command: list[str], python: str, folder: str, form: str) -> dict[str, Any]:
        folder = _here(folder)
        if form == "junit":
            where = Path(folder) if folder else None
            path = os.environ.get("PATH", os.defpath)
            first = f"{os.path.dirname(python)}{os.pathsep}{path}" if python.startswith("/") else path  # noqa: PTH120
            return asdict(anycommand.resolve(command, where, {**os.environ, "PATH": first}))
        parsed = interpreter.parse_command(command)
        if python:
            named = python if python.startswith("/") or "/" not in python else f"{folder or '/'}/{python}"
            command = [
                named if "/" in named else _on_path(named),
                *parsed.options,
                "-m",
                parsed.runner,
                *parsed.args,
            ]
        launch = interpreter.resolve(command, Path(folder) if folder else None, os.environ)
        return asdict(replace(launch, as_module=parsed.as_module))

    def _sandbox(self, call: int, network: bool) -> dict[str, str]:
        return {"missing": sandbox.missing(network=network)}

    def _packages(self, call: int, launch: dict[str, Any]) -> dict[str, str]:
        return interpreter.installed(Launch.of(launch), os.environ)

    def _look(self, call: int, folders: list[str], closed: bool, known: str) -> dict[str, str] | None:
        """Return what the interpreter's own files are, None if that is what is ``known`` by its digest."""
        seen = installed.look(folders, closed=closed)
        digest = hashlib.sha256(json.dumps(seen, sort_keys=True).encode("ascii")).hexdigest()
        return None if digest == known else seen

    def _lacks(self, call: int, oids: list[str]) -> list[str]:
        """Return the objects that are not here."""
        stdin = "".join(f"{oid}\n" for oid in oids).encode("ascii")
        out = self._git.run("cat-file", "--batch-check", "--buffer", stdin=stdin).out.decode("ascii")
        return [line.split(" ")[0] for line in out.splitlines() if line.endswith(" missing")]

    def _take(self, call: int) -> int:
        """Take a pack, which comes in pieces and ends with an empty one."""
        with self._lock:
            self._packs += 1
            pack = self._git.folder / f"objects/pack/pack-{self._packs:040d}.pack"
        size = 0
        with pack.open("xb") as stream:
            while True:
                try:
                    data = self._bodies[call].get(timeout=1.0)
                except queue.Empty:
                    if self._cancelled.is_set():
                        raise Gone("cancelled") from None
                    continue
                if not data:
                    break
                size += len(data)
                stream.write(data)
        self._git.run("index-pack", str(pack))
        return size

    def _rest(self, call: int) -> int:
        return orphans.end()

    def _lay_out(self, tree: str, folder: Path) -> None:
        folder.mkdir(parents=True)
        with self._lock:
            if tree not in self._indexes:
                index = self._git.folder / "indexes" / tree
                self._git.run("read-tree", tree, extra={"GIT_INDEX_FILE": str(index)})
                self._indexes[tree] = index
        extra = {"GIT_INDEX_FILE": str(self._indexes[tree]), "GIT_WORK_TREE": str(folder)}
        self._git.run("checkout-index", "--all", "--force", folder=folder, extra=extra)


def _clear_away(parent: Path) -> None:
    """Remove the folders that a connection made for itself (this one, or a killed one), unless they are in use."""
    marker = parent / _MADE
    try:
        if os.listdir(parent) != [_MADE]:  # noqa: PTH208 (a list of names)
            return
        text = marker.read_text()
        marker.unlink()
        for folder in json.loads(text):
            try:
                os.rmdir(folder)  # noqa: PTH106 (a text)
            except OSError:
                if parent.is_dir():
                    marker.write_text(text)  # somebody has come meanwhile
                return
    except (OSError, ValueError):
        return


def _on_path(name: str) -> str:
    import shutil

    found = shutil.which(name)
    if found is None:
        raise Misused("bad-runner", f"the far side has no {name}", "name an interpreter with ?python=/PATH")
    return found


def _objects_of(repo: str) -> list[str]:
    """Return the object folder of a clone, quoted for an alternates file."""
    if not repo:
        return []
    done = Caller(Path(repo)).run("rev-parse", "--path-format=absolute", "--git-path", "objects")
    return [json.dumps(done.line, ensure_ascii=False)]


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ended(number: int, frame: FrameType | None) -> None:
    raise Gone(f"signal {number}")


def main(recorder: Mapping[str, str]) -> None:
    """Serve standard input and output; whatever else is printed goes to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _ended)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    tempfile.tempdir = None
    os.write(out, MAGIC)
    Far(Reader(0), Writer(out), recorder).serve()
    sys.stderr.flush()
    os._exit(0)  # a thread that hangs must not hold this process
