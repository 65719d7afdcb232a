"""Run records: what one execution of the test command left behind.

A record file is JSON Lines, one event a line, written as the run goes:
``header``, ``session``, ``collected`` (several), then ``start`` and ``end`` for
each test, ``restart`` where a crash or a hang cost a test and a new process
went on, and one ``footer``. A file without a footer is incomplete.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from redbucket.core.conditions import PLAIN, Conditions

SCHEMA = "redbucket.record/1"


class Outcome(str, Enum):
    """What one test did in one run."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    MISSING = "missing"


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a whole run a record is: the shard ``number`` of ``of``, counted from 1.

    The order of the suite was kept within a shard, and nothing is known of the order over several. ``whole`` names the
    run, ``split`` the way in which the suite was split. ``files`` are those whose tests the shard ran; with ``rest``
    it ran whatever is in no other shard as well.
    """

    number: int
    of: int
    whole: str
    split: str
    files: list[str] = []
    rest: bool = False


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="header"):
    """First line, written by the parent before the process starts.

    ``world`` is B, H, F, P or R ("" outside the gate); ``condition`` names the
    experiment ("plain", "alone", "reversed", "hash-seed", ...). ``environment`` holds the names
    of the run's variables, with the values of those that are known to hold no secret. ``shard`` is there where the
    suite was split.
    """

    schema: str = SCHEMA
    run_id: int
    world: str = ""
    condition: str = "plain"
    tree: str = ""
    seed: str = ""
    hash_seed: str = ""
    command: list[str] = []
    nonce: str = ""
    started: str = ""
    environment: dict[str, str | None] = {}
    conditions: Conditions = PLAIN
    used_home: str = ""
    shard: Shard | None = None


class Session(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="session"):
    """What the process said of itself once the recorder was loaded."""

    interpreter: str = ""
    python: str = ""
    implementation: str = ""
    platform: str = ""
    runner: str = ""
    packages: dict[str, str] = {}
    plugins: list[str] = []
    pinned: list[str] = []
    pid: int = 0


class Collected(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="collected"):
    """A chunk of the node ids that were collected, in the order of the run.

    ``last`` marks the final chunk; ``errors`` maps collectors (usually files)
    that failed to import to the bounded reason.
    """

    ids: list[str] = []
    errors: dict[str, str] = {}
    last: bool = False


class Start(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="start", gc=False):
    """A test is about to run."""

    nodeid: str
    index: int = 0


class End(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="end", omit_defaults=True):
    """A test has run: the worst of its setup, call, teardown and subtests.

    ``fingerprint`` identifies the failure (phase, exception type, innermost
    project frame, normalised message). ``attempts`` holds the outcome of each
    attempt where a plugin reran the test inside the process. ``seed`` is
    TEST_SEED as the process saw it when the test ended. ``touched`` are changed
    product lines that it executed, as "path:line". ``state`` is what the test left changed,
    and ``sites`` the lines that touched entropy, as "path:line what", in runs that look for them;
    ``inputs`` what it tried, in runs that count it: calls of the project's code, distinct ones, assertions reached,
    and with distinct values.
    """

    nodeid: str
    outcome: Outcome
    phase: str = "call"
    duration: float = 0.0
    seed: str = ""
    message: str = ""
    exception: str = ""
    fingerprint: str = ""
    fixtures: list[str] = []
    fixture_hash: str = ""
    wrote: list[str] = []
    entropy: list[str] = []
    attempts: list[str] = []
    touched: list[str] = []
    state: list[str] = []
    sites: list[str] = []
    inputs: list[int] = []
    index: int = 0


class Restart(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="restart"):
    """The process died or was killed; a new one goes on with the rest."""

    reason: str
    nodeid: str = ""
    status: int = 0


class Footer(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="footer"):
    """Last line: the run ended in a way that the parent saw and understood.

    ``foreign`` are modules that came from the user's work tree, ``elsewhere``
    changed files whose module came from outside the tree, ``parts`` built or
    generated modules taken from the installed copy, ``pinned`` what was seeded,
    ``sentinels`` what the sentinels did wrong, ``prepared`` judge-side files that the
    build wrote, ``tampered`` those that
    differ after the run, ``patched`` parts of the test machinery that were replaced in it,
    ``dropped`` the options and variables that would have rewritten expectations, ``appeared``
    new files under the fixture paths, ``unwatched`` changed files whose lines could not be
    watched, ``unplayed`` how many interactions of a cassette no test asked for,
    ``openers`` which files of the tree opened a changed file that is no code.
    """

    complete: bool
    counts: dict[str, int] = {}
    reason: str = ""
    status: int = 0
    duration: float = 0.0
    foreign: dict[str, str] = {}
    elsewhere: dict[str, str] = {}
    parts: dict[str, str] = {}
    pinned: list[str] = []
    sentinels: str = ""
    tampered: list[str] = []
    prepared: list[str] = []
    patched: list[str] = []
    dropped: list[str] = []
    unwatched: list[str] = []
    appeared: list[str] = []
    unplayed: dict[str, int] = {}
    openers: dict[str, list[str]] = {}


Event = Header | Session | Collected | Start | End | Restart | Footer


class Test(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One test of a finished or broken-off run, from any record form."""

    nodeid: str
    outcome: Outcome
    seed: str = ""
    fixture_hash: str = ""
    message: str = ""
    exception: str = ""
    fingerprint: str = ""
    duration: float = 0.0
    fixtures: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    entropy: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    inputs: tuple[int, ...] = ()


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A shard of a run: its record, and the ids that it ran, in order."""

    source: str
    ids: tuple[str, ...]


_BY_ITSELF = ("the process ", "the session ", "the test runner stopped", "have no result", "never ended")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run as the classifier sees it.

    ``broken`` is empty for a complete record, otherwise it says where it broke;
    what came before still counts, but only as incomplete. ``tests`` keeps the
    order of the run; ``collected`` the ids that had to run. ``nonce`` tells two
    runs of one number apart where the record has something to tell them by. ``header`` is
    that of redbucket's own records. ``shards`` are the parts that ran by themselves, none where the run was one.
    """

    run_id: int
    source: str = ""
    world: str = ""
    condition: str = "plain"
    tree: str = ""
    seed: str = ""
    tests: dict[str, Test] = {}
    collected: tuple[str, ...] = ()
    errors: dict[str, str] = {}
    session: Session = Session()
    broken: str = ""
    foreign: dict[str, str] = {}
    elsewhere: dict[str, str] = {}
    parts: dict[str, str] = {}
    pinned: tuple[str, ...] = ()
    sentinels: str = ""
    tampered: tuple[str, ...] = ()
    prepared: tuple[str, ...] = ()
    patched: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()
    appeared: tuple[str, ...] = ()
    unplayed: dict[str, int] = {}
    openers: dict[str, list[str]] = {}
    duration: float = 0.0
    nonce: str = ""
    header: Header | None = None
    shards: tuple[Part, ...] = ()

    @property
    def cut(self) -> str:
        """Return ``broken`` without the record's path, for that is gone when a report is read."""
        return self.broken.removeprefix(f"{self.source}: ")

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the records that the run was read from."""
        return tuple(part.source for part in self.shards) or (self.source,)

    def beside(self, nodeid: str) -> tuple[str, ...]:
        """Return the tests that ran in the same process as ``nodeid``, itself included, in their order."""
        for part in self.shards:
            if nodeid in part.ids:
                return part.ids
        return tuple(self.tests)

    @property
    def ended_early(self) -> bool:
        """Return whether the process under test ended by itself before it was done: its own code can do that.

        What else breaks a run off comes from outside: a time budget, an interrupt, a changed interpreter.
        """
        return any(words in self.broken for words in _BY_ITSELF)
