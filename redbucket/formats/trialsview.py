"""The experiments on one test as a picture that is a table: a row for each, head and base side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redbucket.core.experiments import Experiment, Tries
from redbucket.core.plural import plural
from redbucket.formats.clean import line

_MOST = 60  # rows of one test; the rest are summed up by what they change
_MOST_SAID = 12  # of each kind in a text
# What the gate's conditions that change nothing are, for who has not read the source.
_NAMES = {
    "plain": "as it is",
    "as it is": "as it is, in between",
    "again": "as it is, without the other tests",
    "subset": "as it is, without the other tests",
    "absent": "as it is, what the patch skips",
    "scout": "other seeds and order, a used HOME",
    "scout first": "a fresh HOME",
    "scout used HOME": "a used HOME",
    "scout seed": "another seed",
    "scout hash-seed": "another hash seed",
    "scout shuffled": "another order",
    "other-fixtures": "the other side's bytes of the fixtures",
}


def trials(
    experiments: Sequence[Experiment], cause: str | None, *, head: str = "patch"
) -> dict[str, Any] | None:
    """Return what the picture shows, None where there is nothing; every text is harmless, nothing is marked up."""
    if not experiments:
        return None
    based = any(one.base is not None for one in experiments)
    sure = frozenset(one.changes for one in experiments if one.confirmed)
    ranked = sorted(experiments, key=lambda one: _rank(one, sure))
    return {
        "sides": [head, "base"] if based else [head],
        "rows": [_row(one, cause, based=based) for one in ranked[:_MOST]],
        "left": plural(len(ranked) - _MOST, "more experiment") if len(ranked) > _MOST else "",
    }


def in_words(experiments: Sequence[Experiment], *, all_of_them: bool) -> list[tuple[str, list[str]]]:
    """Return the experiments as (what they did, each in words), for a report of text; every text is harmless.

    What flipped the test, and what its cause rests on, has its counts; what did not is named where ``all_of_them`` is
    asked for.
    """
    # of a test that is mixed all by itself no condition is said to do it
    flipped = "flipped by" if any(one.confirmed for one in experiments) else "another outcome with"
    said: dict[str, list[str]] = {"confirmed by": [], flipped: [], "seen with": [], "not flipped by": []}
    for one in sorted(experiments, key=lambda one: _rank(one, frozenset())):
        name = line(_NAMES.get(one.condition, one.condition))
        if one.confirmed:
            said["confirmed by"].append(_counted(name, one))
        elif one.flipped:
            said[flipped].append(_counted(name, one))
        elif one.changes and all_of_them:
            told = one.flipped is None  # of a test that is mixed by itself, or beside what is confirmed
            said["seen with" if told else "not flipped by"].append(_counted(name, one) if told else name)
    return [(label, _first(each)) for label, each in said.items() if each]


def _counted(name: str, one: Experiment) -> str:
    sides = [("", one.head), ("in base ", one.base)]
    counts = [f"{side}{tries.failed:,} of {tries.runs:,}" for side, tries in sides if tries and tries.runs]
    return f"{name} (failed {', '.join(counts)})" if counts else name


def _first(each: list[str]) -> list[str]:
    left = len(each) - _MOST_SAID
    return [*each[:_MOST_SAID], f"and {plural(left, 'more experiment')}"] if left > 0 else each


def _rank(one: Experiment, sure: frozenset[str]) -> int:
    """First what is seen without any change, then what the cause rests on and is compared with, then what flips."""
    if not one.changes:
        return 0
    if one.confirmed:
        return 1
    if one.flipped is None and one.changes in sure:
        return 2
    return 3 if one.flipped else 4


def _row(one: Experiment, cause: str | None, *, based: bool) -> dict[str, Any]:
    return {
        "condition": line(_NAMES.get(one.condition, one.condition)),
        "changes": line(one.changes) or "nothing",
        "cells": [_cell(one.head), *([_cell(one.base)] if based else [])],
        "says": _says(one, cause),
        "tone": "confirmed" if one.confirmed else "",
    }


def _cell(tries: Tries | None) -> dict[str, Any]:
    """Return the counts in words, and the share of failures in hundredths; None where it was not run."""
    if tries is None or not tries.runs:
        return {"says": "not run", "share": None}
    return {
        "says": f"failed {tries.failed:,} of {tries.runs:,}",
        "share": round(100 * tries.failed / tries.runs, 1),
    }


def _says(one: Experiment, cause: str | None) -> str:
    if one.confirmed:
        return f"confirmed: {line(cause)}" if cause else "confirmed"
    if one.flipped is None:
        return ""
    return "flipped" if one.flipped else "no flip"
