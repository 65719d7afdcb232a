"""A fixture and its lock disagree: each kind, by whose hand, and what must pass."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pytest

from redbucket.core.checksums import write
from redbucket.core.findings import Finding, Severity
from redbucket.core.patch import GITLINK_MODE, SYMLINK_MODE, Entry
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy
from redbucket.guards.context import Context
from redbucket.guards.fixture_checksum import check
from tests.core.trees import MemoryTree, commit, patch

LOCK = "fixtures.sha256"
SIDE = JudgeSide(Policy())
Files = Mapping[str, bytes | str]


def sha(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def lock(files: Files) -> bytes:
    return write({path: sha(data) for path, data in files.items()})


class Tree(MemoryTree):
    """A tree in which ``links`` and ``modules`` are no files."""

    def __init__(self, files: Files, links: tuple[str, ...] = (), modules: tuple[str, ...] = ()) -> None:
        super().__init__({**files, **dict.fromkeys((*links, *modules), "elsewhere")})
        for path in links:
            self._entries[path] = Entry(SYMLINK_MODE, self._entries[path].oid)
        for path in modules:
            self._entries[path] = Entry(GITLINK_MODE, "c" * 40)


def judge(
    base: Files | Tree,
    head: Files | Tree,
    *,
    agent: bool | tuple[str, ...] = True,
    policy: Policy | None = None,
) -> list[Finding]:
    old = base if isinstance(base, Tree) else Tree(base)
    new = head if isinstance(head, Tree) else Tree(head)
    made = patch(old, new, commit("c1", *new.entries))
    changed = frozenset(change.path for change in made.changes)
    paths = changed if agent is True else frozenset(agent or ())
    rules = policy or Policy()
    context = Context(policy=rules, patch=made, base=old, head=new, ancestor=old, agent_paths=paths)
    return check(context, JudgeSide(rules))


def kinds(findings: list[Finding]) -> dict[str, tuple[str, str]]:
    return {f.path or "": (f.reason.partition(":")[0], f.severity.value) for f in findings}


ONE, TWO = "tests/data/one.json", "tests/data/two.json"
FILES: Files = {ONE: "1\n", TWO: "2\n"}
LOCKED: Files = {**FILES, LOCK: lock(FILES), "app.py": "x = 1\n"}


def test_without_a_lock_an_agents_change_is_a_note() -> None:
    new = {"tests/data/new.json": "n"}
    (finding,) = judge(FILES, {**FILES, ONE: "changed", **new})
    assert (finding.severity, finding.path) == (Severity.NOTE, ONE)
    assert finding.reason.startswith("unlocked: an agent changed")
    assert judge(FILES, {**FILES, **new}) == []
    assert judge(FILES, {**FILES, ONE: "changed"}, agent=False) == []
    (gone,) = judge(FILES, {path: data for path, data in FILES.items() if path != ONE})
    assert gone.reason.startswith("unlocked: an agent deleted")


def test_very_many_changes_without_a_lock_are_not_listed_one_by_one() -> None:
    files = {f"tests/data/{number}.json": "1" for number in range(30)}
    found = judge(files, dict.fromkeys(files, "2"))
    assert len(found) == 21
    assert {finding.severity for finding in found} == {Severity.NOTE}
    assert "10 more" in found[-1].reason


def test_a_patch_elsewhere_passes() -> None:
    assert judge(LOCKED, {**LOCKED, "app.py": "x = 2\n"}) == []


@pytest.mark.parametrize("agent", [True, False])
def test_a_changed_fixture_is_refused_from_anybody(agent: bool) -> None:
    (finding,) = judge(LOCKED, {**LOCKED, ONE: "9\n"}, agent=agent)
    assert (finding.path, finding.severity) == (ONE, Severity.REFUSE)
    assert finding.reason.startswith("mismatch: ") and f"{LOCK}:2" in finding.reason
    assert "fixtures refresh" in finding.remedy


def test_only_line_ends() -> None:
    assert kinds(judge(LOCKED, {**LOCKED, ONE: "1\r\n"})) == {ONE: ("line ends only", "refuse")}


def test_a_lone_cr_is_content() -> None:
    assert kinds(judge(LOCKED, {**LOCKED, ONE: "1\r"})) == {ONE: ("mismatch", "refuse")}


def test_missing_moved_duplicated_and_unlisted_are_kinds_of_their_own() -> None:
    gone = {path: data for path, data in LOCKED.items() if path != ONE}
    assert kinds(judge(LOCKED, gone)) == {ONE: ("missing", "refuse")}
    assert kinds(judge(LOCKED, {**gone, "tests/data/uno.json": "1\n"})) == {ONE: ("moved", "refuse")}
    assert kinds(judge(LOCKED, {**LOCKED, "tests/data/uno.json": "1\n"})) == {
        "tests/data/uno.json": ("duplicated", "refuse")
    }
    assert kinds(judge(LOCKED, {**LOCKED, "tests/data/uno.json": "3\n"})) == {
        "tests/data/uno.json": ("unlisted", "refuse")
    }


def test_what_is_no_recorded_fixture_need_not_be_listed() -> None:
    more = {
        "tests/test_x.py": "",
        "tests/notes.txt": "",
        "tests/data/.gitkeep": "",
        "tests/data/conftest.py": "",
    }
    assert judge(LOCKED, {**LOCKED, **more}) == []


def test_a_link_in_the_place_of_a_fixture_or_of_its_folder() -> None:
    without = {path: data for path, data in LOCKED.items() if path != ONE}
    assert kinds(judge(LOCKED, Tree(without, links=(ONE,)))) == {ONE: ("linked", "refuse")}
    bare = {path: data for path, data in LOCKED.items() if not path.startswith("tests/data/")}
    found = kinds(judge(LOCKED, Tree(bare, links=("tests/data",))))
    assert found[ONE] == found[TWO] == ("linked", "refuse")


def test_an_unlisted_link_is_refused() -> None:
    found = kinds(judge(LOCKED, Tree(LOCKED, links=("tests/data/z",))))
    assert found == {"tests/data/z": ("linked", "refuse")}


def test_a_submodule_in_the_place_of_fixtures_is_not_materialised() -> None:
    bare = {path: data for path, data in LOCKED.items() if not path.startswith("tests/data/")}
    found = judge(LOCKED, Tree(bare, modules=("tests/data",)))
    assert kinds(found)["tests/data"] == ("not materialised", "refuse")
    assert "2 locked files of this submodule" in found[0].reason


def test_a_folder_in_the_place_of_a_fixture() -> None:
    without = {path: data for path, data in LOCKED.items() if path != ONE}
    found = judge(LOCKED, {**without, f"{ONE}/inner": "1\n"})
    assert kinds(found)[ONE] == ("moved", "refuse")
    found = judge(LOCKED, {**without, f"{ONE}/inner": "other\n"})
    assert "a folder" in next(f.reason for f in found if f.path == ONE)


def pointer(oid: str) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 2\n"


def test_an_lfs_pointer_is_compared_with_the_lock_without_a_download() -> None:
    base = {**LOCKED, ".gitattributes": "*.json filter=lfs diff=lfs -text\n"}
    (finding,) = judge(base, {**base, ONE: pointer(sha("1\n"))})
    assert finding.reason.startswith("pointer: ") and finding.severity is Severity.WARN
    (finding,) = judge(base, {**base, ONE: pointer(sha("other"))})
    assert finding.reason.startswith("mismatch: its LFS pointer") and finding.severity is Severity.REFUSE


@pytest.mark.parametrize("attributes", ["", "*.bin filter=lfs\n", "*.json filter=lfs\n*.json !filter\n"])
def test_a_pointer_that_no_filter_replaces_is_not_the_locked_bytes(attributes: str) -> None:
    base = {**LOCKED, ".gitattributes": attributes}
    (finding,) = judge(base, {**base, ONE: pointer(sha("1\n"))})
    assert finding.reason.startswith("mismatch: an LFS pointer") and finding.severity is Severity.REFUSE
    assert "git lfs pull" not in finding.remedy and "filter=lfs" in finding.remedy


def test_what_git_annex_leaves_is_not_materialised() -> None:
    found = judge(LOCKED, {**LOCKED, ONE: "/annex/objects/SHA256E-s2--abc.json\n"})
    assert kinds(found) == {ONE: ("not materialised", "refuse")}


def test_twins_by_case_or_by_unicode_form() -> None:
    both = {**FILES, "tests/data/One.json": "1\n"}
    found = judge(LOCKED, {**both, LOCK: lock(both)}, agent=False)
    assert {f.reason.partition(":")[0] for f in found} == {"flawed lock"}
    twins = {"tests/data/caf\u00e9": "x", "tests/data/cafe\u0301": "y"}
    found = judge(LOCKED, {**LOCKED, **twins}, agent=False)
    assert "twin" in {f.reason.partition(":")[0] for f in found}


# --- whose hand moved the lock


def relocked(**files: str) -> Files:
    now = {**FILES, **{f"tests/data/{name}.json": data for name, data in files.items()}}
    return {**LOCKED, **now, LOCK: lock(now)}


def test_an_agent_moves_lock_and_fixture_together() -> None:
    (finding,) = judge(LOCKED, relocked(one="9\n"))
    assert (finding.path, finding.severity) == (ONE, Severity.REFUSE)
    assert finding.reason.startswith("relocked: ")


def test_a_person_may_if_it_verifies() -> None:
    assert judge(LOCKED, relocked(one="9\n", three="3\n"), agent=False) == []


def test_a_persons_lock_vouches_for_an_agents_fixture() -> None:
    assert judge(LOCKED, relocked(one="9\n"), agent=(ONE,)) == []


def test_an_agent_locks_nothing_new_either() -> None:
    (finding,) = judge(LOCKED, relocked(three="3\n"))
    assert finding.path == LOCK and "an agent locked tests/data/three.json" in finding.reason


@pytest.mark.parametrize("agent", [True, False])
def test_a_lock_that_shrinks_under_a_living_fixture(agent: bool) -> None:
    found = judge(LOCKED, {**LOCKED, LOCK: lock({TWO: "2\n"})}, agent=agent)
    assert {f.reason.partition(":")[0] for f in found if f.path == ONE} == {"unlisted", "shrunk"}
    assert any(f.severity is Severity.REFUSE for f in found)


def test_a_lock_that_shrinks_with_its_fixture() -> None:
    head = {TWO: "2\n", LOCK: lock({TWO: "2\n"}), "app.py": "x = 1\n"}
    assert kinds(judge(LOCKED, head)) == {ONE: ("shrunk", "refuse")}
    assert kinds(judge(LOCKED, head, agent=False)) == {ONE: ("shrunk", "note")}


def test_a_deleted_lock() -> None:
    head = {path: data for path, data in LOCKED.items() if path != LOCK}
    assert kinds(judge(LOCKED, head)) == {LOCK: ("shrunk", "refuse")}
    assert kinds(judge(LOCKED, head, agent=False)) == {LOCK: ("shrunk", "warn")}


def test_a_lock_that_can_not_be_read_is_refused_with_its_line() -> None:
    (finding,) = [
        f for f in judge(LOCKED, {**LOCKED, LOCK: lock(FILES) + b"junk\n"}, agent=False) if f.path == LOCK
    ]
    assert (finding.line, finding.severity) == (4, Severity.REFUSE)


def test_a_lock_that_is_a_link() -> None:
    found = kinds(
        judge(LOCKED, Tree({k: v for k, v in LOCKED.items() if k != LOCK}, links=(LOCK,)), agent=False)
    )
    assert found[LOCK] == ("flawed lock", "refuse")


# --- what is wrong already is not this patch's doing


def test_an_old_disagreement_does_not_refuse_an_unrelated_patch() -> None:
    bad = {**LOCKED, ONE: "drifted in base\n", "tests/data/extra.json": "unlisted in base"}
    assert judge(bad, {**bad, "app.py": "x = 2\n"}) == []
    assert kinds(judge(bad, {**bad, TWO: "9\n"})) == {TWO: ("mismatch", "refuse")}


def test_putting_a_fixture_back_to_its_locked_bytes_passes() -> None:
    assert judge({**LOCKED, ONE: "drifted"}, LOCKED) == []


def test_a_new_lock_is_verified_whole() -> None:
    head = {**FILES, LOCK: lock({ONE: "other\n"})}
    assert kinds(judge(FILES, head, agent=False)) == {
        ONE: ("mismatch", "refuse"),
        TWO: ("unlisted", "refuse"),
    }


# --- sidecars and locks in folders


def test_a_sidecar_locks_the_file_beside_it() -> None:
    side = write({"big.bin": sha("big")}, header=False)
    files: Files = {"tests/data/big.bin": "big", "tests/data/big.bin.sha256": side}
    assert judge({}, files, agent=False) == []
    assert kinds(judge(files, {**files, "tests/data/big.bin": "other"})) == {
        "tests/data/big.bin": ("mismatch", "refuse")
    }
    only = {"tests/data/big.bin.sha256": side}
    assert kinds(judge(files, only)) == {"tests/data/big.bin": ("missing", "refuse")}


@pytest.mark.parametrize("text", [sha("big"), f"{sha('big')}  other.bin\n", "", f"{sha('big')}  ./big.bin\n"])
def test_a_sidecar_that_verifies_nothing_is_refused(text: str) -> None:
    files: Files = {"tests/data/big.bin": "big", "tests/data/big.bin.sha256": text}
    assert kinds(judge({}, files, agent=False)) == {"tests/data/big.bin.sha256": ("flawed lock", "refuse")}


def test_recorded_data_that_happens_to_end_so_is_no_lock() -> None:
    assert judge({}, {"tests/data/SUMS.sha256": "no file of that name, no lock"}, agent=False) == []
    assert judge({}, {"dist/app.whl.sha256": sha("x"), "dist/app.whl": "y"}, agent=False) == []


def test_a_lock_in_a_folder_covers_that_folder_only() -> None:
    inner = "tests/data/deep/fixtures.sha256"
    files: Files = {"tests/data/deep/a": "a", "tests/data/b": "b", inner: write({"a": sha("a")})}
    assert judge({}, files, agent=False) == []
    assert kinds(judge(files, {**files, "tests/data/deep/c": "c"})) == {
        "tests/data/deep/c": ("unlisted", "refuse")
    }


def test_two_locks_that_contradict_each_other() -> None:
    files: Files = {**LOCKED, ONE + ".sha256": write({"one.json": sha("other")}, header=False)}
    found = judge({}, files, agent=False)
    assert "disputed" in {f.reason.partition(":")[0] for f in found}


def test_the_policys_own_names_count() -> None:
    rules = replace_fixtures(paths=("golden/**",), manifests=("*.lock256",))
    files: Files = {"golden/a": "a", "my.lock256": write({"golden/a": sha("a")})}
    assert judge({}, files, agent=False, policy=rules) == []
    assert kinds(judge(files, {**files, "golden/a": "b"}, policy=rules)) == {
        "golden/a": ("mismatch", "refuse")
    }


def replace_fixtures(**keys: tuple[str, ...]) -> Policy:
    from redbucket.core.policy import Fixtures

    return Policy(fixtures=Fixtures(**keys))  # type: ignore[arg-type]


INSIDE = "tests/data/sub/x.json"


def with_submodule(commit: str, locked: str) -> Tree:
    tree = Tree({**FILES, LOCK: lock({**FILES, INSIDE: locked})}, modules=("tests/data/sub",))
    tree._entries["tests/data/sub"] = Entry(GITLINK_MODE, commit * 40)
    return tree


@pytest.mark.parametrize(
    ("commit", "locked", "agent", "found"),
    [
        ("d", "2", False, {"tests/data/sub": ("not materialised", "warn")}),  # a person moves both in step
        ("d", "1", False, {"tests/data/sub": ("not materialised", "warn")}),
        ("d", "1", ("tests/data/sub",), {"tests/data/sub": ("not materialised", "refuse")}),
        (
            "c",
            "2",
            (LOCK,),
            {"tests/data/sub": ("not materialised", "refuse"), INSIDE: ("relocked", "refuse")},
        ),
        ("c", "1", True, {}),
    ],
)
def test_a_submodule_moves_under_its_lock(
    commit: str, locked: str, agent: bool | tuple[str, ...], found: dict[str, tuple[str, str]]
) -> None:
    """Its files are not among these objects, so nobody here can say whether they are the locked ones."""
    assert kinds(judge(with_submodule("c", "1"), with_submodule(commit, locked), agent=agent)) == found


def test_the_files_of_a_submodule_are_said_in_one_finding() -> None:
    names = [f"tests/data/sub/{n}" for n in range(50)]
    old = Tree({"app.py": "x = 1\n"}, modules=("tests/data/sub",))
    new = Tree({"app.py": "x = 1\n", LOCK: lock(dict.fromkeys(names, "x"))}, modules=("tests/data/sub",))
    (found,) = judge(old, new, agent=False)
    assert (found.path, found.severity) == (
        "tests/data/sub",
        Severity.WARN,
    ) and "50 locked files" in found.reason
