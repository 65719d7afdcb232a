"""The policy that ``init`` proposes: what was seen, as ``redbucket.toml``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from redbucket.core.errors import Misused
from redbucket.core.paths import Matcher
from redbucket.core.plural import plural
from redbucket.core.policy import POLICY_NAME, Policy, parse
from redbucket.core.readfixtures import Recordings, recordings
from redbucket.core.sighting import Proposed, Sighting
from redbucket.core.testpatterns import is_among_tests, judged_tests

_HEAD = """\
# What redbucket judges patches by. It counts from the commit that brings it to the protected branch.
# Every other key has its documented default.
"""
_SLOW = 20.0  # seconds: a test that took a third of the default time limit
_RUNS = 8  # full runs that a red patch may cost


@dataclass(frozen=True)
class Rules:
    """The policy that was worked out, and what it says of the files that tests read."""

    policy: Policy
    recorded: Recordings
    mixed: tuple[str, ...] = ()


def work_out(seen: Sighting) -> Rules:
    """Return the policy for what was seen."""
    usual = Policy()
    trial = seen.trial
    # what could not be imported holds tests as well, where its folder says so
    broken = [path for path in trial.errors if path in seen.paths and is_among_tests(path)] if trial else []
    tests = judged_tests([*trial.files, *broken] if trial else (), usual.judge.tests)
    recorded = Recordings((), {})
    run = msgspec.structs.replace(usual.run, command=seen.command, env=dict(seen.env))
    if trial is not None:
        recorded = recordings(
            trial.reads, trial.wrote, seen.paths, Matcher(tests), Matcher(usual.fixtures.paths)
        )
        if trial.longest > _SLOW:
            run = msgspec.structs.replace(run, timeout=float(_round(3 * trial.longest)))
        if trial.elapsed * _RUNS > run.budget:
            run = msgspec.structs.replace(run, budget=float(_round(_RUNS * trial.elapsed)))
    whole = [path for path, (total, laws) in sorted(seen.properties.items()) if laws and laws == total]
    mixed = [path for path, (total, laws) in sorted(seen.properties.items()) if 0 < laws < total]
    known = Matcher(usual.protect.paths)
    policy = Policy(
        gate=msgspec.structs.replace(usual.gate, protected_branches=(seen.branch,)),
        protect=msgspec.structs.replace(
            usual.protect, paths=(*usual.protect.paths, *(p for p in whole if not known.matches(p)))
        ),
        judge=msgspec.structs.replace(usual.judge, tests=tests),
        fixtures=msgspec.structs.replace(usual.fixtures, paths=(*usual.fixtures.paths, *recorded.patterns)),
        run=run,
    )
    return Rules(policy, recorded, tuple(mixed))


def _round(seconds: float) -> int:
    """Return whole minutes, as a person would write them."""
    return 60 * math.ceil(seconds / 60)


def text_of(policy: Policy, seen: Sighting) -> str:
    """Return the file. Raises Misused if it is not valid, which the caller's own reader says."""
    usual = Policy()
    lines = [_HEAD, "[gate]", f"protected_branches = {_list(policy.gate.protected_branches)}"]
    if policy.protect.paths != usual.protect.paths:
        lines += ["", "[protect]", f"paths = {_list(policy.protect.paths)}"]
    if policy.judge.tests != usual.judge.tests:
        lines += ["", "[judge]", f"tests = {_list(policy.judge.tests)}"]
    lines += ["", "[fixtures]"]
    if seen.trial is not None:
        count = sum(1 for path in seen.trial.reads if Matcher(policy.fixtures.paths).matches(path))
        lines.append(f"# the tests opened {plural(count, 'file')} of these in one recorded run")
    lines.append(f"paths = {_list(policy.fixtures.paths)}")
    lines += ["", "[run]", f"command = {_list(policy.run.command)}"]
    if policy.run.env:
        lines.append("# without it the tests would import another copy of this code than the tree's")
        lines.append(f"env = {_table(policy.run.env)}")
    if policy.run.timeout != usual.run.timeout:
        lines.append(f"timeout = {policy.run.timeout:g}   # seconds for one test")
    if policy.run.budget != usual.run.budget:
        lines.append(f"budget = {policy.run.budget:g}   # seconds for the whole gate")
    text = "\n".join(lines) + "\n"
    try:
        raw = text.encode()
    except UnicodeEncodeError as problem:
        raise Misused(
            "not-utf8",
            f"the branch {seen.branch!r} or the test command is not UTF-8, so no policy can hold it",
            "name another: redbucket init --branch NAME -- COMMAND",
        ) from problem
    parse(raw, POLICY_NAME)
    return text


def _text(word: str) -> str:
    # a JSON string is a TOML string but for DEL
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")


def _table(values: Mapping[str, str]) -> str:
    return f"{{ {', '.join(f'{_text(name)} = {_text(value)}' for name, value in values.items())} }}"


def _list(words: Iterable[str]) -> str:
    quoted = [_text(word) for word in words]
    short = f"[{', '.join(quoted)}]"
    if len(short) <= 90:
        return short
    return "[\n" + "".join(f"    {word},\n" for word in quoted) + "]"


def propose(rules: Rules, seen: Sighting) -> tuple[Proposed, Policy]:
    """Return the proposal for the policy, and the policy that will count: the kept file's if there is one."""
    raw = seen.files.get(POLICY_NAME)
    if raw is None:
        return Proposed("policy", POLICY_NAME, text_of(rules.policy, seen)), rules.policy
    try:
        kept = parse(raw, POLICY_NAME)
    except Misused as error:
        return (
            Proposed("policy", POLICY_NAME, lacks=(f"it can't be read: {error.reason}; {error.remedy}",)),
            rules.policy,
        )
    return _lacking(kept, rules.policy), kept


def _lacking(kept: Policy, wanted: Policy) -> Proposed:
    lacks, lines = [], []
    for table, key, has, wants in (
        ("gate", "protected_branches", kept.gate.protected_branches, wanted.gate.protected_branches),
        ("protect", "paths", kept.protect.paths, wanted.protect.paths),
        ("judge", "tests", kept.judge.tests, wanted.judge.tests),
        ("fixtures", "paths", kept.fixtures.paths, wanted.fixtures.paths),
    ):
        # what the kept patterns cover in their own words is not missing
        matcher = Matcher(has)
        more = [word for word in wants if word not in has and not matcher.matches(_sample(word))]
        if more:
            lacks.append(f"{table}.{key} lacks {', '.join(more)}")
            lines += [f"[{table}]", f"{key} = {_list((*has, *more))}"]
    if env := {name: value for name, value in wanted.run.env.items() if name not in kept.run.env}:
        lacks.append(
            f"run.env lacks {', '.join(env)}, without which the tree's own code is not what is tested"
        )
        lines += ["[run]", f"env = {_table({**kept.run.env, **env})}"]
    return Proposed("policy", POLICY_NAME, lacks=tuple(lacks), snippet="\n".join(lines))


def _sample(pattern: str) -> str:
    """Return a path that ``pattern`` matches, near enough to ask other patterns about it."""
    return pattern.replace("**", "x").replace("*", "x").replace("\\", "")
