"""What ``redbucket doctor`` looks at: the machine, the policy at base, the tests, the hooks, and what else there is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import yaml

from redbucket.app import recorded_health
from redbucket.app.agent_settings import agent_settings
from redbucket.app.rehearsal import PRE_COMMIT, Rehearsal, hook_in
from redbucket.app.session import read_record
from redbucket.core.errors import RedbucketError
from redbucket.core.importroots import module_name, package_root
from redbucket.core.patch import FILE_MODE, Entry
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import POLICY_NAME, Policy
from redbucket.core.runspec import RunSpec
from redbucket.core.seeds import derive
from redbucket.edges import anycommand
from redbucket.edges.nativehooks import hooks_folder
from redbucket.engine import doctor as judge
from redbucket.engine.agenthook import base_and_policy
from redbucket.engine.bench import ParallelBench
from redbucket.engine.doctor import SEED_TEST, Check, Configured, configured
from redbucket.engine.protected import find_base, policy_at
from redbucket.engine.rerun import plain_specs

if TYPE_CHECKING:
    from redbucket.app.session import Session
    from redbucket.core.records import Run
    from redbucket.edges.interpreter import Launch

_RUN_SECONDS = 60.0  # for one test of doctor's own; and for all tests of HEAD, run once
_CI = (
    ".github/workflows/",
    ".forgejo/workflows/",
    ".gitea/workflows/",
    ".circleci/",
    ".gitlab-ci.y",
    "Jenkinsfile",
    "azure-pipelines.y",
    "bitbucket-pipelines.yml",
    ".woodpecker",
    ".buildkite/",
    ".ci/",
    ".drone.yml",
)


class Examination:
    """One repository, looked at from every side."""

    def __init__(self, opened: Session) -> None:

        self._opened = opened
        self._repository = opened.repository
        self._base = ""
        self._branch = "main"
        self._policy = Policy()
        self._entries: Mapping[str, Entry] = {}

    def checks(self) -> Iterator[Check]:
        """Yield every check, the ones that others rest on first."""

        yield judge.history(self._repository.is_shallow)
        yield from self._base_and_policy()
        yield self._sandbox()
        yield from self._project()
        yield from self._hooks()
        yield from self._rest()

    def _base_and_policy(self) -> Iterator[Check]:

        objects = self._opened.scratch
        try:
            self._base, self._policy = base_and_policy(self._repository, objects)
        except RedbucketError as error:
            if error.code in ("no-base", "unknown-revision", "ambiguous-revision"):
                yield judge.failed("protected-branch", error)
                return
            yield judge.failed("policy", error)
            try:
                self._base = find_base(self._repository, self._policy.gate.protected_branches)
            except RedbucketError:
                return
        self._entries = objects.entries(objects.tree_of(self._base))
        branches = self._policy.gate.protected_branches
        self._branch = next((b for b in branches if self._is_tip(b)), branches[0])
        yield judge.ok("protected-branch", f"{self._branch} is at {self._base[:12]}")
        base = self._entries.get(POLICY_NAME)
        if base is None:
            remedy = f"commit a {POLICY_NAME} to {self._branch}, if only an empty one"
            yield judge.warn(
                "policy", f"{self._branch} has no {POLICY_NAME}: the documented defaults apply", remedy
            )
        elif "policy" not in self._failed_here():
            yield judge.ok("policy", f"{POLICY_NAME} at {self._base[:12]} is valid")
        top = self._repository.work_tree
        if top is not None:
            place = top / POLICY_NAME
            present = place.read_bytes() if place.is_file() else None
            stored = objects.read(base.oid) if base is not None and base.is_file else None
            yield judge.policy_difference(present, stored)

    def _failed_here(self) -> tuple[str, ...]:
        """What could not be read at base."""

        try:
            policy_at(self._opened.scratch, self._base)
        except RedbucketError:
            return ("policy",)
        return ()

    def _is_tip(self, branch: str) -> bool:

        for ref in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"):
            try:
                if self._repository.resolve(ref) == self._base:
                    return True
            except RedbucketError:
                continue
        return False

    def _sandbox(self) -> Check:

        run = self._policy.run
        where = "this machine" if run.runner == "local" else run.runner
        try:
            missing = self._opened.station(run.runner).no_sandbox(network=run.network)
        except RedbucketError as error:
            return judge.failed("sandbox", error)
        return judge.sandbox(run.sandbox, where, missing)

    # the project's interpreter and tests

    def _project(self) -> Iterator[Check]:

        if self._policy.run.format == "junit":
            yield from self._reported()
            return
        where = self._policy.run.runner
        self._opened.progress.say("looking for the project's interpreter")
        try:
            launch = self._opened.station(where).resolve(self._policy.run.command)
        except RedbucketError as error:
            yield judge.failed("interpreter", error)
            return
        version = ".".join(map(str, launch.version))
        runner = f"{launch.runner} {launch.runner_version}".strip()
        place = "" if where == "local" else f" on {where}"
        yield judge.ok("interpreter", f"{launch.python} (Python {version}, {runner}){place}")
        self._opened.progress.say("running one test twice under one seed")
        try:
            yield judge.seeds(self._seed_runs(launch))
        except RedbucketError as error:
            yield judge.failed("seed", error)
        self._opened.progress.say("collecting the tests of HEAD")
        try:
            spec, entries = self._plain(launch)
            (run,) = self._run(launch, [replace(spec, condition="collect", collect_only=True)], entries)
            yield from judge.collected(run, "HEAD")
            if run.collected and not run.broken:
                self._opened.progress.say("running the tests of HEAD once")
                (run,) = self._run(launch, [spec], entries, budget=_RUN_SECONDS)
                yield judge.skipped(run, _RUN_SECONDS)
        except RedbucketError as error:
            yield judge.failed("tests", error)

    def _run(
        self,
        launch: Launch,
        specs: Sequence[RunSpec],
        paths: Iterable[str],
        *,
        prepare: bool = True,
        budget: float | None = None,
    ) -> list[Run]:

        run = self._policy.run if prepare else msgspec.structs.replace(self._policy.run, prepare=())
        runner = self._opened.station(run.runner).runner(launch, run, paths, budget)
        return ParallelBench(runner, read_record, 2, self._opened.cancelled).run(specs)

    def _seed_runs(self, launch: Launch) -> list[Run]:

        scratch = self._opened.scratch
        name = "test_redbucket_doctor.py"
        tree = scratch.write_tree(None, {name: Entry(FILE_MODE, scratch.write_blob(SEED_TEST.encode()))})
        specs = [
            RunSpec(number, "", tree, derive(tree), condition="seed", timeout=_RUN_SECONDS)
            for number in (1, 2)
        ]
        # the project's own arguments would look for its own folders
        return self._run(replace(launch, args=()), specs, [name], prepare=False)

    def _reported(self) -> Iterator[Check]:

        run, scratch = self._policy.run, self._opened.scratch
        self._opened.progress.say("running the tests of HEAD once")
        try:
            launch = anycommand.resolve(run.command, self._repository.work_tree, os.environ)
            tree = scratch.tree_of(self._repository.resolve("HEAD"))
            entries = scratch.entries(tree)
            specs = plain_specs(
                tree,
                entries,
                JudgeSide(self._policy),
                seed=derive(tree),
                reruns=1,
                timeout=run.timeout,
                as_module=False,
            )
            yield from judge.reported(self._run(launch, specs, ())[0], run.command, "HEAD")
        except RedbucketError as error:
            yield judge.failed("tests", error)

    def _plain(self, launch: Launch) -> tuple[RunSpec, Mapping[str, Entry]]:
        """Return one plain run of HEAD's tests, and HEAD's files."""

        scratch = self._opened.scratch
        tree = scratch.tree_of(self._repository.resolve("HEAD"))
        entries = scratch.entries(tree)
        sides = JudgeSide(self._policy)
        product = [p for p in entries if p.endswith(".py") and not sides.is_judge(p)]
        roots = {path: root for path in product if (root := package_root(path, entries)) is not None}
        (spec,) = plain_specs(
            tree,
            entries,
            sides,
            seed=derive(tree),
            reruns=1,
            timeout=self._policy.run.timeout,
            as_module=launch.as_module,
        )
        modules = {path: module_name(path, root) for path, root in roots.items()}
        return replace(spec, modules=modules, watched=()), entries

    # hooks

    def _hooks(self) -> Iterator[Check]:

        where = hooks_folder(self._repository)
        config = self._config()
        if check := judge.hooks_path(where.scope, where.in_work_tree):
            yield check
        found = {stage: hook_in(where.path, stage) for stage in judge.STAGES}
        self._server = found[judge.SERVER].kind == "native"
        for stage in judge.STAGES:
            if (stage == judge.SERVER) != self._repository.is_bare and not (
                stage == judge.SERVER and self._server
            ):
                continue
            check = judge.hook_before(stage, found[stage], config)
            if check is None and not found[stage].kind:
                continue
            if check is None:
                self._opened.progress.say(f"trying the {stage} hook in a scratch clone")
                keep = next((n for n in judge.REFUSING if n in config.stages.get(stage, ())), "")
                skip = [name for name in config.ids if name and name != keep]
                attempt = Rehearsal(
                    self._opened, self._base, self._branch, self._policy, where.path, skip
                ).try_(stage)
                check = judge.hook_tried(stage, attempt)
            yield check

    def _config(self) -> Configured:

        top = self._repository.work_tree
        place = top / PRE_COMMIT if top is not None else None
        if place is None or not place.is_file():
            return Configured({}, trouble=f"there is no {PRE_COMMIT}")

        try:
            return configured(yaml.safe_load(place.read_bytes()))
        except (yaml.YAMLError, ValueError) as problem:
            return Configured({}, trouble=f"{PRE_COMMIT} can't be read: {str(problem)[:200]}")

    # what else there is

    def _rest(self) -> Iterator[Check]:

        entries = self._entries
        yield judge.reach(self._server, [p for p in entries if self._is_ci(p) and self._names_redbucket(p)])
        path = self._policy.identity.allowed_signers
        yield judge.signers(path, path in entries, shutil.which("ssh-keygen") is not None)
        yield from recorded_health.checks(self._opened, entries, self._policy)
        yield from judge.agent_settings(*agent_settings(self._repository.work_tree))

    @staticmethod
    def _is_ci(path: str) -> bool:
        return path.startswith(_CI)

    def _names_redbucket(self, path: str) -> bool:
        entry = self._entries[path]
        return entry.is_file and b"redbucket" in self._opened.scratch.read(entry.oid)
