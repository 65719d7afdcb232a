"""Whether a report can be counted on: it is held against how the command that wrote it ended."""

from __future__ import annotations

import signal
from collections.abc import Iterable

from redbucket.core.classification import FAILING
from redbucket.core.records import Outcome

# A shell says 128 + N for a program that signal N ended.
_BY_SIGNAL = 128
# Stands between why a run can't be counted on and what its command printed.
PRINTED = "; it printed"


def contradiction(status: int, outcomes: Iterable[Outcome]) -> str:
    """Return why report and exit status can't both be believed, "" if they can.

    A failure in the report stands whatever the status is: some commands are told to end with 0. A command
    that a signal ended did not finish its report, and one that ended red knows of a failure that the report
    does not have.
    """
    if status < 0 or status > _BY_SIGNAL:
        return f"the command ended with {ending(status)}, so its report may lack tests"
    if status and not any(outcome in FAILING for outcome in outcomes):
        return f"the command ended with {ending(status)}, and its report shows no failure"
    return ""


def ending(status: int) -> str:
    """Return a status in words: a signal's name, or the number."""
    number = -status if status < 0 else status - _BY_SIGNAL
    try:
        return signal.Signals(number).name if status < 0 or status > _BY_SIGNAL else f"exit status {status}"
    except ValueError:
        return f"exit status {status}"
