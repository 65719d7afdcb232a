"""Ways in which other projects' checksums and recordings went wrong, told by the thread that tells of each."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from redbucket.core.checksums import write
from redbucket.core.drift import Drift, change_of
from tests.gitkit import HUMAN, Content, Link, Repo
from tests.stories.kit import SHOP, Shop, redbucket


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def verified(repo: Path, *words: str) -> tuple[int, dict[str, str], list[str]]:
    ended = redbucket("fixtures", "verify", "-C", repo, *words, "--format", "json")
    report = json.loads(ended.out)
    found = {f["path"]: f["reason"].partition(":")[0] for f in report["findings"]}
    return ended.exit_code, found, [p["reason"] for p in report["undecided"]]


def pointer_to(text: str) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha(text)}\nsize {len(text)}\n"


def test_plain_files_and_links_beside_lfs_pointers(tmp_path: Path) -> None:
    """git-lfs/git-lfs#4688, #4697: what is no pointer was called broken; attributes are read per path."""
    repo = Repo.init(tmp_path / "repo")
    plain, stored, quoted = "tests/data/plain.bin", "tests/data/stored.bin", "tests/data/pointer.txt"
    files: dict[str, Content] = {plain: "plain", stored: pointer_to("stored"), quoted: pointer_to("x")}
    repo.commit({".gitattributes": "*.bin filter=lfs diff=lfs -text\n", **files})
    proposed = redbucket("fixtures", "lock", "-C", repo.path, plain, stored, quoted)
    # a pointer that no filter replaces is what tests read: its own bytes are locked
    for path, text in ((plain, "plain"), (stored, "stored"), (quoted, pointer_to("x"))):
        assert f"{path}={sha(text)}" in proposed.err
    lock = write({plain: sha("plain"), stored: sha("stored"), quoted: sha(pointer_to("x"))})
    repo.commit({"fixtures.sha256": lock})
    code, found, absent = verified(repo.path, "--staged")
    assert (code, found, absent) == (0, {}, [])  # the pointer says the locked checksum
    code, found, absent = verified(repo.path)
    assert (code, found) == (2, {}) and [each.partition(":")[0] for each in absent] == [stored]
    repo.commit({plain: Link("stored.bin")})
    code, found, _ = verified(repo.path, "--staged")
    assert (code, found) == (1, {plain: "linked"})


def test_the_gate_names_only_pointers_that_lfs_filters(tmp_path: Path) -> None:
    files = {
        ".gitattributes": "*.bin filter=lfs\n",
        "tests/data/a.bin": pointer_to("a"),
        "tests/data/b.txt": pointer_to("b"),
    }
    shop = Shop.open(tmp_path, files)
    shop.patch({"shop.py": SHOP + "\n\ndef double(price):\n    return 2 * price\n"})
    (note,) = [n for n in shop.gate().report["notes"] if n["code"] == "not-materialised"]
    assert "tests/data/a.bin" in note["reason"] and "b.txt" not in note["reason"]


def test_a_new_work_tree_has_empty_submodules(tmp_path: Path) -> None:
    """baseballyama/rsvelte#2393: said as such, in a linked work tree and in the trees of the gate."""
    inner = Repo.init(tmp_path / "inner")
    inner.commit({"x.txt": "x\n"})
    test = (
        "import unittest\nfrom pathlib import Path\nclass T(unittest.TestCase):\n    def test_x(self):\n"
        "        self.assertTrue((Path(__file__).parent / 'data/sub/x.txt').read_text())\n"
    )
    shop = Shop.open(tmp_path, {"tests/test_x.py": test})
    repo = shop.repo
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "tests/data/sub")
    repo.commit({"fixtures.sha256": write({"tests/data/sub/x.txt": sha("x\n")})})
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    code, found, absent = verified(tmp_path / "linked")
    assert (code, found) == (2, {})
    assert any("submodule" in each for each in absent)
    shop.patch({"shop.py": SHOP + "\n\ndef double(price):\n    return 2 * price\n"})
    told = shop.gate()
    row = told.row("test_x")
    assert (row["state"], row["blocks"]) == ("already red", False)
    (note,) = [n for n in told.report["notes"] if n["code"] == "not-materialised"]
    assert "tests/data/sub" in note["reason"]


CASSETTE = """\
interactions:
- request: {{body: null, headers: {{}}, method: GET, uri: 'https://example.org/'}}
  response:
    body: {{string: '{body}'}}
    headers: {{Date: ['Tue, 01 Jan 2013 10:00:00 GMT']}}
    status: {{code: 200, message: OK}}
  recorded_at: Tue, 01 Jan 2013 10:00:00 GMT
version: 1
"""


def test_age_alone_is_no_reason_for_anything(tmp_path: Path) -> None:
    """vcr/vcr#734, bikeindex/bike_index#4046: old recordings were recorded anew, live, and left a dirty tree."""
    repo = Repo.init(tmp_path / "repo")
    name, text = "tests/cassettes/old.yaml", CASSETTE.format(body="{}")
    repo.commit({name: text, "fixtures.sha256": write({name: sha(text)})})
    os.utime(repo.path / name, (0, 0))
    before = repo.snapshot()
    assert verified(repo.path) == (0, {}, [])
    assert redbucket("fixtures", "diff", "-C", repo.path).out == "no fixture moved\n"
    assert repo.snapshot() == before


def test_carriage_returns_of_its_own_are_locked_once(tmp_path: Path) -> None:
    """mitsuhiko/insta#171: content with CRLF differed from what was read back, and was written anew each time."""
    repo = Repo.init(tmp_path / "repo")
    name, text = "tests/data/page.txt", "one\r\ntwo\r\n"
    repo.commit({".gitattributes": "tests/data/** -text\n", name: text, "fixtures.sha256": write({})})
    taken = redbucket("fixtures", "lock", "-C", repo.path, "--accept", f"{name}={sha(text)}")
    assert taken.exit_code == 0, taken.err
    repo.commit({"fixtures.sha256": (repo.path / "fixtures.sha256").read_text()})
    assert verified(repo.path) == (0, {}, [])
    again = redbucket("fixtures", "lock", "-C", repo.path)
    assert (again.exit_code, again.out) == (0, "nothing to do: what is staged is what is locked\n")


def test_another_order_of_keys_on_the_wire_is_seen_and_named(tmp_path: Path) -> None:
    """Kludex/cassetter#71: sorted keys broke verbatim asserts. The bytes are what is locked, and what tests get."""
    name = "tests/cassettes/a.yaml"
    old, new = CASSETTE.format(body='{"b": 1, "a": 2}'), CASSETTE.format(body='{"a": 2, "b": 1}')
    assert change_of(name, old.encode(), new.encode()).drift is Drift.REPRESENTATION
    test = (
        "import unittest\nfrom pathlib import Path\nimport shop\nclass T(unittest.TestCase):\n"
        "    def test_verbatim(self):\n"
        "        text = (Path(__file__).parent / 'cassettes/a.yaml').read_text()\n"
        '        self.assertIn(\'{"b": 1, "a": 2}\', text)\n'
    )
    shop = Shop.open(
        tmp_path, {"tests/test_x.py": test, name: old, "fixtures.sha256": write({name: sha(old)})}
    )
    shop.patch({name: new}, branch="fix", author=HUMAN)
    told = shop.gate("fix")
    assert [f["path"] for f in told.findings("fixture-checksum")] == [name]
    assert told.row("test_verbatim")["bucket"] == "fixture_drift"


def test_a_replay_that_compares_a_file_with_itself(tmp_path: Path) -> None:
    """gsd-build/gsd-2#4800: the recording has to reach the code, or its test stays green whatever the code does."""
    test = (
        "import unittest\nfrom pathlib import Path\nclass T(unittest.TestCase):\n    def test_replay(self):\n"
        "        place = Path(__file__).parent / 'data/label.txt'\n"
        "        self.assertEqual(place.read_text(), place.read_text())\n"
    )
    shop = Shop.open(tmp_path, {"tests/test_shop.py": test, "tests/data/label.txt": "3.00 EUR"})
    shop.patch({"shop.py": SHOP.replace("{price:.2f}", "{price}")})
    told = shop.gate()
    assert told.row("test_replay")["bucket"] == "stable_pass"
    assert [f["severity"] for f in told.findings("untrusted-green")] == ["warn"]
