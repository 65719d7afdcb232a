"""``redbucket doctor``: looks at this machine and repository, and tries every hook in a scratch clone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from redbucket.app.calling import calling
from redbucket.commands.options import common, reporting

if TYPE_CHECKING:
    from redbucket.app.session import Session
    from redbucket.core.patch import Entry
    from redbucket.core.policy import Policy
    from redbucket.core.records import Run
    from redbucket.core.runspec import RunSpec
    from redbucket.edges.interpreter import Launch
    from redbucket.engine.doctor import Attempt, Check, Configured, Hook

_PRE_COMMIT = ".pre-commit-config.yaml"
_TRY_SECONDS = 120.0
_RUN_SECONDS = 60.0  # for one test of doctor's own; and for all tests of HEAD, run once
_CI = (
    ".github/workflows/",
    ".forgejo/workflows/",
    ".gitea/workflows/",
    ".circleci/",
    ".gitlab-ci.y",
    "Jenkinsfile",
)
_CI_MORE = (
    "azure-pipelines.y",
    "bitbucket-pipelines.yml",
    ".woodpecker",
    ".buildkite/",
    ".ci/",
    ".drone.yml",
)
_AGENTS = {
    "Claude Code": (".claude", ("settings.json", "settings.local.json")),
    "Codex CLI": (".codex", ("hooks.json", "config.toml")),
    "Cursor": (".cursor", ("hooks.json",)),
    "Gemini CLI": (".gemini", ("settings.json",)),
    "Copilot": (".github/hooks", ()),
}


@click.command(short_help="Check everything that can silently be dead.")
@reporting("text", "json")
@common
def doctor(form: str, output: Path | None, folder: Path, quiet: bool, verbose: bool) -> int:
    """Check everything that can silently be dead, and try the hooks in a scratch clone.

    Exit 0 nothing is dead, 1 something is, 4 the check itself can't run. Hooks are run as a
    commit would run them, so check out a branch that you trust.

    \b
      redbucket doctor
      redbucket doctor --format json
    """
    import msgspec

    from redbucket.app.output import emit
    from redbucket.app.session import session
    from redbucket.edges.git import Caller
    from redbucket.edges.progress import Progress
    from redbucket.engine.doctor import DoctorReport, State, exit_code, git_version, render

    first = git_version(Caller(folder).run("version").line)
    checks = [first]
    if first.state is not State.FAIL:
        with session(folder, Progress(quiet=quiet, steps=verbose)) as opened:
            checks += list(Examination(opened).checks())
    if form == "json":
        report = DoctorReport(exit_code=exit_code(checks), checks=checks)
        text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
    else:
        called = calling()
        told = [msgspec.structs.replace(check, remedy=called.here(check.remedy)) for check in checks]
        text = render(told, min(shutil.get_terminal_size((100, 24)).columns, 120), quiet=quiet)
    emit(text, output)
    return exit_code(checks)


class Examination:
    """One repository, looked at from every side."""

    def __init__(self, opened: Session) -> None:
        from redbucket.core.policy import Policy

        self._opened = opened
        self._repository = opened.repository
        self._base = ""
        self._branch = "main"
        self._policy = Policy()
        self._entries: Mapping[str, Entry] = {}

    def checks(self) -> Iterator[Check]:
        """Yield every check, the ones that others rest on first."""
        from redbucket.engine import doctor as judge

        yield judge.history(self._repository.is_shallow)
        yield from self._base_and_policy()
        yield self._sandbox()
        yield from self._project()
        yield from self._hooks()
        yield from self._rest()

    def _base_and_policy(self) -> Iterator[Check]:
        from redbucket.core.errors import RedbucketError
        from redbucket.core.policy import POLICY_NAME
        from redbucket.engine import doctor as judge
        from redbucket.engine.agenthook import base_and_policy
        from redbucket.engine.protected import find_base

        objects = self._opened.scratch
        try:
            self._base, self._policy = base_and_policy(self._repository, objects)
        except RedbucketError as error:
            if error.code in ("no-base", "unknown-revision", "ambiguous-revision"):
                yield judge.failed("protected-branch", error)
                return
            yield judge.failed("policy", error)
            try:
                self._base = find_base(self._repository, self._policy.gate.protected_branches)  # type: ignore[arg-type]
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
        from redbucket.core.errors import RedbucketError
        from redbucket.engine.protected import policy_at

        try:
            policy_at(self._opened.scratch, self._base)
        except RedbucketError:
            return ("policy",)
        return ()

    def _is_tip(self, branch: str) -> bool:
        from redbucket.core.errors import RedbucketError

        for ref in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"):
            try:
                if self._repository.resolve(ref) == self._base:
                    return True
            except RedbucketError:
                continue
        return False

    def _sandbox(self) -> Check:
        from redbucket.core.errors import RedbucketError
        from redbucket.engine import doctor as judge

        run = self._policy.run
        where = "this machine" if run.runner == "local" else run.runner
        try:
            missing = self._opened.station(run.runner).no_sandbox(network=run.network)
        except RedbucketError as error:
            return judge.failed("sandbox", error)
        return judge.sandbox(run.sandbox, where, missing)

    # the project's interpreter and tests

    def _project(self) -> Iterator[Check]:
        from dataclasses import replace

        from redbucket.core.errors import RedbucketError
        from redbucket.engine import doctor as judge

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
        import msgspec

        from redbucket.app.session import read_record
        from redbucket.engine.bench import ParallelBench

        run = self._policy.run if prepare else msgspec.structs.replace(self._policy.run, prepare=())
        runner = self._opened.station(run.runner).runner(launch, run, paths, budget)
        return ParallelBench(runner, read_record, 2, self._opened.cancelled).run(specs)

    def _seed_runs(self, launch: Launch) -> list[Run]:
        from dataclasses import replace

        from redbucket.core.patch import FILE_MODE, Entry
        from redbucket.core.runspec import RunSpec
        from redbucket.core.seeds import derive
        from redbucket.engine.doctor import SEED_TEST

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
        from redbucket.core.errors import RedbucketError
        from redbucket.core.paths import JudgeSide
        from redbucket.core.seeds import derive
        from redbucket.edges import anycommand
        from redbucket.engine import doctor as judge
        from redbucket.engine.rerun import plain_specs

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
        from dataclasses import replace

        from redbucket.core.importroots import module_name, package_root
        from redbucket.core.paths import JudgeSide
        from redbucket.core.seeds import derive
        from redbucket.engine.rerun import plain_specs

        scratch = self._opened.scratch
        tree = scratch.tree_of(self._repository.resolve("HEAD"))
        entries = scratch.entries(tree)
        judge = JudgeSide(self._policy)
        product = [p for p in entries if p.endswith(".py") and not judge.is_judge(p)]
        roots = {path: root for path in product if (root := package_root(path, entries)) is not None}
        (spec,) = plain_specs(
            tree,
            entries,
            judge,
            seed=derive(tree),
            reruns=1,
            timeout=self._policy.run.timeout,
            as_module=launch.as_module,
        )
        modules = {path: module_name(path, root) for path, root in roots.items()}
        return replace(spec, modules=modules, watched=()), entries

    # hooks

    def _hooks(self) -> Iterator[Check]:
        from redbucket.edges.nativehooks import hooks_folder
        from redbucket.engine import doctor as judge

        where = hooks_folder(self._repository)
        config = self._config()
        if check := judge.hooks_path(where.scope, where.in_work_tree):
            yield check
        found = {stage: _hook(where.path, stage) for stage in judge.STAGES}
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
        from redbucket.engine.doctor import Configured, configured

        top = self._repository.work_tree
        place = top / _PRE_COMMIT if top is not None else None
        if place is None or not place.is_file():
            return Configured({}, trouble=f"there is no {_PRE_COMMIT}")
        import yaml

        try:
            return configured(yaml.safe_load(place.read_bytes()))
        except (yaml.YAMLError, ValueError) as problem:
            return Configured({}, trouble=f"{_PRE_COMMIT} can't be read: {str(problem)[:200]}")

    # what else there is

    def _rest(self) -> Iterator[Check]:
        from redbucket.app import recorded_health
        from redbucket.engine import doctor as judge

        entries = self._entries
        yield judge.reach(self._server, [p for p in entries if self._is_ci(p) and self._names_redbucket(p)])
        path = self._policy.identity.allowed_signers
        yield judge.signers(path, path in entries, shutil.which("ssh-keygen") is not None)
        yield from recorded_health.checks(self._opened, entries, self._policy)
        yield from judge.agent_settings(*self._agents())

    @staticmethod
    def _is_ci(path: str) -> bool:
        return path.startswith((*_CI, *_CI_MORE))

    def _names_redbucket(self, path: str) -> bool:
        entry = self._entries[path]
        return entry.is_file and b"redbucket" in self._opened.scratch.read(entry.oid)

    def _agents(self) -> tuple[dict[str, str], list[str]]:
        """Return {settings file that calls agent-hook: its program if that is missing}, and agents without one."""
        found: dict[str, str] = {}
        unset = []
        top = self._repository.work_tree
        for agent, (folder, names) in _AGENTS.items():
            used = False
            places = [] if top is None else [top / folder]
            for place in (*places, *([Path.home() / folder] if names else [])):
                files = [place / name for name in names] if names else sorted(place.glob("*.json"))
                for file in files:
                    program = _agent_hook_program(file)
                    if program is not None:
                        used = True
                        found[_from_home(file, top)] = program
            if not used and places and places[0].is_dir():
                unset.append(agent)
        return found, unset


def _from_home(file: Path, top: Path | None) -> str:
    for start, name in ((top, ""), (Path.home(), "~/")):
        if start is not None and file.is_relative_to(start):
            return name + str(file.relative_to(start))
    return str(file)


def _agent_hook_program(file: Path) -> str | None:
    """Return None if ``file`` calls no agent-hook, else the program that is missing ("" if it is there)."""
    import re
    import shlex

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    found = re.search(r"[\"']((?:[^\"'\\]|\\.)*\bagent-hook\b(?:[^\"'\\]|\\.)*)[\"']", text)
    if found is None:
        return None
    try:
        words = shlex.split(found[1].replace('\\"', '"'))
    except ValueError:
        return ""
    program = words[0] if words else ""
    return "" if not program or shutil.which(os.path.expandvars(program)) else program


def _hook(folder: Path, name: str) -> Hook:
    """Return what the hook called ``name`` is."""
    import re

    from redbucket.engine.doctor import Hook

    place = folder / name
    try:
        text = place.read_text(encoding="utf-8", errors="replace") if place.exists() else ""
        chained = [p for p in folder.glob(f"{name}.*") if not p.name.endswith(".sample") and p.is_file()]
        behind = "".join(p.read_text(encoding="utf-8", errors="replace") for p in chained)
    except OSError:
        return Hook("other")
    if not text:
        return Hook()
    pre_commit = "hook-impl" in text or "hook-impl" in behind
    kind = "native" if "redbucket" in text + behind else "pre-commit" if pre_commit else "other"
    missing = ""
    for sign in (r"^#!\s*(/\S+)", r"^INSTALL_PYTHON=(\S+)", r"^python=(\S+)"):
        found = re.search(sign, text, re.M)
        if found and not shutil.which(found[1].strip("'\"")):
            missing = missing or found[1].strip("'\"")
    return Hook(kind, os.access(place, os.X_OK), missing)


class Rehearsal:
    """A scratch repository with the user's hooks, in which a forbidden change is tried.

    Its base holds no more than the policy, the pre-commit configuration and one test, so that a
    hook that runs tests is quick. It borrows no objects: git touches the times of those it shares.
    """

    def __init__(
        self, opened: Session, base: str, branch: str, policy: Policy, hooks: Path, skip: Sequence[str]
    ) -> None:
        self._opened, self._base, self._branch, self._policy, self._hooks = (
            opened,
            base,
            branch,
            policy,
            hooks,
        )
        self._place = opened.workshop.folder("doctor")
        self._clone, self._remote = self._place / "clone", self._place / "remote.git"
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PRE_COMMIT"))},
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            "SKIP": ",".join(skip),
        }
        self._timed_out = False

    def try_(self, stage: str) -> Attempt:
        """Try a forbidden change where ``stage`` should stop it, and a harmless one where that tells more."""
        from redbucket.engine.doctor import Attempt, refused

        self._set_up(stage)
        code, output = self._change(stage, forbidden=True)
        harmless: int | None = None
        if code and not refused(output) and not self._timed_out:
            self._quietly("reset", "-q", "--hard")
            harmless, _ = self._change(stage, forbidden=False)
        return Attempt(code, output, harmless, self._timed_out)

    def _set_up(self, stage: str) -> None:
        repository = self._opened.repository
        for place, words in ((self._clone, ()), (self._remote, ("--bare",))):
            place.mkdir()
            self._git(
                "init", "-q", "--template=", f"--object-format={repository.object_format}", *words, at=place
            )
        for key, value in (
            ("user.name", "redbucket doctor"),
            ("user.email", "doctor@redbucket.invalid"),
            ("commit.gpgSign", "false"),
            ("core.hooksPath", str(self._clone / ".git/hooks")),
            ("gc.auto", "0"),
        ):
            self._git("config", key, value)
        self._git("config", "core.hooksPath", str(self._remote / "hooks"), at=self._remote)
        self._git("symbolic-ref", "HEAD", f"refs/heads/{self._branch}")
        self._lay_base()
        self._quietly("push", "-q", str(self._remote), f"HEAD:refs/heads/{self._branch}")
        self._copy_hooks(stage)

    def _lay_base(self) -> None:
        from redbucket.core.policy import POLICY_NAME

        scratch = self._opened.scratch
        signers = self._policy.identity.allowed_signers
        entries = scratch.entries(scratch.tree_of(self._base)) if self._base else {}
        for path, entry in entries.items():
            if entry.is_file and (path in (POLICY_NAME, signers) or path.startswith(".redbucket/")):
                self._write(path, scratch.read(entry.oid))
        top = self._opened.repository.work_tree
        if top is not None and (top / _PRE_COMMIT).is_file():
            self._write(_PRE_COMMIT, (top / _PRE_COMMIT).read_bytes())
        self._write("test_redbucket_doctor.py", b"def test_nothing():\n    pass\n")
        self._quietly("add", "--all", "--force")
        self._quietly("commit", "-q", "-m", "base")

    def _copy_hooks(self, stage: str) -> None:
        """Copy the hooks folder without the hooks of other stages, which would answer in its place."""
        from redbucket.engine.doctor import SERVER

        target = (self._remote if stage == SERVER else self._clone / ".git") / "hooks"
        others = {"pre-commit", "pre-merge-commit", "pre-push", "reference-transaction", SERVER} - {stage}
        others |= {
            "commit-msg",
            "prepare-commit-msg",
            "post-commit",
            "post-checkout",
            "update",
            "post-receive",
        }
        ignore = shutil.ignore_patterns("*.sample", *others)
        shutil.copytree(self._hooks, target, ignore=ignore, ignore_dangling_symlinks=True)

    def _change(self, stage: str, *, forbidden: bool) -> tuple[int, str]:
        from redbucket.core.policy import POLICY_NAME

        branch = "agent/redbucket-doctor" if forbidden else "redbucket-doctor"
        self._quietly("checkout", "-q", "-B", branch, self._branch)
        place = self._clone / (POLICY_NAME if forbidden else "doctor.txt")
        content = place.read_bytes() if place.exists() else b""
        place.write_bytes(content + (b"\n" if content else b"") + b"# changed by redbucket doctor\n")
        self._quietly("add", "--all", "--force")
        who = {"CLAUDECODE": "1", "GIT_AUTHOR_NAME": "Claude", "GIT_AUTHOR_EMAIL": "noreply@anthropic.com"}
        marks = who if forbidden else {}
        if stage == "pre-commit":
            return self._try("commit", "-q", "-m", "doctor", marks=marks)
        self._quietly("commit", "-q", "-m", "doctor", marks=marks)
        if stage == "pre-push":
            return self._try("push", "-q", str(self._remote), f"HEAD:refs/heads/{self._branch}", marks=marks)
        if stage == "pre-receive":
            return self._try(
                "push", "-q", "--no-verify", str(self._remote), f"HEAD:refs/heads/{self._branch}"
            )
        if stage == "reference-transaction":
            return self._try("update-ref", f"refs/heads/{self._branch}", "HEAD", marks=marks)
        self._quietly("checkout", "-q", self._branch)
        (self._clone / f"other-{branch.partition('/')[0]}.txt").write_bytes(
            b"so that the merge is no fast-forward\n"
        )
        self._quietly("add", "--all")
        self._quietly("commit", "-q", "-m", "meanwhile")
        return self._try("merge", "-q", "--no-ff", "--no-edit", branch, marks=marks)

    def _write(self, path: str, content: bytes) -> None:
        place = self._clone / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def _quietly(self, *words: str, marks: Mapping[str, str] | None = None) -> None:
        """Run git without any hook; raise WorldFailed if that fails."""
        self._git("-c", "core.hooksPath=/dev/null", *words, marks=marks)

    def _git(self, *words: str, at: Path | None = None, marks: Mapping[str, str] | None = None) -> None:
        from redbucket.core.errors import WorldFailed

        code, output = self._try(*words, at=at, marks=marks)
        if code:
            raise WorldFailed("rehearsal-failed", f"git {words[0]} in a scratch clone: {output[-300:]}", "")

    def _try(
        self, *words: str, at: Path | None = None, marks: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Run git with the hooks of the stage; return its exit code and all output."""
        process = subprocess.Popen(
            ["git", *words],
            cwd=at or self._clone,
            env={**self._environment, **(marks or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=_TRY_SECONDS)
        except BaseException as problem:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if not isinstance(problem, subprocess.TimeoutExpired):
                raise
            self._timed_out = True
            return 1, ""
        return process.returncode, output.decode("utf-8", "replace")
