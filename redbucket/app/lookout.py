"""Looks at a repository for ``init``: its files, its tests in one recorded run, its CI and agents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from redbucket.core.dependencies import REQUIREMENTS
from redbucket.core.errors import RedbucketError
from redbucket.core.importroots import module_name, package_root
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import POLICY_NAME, Policy
from redbucket.core.readfixtures import candidates
from redbucket.core.records import Outcome
from redbucket.core.sighting import Sighting, Source, Trial
from redbucket.core.skips import many_skipped
from redbucket.core.testcommands import by_path, declared, is_mismatch
from redbucket.core.testpath import file_of
from redbucket.core.testpatterns import is_doctest_of_code, kind_of_tests
from redbucket.engine import init, initci, inithooks

if TYPE_CHECKING:
    from redbucket.app.session import Session
    from redbucket.core.patch import Entry
    from redbucket.core.records import Run
    from redbucket.core.runspec import RunSpec
    from redbucket.edges.interpreter import Launch

_LARGEST = 1 << 20  # bytes of a configuration file that is read
_NAMED = 3  # commands of the project's own files that are tried
_RED = frozenset({Outcome.FAILED, Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.XPASSED})
_CONFIG = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", ".pytest.ini", "Makefile")
_PYTEST_SIGNS = (b"[tool.pytest", b"[tool:pytest]", b"[pytest]")


class Lookout:
    """One repository, looked at once."""

    def __init__(self, opened: Session, branch: str | None, source: Source | None, budget: float) -> None:
        self._opened, self._source, self._budget = opened, source, budget
        repository = opened.repository
        self._commit = repository.resolve("HEAD")
        self._tree = opened.scratch.tree_of(self._commit)
        self._entries: Mapping[str, Entry] = opened.scratch.entries(self._tree)
        self._branch = branch or self._landing()
        assert repository.work_tree is not None
        self._top = repository.work_tree
        self._files = self._read_files()
        self._kept = self._kept_policy()
        self._runs = 0

    def look(self, command: Sequence[str], *, run: bool) -> Sighting:
        """Return what is seen; ``command`` is the test command, () to find it; without ``run`` no test is run."""
        kept = self._kept.run if self._kept is not None else None
        words = tuple(command) or (kept.command if kept is not None else ())
        other = kept is not None and kept.format == "junit" and not command
        if not words and not any(path.endswith(".py") for path in self._entries):
            raise init.no_python()
        seen = Sighting(
            top=str(self._top),
            commit=self._commit,
            branch=self._branch,
            remote=self._opened.repository.git.run("config", "--get", "remote.origin.url", ok=(0, 1)).line,
            paths=frozenset(self._entries),
            files=self._files,
            command=words or self._commands()[0][0],
            runner="junit" if other else "",
            properties=self._properties(),
            agents=inithooks.agents_in_use({*self._entries, *self._files}),
            source=self._source,
            dirty=self._opened.repository.uncommitted(),
        )
        # no recorder sees what another language's tests open
        if not run or other:
            return seen
        launch, words, trial, env = self._tried(words)
        version = ".".join(map(str, launch.version))
        return replace(
            seen,
            command=words,
            interpreter=launch.python,
            python=version,
            runner=f"{launch.runner} {launch.runner_version}".strip(),
            trial=trial,
            env=env,
        )

    def _landing(self) -> str:
        """Return the branch on which patches land: the remote's default, else a usual name, else the current one."""
        repository = self._opened.repository
        told = repository.git.run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD", ok=(0, 1)).line
        if told.startswith("refs/remotes/origin/"):
            return told.removeprefix("refs/remotes/origin/")
        out = repository.git.run(
            "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes/origin"
        ).out
        refs = set(os.fsdecode(out).splitlines())
        for name in ("main", "master", "trunk", "develop"):
            if refs & {f"refs/heads/{name}", f"refs/remotes/origin/{name}"}:
                return name
        return repository.current_branch() or "main"

    def _read_files(self) -> dict[str, bytes]:
        """Return the files of the work tree that ``init`` may have to keep, or that say how tests are run."""
        wanted = [POLICY_NAME, inithooks.PRE_COMMIT, initci.GITHUB, initci.GITLAB, ".gitlab-ci.yaml"]
        wanted += [initci.GITLAB_PART, *_CONFIG, *REQUIREMENTS]
        wanted += [path for paths in inithooks.SETTINGS.values() for path in paths]
        for folder in (".github/workflows", ".gitlab/ci", ".github/hooks"):
            wanted += [
                f"{folder}/{place.name}" for place in sorted(self._top.glob(f"{folder}/*")) if place.is_file()
            ]
        return {path: raw for path in dict.fromkeys(wanted) if (raw := _bytes(self._top / path)) is not None}

    def _kept_policy(self) -> Policy | None:
        """Return the policy of the work tree, None without one or where it can't be read."""
        from redbucket.core.policy import parse

        raw = self._files.get(POLICY_NAME)
        try:
            return parse(raw, POLICY_NAME) if raw is not None else None
        except RedbucketError:
            return None

    def _properties(self) -> dict[str, tuple[int, int]]:
        judge = JudgeSide(Policy())
        tests = {
            path: entry.oid
            for path, entry in self._entries.items()
            if path.endswith(".py") and entry.is_file and judge.is_test(path)
        }
        blobs = self._opened.scratch.read_blobs(tests.values())
        found = {path: kind_of_tests(blobs[oid]) for path, oid in tests.items()}
        return {path: numbers for path, numbers in found.items() if numbers[1]}

    # the tests

    def _commands(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Return the commands that may run the tests: those to compare, and those for when none of them does well."""
        paths = {*self._entries, *(folder for path in self._entries for folder in _folders(path))}
        ci = [path for path in self._files if path.startswith(".github/workflows/") or "gitlab" in path]
        texts = [
            self._files[name].decode("utf-8", "replace")
            for name in ("tox.ini", "Makefile", *ci)
            if name in self._files
        ]
        named = declared(texts, paths)
        tests = next((name for name in ("tests", "test") if name in paths), "")
        plain: tuple[str, ...] = ("python", "-m", "pytest")
        more: list[tuple[str, ...]] = [(*plain, tests)] if tests else []
        if self._wants_pytest():
            named = [words for words in named if "pytest" in words]
        else:
            unittest = ("python", "-m", "unittest")
            more.append(unittest)
            if tests:
                more += [
                    (*unittest, "discover", "-s", tests, "-t", "."),
                    (*unittest, "discover", "-s", tests),
                ]
        # a file that names one folder may mean one job of several: the plain command may find more
        first = list(dict.fromkeys([*named[:_NAMED], plain]))
        return first, [words for words in more if words not in first]

    def _wants_pytest(self) -> bool:
        """Return whether the project's own files name pytest: then unittest would find a part of the tests alone."""
        if any(
            path.rpartition("/")[2] in ("conftest.py", "pytest.ini", ".pytest.ini") for path in self._entries
        ):
            return True
        return any(
            sign in self._files.get(name, b"")
            for name in ("pyproject.toml", "setup.cfg", "tox.ini")
            for sign in _PYTEST_SIGNS
        )

    def _tried(self, command: tuple[str, ...]) -> tuple[Launch, tuple[str, ...], Trial, dict[str, str]]:
        """Return how the tests are started, the command, its recorded run, and the environment that it needs."""
        first, more = ([command], []) if command else self._commands()
        queue = [*first, *more]
        best: tuple[tuple[int, int], Launch, tuple[str, ...]] | None = None
        failures: list[RedbucketError] = []
        last = Trial()
        python = ""
        for number, each in enumerate(queue):
            if number >= len(first) and best is not None and best[0][0] == 0:
                break
            launch = self._launch(each, failures)
            if launch is None:
                continue
            python = launch.python
            self._opened.progress.say(f"collecting the tests: {' '.join(each)}")
            run = self._run(launch, self._spec(launch, collect_only=True))
            last = Trial(errors=run.errors, broken=run.broken)
            # one file that can't be imported outweighs the tests that another command finds besides
            rank = (-len(run.errors), len(run.collected))
            if run.collected and not run.broken and (best is None or rank > best[0]):
                best = rank, launch, each
                other = by_path(each) if not command and is_mismatch(run.errors.values()) else None
                if other is not None:
                    queue.append(other)
        if best is None:
            if not python:
                raise failures[0]
            init.require_tests(last, [" ".join(each) for each in queue], python)
            raise AssertionError("a run without tests is undecided")
        _, launch, chosen = best
        self._opened.progress.say(f"running the tests once, recorded: {' '.join(chosen)}")
        trial = self._trial(self._run(launch, self._spec(launch)))
        env = self._for_own_code(trial)
        if env:
            # tried before it is proposed: what does not help is no advice
            self._opened.progress.say(f"running the tests once more, with {_said(env)}")
            again = self._trial(self._run(launch, self._spec(launch), env))
            if again.count and not again.broken and len(again.elsewhere) < len(trial.elsewhere):
                return launch, chosen, again, env
        return launch, chosen, trial, {}

    def _for_own_code(self, trial: Trial) -> dict[str, str]:
        """Return the PYTHONPATH under which modules that came from elsewhere may come from the tree; {} for none."""
        kept = (self._kept or Policy()).run.env
        roots = {package_root(path, self._entries) for path in trial.elsewhere} - {None}
        if not roots or "PYTHONPATH" in kept:
            return {}
        return {"PYTHONPATH": os.pathsep.join(sorted(str(root) for root in roots))}

    def _modules(self) -> dict[str, str]:
        """Return the product's Python files with the names under which they are imported."""
        judge = JudgeSide(self._kept or Policy())
        found = {}
        for path, entry in self._entries.items():
            if not path.endswith(".py") or not entry.is_file or judge.is_judge(path):
                continue
            root = package_root(path, self._entries)
            if root is not None and path.rpartition("/")[2] != "setup.py":
                found[path] = module_name(path, root)
        return found

    def _launch(self, command: tuple[str, ...], failures: list[RedbucketError]) -> Launch | None:
        from redbucket.edges import interpreter

        try:
            return interpreter.resolve(command, self._top, os.environ)
        except RedbucketError as error:
            failures.append(error)
            return None

    def _spec(self, launch: Launch, *, collect_only: bool = False) -> RunSpec:
        from redbucket.core.seeds import derive
        from redbucket.engine.rerun import plain_specs

        (spec,) = plain_specs(
            self._tree,
            self._entries,
            JudgeSide(Policy()),
            seed=derive(self._tree),
            reruns=1,
            timeout=(self._kept or Policy()).run.timeout,
            as_module=launch.as_module,
        )
        data = candidates(path for path, entry in self._entries.items() if not entry.is_gitlink)
        condition = "collect" if collect_only else "plain"
        self._runs += 1
        return replace(
            spec,
            run_id=self._runs,
            condition=condition,
            collect_only=collect_only,
            fixtures=data,
            watched=data,
            modules=self._modules(),
        )

    def _run(self, launch: Launch, spec: RunSpec, env: Mapping[str, str] | None = None) -> Run:
        from redbucket.app.session import read_record
        from redbucket.app.stations import LOCAL
        from redbucket.engine.bench import ParallelBench

        kept = (self._kept or Policy()).run
        rules = msgspec.structs.replace(kept, env={**kept.env, **(env or {})})
        runner = self._opened.station(LOCAL).runner(launch, rules, self._entries, self._budget)
        (run,) = ParallelBench(runner, read_record, 1, self._opened.cancelled).run([spec])
        return run

    def _trial(self, run: Run) -> Trial:
        reads: dict[str, int] = {}
        wrote = set(run.tampered)
        for test in run.tests.values():
            wrote.update(test.wrote)
            for path in test.fixtures:
                reads[path] = reads.get(path, 0) + 1
        named = {name: found for name in run.tests if (found := file_of(name, self._entries))}
        oids = {path: self._entries[path].oid for path in named.values() if self._entries[path].is_file}
        blobs = self._opened.scratch.read_blobs(oids.values())
        files = {
            path
            for name, path in named.items()
            if not is_doctest_of_code(name, path, blobs[oids[path]] if path in oids else b"")
        }
        return Trial(
            count=len(run.tests),
            files=frozenset(files),
            red=tuple(sorted(name for name, test in run.tests.items() if test.outcome in _RED)),
            errors=dict(run.errors),
            reads=reads,
            wrote=frozenset(wrote),
            elapsed=run.duration or sum(test.duration for test in run.tests.values()),
            longest=max((test.duration for test in run.tests.values()), default=0.0),
            broken=run.broken,
            elsewhere={**run.foreign, **run.elsewhere},
            skipped=many_skipped(run.tests.values()),
        )


def _said(env: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in env.items())


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[:length]) for length in range(1, len(parts) + 1))


def _bytes(place: Path) -> bytes | None:
    """Return a file's bytes, b"" for what is there and is no readable file, None where nothing is."""
    if not os.path.lexists(place):
        return None
    try:
        return place.read_bytes() if place.is_file() and place.stat().st_size <= _LARGEST else b""
    except OSError:
        return b""
