"""Which test answers which kind of attack, trap of recordings, and row of what git runs: see test_catalogue.py.

A test is FILE::FUNCTION, or FILE::FUNCTION[CASE] where CASE is one of the names that the file gives its cases.
``docs/numbers.md`` has the first two in its words: REDBUCKET_REGENERATE=1 writes them.
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


_LOCK = "tests/stories/test_fixtures.py"
_SUM = "tests/guards/test_fixture_checksum.py"
_DRIFT = "tests/core/test_drift.py"
_WRITTEN = "tests/stories/test_written.py"
_TRAPS = "tests/stories/test_fixture_traps.py"


class Kind(NamedTuple):
    """One kind of attack, or of what goes wrong, in a few words, and the tests that answer it."""

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

# {public threads that tell of it: what went wrong}
TRAPS: dict[str, Kind] = {
    "actions/runner-images#32": Kind(
        "a lock that was checked out with CRLF", (f"{_LOCK}::test_a_lock_that_was_checked_out_with_crlf",)
    ),
    "openai/openai-agents-js#1721, apache/lucene#12961": Kind(
        "a clean checkout with other line ends fails its checksums",
        (f"{_LOCK}::test_a_checkout_with_other_line_ends_is_said_and_passes",),
    ),
    "treeverse/dvc#4658": Kind(
        "a hash that ignores CRLF sees no change",
        (f"{_LOCK}::test_a_blob_with_other_line_ends_is_refused", f"{_SUM}::test_a_lone_cr_is_content"),
    ),
    "treeverse/dvc#9580": Kind(
        "a new rule of hashing makes old data modified",
        ("tests/core/test_checksums.py::test_it_is_sorted_by_bytes_with_a_header_that_says_the_rule",),
    ),
    "microsoft/apm#1959, DataDog/integrations-core#7344": Kind(
        "line ends folded, on one platform alone", (f"{_SUM}::test_only_line_ends",)
    ),
    "propeller-heads/fynd#291": Kind(
        "one job got the pointers of LFS", (f"{_LOCK}::test_pointers_and_their_content",)
    ),
    "TracqiTechnology/MxT#112": Kind(
        "pointers taken for other bytes",
        (
            f"{_SUM}::test_an_lfs_pointer_is_compared_with_the_lock_without_a_download",
            f"{_SUM}::test_a_pointer_that_no_filter_replaces_is_not_the_locked_bytes",
        ),
    ),
    "git-lfs/git-lfs#4688, #4697": Kind(
        "plain files and links called broken pointers",
        (
            f"{_TRAPS}::test_plain_files_and_links_beside_lfs_pointers",
            f"{_TRAPS}::test_the_gate_names_only_pointers_that_lfs_filters",
        ),
    ),
    "datalad/datalad#1860": Kind(
        "content that is not here is a text file",
        (f"{_SUM}::test_what_git_annex_leaves_is_not_materialised",),
    ),
    "datalad/datalad#7137": Kind(
        "written through a link",
        (
            f"{_SUM}::test_a_link_in_the_place_of_a_fixture_or_of_its_folder",
            f"{_SUM}::test_an_unlisted_link_is_refused",
        ),
    ),
    "alire-project/alire#212": Kind(
        "a link that a checkout makes a text file",
        ("tests/stories/test_fixture_places.py::test_links_that_git_tracks",),
    ),
    "autobrr/mkbrr#182": Kind(
        "two names that are one on another machine",
        (
            f"{_SUM}::test_twins_by_case_or_by_unicode_form",
            "tests/stories/test_fixture_input.py::test_nfc_and_nfd_twins",
        ),
    ),
    "IntelligentElectron/universal-netlist#132": Kind(
        "fixtures in a submodule that is not here", (f"{_LOCK}::test_a_submodule_that_is_not_initialised",)
    ),
    "baseballyama/rsvelte#2393": Kind(
        "a new work tree has empty submodules", (f"{_TRAPS}::test_a_new_work_tree_has_empty_submodules",)
    ),
    "zunath/SWLOR_NWN#2144": Kind(
        "a sparse checkout lacks a part",
        (
            f"{_LOCK}::test_a_sparse_checkout",
            "tests/stories/test_fixture_places.py::test_a_diff_in_a_sparse_checkout",
        ),
    ),
    "syrupy-project/syrupy#1237": Kind(
        "two that update at once lose snapshots",
        (
            f"{_LOCK}::test_two_at_once_lose_nothing",
            f"{_LOCK}::test_a_line_that_moved_meanwhile_is_not_taken",
        ),
    ),
    "daaain/claude-code-log#304": Kind(
        "6,000 lines cut, and the next run is green",
        (
            f"{_SUM}::test_a_lock_that_shrinks_under_a_living_fixture",
            f"{_SUM}::test_a_lock_that_shrinks_with_its_fixture",
            f"{_SUM}::test_a_deleted_lock",
        ),
    ),
    "syrupy-project/syrupy#752": Kind("an update that deletes", (f"{_LOCK}::test_refresh_never_deletes",)),
    "syrupy-project/syrupy#134, #138, #333, jestjs/jest#1725, #11075": Kind(
        "what a run in part, or a failed test, did not ask for is called obsolete",
        (f"{_WRITTEN}::test_interactions_that_nobody_asks_for_are_said",),
    ),
    "posit-dev/py-shiny#2334": Kind(
        "the same in shards",
        ("tests/core/test_shards.py::test_what_several_shards_play_is_not_said_to_be_unplayed",),
    ),
    "vitest-dev/vitest#7954": Kind(
        "a recording that lost its test does not fail CI",
        ("tests/engine/test_judge.py::test_a_test_that_is_gone_is_refused",),
    ),
    "syrupy-project/syrupy#581": Kind(
        "a diff of 10,000 lines takes minutes",
        (f"{_DRIFT}::test_the_walker_is_fast", f"{_LOCK}::test_a_long_diff_is_cut"),
    ),
    "mitsuhiko/insta#171": Kind(
        "content with CRLF is written anew for ever",
        (f"{_TRAPS}::test_carriage_returns_of_its_own_are_locked_once",),
    ),
    "approvals/ApprovalTests.Python#159": Kind(
        "compared by size and time alone", (f"{_LOCK}::test_an_edit_with_the_old_size_and_time",)
    ),
    "joseph-roitman/pytest-snapshot#61, lorenzwalthert/precommit#372, gitpython-developers/GitPython#1920": Kind(
        "a hook that fixes files changes recordings",
        ("tests/stories/test_doctor_recorded.py::test_fixers_of_pre_commit",),
    ),
    "ESSS/pytest-regressions#125, yaml/pyyaml#590": Kind(
        "quoted or wrapped in another way", (f"{_DRIFT}::test_only_the_representation",)
    ),
    "andrew-blake/melcloudhome#223": Kind(
        "a header's name in other letters", (f"{_DRIFT}::test_header_names_are_folded_and_bodies_parsed",)
    ),
    "kevin1024/vcrpy#961": Kind(
        "a token in a recording", ("tests/guards/test_fixture_secret.py::test_a_token_in_a_new_cassette",)
    ),
    "kevin1024/vcrpy#719, #942": Kind(
        "one body, stored compressed or not",
        (f"{_DRIFT}::test_a_body_that_is_stored_compressed_is_the_same_body",),
    ),
    "BerriAI/litellm#28110": Kind(
        "bodies that can't be read all became one",
        (f"{_DRIFT}::test_bodies_that_can_not_be_decoded_are_bytes_and_still_differ",),
    ),
    "kevin1024/vcrpy#329": Kind(
        "interactions that nobody asks for", (f"{_WRITTEN}::test_interactions_that_nobody_asks_for_are_said",)
    ),
    "vcr/vcr#734, bikeindex/bike_index#4046": Kind(
        "recorded anew because of its age", (f"{_TRAPS}::test_age_alone_is_no_reason_for_anything",)
    ),
    "kiwicom/pytest-recording#150": Kind(
        "a recording that a run makes", (f"{_WRITTEN}::test_a_recording_that_appears_in_the_run",)
    ),
    "Kludex/cassetter#71": Kind(
        "keys in another order on the wire",
        (f"{_TRAPS}::test_another_order_of_keys_on_the_wire_is_seen_and_named",),
    ),
    "bobmatnyc/trusty-tools#4268": Kind(
        "`UPDATE_GOLDEN=0` updates",
        ("tests/recorder/test_updates.py::test_variables_count_whatever_their_value",),
    ),
    "liatrio-labs/claude-code-gauntlet#214": Kind(
        "rewritten first, and compared then",
        (f"{_WRITTEN}::test_a_recording_that_is_rewritten_and_put_back",),
    ),
    "Monkopedia/sdbus-kotlin#200": Kind(
        "one updating run makes the fault the specification",
        (
            f"{_SUM}::test_a_changed_fixture_is_refused_from_anybody",
            f"{_WRITTEN}::test_a_tool_that_is_told_to_rewrite_compares_instead",
        ),
    ),
    "MalpenZibo/guido#314": Kind(
        "a refusal that was documented and never written",
        (f"{_LOCK}::test_agents_lock_nothing", f"{_SUM}::test_an_agent_locks_nothing_new_either"),
    ),
    "gsd-build/gsd-2#4800": Kind(
        "a replay compares a file with itself", (f"{_TRAPS}::test_a_replay_that_compares_a_file_with_itself",)
    ),
}
