"""The self-check: what each observation means. Values in, one line for each check out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import msgspec

from redbucket.core.agentcalls import shown
from redbucket.core.errors import RedbucketError
from redbucket.core.plural import plural
from redbucket.core.records import Outcome, Run
from redbucket.core.skips import REMEDY as SKIPS
from redbucket.core.skips import many_skipped
from redbucket.core.testcommands import MISMATCH_REMEDY, is_mismatch

OLDEST_GIT = (2, 38)
STAGES = ("pre-commit", "pre-merge-commit", "pre-push", "reference-transaction", "pre-receive")
SERVER = "pre-receive"
PRE_COMMIT_STAGES = STAGES[:3]
# The pre-commit hooks that refuse the change which is tried, the quick one first.
REFUSING = ("redbucket-protected-paths", "redbucket-gate")
# The rule that a refusal must name; any other failure proves nothing, and pre-commit prints the hook's id for each.
_RULE = re.compile(r"(?<![\w-])protected-path(?![\w-])")
SEED_TEST = """\
import os
import random
import unittest


class SeedTests(unittest.TestCase):
    def test_seed(self):
        names = ("TEST_SEED", "PYTHONHASHSEED")
        found = [os.environ.get(name) for name in names] + [random.random(), hash("redbucket")]
        self.fail("found: %r." % (found,))
"""


class State(str, Enum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(msgspec.Struct, frozen=True):
    """One line: what was checked, how it came out, what was seen, what to do."""

    check: str
    state: State
    detail: str
    remedy: str = ""


SCHEMA = "redbucket.doctor/1"


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``redbucket doctor --format json`` prints; ``exit_code`` is 1 where something is dead."""

    schema: str = SCHEMA
    exit_code: int
    checks: list[Check]


def ok(check: str, detail: str) -> Check:
    """Return a check that came out well."""
    return Check(check, State.OK, detail)


def warn(check: str, detail: str, remedy: str) -> Check:
    """Return a check that a person should know of."""
    return Check(check, State.WARN, detail, remedy)


def fail(check: str, detail: str, remedy: str) -> Check:
    """Return a check of something that is dead."""
    return Check(check, State.FAIL, detail, remedy)


def failed(check: str, error: RedbucketError) -> Check:
    """Return the check that ended in ``error``."""
    return fail(check, f"{error.reason} [{error.code}]", error.remedy)


def exit_code(checks: Sequence[Check]) -> int:
    """Return 1 if anything is dead, else 0."""
    return 1 if any(check.state is State.FAIL for check in checks) else 0


def git_version(said: str) -> Check:
    """Judge what ``git version`` printed."""
    found = re.search(r"(\d+)\.(\d+)[.\w]*", said)
    if found is None:
        return fail("git", f"git does not say its version: {said[:80]!r}", "install git 2.38 or newer")
    if (int(found[1]), int(found[2])) < OLDEST_GIT:
        return fail(
            "git",
            f"git {found[0]} has no merge-tree --write-tree",
            "install git 2.38 or newer, first on PATH",
        )
    return ok("git", f"git {found[0]}")


def history(shallow: bool) -> Check:
    """Judge whether the history is whole."""
    if shallow:
        remedy = "git fetch --unshallow (GitHub Actions: fetch-depth: 0)"
        return fail("history", "this clone is shallow: no merge base can be trusted", remedy)
    return ok("history", "complete")


def sandbox(mode: str, where: str, missing: str) -> Check:
    """Judge whether the policy's wish is met; ``missing`` is why there can be no sandbox ``where`` runs happen."""
    tried = missing or "bubblewrap is there and starts"
    if mode == "off":
        return ok("sandbox", f"off, so runs can do what you can ({tried})")
    if not missing:
        return ok("sandbox", f"{mode}: each run gets one ({tried})")
    remedy = f'install bubblewrap on {where} and allow user namespaces (docs/sandbox.md), or set [run] sandbox = "off"'
    if mode == "require":
        return fail("sandbox", f"required, and no run can have one on {where}: {missing}", remedy)
    return warn("sandbox", f"{mode}: no run will have one on {where}: {missing}", remedy)


def policy_difference(present: bytes | None, base: bytes | None) -> Check:
    """Say whether the work tree's policy is the one that counts."""
    if present == base:
        return ok("policy-here", "redbucket.toml in the work tree is base's")
    what = "has no redbucket.toml" if present is None else "has another redbucket.toml than base"
    remedy = "nothing, if that is meant: it counts once a human has landed it on the protected branch"
    return warn("policy-here", f"the work tree {what}; base's is the one that counts", remedy)


def seeds(runs: Sequence[Run]) -> Check:
    """Judge two runs of ``SEED_TEST`` under one seed."""
    broken = [run.cut for run in runs if run.broken]
    found = [
        m[1] for run in runs for t in run.tests.values() if (m := re.search(r"found: (\[.*?\])\.", t.message))
    ]
    if broken or len(found) != len(runs):
        why = broken[0] if broken else "the test left no values behind"
        return fail(
            "seed", f"the experiment did not run: {why[:300]}", "run the tests by hand in that interpreter"
        )
    if len(set(found)) > 1 or "None" in found[0]:
        remedy = (
            "look for TEST_SEED, PYTHONHASHSEED or a random.seed() in [run] env, sitecustomize or a plugin"
        )
        return fail("seed", f"two runs under one seed gave {shown(sorted(set(found)), 2)}", remedy)
    return ok("seed", "random, hash order and TEST_SEED were the same in two processes")


def collected(run: Run, revision: str) -> list[Check]:
    """Judge a collect-only run of a tree: are there tests, and is the tree's own code imported?"""
    if run.broken:
        remedy = "run the tests by hand in that interpreter; see [run] command and prepare in redbucket.toml"
        return [fail("tests", f"{revision} can't be collected: {run.cut[:400]}", remedy)]
    checks = []
    count = len(run.collected)
    few = f"; {shown(sorted(run.errors), 3)} can't be imported there" if run.errors else ""
    if not count:
        remedy = "correct [run] command, prepare or env in redbucket.toml"
        checks.append(fail("tests", f"no test is collected from {revision}{few}", remedy))
    elif few:
        mismatch = is_mismatch(run.errors.values())
        remedy = MISMATCH_REMEDY if mismatch else "see [run] prepare and env in redbucket.toml"
        checks.append(
            warn("tests", f"{plural(count, 'test is', 'tests are')} collected from {revision}{few}", remedy)
        )
    else:
        checks.append(ok("tests", f"{plural(count, 'test is', 'tests are')} collected from {revision}"))
    outside = {**run.foreign, **run.elsewhere}
    if outside:
        few = shown((f"{name} from {place}" for name, place in sorted(outside.items())), 3)
        remedy = 'put the tree\'s own copy first, with the folder that holds it: [run] env = { PYTHONPATH = "src" }'
        checks.append(fail("code-under-test", f"not the judged tree's own code: {few}", remedy))
    else:
        more = (
            f"; {plural(len(run.parts), 'built module comes', 'built modules come')} from the installed copy"
            if run.parts
            else ""
        )
        checks.append(ok("code-under-test", f"imported from the judged tree{more}"))
    return checks


def skipped(run: Run, seconds: float) -> Check:
    """Say how many tests one run of a tree skips, and why; ``seconds`` is how long it was given."""
    check = "skipped"
    if many := many_skipped(run.tests.values()):
        return warn(check, many, SKIPS)
    if run.broken:
        return ok(
            check, f"not known: one run of the tests, given {seconds:g} s, is not whole: {run.cut[:200]}"
        )
    count = sum(test.outcome is Outcome.SKIPPED for test in run.tests.values())
    return ok(check, f"{count} of {plural(len(run.tests), 'test')} when they were run once")


def reported(run: Run, command: Sequence[str], revision: str) -> list[Check]:
    """Judge one run of a command that writes JUnit XML: did it leave a report that can be counted on?"""
    if run.broken:
        remedy = "see [run] command, report and prepare in redbucket.toml"
        return [fail("tests", f"{revision}: {run.cut[:400]}", remedy)]
    if not run.tests:
        remedy = "correct [run] command or report in redbucket.toml"
        return [fail("tests", f"the report of {revision} holds no test", remedy)]
    said = f"{' '.join(command)} reports {plural(len(run.tests), 'test')} of {revision}"
    return [ok("tests", said), skipped(run, 0)]


@dataclass(frozen=True)
class Hook:
    """One file in git's hooks folder. ``kind`` is "native", "pre-commit", "other", or "" for none."""

    kind: str = ""
    executable: bool = True
    missing: str = ""


@dataclass(frozen=True)
class Attempt:
    """A forbidden change that was tried: exit code, output, and the code for a harmless one (None: not tried)."""

    code: int
    output: str
    harmless: int | None = None
    timed_out: bool = False


@dataclass(frozen=True)
class Configured:
    """What ``.pre-commit-config.yaml`` names: hook ids by stage, every id; ``trouble`` if it can't be read."""

    stages: Mapping[str, tuple[str, ...]]
    ids: tuple[str, ...] = ()
    trouble: str = ""


def configured(data: object) -> Configured:
    """Return the redbucket hooks in a parsed ``.pre-commit-config.yaml``, by the stage in which they run."""
    stages: dict[str, list[str]] = {stage: [] for stage in PRE_COMMIT_STAGES}
    ids: list[str] = []
    whole = data if isinstance(data, dict) else {}
    for repo in _list(whole.get("repos")):
        for hook in _list(repo.get("hooks") if isinstance(repo, dict) else None):
            if not isinstance(hook, dict):
                continue
            name = str(hook.get("id", ""))
            ids.append(name)
            if name not in REFUSING:
                continue
            # without "stages" the hook's own manifest decides: redbucket's names all three, the gate all but the first
            own = PRE_COMMIT_STAGES[1:] if name == "redbucket-gate" else PRE_COMMIT_STAGES
            said = hook.get("stages") or whole.get("default_stages") or own
            for stage in PRE_COMMIT_STAGES:
                if {stage, stage.removeprefix("pre-")} & {str(word) for word in _list(said)}:
                    stages[stage].append(name)
    return Configured({stage: tuple(names) for stage, names in stages.items() if names}, tuple(ids))


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


_LETS_PASS = {
    "pre-commit": "commits are not judged here",
    "pre-merge-commit": "merges are not judged here",
    "pre-push": "pushes are not judged here",
    "reference-transaction": "fast-forward merges, cherry-picks, rebases and --no-verify pass unjudged",
}


def hook_before(stage: str, hook: Hook, config: Configured) -> Check | None:
    """Return the check of a hook that can't work, None where it must be tried."""
    check = f"hook-{stage}"
    named = config.stages.get(stage, ())
    if hook.kind in ("", "other"):
        what = (
            "there is no such hook" if not hook.kind else "another tool's hook, which does not call redbucket"
        )
        if named:
            remedy = f"pre-commit install --hook-type {stage}"
            return fail(check, f".pre-commit-config.yaml names {shown(named)}, but {what}", remedy)
        if stage == SERVER:
            return None if hook.kind else warn(check, what, "redbucket install --server")
        return warn(check, f"{what}: {_LETS_PASS[stage]}", "redbucket install")
    if not hook.executable:
        return fail(check, "the hook is not executable, so git passes it over", f"chmod +x the {stage} hook")
    if hook.missing:
        remedy = "redbucket install" if hook.kind == "native" else f"pre-commit install --hook-type {stage}"
        return fail(check, f"the hook starts {hook.missing}, which is gone", remedy)
    if hook.kind == "pre-commit" and not named:
        why = config.trouble or ".pre-commit-config.yaml names no redbucket hook for it"
        return warn(check, f"pre-commit runs, but {why}", "add redbucket's hooks, or: redbucket install")
    return None


def refused(output: str) -> bool:
    """Return whether redbucket itself refused the change that was tried."""
    return _RULE.search(output) is not None


def hook_tried(stage: str, attempt: Attempt) -> Check:
    """Return what an attempt shows."""
    check = f"hook-{stage}"
    if attempt.timed_out:
        return warn(check, "a forbidden change was tried, but the hook did not end", "try it by hand")
    if attempt.code == 0:
        return fail(check, "a forbidden change passed (tried in a scratch clone)", "redbucket install")
    if refused(attempt.output):
        return ok(check, "refuses a forbidden change (tried in a scratch clone)")
    tail = " ".join(attempt.output.split())[-300:]
    if attempt.harmless == 0:
        return warn(check, f"a forbidden change was stopped, but not by redbucket: {tail}", "try it by hand")
    return fail(
        check, f"the hook fails whatever comes: {tail}", "repair what it names, or: redbucket install"
    )


def hooks_path(scope: str, in_work_tree: bool) -> Check | None:
    """Judge a ``core.hooksPath``; None where it is not set."""
    if not scope:
        return None
    if in_work_tree:
        remedy = "git config --unset core.hooksPath, and redbucket install"
        return warn(
            "hooks-path", "git's hooks are files of the work tree, so a patch can change them", remedy
        )
    return warn(
        "hooks-path", f"core.hooksPath is set ({scope}): every tool that sets it anew turns hooks off", ""
    )


def reach(server: bool, ci: Sequence[str]) -> Check:
    """Say what local hooks can't do, and what else was seen."""
    local = "local hooks are passed by --no-verify and by -c core.hooksPath=…"
    if server:
        return ok("wall", f"a server hook judges what is pushed here; {local}")
    if ci:
        return ok(
            "wall", f"{local}; {shown(ci, 3)} calls redbucket, but whether it is required can't be seen here"
        )
    remedy = "let a required CI job, or a server hook, call `redbucket gate`"
    return warn("wall", f"{local}; no server hook and no CI job at base calls redbucket", remedy)


def signers(path: str, present: bool, verifier: bool) -> Check:
    """Judge ``identity.allowed_signers``."""
    if not path:
        remedy = "set [identity] allowed_signers, and sign commits (git's own SSH signatures)"
        return warn(
            "signatures", "an agent's marks can be left out: without signatures, no mark means human", remedy
        )
    if not present:
        return fail(
            "signatures", f"base has no {path}, which the policy names", "commit it to the protected branch"
        )
    if not verifier:
        return fail(
            "signatures", "ssh-keygen is not on PATH, so no signature can be verified", "install OpenSSH"
        )
    return ok("signatures", f"commits are verified against base's {path}")


def agent_settings(found: Mapping[str, str], unset: Sequence[str]) -> list[Check]:
    """Judge agents' hook settings: ``found`` maps a file to the program that is missing ("" if it is there)."""
    checks = []
    for file, missing in sorted(found.items()):
        if missing:
            remedy = "redbucket agent-hook --settings AGENT prints a command that works"
            checks.append(fail("agent-hook", f"{file} calls {missing}, which is not there", remedy))
        else:
            checks.append(ok("agent-hook", f"{file} calls redbucket agent-hook"))
    if unset:
        remedy = "redbucket agent-hook --settings AGENT"
        checks.append(warn("agent-hook", f"{shown(unset)} in use, without redbucket's hook", remedy))
    return checks


def render(checks: Sequence[Check], width: int, *, quiet: bool = False) -> str:
    """Return the checks for a terminal; ``quiet`` leaves out what is ok."""
    import textwrap

    column = max((len(check.check) for check in checks), default=0)
    indent = " " * (6 + column + 2)
    lines = []
    for check in checks:
        if quiet and check.state is State.OK:
            continue
        head = f"{check.state.value:<6}{check.check:<{column}}  "
        for first, text in ((head, shown_line(check.detail)), (indent + "-> ", shown_line(check.remedy))):
            if text:
                later = indent if first is head else indent + "   "
                lines += textwrap.wrap(
                    text, width, initial_indent=first, subsequent_indent=later, break_long_words=False,
                    break_on_hyphens=False,
                )  # fmt: skip
    counts = {state: sum(check.state is state for check in checks) for state in State}
    lines.append(", ".join(f"{counts[state]} {state.value}" for state in State))
    return "\n".join(lines) + "\n"


def shown_line(text: str) -> str:
    """Return text as one line without control characters."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
