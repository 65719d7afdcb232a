"""The local runner: lays a tree out, runs the tests in it, and writes the record.

The record is always written here; a ``site`` on another machine does the rest there.

One run is one folder with the tree, a HOME, a TMPDIR and the recorder, all of its
own. A crash or a hang costs one test: a new process goes on with the rest.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from redbucket.core import foreign, wellknown
from redbucket.core.records import End, Footer, Header, Outcome, Restart
from redbucket.core.runspec import RunSpec
from redbucket.edges import environment, installed, masking, newfiles, sandbox, supervise
from redbucket.edges.grounds import Grounds, SiteLost
from redbucket.edges.interpreter import Launch
from redbucket.edges.placeless import placeless
from redbucket.edges.recordfile import RecordFile
from redbucket.edges.reported import ReportedRun
from redbucket.edges.site import Place, Site

# What a build may not bring: whatever pytest or the interpreter looks for by its name. Metadata of
# packages is what a build is for; its entry points are those of the tree's own configuration.
_JUDGING = (*(n for n in wellknown.TEST_CONFIG if "-info/" not in n), *wellknown.SHARED_CONFIG)
# a package manager's folder holds its packages' own
_FOREIGN = (*foreign.CONFIG, "!**/node_modules/**", "!**/vendor/**")
_CHANNEL_GONE = 96  # recorder.channel
_MAX_RESTARTS = 200
_PREPARE_LIMIT = 3600.0
_BOOT = """import sys
from importlib import import_module
sys.exit(import_module({package!r} + ".boot").run({package!r}))
"""


@dataclass
class LocalRunner:
    """Runs specs on this machine.

    ``lay_out`` puts a tree into a folder; ``digest`` hashes paths of a folder.
    ``outside`` are folders whose code must not be what is tested (the user's work
    tree). ``deadline`` is on the monotonic clock; ``start_timeout`` bounds the
    import of one file, and whatever else happens outside the tests. ``installed``
    says what the interpreter's own files are now, ``elsewhere`` makes the folder of a
    masked run; ``records`` holds the digest of each record, as it was written. ``report`` is where a command
    without a recorder writes its JUnit XML, and ``took`` how long its runs took. ``site`` is where runs happen,
    by default this machine; ``sandboxed`` puts each of their processes into a sandbox, with ``network`` or without.
    """

    launch: Launch
    folder: Path
    lay_out: Callable[[str, Path], None]
    digest: Callable[[Path, Sequence[str]], Mapping[str, str]]
    outside: tuple[str, ...]
    tracked: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...] = ()
    extra_env: Mapping[str, str] = field(default_factory=dict)
    deadline: float = float("inf")
    start_timeout: float = 300.0
    tree_name: str = "tree"
    user_env: Mapping[str, str] = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event)
    on_test: Callable[[RunSpec, int], None] = lambda spec, done: None
    installed: Callable[[], Mapping[str, str]] = dict
    elsewhere: Callable[[], Path] | None = None
    records: dict[Path, str] = field(default_factory=dict)
    report: str = ""
    took: list[float] = field(default_factory=list)
    site: Grounds | None = None
    sandboxed: bool = False
    network: bool = False
    _first: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _installed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.site is None:
            self.site = Site(
                folder=self.folder,
                lay_out=self.lay_out,
                digest_of=self.digest,
                user_env=self.user_env,
                cancelled=self.cancelled,
                look=self.installed,
                elsewhere=self.elsewhere,
            )
        self._installed = self.site.installed()

    def run(
        self, spec: RunSpec, earlier: Mapping[str, Sequence[str]] | None = None, site: Grounds | None = None
    ) -> Path:
        """Run ``spec`` and return the path of its record; the record says how it went.

        ``earlier`` are the outcomes of tests in attempts at this run that were broken off, ``site`` is another
        place than usual.
        """
        site = site or self.site
        assert site is not None
        settled = site.settle(
            spec.name,
            spec.tree,
            self.tree_name,
            masked=spec.masked,
            used_home=spec.used_home,
            empty_home=spec.conditions.empty_home,
        )
        place, tree = settled.place, settled.tree
        env = site.environment(self.launch, settled, spec.seed, spec.hash_seed, self.extra_env)
        env.update(spec.conditions.env)
        confined = site.confine(self.launch, settled, self.network) if self.sandboxed else []
        if spec.masked:
            site.mask(tree, spec.seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        name = Path(place).name
        written, record_path = self.folder / f"{name}.jsonl", self.folder / f"{spec.name}.jsonl"
        record = RecordFile(written)
        going: _Run | ReportedRun | None = None
        try:
            with record:
                record.write(self._header(spec, env))
                if spec.masked:
                    env = masking.environment(env)
                began = time.monotonic()
                failed, prepared = self._prepared(site, spec, tree, env, confined)
                if failed:
                    record.write(Footer(complete=False, reason=placeless(failed, settled)))
                    return record_path
                judging = _Judging(site, tree, spec)
                if spec.recorded:
                    site.note_files(tree)
                # laid out before any code of the patch ran; a build may differ from run to run
                first = judging.before if self.prepare else self._first.setdefault(spec.tree, judging.before)
                if self.launch.runner == "junit":
                    going = ReportedRun(self, site, spec, settled, env, record, confined)
                else:
                    going = _Run(self, site, spec, settled, env, record, earlier or {}, confined)
                footer = going.go()
                tampered = judging.tampered(first)
                appeared = newfiles.matching(site.new_files(tree), spec.recorded) if spec.recorded else []
                rewritten = installed.differences(self._installed, site.installed())
                if rewritten:
                    reason = f"the interpreter's own files were changed while tests ran: {', '.join(rewritten[:3])}"
                    footer = msgspec.structs.replace(footer, complete=False, reason=reason)
                record.write(
                    msgspec.structs.replace(
                        footer,
                        tampered=tampered,
                        prepared=prepared,
                        appeared=appeared,
                        duration=time.monotonic() - began,
                    )
                )
        except SiteLost as lost:
            written.unlink(missing_ok=True)
            if going is None:
                raise
            raise SiteLost(lost.reason, going.open, going.done) from lost
        finally:
            with contextlib.suppress(SiteLost):
                site.leave(place)
            if Path(place).parent == self.folder.resolve():
                (self.folder / spec.name).symlink_to(name)
            with contextlib.suppress(FileNotFoundError):
                written.rename(record_path)
                self.records[record_path] = record.digest
        return record_path

    def _header(self, spec: RunSpec, env: Mapping[str, str]) -> Header:
        return Header(
            run_id=spec.run_id,
            world=spec.world,
            condition=spec.condition,
            tree=spec.tree,
            seed=spec.seed,
            hash_seed=spec.hash_seed or spec.seed,
            command=list(self.launch.command),
            nonce=secrets.token_hex(8),
            started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            environment=environment.recorded(env),
            conditions=spec.conditions,
            used_home=spec.used_home,
            shard=spec.shard,
        )

    def _prepared(
        self, site: Grounds, spec: RunSpec, tree: str, env: Mapping[str, str], confined: Sequence[str]
    ) -> tuple[str, list[str]]:
        """Make the tree ready as the policy says; return why that failed, and what it wrote of what judges.

        A build is the patch's code, too: it may not write what judges.
        """
        if not self.prepare:
            return "", []
        made = site.digest(tree, spec.watched)
        site.note_files(tree)
        failed = self._prepare(site, tree, env, confined)
        if failed:
            return failed, []
        now = site.digest(tree, spec.watched)
        any_runner = _FOREIGN if self.launch.runner == "junit" else ()
        new = newfiles.matching(site.new_files(tree), (*_JUDGING, *any_runner))
        return "", [*sorted(p for p in made if made[p] != now.get(p)), *new]

    def _prepare(self, site: Grounds, tree: str, env: Mapping[str, str], confined: Sequence[str]) -> str:
        for command in self.prepare:
            words = [*confined, *(self.launch.python if w == "python" else w for w in command)]
            end = min(self.deadline, time.monotonic() + _PREPARE_LIMIT)
            status, output, problem = site.plain(words, tree, env, _left(end))
            if problem:
                return f"prepare: {' '.join(command)} did not run: {problem}"
            if self.cancelled.is_set():
                return "cancelled"
            if status != 0:
                return f"prepare: {' '.join(command)} ended with {_status(status)}: {_tail(output, 500)}"
        return ""


def _left(end: float) -> Callable[[], float]:
    return lambda: end - time.monotonic()


class _Judging:
    """The files of a laid-out tree that judge, as they are before its tests run."""

    def __init__(self, site: Grounds, tree: str, spec: RunSpec) -> None:
        self._site, self._tree, self._spec = site, tree, spec
        self.before = site.digest(tree, spec.watched)
        self._stamps = site.stamps(tree, spec.watched)

    def tampered(self, first: Mapping[str, str]) -> list[str]:
        """Return those that are no longer as they were, or were not as in ``first``, the tree's first run.

        A recorded file may be written anew, as long as its bytes stay.
        """
        after = self._site.digest(self._tree, self._spec.watched)
        later = self._site.stamps(self._tree, self._spec.watched)
        fixtures = frozenset(self._spec.fixtures)
        return sorted(
            path
            for path, digest in self.before.items()
            if not (first.get(path) == digest == after.get(path))
            or (self._stamps.get(path) != later.get(path) and path not in fixtures)
        )


class _Run:
    """One run: as many processes as crashes and hangs make necessary."""

    def __init__(
        self,
        runner: LocalRunner,
        site: Grounds,
        spec: RunSpec,
        settled: Place,
        env: Mapping[str, str],
        record: RecordFile,
        earlier: Mapping[str, Sequence[str]],
        confined: Sequence[str],
    ) -> None:
        self.runner, self.site, self.spec, self.env, self.record = runner, site, spec, env, record
        self.place, self.tree, self.earlier, self.confined = settled.place, settled.tree, earlier, confined
        self.package = "m" + secrets.token_hex(6)
        self.boot = ""
        self.open = ""
        self.done: dict[str, str] = {}
        self.ids: list[str] = []
        self.extra: dict[str, Any] = {}
        self.sentinels: list[str] = []
        self.unseen = 0
        self.broken_files: dict[str, str] = {}
        self.names = ["test_" + secrets.token_hex(5) for _ in range(4)]

    def go(self) -> Footer:
        """Return the footer once the run has ended one way or the other."""
        main = _BOOT.format(package=self.package)
        python = self.runner.launch.python
        self.boot = self.site.post(self.place, "b" + secrets.token_hex(4), self.package, main, python)
        status = 0
        for attempt in range(_MAX_RESTARTS + 1):
            before = len(self.done)
            said = self.site.process(*self._process(attempt > 0), self._event)
            if self.confined:
                said.status = sandbox.status(said.status)
            # the folder of a run is another one each time, and tells nobody anything
            said.output = said.output.replace(f"{self.tree}/", "")
            status = said.status
            reason = self._after(said, before, attempt)
            if reason is not None:
                return self._footer(reason, status)
        return self._footer(f"the process died more than {_MAX_RESTARTS} times", status)

    def _after(self, said: supervise.Spoken, before: int, attempt: int) -> str | None:
        """Return why the run is over ("" = complete), or None to go on in a new process."""
        if self.runner.cancelled.is_set():
            return "cancelled"
        if said.refused:
            return said.refused
        if said.forged:
            return f"the record channel carried {said.forged}"
        if said.timed_out == "budget":
            return "the time budget ran out" + (f" during {said.open_test}" if said.open_test else "")
        if said.open_test:
            self._lost(said)
            return None
        if said.open_file and not said.finished:
            return self._lost_file(said)
        if said.finished and said.timed_out != "outside":
            return self._ended(said, before)
        how = _how(said)
        where = f"after {said.last_test}" if said.last_test else "before the first test"
        if len(self.done) == before:
            return f"the process {how} {where}: {_tail(said.output)}"
        if len(self.done) >= len(self.ids):
            # every test has its result; only the end of the session was lost
            return f"the process {how} after the last test, before the session ended: {_tail(said.output)}"
        self.record.write(Restart(reason=f"the process {how} {where}", status=said.status))
        return None

    def _ended(self, said: supervise.Spoken, before: int) -> str | None:
        """The session came to its end by itself; return as ``_after`` does."""
        if not said.collected:
            return f"the session ended before the tests were collected: {_tail(said.output)}"
        if self.unseen:
            self.sentinels.append(f"{self.unseen} of them never ran")
        if said.said_status == 4 or (said.said_status == 3 and len(self.done) == before):
            return f"the test runner stopped with an error of its own: {_tail(said.output)}"
        left = len(self.ids) - len(self.done)
        if self.spec.collect_only or left <= 0:
            return ""
        if len(self.done) == before:
            return f"the session stopped with {left} tests not run: {_tail(said.output)}"
        self.record.write(Restart(reason=f"the session stopped early, {left} tests left", status=said.status))
        return None

    def _lost_file(self, said: supervise.Spoken) -> str | None:
        """A file took the process with it while it was imported: go on without it."""
        reason = f"the process {_how(said)} while {said.open_file} was imported"
        if self.ids or said.open_file in self.broken_files:
            return f"{reason}: {_tail(said.output)}"
        self.broken_files[said.open_file] = f"{reason}. {_tail(said.output)}"
        self.record.write(Restart(reason=reason, status=said.status))
        return None

    def _lost(self, said: supervise.Spoken) -> None:
        """Write the end of a test that took its process with it."""
        timeout = said.timed_out == "test"
        if timeout:
            message = f"no end within {self.spec.timeout:g} s"
        elif said.finished and not said.hog:
            message = "the test ended the whole session (pytest.exit or an interrupt)"
        else:
            message = f"the process {_how(said)}"
        outcome = Outcome.TIMEOUT if timeout else Outcome.CRASHED
        kind = "timeout" if timeout else "crash"
        end = End(
            nodeid=said.open_test,
            outcome=outcome,
            seed=self.spec.seed,
            message=f"{message}. {_tail(said.output)}" if not timeout else message,
            exception=kind,
            fingerprint=f"{kind}:{0 if timeout else said.status}",
            index=said.open_index,
        )
        self.record.write(end)
        self.open = ""
        self.done[said.open_test] = outcome.value
        self.runner.on_test(self.spec, len(self.done))
        self.record.write(Restart(reason=message, nodeid=said.open_test, status=said.status))

    def _event(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "collected":
            self.ids.extend(event.get("ids", ()))
        elif kind == "start":
            self.open = event["nodeid"]
        elif kind == "end":
            self.open = ""
            before = self.earlier.get(event["nodeid"])
            if before and set(before) != {event["outcome"]}:
                # the same test in the same run, which was broken off: what it did then counts, too
                event = {**event, "attempts": [*before, *(event.get("attempts") or [event["outcome"]])]}
            self.done[event["nodeid"]] = event["outcome"]
            self.runner.on_test(self.spec, len(self.done))
        elif kind == "finished":
            if event["sentinels"]:
                self.sentinels.append(event["sentinels"])
            self.unseen = event["unseen"]
            self.extra["pinned"] = event["pinned"]
            return
        elif kind == "origins":
            for name in ("foreign", "elsewhere", "parts", "unplayed", "openers"):
                self.extra.setdefault(name, {}).update(event[name])
            for name in ("patched", "dropped", "unwatched"):
                self.extra[name] = sorted({*self.extra.get(name, ()), *event[name]})
            return
        elif kind != "session":
            return
        self.record.write_raw(event)

    def _footer(self, reason: str, status: int) -> Footer:
        counts: dict[str, int] = {}
        for outcome in self.done.values():
            counts[outcome] = counts.get(outcome, 0) + 1
        return Footer(
            complete=reason == "",
            counts=counts,
            reason=reason,
            status=status,
            sentinels="; ".join(dict.fromkeys(self.sentinels)),
            **self.extra,
        )

    def _process(
        self, resumed: bool
    ) -> tuple[list[str], Mapping[str, str], str, dict[str, Any], tuple[float, float, float], int]:
        spec, launch = self.spec, self.runner.launch
        args = list(launch.args)
        extra: list[str] = []
        if launch.runner == "pytest":
            extra = [f"--rootdir={self.tree}"]
        settings = {
            "tree": self.tree,
            "runner": launch.runner,
            "args": args,
            "extra": extra,
            "options": list(launch.options),
            "argv0": f"{launch.prefix}/lib/{launch.runner}/__main__.py",
            "seed": spec.seed,
            "roots": list(spec.roots),
            "outside": list(self.runner.outside),
            "tracked": list(self.runner.tracked),
            "fixtures": list(spec.fixtures),
            "data": list(spec.data),
            "judge": [path for path in spec.watched if path.endswith(".py")],
            "lines": {path: list(lines) for path, lines in spec.lines.items()},
            "modules": dict(spec.modules),
            "originals": dict(spec.originals),
            "order": spec.order,
            "shuffle": spec.shuffle,
            "only": list(spec.only) if spec.only is not None else None,
            "files": list(spec.files),
            "without": list(spec.without),
            "done": list(self.done),
            "resumed": resumed and bool(self.ids),
            "collect_only": spec.collect_only,
            "sentinels": self.names,
            "broken_files": dict(self.broken_files),
            "diagnose": spec.conditions.for_recorder(),
            "masked": spec.masked,
        }
        if spec.masked or self.confined:
            settings["parent"] = None  # a shell, or the sandbox: it dies with its session
        argv = [launch.python, *launch.options, self.boot]
        runner = self.runner
        return (
            [*self.confined, *(masking.command(argv) if spec.masked else argv)],
            self.env,
            self.tree,
            settings,
            (spec.timeout, max(runner.start_timeout, spec.timeout), runner.deadline - time.monotonic()),
            spec.conditions.load,
        )


def _how(said: supervise.Spoken) -> str:
    """Return how a process came to its end."""
    if said.hog:
        return f"was stopped: it held {said.hog} when the machine had no memory left"
    return "was stopped by the watchdog" if said.timed_out else f"ended with {_status(said.status)}"


def _status(status: int) -> str:
    if status == _CHANNEL_GONE:
        return "the recorder's channel closed by the code under test"
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    return f"exit status {status}"


def _tail(output: str, limit: int = 600) -> str:
    text = output.strip()
    return "…" + text[-limit:] if len(text) > limit else text
