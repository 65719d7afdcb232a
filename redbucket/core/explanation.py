"""What ``redbucket explain`` found: schema ``redbucket.explain/1``."""

from __future__ import annotations

import msgspec

from redbucket.core.experiments import Experiment

SCHEMA = "redbucket.explain/1"


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """``cause`` is None where nothing was confirmed. ``tests`` are those that the cause names (a polluter,
    a helper), ``state`` what they leave behind. ``tried`` did not flip it, ``untried`` was not run.

    ``sites`` are the lines that touched entropy, as "path:line what". ``suite_seconds`` is what one run of the
    suite took, ``seconds`` what all of this took. ``experiments`` count all of its runs.
    """

    schema: str = SCHEMA
    nodeid: str
    exit_code: int
    cause: str | None = None
    what: str = ""
    tests: list[str] = []
    state: list[str] = []
    evidence: list[str] = []
    commands: list[str] = []
    tried: list[str] = []
    untried: list[str] = []
    fix: str = ""
    outcomes: dict[str, list[str]] = {}
    experiments: list[Experiment] = []
    touched: list[str] = []
    sites: list[str] = []
    message: str = ""
    base: list[str] = []
    notes: list[str] = []
    capture: str | None = None
    tree: str = ""
    seed: str = ""
    suite_seconds: float = 0.0
    seconds: float = 0.0
