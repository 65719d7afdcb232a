"""A capture: all that is needed to run one noisy test again in the conditions in which it failed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from redbucket.core.captures import CAPTURE_SCHEMA
from redbucket.core.classification import FAILING
from redbucket.core.conditions import PLAIN, Conditions
from redbucket.core.errors import Misused
from redbucket.core.evidence import PASSING, failure_print
from redbucket.core.records import Run, Test
from redbucket.core.trials import Trials

_MESSAGE = 4000
# What Hypothesis prints where print_blob is on; "You can reproduce this example by temporarily adding ...".
_BLOB = re.compile(r"@reproduce_failure\(\s*'([^']*)'\s*,\s*(b'[^']*')\s*\)")


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the test did in one run."""

    outcome: str
    condition: str = "plain"
    exception: str = ""
    fingerprint: str = ""
    message: str = ""
    duration: float = 0.0


class NoiseCapture(msgspec.Struct, frozen=True, kw_only=True):
    """The file. ``order`` are the ids that ran before the test, in order.

    ``tree`` is the id of the tree that was run: base's for world B, else the one that the gate
    makes of ``base`` and ``head`` with ``agent`` and ``head_ref`` as they were given. ``environment``
    has null for a value that is not recorded. ``used_home`` says that the run had the HOME and TMPDIR of
    one before it.
    """

    schema: str = CAPTURE_SCHEMA
    nodeid: str
    bucket: str
    cause: str | None = None
    world: str = ""
    base: str = ""
    head: str = ""
    tree: str
    base_tree: str = ""
    merged_tree: str = ""
    agent: bool = False
    head_ref: str = ""
    order: list[str] = []
    roots: list[str] = []
    seed: str
    hash_seed: str = ""
    environment: dict[str, str | None] = {}
    tz: str = ""
    conditions: Conditions = PLAIN
    used_home: bool = False
    command: list[str] = []
    interpreter: str = ""
    python: str = ""
    implementation: str = ""
    platform: str = ""
    runner: str = ""
    packages: dict[str, str] = {}
    plugins: list[str] = []
    hypothesis: str = ""
    failing: Seen | None = None
    passing: Seen | None = None
    redbucket: str = ""


def captured(
    nodeid: str, bucket: str, cause: str | None, trials: Trials, world: str, **more: Any
) -> NoiseCapture | None:
    """Return the capture of a test's failure in a world, None if no run holds one.

    A failure in plain conditions is preferred: there the test is noisy all by itself.
    """
    found = [
        (test, run)
        for (w, _), tests in sorted(trials.seen(nodeid).items(), key=lambda kv: kv[0][1] != "plain")
        if w == world
        for test in tests
        if (run := trials.run_of(test)) is not None
    ]
    failing = next(((t, r) for t, r in found if t.outcome in FAILING), None)
    if failing is None:
        return None
    passing = next(((t, r) for t, r in found if t.outcome in PASSING), None)
    test, run = failing
    return of_run(test, run, bucket=bucket, cause=cause, passing=seen(*passing) if passing else None, **more)


def of_run(test: Test, run: Run, **more: Any) -> NoiseCapture:
    """Return the capture of one failure in one run."""
    header, session = run.header, run.session
    ran = list(run.beside(test.nodeid))
    environment = dict(header.environment) if header else {}
    blob = _BLOB.search(test.message)
    return NoiseCapture(
        nodeid=test.nodeid,
        world=run.world,
        tree=run.tree,
        order=ran[: ran.index(test.nodeid)],
        seed=run.seed,
        hash_seed=header.hash_seed if header else "",
        environment=environment,
        tz=environment.get("TZ") or "",
        conditions=header.conditions if header else PLAIN,
        used_home=bool(header and header.used_home),
        command=_command(header.command) if header else [],
        interpreter=_name(session.interpreter),
        python=session.python,
        implementation=session.implementation,
        platform=session.platform,
        runner=session.runner,
        packages=session.packages,
        plugins=session.plugins,
        hypothesis=f"@reproduce_failure('{blob[1]}', {blob[2]})" if blob else "",
        failing=seen(test, run),
        **more,
    )


def seen(test: Test, run: Run) -> Seen:
    """Return what a capture keeps of one result."""
    text = test.message
    if len(text) > _MESSAGE:
        text = f"{text[: _MESSAGE // 2]}\n[... {len(text) - _MESSAGE} characters cut ...]\n{text[-_MESSAGE // 2 :]}"
    return Seen(
        outcome=test.outcome.value,
        condition=run.condition,
        exception=test.exception,
        fingerprint=failure_print(test) if test.outcome in FAILING else "",
        message=text,
        duration=test.duration,
    )


def _command(command: list[str]) -> list[str]:
    return [_name(command[0]), *command[1:]] if command else []


def _name(interpreter: str) -> str:
    """The file name alone: where it lies is this machine's business."""
    return interpreter.rpartition("/")[2]


def encode(capture: NoiseCapture) -> bytes:
    """Return the bytes of a capture file."""
    return msgspec.json.format(msgspec.json.encode(capture), indent=2) + b"\n"


def from_data(data: Mapping[str, Any], name: str) -> NoiseCapture:
    """Return the capture that a JSON object holds; raise Misused "bad-capture"."""
    try:
        capture = msgspec.convert(data, NoiseCapture)
    except msgspec.ValidationError as problem:
        raise Misused(
            "bad-capture",
            f"{name}: this is no whole capture: {problem}",
            "make one: redbucket gate --captures DIR",
        ) from problem
    if capture.schema != CAPTURE_SCHEMA:
        raise Misused(
            "bad-capture", f"{name}: its schema is not {CAPTURE_SCHEMA}", "use the redbucket that wrote it"
        )
    return capture


def decode(raw: bytes, name: str) -> NoiseCapture:
    """Return the capture in a file's bytes; raise Misused "bad-capture"."""
    try:
        data = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Misused(
            "bad-capture", f"{name}: it is not JSON: {problem}", "name a file that redbucket wrote"
        ) from problem
    if not isinstance(data, dict):
        raise Misused("bad-capture", f"{name}: it is no JSON object", "name a file that redbucket wrote")
    return from_data(data, name)


def file_name(capture: NoiseCapture) -> str:
    """Return the name of a capture's file: the same test on the same tree has the same one."""
    import hashlib

    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", capture.nodeid)[-80:].strip("-.")
    digest = hashlib.sha256(f"{capture.nodeid}\0{capture.tree}".encode("utf-8", "backslashreplace"))
    return f"noise-{slug}-{digest.hexdigest()[:8]}.json"


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a capture."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": CAPTURE_SCHEMA,
        "description": "One noisy test, and the conditions in which it failed.",
        **msgspec.json.schema(NoiseCapture),
    }
