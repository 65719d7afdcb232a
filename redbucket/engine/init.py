"""From what was seen of a repository to the files that would set redbucket up in it: values in, values out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from shlex import quote

from redbucket.core.answers import first_line
from redbucket.core.errors import Undecided
from redbucket.core.paths import Matcher
from redbucket.core.plural import plural
from redbucket.core.policy import POLICY_NAME, Policy
from redbucket.core.sighting import Proposed, Sighting, Trial
from redbucket.core.skips import REMEDY as SKIPS
from redbucket.core.testcommands import MISMATCH_REMEDY, is_mismatch
from redbucket.engine import initci, inithooks, initpolicy
from redbucket.engine.doctor import Configured

WHAT = ("policy", "lock", "pre-commit", "workflow", "agents")
# What it may write, but for the lock, which the policy names.
OURS = (
    POLICY_NAME,
    inithooks.PRE_COMMIT,
    *(initci.GITHUB, initci.GITLAB, initci.GITLAB_PART),
    *(paths[0] for paths in inithooks.SETTINGS.values()),
)
_SHOWN = 3
_PATTERNS = 8


@dataclass(frozen=True)
class Plan:
    """The files in the order in which they are shown, the policy that will count, and how it was worked out."""

    proposed: tuple[Proposed, ...]
    policy: Policy
    rules: initpolicy.Rules


def plan(seen: Sighting, configured: Configured, without: Sequence[str] = ()) -> Plan:
    """Return what is proposed, the lock aside (its bytes are in the index); ``without`` leaves kinds out."""
    rules = initpolicy.work_out(seen)
    policy, counts = initpolicy.propose(rules, seen)
    every = [policy, inithooks.pre_commit(seen, configured), *initci.jobs(seen), *inithooks.agent_hooks(seen)]
    return Plan(tuple(each for each in every if each.what not in without), counts, rules)


def no_python() -> Undecided:
    """Return the error for a repository whose tests can't be Python's, and whose policy does not name them."""
    return Undecided(
        "no-tests-seen",
        "there is no Python here, and no policy that names the test command",
        'write [run] command, format = "junit" and report into redbucket.toml (docs/languages.md), then run '
        "redbucket init again for the rest",
    )


def require_tests(trial: Trial, tried: Sequence[str], interpreter: str) -> None:
    """Raise Undecided "no-tests-seen" where nothing was collected: a policy would rest on a guess."""
    if trial.count:
        return
    reason = trial.broken or next(map(first_line, trial.errors.values()), "") or "nothing was collected"
    raise Undecided(
        "no-tests-seen",
        f"no test ran, by {' or '.join(tried)} with {interpreter}: {' '.join(reason.split())[-400:]}",
        "install what the tests need into that interpreter, or name the test command: redbucket init -- COMMAND; "
        "redbucket init --no-run proposes without a run",
    )


def sightings(seen: Sighting, plan_: Plan, recorded: int) -> list[tuple[str, str]]:
    """Return what was seen, as (heading, sentence); ``recorded`` is how many fixtures the policy covers."""
    rows = [("branch", f"patches land on {seen.branch}")]
    if seen.dirty:
        rows.append(("", "tracked files differ from this commit: the tests were those of the commit"))
    trial = seen.trial
    command = " ".join(seen.command)
    if trial is None:
        rows.append(("tests", f"not run; {command}"))
    else:
        how = f"{command} ({seen.interpreter}, Python {seen.python}, {seen.runner})"
        what = f"{plural(trial.count, 'test')} in {plural(len(trial.files), 'file')}, {trial.elapsed:.1f} s"
        rows.append(("tests", f"{what}: {how}"))
        if trial.red:
            few = ", ".join(trial.red[:_SHOWN]) + (", ..." if len(trial.red) > _SHOWN else "")
            rows.append(
                (
                    "",
                    f"{plural(len(trial.red), 'test fails', 'tests fail')} already, and will not block: {few}",
                )
            )
        if trial.skipped:
            rows.append(("", f"{trial.skipped}; {SKIPS}"))
        if trial.errors:
            count = plural(len(trial.errors), "file")
            rows.append(("", f"{count} can't be imported by the tests: {_few(list(trial.errors))}"))
            if is_mismatch(trial.errors.values()):
                rows.append(("", MISMATCH_REMEDY))
        rows += _own_code(seen, trial)
        if trial.broken:
            rows.append(
                ("", f"the run is not whole, so more may be read than was seen: {trial.broken[:300]}")
            )
    rows += _fixture_rows(plan_, recorded, trial)
    laws = [path for path, (total, found) in sorted(seen.properties.items()) if total == found]
    if laws:
        rows.append(("properties", f"protected: {_few(laws)}"))
    if plan_.rules.mixed:
        rows.append(
            ("" if laws else "properties", f"beside other tests, so not protected: {_few(plan_.rules.mixed)}")
        )
    rows.append(
        ("CI", ", ".join(initci.services(seen)) or "none was seen; docs/ci.md has the command for any")
    )
    rows.append(("agents", ", ".join(seen.agents) or "none was seen"))
    return rows


def _own_code(seen: Sighting, trial: Trial) -> list[tuple[str, str]]:
    rows = []
    if seen.env:
        setting = " ".join(f"{name}={value}" for name, value in seen.env.items())
        rows.append(("", f"with {setting} they import the tree's own code, which is otherwise shadowed"))
    if trial.elsewhere:
        module = min(trial.elsewhere)
        what = (
            f"{module} is imported from {trial.elsewhere[module]}, not from the tree: a patch that changes it can't be "
            "judged before [run] env or prepare puts the tree's copy first (docs/errors.md: code-from-elsewhere)"
        )
        rows.append(("", what))
    return rows


def _fixture_rows(plan_: Plan, recorded: int, trial: Trial | None) -> list[tuple[str, str]]:
    paths, usual = plan_.policy.fixtures.paths, Policy().fixtures.paths
    # all of them stand in the proposed policy; here those that this repository brought
    where = ", ".join(paths) if len(paths) <= _PATTERNS else _few([p for p in paths if p not in usual])
    rows = [
        ("fixtures", f"{plural(recorded, 'recorded file')} under {where}" if recorded else "none was seen")
    ]
    if trial is None:
        return rows
    covered = Matcher(paths)
    taken: dict[str, list[str]] = {}
    left: dict[str, list[str]] = {}
    for path, reason in sorted(plan_.rules.recorded.left.items()):
        (taken if covered.matches(path) else left).setdefault(reason, []).append(path)
    # a pattern takes a folder whole: who reads the lock finds them there
    rows += [
        ("", f"taken with the others, although {reason}: {_few(found)}") for reason, found in taken.items()
    ]
    rows += [("", f"read, but not taken ({reason}): {_few(found)}") for reason, found in left.items()]
    return rows


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")


def next_steps(
    seen: Sighting,
    written: Sequence[Proposed],
    *,
    by_pre_commit: bool,
    on_path: bool,
    parents: int,
    at_top: bool,
    waiting: Sequence[str] = (),
    ignored: Collection[str] = (),
) -> list[tuple[str, str]]:
    """Return (what it is for, command) in order: commit, hooks, doctor, the first gate.

    ``waiting`` are files of an earlier init that are in no commit yet, ``ignored`` those that git's rules leave out.
    ``by_pre_commit`` says that pre-commit has redbucket's hooks; ``on_path`` that redbucket's commands are found;
    ``parents`` how many commits HEAD has behind it; ``at_top`` that the shell stands at the top of the work tree.
    """
    steps = []
    if not at_top:
        steps.append(("go to the top of the repository", f"cd {quote(seen.top)}"))
    # git's own hooks name the interpreter that installed them, and pre-commit fetches a source that is known
    found_by_name = {
        "pre-commit": "pre-commit's hooks" if seen.source is None else "",
        "agents": "the agents' hooks",
    }
    who = [said for what, said in found_by_name.items() if said and any(e.what == what for e in written)]
    if not on_path and who:
        why = f"put redbucket on PATH, where {' and '.join(who)} look for it"
        steps.append((why, "pipx install PATH-OF-REDBUCKET"))
    if initci.needs_source(written):
        steps.append(
            (
                "name your copy of redbucket for the CI job: the variable REDBUCKET_SOURCE of the project",
                "git+https://HOST/OWNER/redbucket@COMMIT",
            )
        )
    # an agent's settings may be meant for this machine alone; what judges has to be in the commit
    own = {path for paths in inithooks.SETTINGS.values() for path in paths if path in ignored}
    new = [path for path in dict.fromkeys([*(each.path for each in written), *waiting]) if path not in own]
    if new:
        force = "-f " if any(path in ignored for path in new) else ""
        steps.append(
            (
                f"commit: the policy counts once it is on {seen.branch}",
                f"git add {force}{' '.join(map(quote, new))} && git commit -m 'Set up redbucket'",
            )
        )
    if by_pre_commit:
        steps.append(("put the hooks into git", "pre-commit install"))
        why = (
            f"a fast-forward of {seen.branch} runs none of them: have git's own hook judge it by the static guards "
            "(with --full by the tests, too)"
        )
        steps.append((why, "redbucket install --hooks reference-transaction"))
    else:
        steps.append(
            (
                "put the hooks into git; at a fast-forward only the static guards judge (with --full the tests, too)",
                "redbucket install",
            )
        )
    steps.append(("see that nothing is dead", "redbucket doctor"))
    if parents:
        # the commit that sets redbucket up, which comes last by then, has nothing to judge
        last = "--base HEAD~2 --head HEAD~1" if new else "--base HEAD~1"
        steps.append(
            (
                "the first gate: the last commit of your own against the one before",
                f"redbucket gate {last} --policy redbucket.toml",
            )
        )
    steps.append(("from then on, for a branch", f"redbucket gate --base {quote(seen.branch)} --head BRANCH"))
    return steps
