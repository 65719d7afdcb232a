"""Which test answers which kind of attack, and which row of what git runs: checked by test_catalogue.py.

A test is FILE::FUNCTION, or FILE::FUNCTION[CASE] where CASE is one of the names that the file gives its cases.
``docs/numbers.md`` has the first table in its words: REDBUCKET_REGENERATE=1 writes it.
"""

from __future__ import annotations

from typing import NamedTuple

_ALTERED = "tests/guards/test_altered_test.py::test_attacks_are_refused"
_RUNNER = "tests/guards/test_runner_tamper.py::test_attacks_are_refused"
_EVASION = "tests/guards/test_gate_evasion.py::test_refused"
_TOLD = "tests/guards/test_gate_evasion.py::test_told_but_not_refused"
_PROTECTED = "tests/guards/test_protected_path.py::test_every_kind_of_change_is_refused"
_FILES = "tests/guards/test_protected_path.py::test_every_kind_of_file_is_protected"
_TRAP = "tests/guards/test_git_trap.py::test_attacks_are_refused"
_STOPPED = "tests/stories/test_attacks.py::test_an_attack_is_stopped_by_what_is_there_for_its_kind"
_HOOKS = "tests/stories/test_hooks.py"
_NATIVE = "tests/stories/test_native_hooks.py"
_MOVES = f"{_NATIVE}::test_every_way_to_move_a_protected_branch_is_judged"
_UNSEEN = f"{_HOOKS}::test_where_git_runs_no_hook_of_pre_commits"
_ORDER = "tests/stories/test_catalogue.py"


class Kind(NamedTuple):
    """One kind of attack, in a few words, and the tests that answer it."""

    what: str
    tests: tuple[str, ...]


ATTACKS: dict[str, Kind] = {
    "A1": Kind("a test or its file deleted", (f"{_ALTERED}[deleted test]", f"{_ALTERED}[deleted file]")),
    "A2": Kind(
        "skip or xfail added",
        (f"{_ALTERED}[skipped]", "tests/guards/test_flake_expiry.py::test_an_agent_switches_no_test_off"),
    ),
    "A3": Kind(
        "an assertion or a tolerance loosened",
        (f"{_ALTERED}[loosened]", "tests/core/test_alteration.py::test_weakenings"),
    ),
    "A4": Kind(
        "the expected value moved to what the code gives",
        (
            "tests/stories/test_trust.py::test_an_agent_bends_a_test_and_bases_version_decides",
            "tests/guards/test_fixture_checksum.py::test_a_changed_fixture_is_refused_from_anybody",
            "tests/stories/test_written.py::test_a_recording_that_appears_in_the_run",
        ),
    ),
    "A5": Kind(
        "fewer rows, fewer examples",
        (
            "tests/core/test_alteration.py::test_weakenings",
            "tests/stories/test_outcomes.py::test_a_vanished_parameter",
            "tests/guards/test_one_example.py::test_a_property_that_becomes_an_example_is_refused_without_a_miss",
        ),
    ),
    "A6": Kind(
        "renamed out of collection, or hidden by a second definition",
        (
            f"{_ALTERED}[moved away]",
            "tests/core/test_untrusted.py::test_second_definition_alters_the_first",
            "tests/engine/test_judge.py::test_a_test_that_is_gone_is_refused",
        ),
    ),
    "A7": Kind(
        "the subject replaced", (f"{_ALTERED}[patch at import of a new test]", f"{_ALTERED}[helper shadowed]")
    ),
    "A8": Kind(
        "empty or padded new tests",
        (
            "tests/stories/test_trust.py::test_untrusted_green",
            "tests/guards/test_one_example.py::test_a_literal_answer_is_refused_whoever_wrote_it",
        ),
    ),
    "A9": Kind(
        "a helper, a fixture or a conftest changed",
        (f"{_ALTERED}[helper emptied]", f"{_ALTERED}[autouse fixture]", f"{_ALTERED}[new conftest below]"),
    ),
    "A10": Kind(
        "skipped only where the gate runs",
        (
            "tests/engine/test_judge.py::test_a_test_that_did_its_work_in_base_and_is_skipped_now_counts_as_failed",
            "tests/stories/test_outcomes.py::test_a_test_that_the_product_switches_off",
        ),
    ),
    "A11": Kind(
        "a command that can't fail, retries until it passes",
        (
            f"{_FILES}",
            "tests/recorder/test_options.py::test_retries_of_other_plugins",
        ),
    ),
    "B1": Kind(
        "a conftest that rewrites reports",
        (
            f"{_ALTERED}[new conftest below]",
            "tests/recorder/test_hostile.py::test_a_conftest_that_rewrites_reports_is_seen_in_its_folder",
        ),
    ),
    "B2": Kind("a plugin", (f"{_RUNNER}[pytest_plugins]", f"{_RUNNER}[entry point]", f"{_RUNNER}[.env]")),
    "B3": Kind(
        "the runner's configuration",
        (f"{_RUNNER}[addopts]", f"{_RUNNER}[pytest.ini]", f"{_RUNNER}[settings gone]"),
    ),
    "B4": Kind(
        "start-up files, and names that hide others",
        (
            f"{_RUNNER}[sitecustomize]",
            f"{_RUNNER}[.pth]",
            f"{_RUNNER}[pytest.py]",
            f"{_RUNNER}[standard library]",
        ),
    ),
    "B5": Kind("the tools of the tree", (f"{_ORDER}::test_the_tools_of_the_patch_are_not_used",)),
    "B6": Kind(
        "another pytest by a lock or a build",
        (f"{_RUNNER}[fork]", f"{_RUNNER}[uv lock, bytes]", f"{_RUNNER}[back end's code]"),
    ),
    "B7": Kind("strict settings lowered", (f"{_RUNNER}[coverage changed]", f"{_RUNNER}[a marker taken]")),
    "C1": Kind(
        "the process ended early",
        (
            f"{_EVASION}[exit at import]",
            f"{_EVASION}[pytest.exit]",
            "tests/recorder/test_crashes.py::test_a_session_that_ends_before_collection_is_incomplete",
        ),
    ),
    "C2": Kind(
        "product code that skips",
        (
            f"{_EVASION}[raise SkipTest]",
            "tests/stories/test_outcomes.py::test_a_test_that_the_product_switches_off",
        ),
    ),
    "C3": Kind(
        "always-equal objects",
        (f"{_EVASION}[always equal]", f"{_EVASION}[never unequal]", f"{_STOPPED}[nearly-equal]"),
    ),
    "C4": Kind(
        "the framework patched",
        (
            f"{_EVASION}[patch the report]",
            "tests/recorder/test_hostile.py::test_product_code_that_patches_the_framework",
            f"{_STOPPED}[meta-path-finder]",
        ),
    ),
    "C5": Kind(
        "answers by heart",
        (f"{_EVASION}[caller]", f"{_TOLD}[by heart, dict]", f"{_TOLD}[caller's variables]"),
    ),
    "C6": Kind(
        "a branch on being tested", (f"{_EVASION}[answer by variable]", f"{_EVASION}[answer by module]")
    ),
    "C7": Kind(
        "a branch on being judged", (f"{_EVASION}[gate's own variables]", f"{_STOPPED}[environment-seed]")
    ),
    "C8": Kind(
        "behaviour by the count of runs",
        (
            "tests/engine/test_judge.py::test_the_scout_finds_what_fails_at_the_second_start",
            "tests/engine/test_judge.py::test_noise_that_only_head_shows_is_introduced",
        ),
    ),
    "C9": Kind(
        "clocks and seeds patched",
        (
            f"{_TOLD}[clock]",
            "tests/recorder/test_hostile.py::test_what_is_patched_is_not_what_the_recorder_uses",
        ),
    ),
    "C10": Kind("printed results", ("tests/recorder/test_hostile.py::test_a_forged_line_breaks_the_record",)),
    "C11": Kind(
        "something left for later runs",
        (
            "tests/edges/test_orphans.py::test_a_daemon_is_ended_and_other_children_live",
            "tests/recorder/test_crashes.py::test_daemon_that_keeps_the_pipes",
            f"{_STOPPED}[own-tests-rewritten-and-put-back]",
        ),
    ),
    "C12": Kind(
        "answers looked up in the history",
        (
            "tests/edges/test_trees.py::test_names_that_no_checkout_can_hold",
            "tests/edges/test_trees.py::test_modes_links_and_submodules",
        ),
    ),
    "D1": Kind(
        "a link for a file or its folder",
        (f"{_TRAP}[link for a test]", f"{_TRAP}[link for a folder]", f"{_PROTECTED}[a link]"),
    ),
    "D2": Kind("a rename past the rules", (f"{_PROTECTED}[renamed]", f"{_ALTERED}[moved away]")),
    "D3": Kind("names that differ in case", (f"{_TRAP}[case of a test]", f"{_PROTECTED}[another case]")),
    "D4": Kind(
        "look-alike and invisible names",
        (f"{_TRAP}[look-alike]", f"{_TRAP}[bidi name]", f"{_TRAP}[decomposed test]"),
    ),
    "D5": Kind(
        "attributes",
        (
            f"{_TRAP}[-diff]",
            f"{_TRAP}[archive, files]",
            f"{_TRAP}[filter]",
            "tests/edges/test_trees.py::test_no_attribute_and_no_config_changes_a_byte",
        ),
    ),
    "D6": Kind(
        "submodules",
        (f"{_TRAP}[submodule for a folder]", f"{_TRAP}[submodule's command]", f"{_PROTECTED}[a submodule]"),
    ),
    "D7": Kind(
        "an evil merge",
        (
            "tests/guards/test_git_trap.py::test_an_evil_merge_of_a_test_is_refused",
            "tests/stories/test_trust.py::test_what_is_put_into_the_merge_itself_is_judged",
        ),
    ),
    "D8": Kind(
        "replace refs, grafts, shallow clones",
        (
            "tests/edges/test_git.py::test_replace_refs_and_grafts_are_ignored",
            "tests/guards/test_git_trap.py::test_replace_refs_and_grafts_are_told",
            "tests/stories/test_bad_input.py::test_a_shallow_clone",
        ),
    ),
    "D9": Kind("files that git does not show", (f"{_ORDER}::test_what_status_hides_is_not_what_is_judged",)),
    "D10": Kind(
        "hooks moved or edited, git's own variables",
        (
            "tests/stories/test_doctor.py::test_dead_hooks_are_found",
            f"{_NATIVE}::test_the_effective_folder_is_used_and_named",
            "tests/edges/test_git.py::test_git_variables_of_a_hook_do_not_lead_astray",
        ),
    ),
    "D11": Kind(
        "--no-verify",
        (f"{_MOVES}[merge --no-verify]", "tests/stories/test_doctor.py::test_what_an_attempt_shows"),
    ),
    "D12": Kind(
        "ways past pre-merge-commit",
        (
            *(f"{_MOVES}[{way}]" for way in ("fast-forward", "rebase", "cherry-pick", "am")),
            f"{_HOOKS}::test_no_commit_and_commit",
            f"{_HOOKS}::test_a_merge_that_was_refused_and_is_committed",
        ),
    ),
    "D13": Kind(
        "several refs in one push",
        (
            f"{_NATIVE}::test_every_pushed_ref_is_judged_not_only_the_first",
            f"{_HOOKS}::test_a_push_of_several_refs_through_a_script",
        ),
    ),
    "D14": Kind(
        "hidden and put back, squashed",
        (
            "tests/guards/test_protected_path.py::test_put_back_within_the_range_is_a_note",
            "tests/stories/test_squash.py::test_an_agents_branch_is_an_agents_when_it_is_squashed",
        ),
    ),
    "E1": Kind(
        "the policy and what else judges",
        (
            f"{_PROTECTED}[changed]",
            f"{_FILES}",
            "tests/stories/test_trust.py::test_the_policy_of_the_patch_does_not_count",
        ),
    ),
    "E2": Kind(
        "fixture and lock together",
        ("tests/guards/test_fixture_checksum.py::test_an_agent_moves_lock_and_fixture_together",),
    ),
    "E3": Kind(
        "freezes stretched",
        (
            "tests/guards/test_flake_expiry.py::test_an_agent_stretches_nothing_and_hears_it_once",
            "tests/stories/test_flakes.py::test_a_freeze_that_comes_with_the_patch_excuses_nothing",
        ),
    ),
    "E4": Kind(
        "workflows, words that silence CI",
        (
            f"{_PROTECTED}[a new workflow]",
            "tests/guards/test_runner_tamper.py::test_words_that_silence_ci_are_told",
        ),
    ),
    "E5": Kind(
        "settings of the agents",
        (f"{_FILES}", "tests/stories/test_agent_hook.py::test_an_edit_of_a_protected_file_is_refused"),
    ),
    "E6": Kind(
        "another base first", (f"{_ORDER}::test_a_policy_that_a_side_base_brings_is_part_of_the_patch",)
    ),
    "E7": Kind(
        "a push after the verdict", (f"{_ORDER}::test_what_lands_is_judged_not_what_was_judged_before",)
    ),
    "E8": Kind("words to a reviewer", (f"{_ORDER}::test_words_to_a_reviewer_change_nothing",)),
    "E9": Kind(
        "reruns of which only the good one is shown",
        (
            "tests/stories/test_records.py::test_fewer_records_than_asked",
            "tests/stories/test_records.py::test_a_record_given_twice_counts_once",
            "tests/core/test_classification.py::test_a_failure_is_never_a_stable_pass",
        ),
    ),
    "E10": Kind(
        "identity spoofed or stripped",
        (
            "tests/core/test_identity.py::test_with_signers_an_unsigned_commit_is_an_agents",
            "tests/core/test_identity.py::test_parallel_branches_can_not_hide_the_agent",
            "tests/stories/test_endorse.py::test_signed_is_a_humans_and_unsigned_an_agents",
        ),
    ),
}

# What git does, which hook of pre-commit it runs, and the tests that try it with the real pre-commit, or natively.
HOOK_ROWS: dict[str, tuple[str, ...]] = {
    "merge with a commit": (
        f"{_HOOKS}::test_a_clean_merge",
        f"{_HOOKS}::test_a_merge_that_breaks_an_invariant",
    ),
    "pull": (f"{_HOOKS}::test_a_pull", f"{_MOVES}[pull]"),
    "octopus": (f"{_HOOKS}::test_an_octopus",),
    "fast-forward": (f"{_UNSEEN}[fast-forward]", f"{_MOVES}[fast-forward]"),
    "--no-verify": (f"{_UNSEEN}[no verify]", f"{_MOVES}[merge --no-verify]"),
    "cherry-pick": (f"{_UNSEEN}[cherry-pick]", f"{_MOVES}[cherry-pick]"),
    "rebase": (f"{_UNSEEN}[rebase]", f"{_MOVES}[rebase]"),
    "revert": (f"{_UNSEEN}[revert]",),
    "am": (f"{_UNSEEN}[am]", f"{_MOVES}[am]"),
    "squash and commit": (f"{_HOOKS}::test_squash_and_commit",),
    "--no-commit and commit": (f"{_HOOKS}::test_no_commit_and_commit",),
    "conflict and commit": (
        f"{_HOOKS}::test_a_conflict_that_is_resolved_and_committed",
        f"{_NATIVE}::test_a_conflict_resolved_by_hand_is_judged_as_resolved",
    ),
    "refused, then committed": (f"{_HOOKS}::test_a_merge_that_was_refused_and_is_committed",),
}
