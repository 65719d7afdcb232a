"""The commands of an explanation: each side of a cause with what the runs of that side had."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from redbucket.core.startwords import StartWords
from redbucket.engine.explained import Shell, busy_note, explained
from tests.engine.test_explain import X, explain

SHELL = Shell(StartWords("pytest"), "c0ffee" * 7)
RERUN = f'redbucket rerun -n 1 --rev c0ffeec0ffee --out "$(mktemp -d)" -- python -m pytest {X}'
PYTEST = f"python -m pytest {X}"


def told(rule, shell: Shell = SHELL, capture: str | None = None):  # type: ignore[no-untyped-def]
    work, found = explain(rule)
    return explained(work, found, tree="tree", shell=shell, base=[], capture=capture)


def test_both_sides_of_a_hash_order_have_their_seed() -> None:
    seeds: list[str] = []

    def rule(spec, before):  # type: ignore[no-untyped-def]
        if spec.hash_seed and not seeds:
            seeds.append(spec.hash_seed)
        return spec.hash_seed in seeds

    report = told(rule)
    assert report.cause == "hash order"
    assert report.commands == [f"PYTHONHASHSEED=7 {PYTEST}", f"PYTHONHASHSEED={seeds[0]} {PYTEST}"]
    assert "with PYTHONHASHSEED=7: it passes 3 of 3, in between" in report.evidence


def test_a_random_seed_is_shown_by_what_pins_it() -> None:
    report = told(lambda spec, before: spec.seed != "7")
    assert report.cause == "random seed"
    plain, other = report.commands
    assert plain == f"TEST_SEED=7 {RERUN}"
    assert other.startswith("TEST_SEED=") and other.endswith(RERUN) and other != plain
    # the tree that a gate makes is no commit, so no rerun shows it
    assert told(lambda spec, before: spec.seed != "7", Shell(StartWords("pytest"))).commands == []


@pytest.mark.parametrize(
    ("name", "plain", "other"),
    [
        ("TZ", f"TZ=UTC {PYTEST}", f"TZ=Pacific/Auckland {PYTEST}"),
        ("COLUMNS", f"env -u COLUMNS {PYTEST}", f"COLUMNS=40 {PYTEST}"),
        (
            "LANG",
            f'LANG="${{LANG:-C.UTF-8}}" {PYTEST}',
            f"LC_ALL=C LANG=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {PYTEST}",
        ),
    ],
)
def test_both_sides_of_a_variable(name: str, plain: str, other: str) -> None:
    assert told(lambda spec, before: name in spec.conditions.env).commands == [plain, other]


def test_both_sides_of_the_umask_and_of_home() -> None:
    assert told(lambda spec, before: spec.conditions.umask == 0o77).commands == [
        PYTEST,
        f"(umask 077; {PYTEST})",
    ]
    plain, other = told(lambda spec, before: spec.conditions.empty_home).commands
    assert other == f'HOME="$(mktemp -d)" {PYTEST}'
    assert plain.startswith("(export HOME=") and plain.endswith(f"; {PYTEST})")


def test_the_commands_for_home_give_one_with_and_one_without_a_git_identity(tmp_path: Path) -> None:
    """The shell itself runs them, with a look at HOME in the place of the test."""
    look = f"{sys.executable} -c \"import os; print(sorted(os.listdir(os.environ['HOME'])))\""
    seen = [
        subprocess.run(
            ["sh", "-c", command.replace(PYTEST, look)],
            env={"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for command in told(lambda spec, before: spec.conditions.empty_home).commands
    ]
    assert seen == ["['.gitconfig']", "[]"]


def test_what_no_shell_shows_is_said() -> None:
    report = told(lambda spec, before: spec.conditions.listing == "descending")
    assert report.cause == "directory order"
    assert report.commands == []
    assert any("--captures DIR" in note for note in report.notes)
    again = told(lambda spec, before: spec.conditions.listing == "descending", capture="runs/x.json")
    assert (again.commands, again.notes) == (["redbucket replay runs/x.json"], [])


def test_variables_that_the_policy_sets_are_named() -> None:
    rules = Shell(StartWords("pytest"), "c0ffee" * 7, ("DJANGO_SETTINGS_MODULE",))
    report = told(lambda spec, before: "TZ" in spec.conditions.env, rules)
    assert any("DJANGO_SETTINGS_MODULE" in note for note in report.notes)


@pytest.mark.parametrize(
    ("load", "cpus", "says"), [(0.3, 2, False), (2.9, 2, False), (3.1, 2, True), (3.1, 8, False)]
)
def test_a_busy_machine_is_said(load: float, cpus: int, says: bool) -> None:
    assert (f"load {load}" in busy_note(load, cpus)) == says
    assert bool(busy_note(load, cpus)) == says


def test_commands_for_another_commit_than_is_checked_out_say_so() -> None:
    away = Shell(StartWords("pytest"), "c0ffee" * 7, elsewhere="c0ffee" * 7)
    report = told(lambda spec, before: "TZ" in spec.conditions.env, away)
    assert any("git switch --detach c0ffeec0ffee" in note for note in report.notes)
    # a rerun names its commit by itself, a replay has it in its capture
    for rule in (lambda spec, before: spec.conditions.listing == "descending",):
        assert not any("git switch" in note for note in told(rule, away, capture="runs/x.json").notes)


@pytest.mark.parametrize(
    ("message", "says"), [("OSError: [Errno 98] Address already in use", True), ("assert 0", False)]
)
def test_a_port_that_all_runs_share_is_said_of_what_is_mixed(message: str, says: bool) -> None:
    turn = itertools.count()
    work, found = explain(lambda spec, before: next(turn) % 3 == 0)
    work.message = message
    report = explained(work, found, tree="tree", shell=SHELL, base=[], capture=None)
    assert found is None
    assert any("port 0" in note for note in report.notes) == says
