"""What an experiment changes besides tree, seeds and order. The defaults change nothing."""

from __future__ import annotations

from typing import Any

import msgspec

# What the parent sees to; everything else is done by the recorder, inside the process.
_PARENT = frozenset({"env", "empty_home", "load"})


class Conditions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Diagnostic conditions of one run.

    ``env`` replaces variables of the run's environment; ``clock`` is the instant (seconds since
    1970) that the clock shows as each test starts, from where it goes on; ``entropy`` makes the
    system's entropy as Python sees it (``os.urandom``, ``uuid4``, ``secrets``, an unseeded ``Random``) repeat;
    ``switch_interval`` is in seconds; ``load`` a number of busy processes beside the run; ``twice``
    runs each test once before the run that counts, in the same process; ``state`` records what each test leaves
    changed, and ``restore`` puts those pieces of state back after each test; ``sites`` records the lines
    that touch entropy; ``late_children`` delays each child process by so many seconds. ``listing`` sorts the
    entries of folders "ascending" or "descending"; ``inputs`` counts the
    distinct inputs that tests try, given the asserting lines of their files.
    """

    env: dict[str, str] = {}
    umask: int | None = None
    clock: float | None = None
    entropy: str = ""
    switch_interval: float | None = None
    no_network: bool = False
    load: int = 0
    twice: bool = False
    empty_home: bool = False
    state: bool = False
    restore: tuple[str, ...] = ()
    sites: bool = False
    late_children: float = 0.0
    listing: str = ""
    inputs: dict[str, list[int]] = {}

    def for_recorder(self) -> dict[str, Any]:
        """Return the settings that the recorder gets, {} for an ordinary run."""
        changed: dict[str, Any] = msgspec.to_builtins(self)
        return {key: value for key, value in changed.items() if key not in _PARENT}


PLAIN = Conditions()
