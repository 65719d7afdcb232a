"""From what the experiments found to the report, with commands that show it."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from redbucket.core.errors import ACCEPTED, UNDECIDED
from redbucket.core.experiments import Experiment, joined
from redbucket.core.explanation import Explanation
from redbucket.core.inuse import says_in_use
from redbucket.core.plural import plural
from redbucket.core.records import Outcome
from redbucket.core.startwords import StartWords
from redbucket.core.tally import Tally, kind
from redbucket.engine.explain import IN_SUITE, Explain
from redbucket.engine.found import Found

NOT_FOUND_FAILS = (
    "it fails every time in the same way and nothing that was tried changes that: read it as a real failure"
)
NOT_FOUND_PASSES = "it passed every time, whatever was tried"
NOT_FOUND_ORDER = "its outcome goes with the order of the tests, but which test does it was not confirmed"
NOT_FOUND_MIXED = "it passes and fails under equal conditions, and nothing that was tried holds it still"
_BUSY = 1.5  # a CPU


@dataclass(frozen=True)
class Shell:
    """What the commands of a report need: how tests are started, the commit that was run ("" where none has the tree).

    ``env`` are the names of the variables that the policy gives to runs. ``elsewhere`` is the commit that was looked
    at where another one is checked out.
    """

    start: StartWords
    rev: str = ""
    env: tuple[str, ...] = ()
    elsewhere: str = ""


def explained(
    done: Explain, found: Found | None, *, tree: str, shell: Shell, base: list[str], capture: str | None
) -> Explanation:
    """Return the report."""
    if found is None:
        what = NOT_FOUND_MIXED if not done.steady else NOT_FOUND_FAILS if done.fails else NOT_FOUND_PASSES
        if len({outcome for seen in done.outcomes.values() for outcome in seen}) > 1 and done.steady:
            what = NOT_FOUND_ORDER
    else:
        what = found.what
    shown = commands(done, found, shell, capture)
    if found and found.failing is not None and not shown:
        done.notes.append(
            "no plain command shows it: add --captures DIR, and redbucket replay runs the capture again"
        )
    if found and shell.elsewhere and any(not command.startswith("redbucket ") for command in shown):
        done.notes.append(
            f"the commands run what is checked out: git switch --detach {shell.elsewhere[:12]} goes before them"
        )
    if found is None and not done.steady and says_in_use(done.message):
        done.notes.append(
            "an address was in use, in runs that stood alone, too, so something else holds it at times; let the test "
            'ask for a free port (port 0), or give each run a loopback of its own: [run] sandbox = "auto"'
        )
    if found and shown and shell.env:
        done.notes.append(f"the commands go without [run] env, which the runs had: {', '.join(shell.env)}")
    return Explanation(
        nodeid=done.nodeid,
        exit_code=ACCEPTED if found else UNDECIDED,
        cause=found.cause if found else None,
        what=what,
        tests=found.culprits.tests if found and found.culprits else [],
        state=found.culprits.state if found and found.culprits else [],
        evidence=found.evidence if found else [],
        commands=shown,
        tried=list(dict.fromkeys(done.tried)),
        untried=list(dict.fromkeys(done.untried)),
        fix=found.fix if found else "",
        outcomes=done.outcomes,
        experiments=experiments(done, found, base),
        touched=done.touched,
        sites=done.sites,
        message=done.message[:4000],
        base=base,
        notes=done.notes,
        capture=capture,
        tree=tree,
        seed=done.specs.seed,
        suite_seconds=round(done.suite_seconds, 3),
        seconds=round(done.clock() - done._began, 3),
    )


def experiments(done: Explain, found: Found | None, base: list[str]) -> list[Experiment]:
    """Return all that was tried, what was seen as it is first."""
    usual = kind(map(Outcome, done.outcomes.get(IN_SUITE, ())))
    tally = Tally(usual)
    for condition, seen in done.outcomes.items():
        changes = "" if condition == IN_SUITE else "order"
        for outcome in seen:
            tally.add(changes, condition, Outcome(outcome), aside=not changes)
    for outcome in base:
        tally.add("", IN_SUITE, Outcome(outcome), world="B", aside=True)
    return joined(tally.experiments(found.conditions if found else ()), done.looks)


def commands(done: Explain, found: Found | None, shell: Shell, capture: str | None) -> list[str]:
    """Return commands that show the cause: one for each side, first as it is, then with the cause."""
    out: list[str] = []
    if found is None:
        pass
    elif found.culprits is not None:
        if not found.culprits.imported:
            orders = ([*found.culprits.tests, done.nodeid], [done.nodeid])
            out = [shell.start.of(order, done.plugins) for order in orders]
    elif found.show and done.alone:
        command = shell.start.of([done.nodeid])
        if found.recorded:
            # nothing but the recorder seeds the generators of a test by TEST_SEED
            command = shell.start.recorded(done.nodeid)
            command = f'redbucket rerun -n 1 --rev {shell.rev[:12]} --out "$(mktemp -d)" -- {command}'
        if shell.rev or not found.recorded:
            out = [_with(setting, command) for setting in (found.plain, found.show)]
    if capture:
        out.append(f"redbucket replay {quote(capture)}")
    return out


def _with(setting: str, command: str) -> str:
    if not setting:
        return command
    # what is a command of its own must not outlive this line
    return f"({setting} {command})" if setting.endswith(";") else f"{setting} {command}"


def busy_note(load: float, cpus: int) -> str:
    """Return what to say of a machine that other work keeps busy, "" of one that is not.

    ``load`` is the mean number of runnable processes before the experiments.
    """
    if load < _BUSY * cpus:
        return ""
    return (
        f"the machine was busy with other work (load {load:.1f} on {plural(cpus, 'CPU')}): a test that must be quick "
        "may fail for that alone; look again when it is idle"
    )
