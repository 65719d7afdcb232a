"""What the hooks of one git command have printed, as a file that only they find."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from redbucket.edges.saidalready import SaidAlready

UNDER_PRE_COMMIT = {"PRE_COMMIT": "1"}


def said(folder: Path, subject: str = "one") -> SaidAlready:
    return SaidAlready.under(UNDER_PRE_COMMIT, folder, subject)


def test_others_of_the_same_command_see_it(tmp_path: Path) -> None:
    said(tmp_path).add("gate", ["a", "b"])
    said(tmp_path).add("paths", ["b"])
    assert said(tmp_path).by_others("tests") == {"a": "gate", "b": "paths"}
    assert said(tmp_path).by_others("gate") == {"b": "paths"}
    assert said(tmp_path, "another patch").by_others("tests") == {}


def test_another_command_does_not_see_it_and_takes_its_place(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from redbucket.edges.saidalready import SaidAlready\n"
        "SaidAlready.under({'PRE_COMMIT': '1'}, Path(sys.argv[1]), 'one').add('gate', ['a'])"
    )
    # a shell in between, which is gone when this process looks
    words = ["/bin/sh", "-c", '"$0" -c "$1" "$2"; true', sys.executable, code, str(tmp_path)]
    subprocess.run(words, check=True, timeout=60)
    (left,) = tmp_path.iterdir()
    before = left.read_bytes()
    assert b'"gate"' in before
    assert said(tmp_path).by_others("tests") == {}
    said(tmp_path).add("paths", ["b"])
    assert list(tmp_path.iterdir()) == [left]
    assert b'"gate"' not in left.read_bytes()
    assert said(tmp_path).by_others("tests") == {"b": "paths"}


def test_without_a_command_to_go_by_nothing_is_remembered(tmp_path: Path) -> None:
    unknown = SaidAlready(tmp_path / "said", "", "one")
    unknown.add("gate", ["a"])
    assert unknown.by_others("tests") == {}
    assert not list(tmp_path.iterdir())


def test_a_file_that_others_can_write_or_that_is_no_record_counts_for_nothing(tmp_path: Path) -> None:
    said(tmp_path).add("gate", ["a"])
    (path,) = tmp_path.iterdir()
    path.chmod(0o666)
    assert said(tmp_path).by_others("tests") == {}
    path.chmod(0o600)
    assert said(tmp_path).by_others("tests") == {"a": "gate"}
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"subject": 1}\n')
    assert said(tmp_path).by_others("tests") == {}
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert said(tmp_path).by_others("tests") == {}
