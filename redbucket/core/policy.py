"""The policy: ``redbucket.toml`` at the base commit, as frozen values.

``parse`` reads it, ``schema`` describes it.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from redbucket.core.errors import Misused
from redbucket.core.isolation import Isolation, Mode

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

POLICY_NAME = "redbucket.toml"
FLAKES_NAME = "flakes.toml"

Level = Literal["warn", "refuse"]
Word = Annotated[str, Meta(min_length=1)]
Command = Annotated[tuple[str, ...], Meta(min_length=1)]

AGENT_BRANCHES = ("agent/*", "claude/*", "codex/*", "copilot/*", "cursor/*", "devin/*", "jules/*")


class Gate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the gate guards, and how strict it is."""

    protected_branches: Annotated[tuple[Word, ...], Meta(description="Branches where patches land.")] = (
        "main",
    )
    untrusted_green: Annotated[
        Level, Meta(description="What to do when no trusted test executes a changed line.")
    ] = "warn"
    altered_tests: Annotated[
        Level,
        Meta(description="What to do when an agent weakens, alters or removes a test without endorsement."),
    ] = "refuse"
    oracle: Annotated[
        Literal["off", "note", "warn", "refuse"],
        Meta(
            description="What to do when trusted tests run changed lines and notice too few of their faults."
        ),
    ] = "off"
    oracle_threshold: Annotated[
        float, Meta(ge=0, le=1, description="The least share of changed lines whose fault is noticed.")
    ] = 0.5
    oracle_mutants: Annotated[
        int, Meta(ge=1, le=10_000, description="How many small faults of the changed lines are tried.")
    ] = 20


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose patch it is."""

    agent_branches: Annotated[
        tuple[Word, ...], Meta(description="Branch names (globs) that mark a patch as an agent's.")
    ] = AGENT_BRANCHES
    agent_authors: Annotated[
        tuple[Word, ...],
        Meta(
            description="Names or e-mails (globs) that mark a patch as an agent's, besides the built-in ones."
        ),
    ] = ()
    allowed_signers: Annotated[
        str,
        Meta(description="git's SSH allowed-signers file, by its path in the repository; empty for none."),
    ] = ""


class Protect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent may not touch, besides the built-in paths."""

    paths: Annotated[tuple[Word, ...], Meta(description="Protected paths, as gitignore patterns.")] = (
        "redbucket.toml",
        "flakes.toml",
        "tests/properties/**",
    )


class Judge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files decide."""

    tests: Annotated[
        tuple[Word, ...],
        Meta(description="Tests, as gitignore patterns; conftest.py, pytest.ini and the like are built in."),
    ] = ("tests/**", "test/**", "**/test_*.py", "**/*_test.py")


Grammar = Literal["http-date", "rfc-3339", "uuid", "hex", "jwt", "epoch", "seconds", "etag", "token"]


class Volatile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place in recorded fixtures whose value may move without meaning."""

    pointer: Annotated[
        str,
        Meta(
            pattern="^/",
            description="JSON pointer; `*` for one step, `**` for any number; case does not count.",
        ),
    ]
    grammar: Annotated[Grammar, Meta(description="What the old and the new value must look like.")]
    paths: Annotated[tuple[Word, ...], Meta(description="The fixtures, as gitignore patterns.")] = ("**",)


class Fixtures(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Recorded data that tests read."""

    paths: Annotated[tuple[Word, ...], Meta(description="Recorded fixtures, as gitignore patterns.")] = (
        "tests/data/**",
        "**/cassettes/**",
        "**/__snapshots__/**",
    )
    manifests: Annotated[
        tuple[Word, ...],
        Meta(description="Lock manifests in sha256sum form; sidecars are found by themselves."),
    ] = ("fixtures.sha256",)
    unread: Annotated[
        Level, Meta(description="What to do when the patch leaves a recording that no test reads any more.")
    ] = "warn"
    secrets: Annotated[
        Literal["refuse", "warn", "off"],
        Meta(description="What to do when a secret newly appears in recorded data."),
    ] = "refuse"
    volatile: Annotated[
        tuple[Volatile, ...],
        Meta(description="Places that may move without meaning: a shorter review, never a lock."),
    ] = ()
    known_ids: Annotated[
        bool,
        Meta(
            description="Let `fixtures verify` of the index or of a commit believe what it hashed before, from a file "
            "in the git folder; whatever runs as the same user, a test too, can write that file. The gate never does."
        ),
    ] = False


class Freezing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a noisy test may be excused by an entry of flakes.toml."""

    max_days: Annotated[
        int, Meta(ge=1, le=3650, description="Days that a freeze of a noisy test may run at most.")
    ] = 30


class Run(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the tests are run."""

    command: Annotated[Command, Meta(description="What runs the tests, as a list of arguments.")] = (
        "python",
        "-m",
        "pytest",
    )
    prepare: Annotated[
        tuple[Command, ...], Meta(description="Commands run in the tree before the tests, each a list.")
    ] = ()
    timeout: Annotated[float, Meta(gt=0, description="Seconds for one test.")] = 60.0
    budget: Annotated[float, Meta(gt=0, description="Seconds for the whole gate.")] = 3600.0
    challenge_budget: Annotated[
        float,
        Meta(ge=0, description="Seconds to search for the causes of failures and of noise; 0 for none."),
    ] = 120.0
    reruns: Annotated[int, Meta(ge=1, description="Full runs under the same seed.")] = 3
    shards: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="Parts that each whole run is split into, to run at the same time: stretches of whole files, "
            "by how long the tests took before. The order of the suite is kept within a shard.",
        ),
    ] = 1
    scope: Annotated[
        Literal["all", "failed"], Meta(description="Rerun everything, or only what failed in the first run.")
    ] = "all"
    format: Annotated[
        Literal["record", "junit"],
        Meta(
            description="What is judged: records of redbucket's recorder inside pytest or unittest, or the JUnit XML "
            "that the command of any language writes."
        ),
    ] = "record"
    report: Annotated[
        str,
        Meta(
            description='Where the command writes its JUnit XML, with format = "junit": a path in the tree, or a glob '
            "of several."
        ),
    ] = ""
    runner: Annotated[
        str,
        Meta(
            pattern="^(local|ssh://.+|dask://.+)$",
            description="Where runs happen: local, ssh://HOST/DIR?python=… or dask://HOST:PORT",
        ),
    ] = "local"
    sandbox: Annotated[
        Mode,
        Meta(
            description="A sandbox around each run, by bubblewrap: read-only root, private /tmp, no network but its "
            "own loopback. auto: where it can be had; require: exit 4 where it can't."
        ),
    ] = "off"
    network: Annotated[bool, Meta(description="Leave the network to runs in a sandbox.")] = False
    scout: Annotated[bool, Meta(description="One more run under other seeds, order and a used HOME.")] = True
    env: Annotated[
        dict[str, str], Meta(description="Variables passed to the tests besides the allow-list.")
    ] = {}


def isolation_of(run: Run) -> Isolation:
    """Return how far runs are to be shut off."""
    return Isolation(run.sandbox, run.network)


def scope_of(run: Run, asked: str | None) -> str:
    """Return what is rerun: as asked, else as the policy says; a command without a recorder runs all its tests."""
    return "all" if run.format == "junit" else asked or run.scope


def shards_of(run: Run, asked: int | None) -> int:
    """Return how many parts each whole run is split into. Raises Misused "no-shards" where it can't be split."""
    shards = asked if asked is not None else run.shards
    if shards > 1 and run.format == "junit":
        raise Misused(
            "no-shards",
            f"{shards} shards were asked for, and a command with a report of its own ([run] format = "
            '"junit") says which tests it has by running them all',
            "leave out --shards; a runner that can split its suite does so by itself, in [run] command",
        )
    return shards


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file; absent tables and keys take the documented defaults."""

    gate: Gate = Gate()
    identity: Identity = Identity()
    protect: Protect = Protect()
    judge: Judge = Judge()
    fixtures: Fixtures = Fixtures()
    freeze: Freezing = Freezing()
    run: Run = Run()


def parse(raw: bytes, name: str) -> Policy:
    """Return the policy in ``raw``; ``name`` is the file's name for messages.

    Raises Misused: policy-encoding, policy-syntax, policy-unknown-key,
    policy-type or policy-value.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Misused(
            "policy-encoding", f"{name}: byte {problem.start} is not UTF-8", f"save {name} as UTF-8"
        ) from problem
    if text.startswith("\ufeff"):
        raise Misused(
            "policy-encoding", f"{name}: starts with a byte order mark", f"save {name} as UTF-8 without BOM"
        )
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise Misused("policy-syntax", f"{name}: not TOML: {problem}", "correct the line named") from problem
    try:
        policy = msgspec.convert(data, Policy)
    except msgspec.ValidationError as problem:
        raise _explain(data, name, str(problem)) from problem
    for key, reason, remedy in _impossible(policy):
        raise Misused("policy-value", f"{name}: {key}: {reason}", remedy)
    return policy


def _explain(data: dict[str, Any], name: str, message: str) -> Misused:
    """Return msgspec's message in the words of the file."""
    what, _, where = message.partition(" - at `$")
    steps = re.findall(r"\.([^.\[\]`]+)|\[(\d+|\.\.\.)\]", where)
    unknown = re.search(r"unknown field `(.*)`", what)
    key = ""
    found: Any = data
    known: Any = Policy
    for field, index in steps:
        key += f".{field}" if field else f"[{index}]"
        if field:
            found = found[field]
            known = (
                getattr(known(), field, known) if isinstance(known, type) else getattr(known, field, known)
            )
        elif index.isdigit():
            found = found[int(index)]
            known = _ITEMS.get(key.split("[")[0].lstrip("."), known)
        else:  # "[...]" stands for a key or value of run.env
            bad = next((k for k, v in found.items() if not isinstance(v, str)), "")
            key, found = key.replace("[...]", f".{bad}"), found.get(bad)
    key = key.lstrip(".")
    if unknown:
        wrong = unknown.group(1)
        names = getattr(known, "__struct_fields__", ())
        near = get_close_matches(wrong, names, n=1, cutoff=0.5)
        full = f"{key}.{wrong}" if key else wrong
        kind = "key" if key else "table or key"
        remedy = f"did you mean `{near[0]}`?" if near else f"remove it; known here: {', '.join(names)}"
        return Misused("policy-unknown-key", f"{name}: {full}: unknown {kind}", remedy)
    expected = re.sub(r"^Expected ", "", what)
    for theirs, toml in (
        ("`array`", "a list"),
        ("`object`", "a table"),
        ("`str`", "text"),
        ("`bool`", "true or false"),
    ):
        expected = expected.replace(theirs, toml)
    reason = f"{name}: {key or 'the file'}: expected {expected}"
    if ", got " in what:
        remedy = f"write {_form(key)}" if _form(key) else f"give `{key}` the type that is expected"
        return Misused("policy-type", f"{reason} ({_short(found)})", remedy)
    allowed = _ALLOWED.get(key.split("[")[0], "a value in the range that is expected")
    if what.startswith("Invalid enum"):
        reason = f"{name}: {key}: expected {allowed}"
    return Misused("policy-value", f"{reason}, found {_short(found)}", f"use {allowed}")


# What a list of tables holds.
_ITEMS: dict[str, Any] = {"fixtures.volatile": Volatile(pointer="/", grammar="uuid")}

_ALLOWED = {
    "fixtures.volatile": 'pointer = "/a/*/b" and a grammar: '
    "http-date, rfc-3339, uuid, hex, jwt, epoch, seconds, etag, token",
    "gate.untrusted_green": '"warn" or "refuse"',
    "fixtures.unread": '"warn" or "refuse"',
    "fixtures.secrets": '"refuse", "warn" or "off"',
    "gate.altered_tests": '"warn" or "refuse"',
    "freeze.max_days": "a whole number of days from 1 to 3650",
    "run.scope": '"all" or "failed"',
    "run.format": '"record" or "junit"',
    "run.sandbox": '"auto", "off" or "require"',
    "run.runner": '"local", "ssh://HOST…" or "dask://HOST:PORT"',
    "run.reruns": "a whole number of at least 1",
    "run.shards": "a whole number from 1 to 1000",
    "run.timeout": "a number of seconds above 0",
    "run.budget": "a number of seconds above 0",
    "run.challenge_budget": "a number of seconds, 0 or more",
    "run.command": 'at least one word, for example ["python", "-m", "pytest"]',
    "run.prepare": 'commands of at least one word each, for example [["make", "ext"]]',
}


def _form(key: str) -> str:
    if key.startswith("run.prepare"):
        return 'a list of commands, each a list of words: [["make", "ext"]]'
    if key.startswith("run.command"):
        return 'a list of words: ["python", "-m", "pytest"]'
    return ""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _impossible(policy: Policy) -> Iterator[tuple[str, str, str]]:
    """Yield (key, reason, remedy) for values that no schema can refuse."""
    for key, patterns in (
        ("protect.paths", policy.protect.paths),
        ("judge.tests", policy.judge.tests),
        ("fixtures.paths", policy.fixtures.paths),
        ("fixtures.manifests", policy.fixtures.manifests),
        *((f"fixtures.volatile[{n}].paths", rule.paths) for n, rule in enumerate(policy.fixtures.volatile)),
    ):
        for number, pattern in enumerate(patterns):
            reason = _bad_pattern(pattern)
            if reason:
                yield (
                    f"{key}[{number}]",
                    f"expected a gitignore pattern, found {_short(pattern)}: {reason}",
                    "write the path from the top of the repository, such as `tests/data/**`",
                )
    signers = policy.identity.allowed_signers
    if signers and (reason := _bad_path(signers)):
        yield (
            "identity.allowed_signers",
            f"expected a path in the repository: {reason}",
            "name a committed file",
        )
    run = policy.run
    yield from _unreported(run)
    for key, seconds in (
        ("run.timeout", run.timeout),
        ("run.budget", run.budget),
        ("run.challenge_budget", run.challenge_budget),
    ):
        if not math.isfinite(seconds):
            yield key, f"expected seconds, found {seconds}", f"use {_ALLOWED[key]}"
    for key, words in (
        ("run.command", run.command),
        *((f"run.prepare[{n}]", words) for n, words in enumerate(run.prepare)),
    ):
        if not words[0].strip() or any("\0" in word for word in words):
            yield (
                key,
                f"expected a program and its arguments, found {_short(list(words))}",
                "name the program",
            )
    for variable, value in run.env.items():
        if not variable or "=" in variable or "\0" in variable + value:
            yield (
                f"run.env.{variable}",
                "expected a name without `=` or NUL, and a value without NUL",
                "rename it",
            )


def _unreported(run: Run) -> Iterator[tuple[str, str, str]]:
    if run.format == "junit" and not run.report:
        yield (
            "run.report",
            'format = "junit" reads what the command writes, and nothing says where',
            'name the file, or a glob: report = "junit.xml"',
        )
    elif run.report and run.format != "junit":
        yield (
            "run.report",
            "only the JUnit XML of a command is read",
            'add format = "junit", or remove the key',
        )
    elif run.shards > 1 and run.format == "junit":
        yield (
            "run.shards",
            'a command with a report of its own (format = "junit") says which tests it has by running them all',
            "remove the key; a runner that can split its suite does so by itself, in run.command",
        )
    elif run.report and (reason := _bad_path(run.report)):
        yield "run.report", f"expected a path in the tree: {reason}", "name it from the top of the repository"


def _bad_pattern(pattern: str) -> str:
    if not pattern.strip():
        return "it is blank"
    if pattern.startswith("#"):
        return "it is a comment to gitignore; write \\#"
    return _bad_path(pattern.lstrip("!"))


def _bad_path(path: str) -> str:
    if not path.strip("/ "):
        return "it is empty"
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", path):
        return "it is absolute"
    if ".." in path.split("/"):
        return "it leaves the repository by `..`"
    return "it holds a NUL or a line end" if re.search(r"[\0\r\n]", path) else ""


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the policy file."""
    generated = msgspec.json.schema(Policy)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "redbucket.toml",
        "description": "The policy of redbucket, read at the base commit.",
        **generated,
    }
