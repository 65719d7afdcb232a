"""The worked example: each branch under each runner, and the command that tells the story."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.app.demo import STORIES, Story, build
from tests.stories.kit import Told, redbucket, reported

BY_NAME = {story.name: story for story in STORIES}


def judged(tmp_path: Path, name: str, runner: str) -> tuple[Story, Told]:
    top = tmp_path / "bucketizer"
    top.mkdir()
    build(top, runner=runner)
    return BY_NAME[name], reported("gate", "-C", top, "--base", "main", "--head", f"agent/{name}")


def check(story: Story, told: Told) -> None:
    """What every branch has in common: the exit code, the bucket, and that nothing else is amiss."""
    assert told.exit_code == story.exit_code
    assert story.bucket in told.report["counts"]
    assert told.report["identity"]["agent"] is True
    assert told.err == ""
    clean = {story.bucket, "stable_pass"}
    assert set(told.report["counts"]) <= clean


def both(*names: str) -> pytest.MarkDecorator:
    """Each name with unittest; with pytest in the slow run."""
    cases = [pytest.param(name, "unittest", id=f"{name}-unittest") for name in names]
    cases += [pytest.param(n, "pytest", id=f"{n}-pytest", marks=pytest.mark.slow) for n in names]
    return pytest.mark.parametrize(("name", "runner"), cases)


@both("miss")
def test_a_broken_invariant(tmp_path: Path, name: str, runner: str) -> None:
    story, told = judged(tmp_path, name, runner)
    check(story, told)
    row = told.row("test_value_on_an_edge")
    assert (row["bucket"], row["introduced"], row["blocks"]) == ("invariant_miss", True, True)
    assert row["outcomes"]["H"] == ["failed"] * 3
    assert set(row["outcomes"]["B"]) == {"passed"}
    assert row["cause"] is None
    assert 0 < row["doubt"] < 0.01
    assert "property" in row["spend"]
    assert told.report["counts"]["invariant_miss"] == 1


@both("drift")
def test_a_drifted_fixture(tmp_path: Path, name: str, runner: str) -> None:
    story, told = judged(tmp_path, name, runner)
    check(story, told)
    row = told.row("test_recorded_edges_length")
    assert (row["bucket"], row["introduced"], row["blocks"]) == ("fixture_drift", True, True)
    assert row["fixtures"] == ["tests/data/edges.json"]
    assert row["outcomes"]["H"] == ["passed"] * 3
    assert set(row["outcomes"]["F"]) == {"failed"}
    # it reads the same file, and is content with the new bytes
    assert told.row("test_recorded_edges_are_sorted")["bucket"] == "stable_pass"


@pytest.mark.slow  # thirty pairs of runs; the story of the order is noise in every run of the tests
@both("race")
def test_noise_by_a_race(tmp_path: Path, name: str, runner: str) -> None:
    story, told = judged(tmp_path, name, runner)
    assert told.exit_code == story.exit_code
    noisy = [row for row in told.report["tests"] if row["bucket"] == "noise"]
    assert noisy
    assert all("test_counts_" in row["nodeid"] for row in noisy)
    assert all("capture" in row["spend"] for row in noisy)
    assert any(row["introduced"] is True and row["blocks"] for row in noisy)


@both("unseeded")
def test_a_seed_that_goes_missing(tmp_path: Path, name: str, runner: str) -> None:
    story, told = judged(tmp_path, name, runner)
    assert told.exit_code == story.exit_code
    assert set(told.report["counts"]) == {"unclassified"}
    assert all("TEST_SEED" in row["spend"] for row in told.report["tests"])
    assert told.report["verdict"] == "undecided"


@both("own-tests")
def test_green_that_rests_on_the_patchs_own_tests(tmp_path: Path, name: str, runner: str) -> None:
    story, told = judged(tmp_path, name, runner)
    check(story, told)
    row = told.row("test_label")
    assert (row["bucket"], row["spend"], row["blocks"]) == ("untrusted", "ignored for merge", False)
    assert told.report["untrusted_green"] is True
    assert [f["severity"] for f in told.findings("untrusted-green")] == ["warn"]


@pytest.mark.slow  # thirty pairs; the tutorial and the engine's tests have it, too
@both("order")
def test_a_test_that_depends_on_its_order(tmp_path: Path, name: str, runner: str) -> None:
    story, told = judged(tmp_path, name, runner)
    check(story, told)
    row = told.row("test_starts_empty")
    assert (row["bucket"], row["cause"], row["introduced"]) == ("noise", "order", True)
    assert set(row["outcomes"]["H alone"]) == {"passed"}
    assert row["outcomes"]["H"] == ["failed"] * 3


@both("green")
def test_green(tmp_path: Path, name: str, runner: str) -> None:
    story, told = judged(tmp_path, name, runner)
    check(story, told)
    assert told.report["counts"] == {"stable_pass": 9}
    assert told.report["findings"] == told.report["undecided"] == []
    assert told.report["untrusted_green"] is False


def test_the_branches_are_those_that_are_tested() -> None:
    assert set(BY_NAME) == {"miss", "drift", "race", "unseeded", "own-tests", "order", "green"}


def test_the_command_tells_one_story(tmp_path: Path) -> None:
    ended = redbucket("demo", "--only", "green", "--keep", tmp_path / "kept")
    assert ended.exit_code == 0
    assert ended.err == ""
    assert 'agent/green: "Write the search by hand"' in ended.out
    assert "verdict: accept, exit 0" in ended.out
    assert "9 stable_pass" in ended.out
    assert (tmp_path / "kept" / "bucketizer" / ".git").is_dir()
    again = redbucket("demo", "--only", "green", "--keep", tmp_path / "kept")
    assert (again.exit_code, again.errors) == (3, ["folder-exists"])


def test_the_command_knows_its_branches() -> None:
    ended = redbucket("demo", "--only", "nothing")
    assert (ended.exit_code, ended.errors) == (3, ["unknown-demo"])
    assert "own-tests" in ended.err


@pytest.mark.slow
def test_the_command_tells_all_stories_as_they_come_out() -> None:
    ended = redbucket("demo")
    assert ended.exit_code == 0, ended.err
    assert [line for line in ended.out.splitlines() if line.startswith("agent/")] == [
        f'agent/{story.name}: "{story.subject}"' for story in STORIES
    ]
