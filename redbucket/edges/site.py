"""Where runs happen: folders, trees, environments, processes. The runner says what is to be done, a site does it.

The same class works here and on the far side of a connection, so it is of the standard library only, for Python
3.8, and its methods take and give plain values. Paths are texts: they may be another machine's.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redbucket.core.errors import Undecided
from redbucket.edges import (
    digests,
    environment,
    masking,
    names,
    newfiles,
    recordercopy,
    reportfiles,
    sandbox,
    supervise,
)
from redbucket.edges.interpreter import Launch
from redbucket.edges.load import busy
from redbucket.edges.recordercopy import RecorderCopy

TIMEOUT = "the time budget ran out"
_RECORDER = Path(__file__).resolve().parent.parent / "recorder"


# With these the interpreter and the runner have started, and the tree's own code begins.
_BEGUN = ("collecting", "ready", "start")


def _recorder() -> RecorderCopy:
    """Return the recorder as it is now: code under test may write to where it stands."""
    return RecorderCopy(recordercopy.read(_RECORDER))


@dataclass(frozen=True)
class Place:
    """The folders of one run."""

    place: str
    tree: str
    home: str
    tmp: str


@dataclass
class Site:
    """This machine.

    ``folder`` holds the runs, ``elsewhere`` makes the folder of a masked one; ``lay_out`` puts a tree into a folder,
    ``digest`` says what stands at paths of it; ``user_env`` is the environment that variables are passed on from;
    ``look`` says what the interpreter's own files are now.
    """

    folder: Path
    lay_out: Callable[[str, Path], None]
    digest_of: Callable[[Path, Sequence[str]], Mapping[str, str]] = digests.digest
    user_env: Mapping[str, str] = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event)
    look: Callable[[], Mapping[str, str]] = dict
    elsewhere: Callable[[], Path] | None = None
    recorder: RecorderCopy = field(default_factory=_recorder)
    _places: dict[str, Path] = field(default_factory=dict)
    _files: dict[str, frozenset[str]] = field(default_factory=dict)

    def settle(
        self, name: str, tree: str, tree_name: str, *, masked: bool, used_home: str, empty_home: bool
    ) -> Place:
        """Make the folders of the run ``name`` and lay its tree out; ``used_home`` names the run whose HOME it gets."""
        # the run's name says what it is for: code under test must not read it off its path
        place = self.elsewhere() if masked and self.elsewhere else self.folder / names.shuffled()
        place.mkdir(parents=True, exist_ok=True)
        place = place.resolve()  # what is imported must not have two names
        folder = place / tree_name
        self.lay_out(tree, folder)
        used = self._places.get(used_home) if used_home else place
        if used is None:
            raise Undecided(
                "no-used-home", f"there is no run {used_home} whose HOME could be used again", "run it again"
            )
        self._places[name] = place
        home, tmp = used / "home", used / "tmp"
        environment.make_home(home, empty=empty_home)
        tmp.mkdir(exist_ok=True)
        return Place(str(place), str(folder), str(home), str(tmp))

    def knows(self, name: str) -> bool:
        """True if the HOME of the run ``name`` is here."""
        return name in self._places

    def environment(
        self, launch: Launch, place: Place, seed: str, hash_seed: str, extra: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the environment of one run."""
        home, tmp = Path(place.home), Path(place.tmp)
        env = environment.for_run(self.user_env, launch, home, tmp, seed, hash_seed, extra)
        env["PWD"] = place.tree
        return env

    def confine(self, launch: Launch, place: Place, network: bool) -> list[str]:
        """Return the words that put a process of a run into a sandbox."""
        path = environment.search_path(self.user_env.get("PATH", os.defpath), launch).split(os.pathsep)
        real = os.path.realpath(launch.python)
        base = os.path.dirname(os.path.dirname(real))  # noqa: PTH120 (texts)
        # where pytest's search for its configuration ends (workshop.py)
        above = Path(place.place).parent
        ends = (str(above / "pytest.ini"), str(above.parent / "pytest.ini"))
        visible = (launch.python, launch.prefix, base, *launch.path, *path, *ends)
        return sandbox.words((place.place, place.home, place.tmp), filter(None, visible), network=network)

    def mask(self, tree: str, seed: str) -> None:
        """Take the signs of a gate off a tree."""
        masking.tree(Path(tree), seed)

    def digest(self, tree: str, paths: Sequence[str]) -> Mapping[str, str]:
        """Return what stands at each of ``paths``."""
        return self.digest_of(Path(tree), paths)

    def stamps(self, tree: str, paths: Sequence[str]) -> dict[str, list[int]]:
        """Return what a file has that can't be put back: its number, and when it was last changed."""
        found = {}
        for path in paths:
            try:
                seen = os.lstat(f"{tree}/{path}")
            except OSError:
                continue
            found[path] = [seen.st_ino, seen.st_ctime_ns]
        return found

    def note_files(self, tree: str) -> None:
        """Remember which files there are."""
        self._files[tree] = newfiles.listing(Path(tree))

    def new_files(self, tree: str) -> list[str]:
        """Return the files that have come since."""
        return newfiles.new(Path(tree), self._files.pop(tree))

    def plain(
        self,
        words: Sequence[str],
        tree: str,
        env: Mapping[str, str],
        left: Callable[[], float],
        load: tuple[str, int] = ("", 0),
    ) -> tuple[int, str, str]:
        """Run a command without a recorder; return its status, its bounded output, and why it did not run.

        ``left`` says how many seconds it still has, ``load`` is an interpreter and how many busy ones run beside.
        """
        try:
            with busy(*load) as begin:
                begin()
                done = supervise.run_plain(
                    words, Path(tree), env, lambda: time.monotonic() + left(), self.cancelled
                )
        except TimeoutError:
            return 0, "", TIMEOUT
        except OSError as error:
            return 0, "", str(error.strerror or error)
        return (*done, "")

    def reports(self, tree: str, pattern: str) -> list[str]:
        """Return the reports that a command left."""
        return reportfiles.found(Path(tree), pattern)

    def report(self, tree: str, name: str) -> Callable[[], Iterator[bytes]]:
        """Return what reads one of them from its beginning. Raises NotAReport."""
        return reportfiles.pieces(Path(tree), name)

    def post(self, place: str, boot: str, package: str, main: str, python: str) -> str:
        """Put the recorder and its starter ``main`` into the run's folder; return what ``python`` is to start."""
        folder = Path(place) / boot
        self.recorder.put(folder / package, python)
        (folder / "__main__.py").write_text(main, encoding="utf-8")
        return str(folder)

    def process(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        tree: str,
        settings: dict[str, Any],
        limits: tuple[float, float, float],
        load: int,
        on_event: Callable[[dict[str, Any]], None],
    ) -> supervise.Spoken:
        """Run one process of the tests (an interpreter and what it starts come last) beside ``load`` busy ones.

        Returns what it said. ``limits`` are seconds: for a test, for what is outside of tests, and for all. The busy
        ones start when the tree's own code does.
        """
        process = supervise.Process(
            argv=argv,
            env=env,
            cwd=Path(tree),
            settings=settings,
            test_timeout=limits[0],
            start_timeout=limits[1],
            deadline=time.monotonic() + limits[2],
        )
        with busy(argv[-2], load) as begin:

            def heard(event: dict[str, Any]) -> None:
                if event["event"] in _BEGUN:
                    begin()
                on_event(event)

            return supervise.run_process(process, heard, self.cancelled)

    def installed(self) -> Mapping[str, str]:
        """Return what the interpreter's own files are now."""
        return self.look()

    def leave(self, place: str) -> None:
        """End what still lives in a run's folder."""
        supervise.reap(place)
