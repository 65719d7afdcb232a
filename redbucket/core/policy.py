"""The policy: ``redbucket.toml`` at the base commit, as frozen values."""

from __future__ import annotations

from typing import Literal

import msgspec

Level = Literal["warn", "refuse"]

AGENT_BRANCHES = ("agent/*", "claude/*", "codex/*", "copilot/*", "cursor/*", "devin/*", "jules/*")


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the policy: an unknown key is an error, not a silence."""


class Gate(_Table):
    """``[gate]``"""

    protected_branches: tuple[str, ...] = ("main",)
    untrusted_green: Level = "warn"
    altered_tests: Level = "refuse"


class Identity(_Table):
    """``[identity]``"""

    agent_branches: tuple[str, ...] = AGENT_BRANCHES
    agent_authors: tuple[str, ...] = ()
    allowed_signers: str = ""


class Protect(_Table):
    """``[protect]``"""

    paths: tuple[str, ...] = ("redbucket.toml", "flakes.toml", "tests/properties/**")


class Judge(_Table):
    """``[judge]``"""

    tests: tuple[str, ...] = ("tests/**", "test/**", "**/test_*.py", "**/*_test.py")


class Fixtures(_Table):
    """``[fixtures]``"""

    paths: tuple[str, ...] = ("tests/data/**", "**/cassettes/**", "**/__snapshots__/**")
    manifests: tuple[str, ...] = ("fixtures.sha256",)


class Run(_Table):
    """``[run]``"""

    command: tuple[str, ...] = ("python", "-m", "pytest")
    prepare: tuple[tuple[str, ...], ...] = ()
    timeout: float = 60.0
    budget: float = 3600.0
    reruns: int = 3
    scope: Literal["all", "failed"] = "all"
    runner: str = "local"
    scout: bool = True
    env: dict[str, str] = {}


class Policy(_Table):
    """The whole file; absent tables and keys take the documented defaults."""

    gate: Gate = Gate()
    identity: Identity = Identity()
    protect: Protect = Protect()
    judge: Judge = Judge()
    fixtures: Fixtures = Fixtures()
    run: Run = Run()
