"""What code under test writes into redbucket's own folder does not come into a process that works already."""

from __future__ import annotations

import importlib.util
import marshal
import sys
import time
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path

import pytest

from redbucket.core.errors import WorldFailed
from redbucket.edges.installed import differences, look, own_folders
from redbucket.edges.unaltered import PACKAGE, Unaltered, beginning

NAMES = ("early_one", "early_two", "late_one")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in NAMES[:2]:
        (tmp_path / f"{name}.py").write_text("SAYS = 'mine'\n")
    time.sleep(0.05)  # the kernel's clock of files is a coarse one
    finder = Unaltered(time.time(), [str(tmp_path)])
    time.sleep(0.05)
    # a story before it in this process may have left one
    others = [other for other in sys.meta_path if not isinstance(other, Unaltered)]
    monkeypatch.setattr(sys, "meta_path", [finder, *others])
    yield tmp_path
    for name in NAMES:
        sys.modules.pop(name, None)


def test_what_was_there_before_is_imported(folder: Path) -> None:
    assert import_module("early_one").SAYS == "mine"
    assert import_module("colorsys").hls_to_rgb(0, 1, 0) == (1, 1, 1)


def test_a_source_that_was_written_since_is_not(folder: Path) -> None:
    (folder / "early_one.py").write_text("SAYS = 'yours'\n")
    with pytest.raises(WorldFailed, match="written after redbucket started") as raised:
        import_module("early_one")
    assert raised.value.code == "redbucket-rewritten"


def test_a_new_file_that_takes_the_place_of_a_module_is_not(folder: Path) -> None:
    (folder / "late_one.py").write_text("SAYS = 'yours'\n")
    invalidate_caches()
    with pytest.raises(WorldFailed, match="late_one"):
        import_module("late_one")


def test_bytecode_that_was_written_since_is_not_run(folder: Path) -> None:
    source = folder / "early_two.py"
    cached = Path(importlib.util.cache_from_source(str(source)))
    cached.parent.mkdir(exist_ok=True)
    stat = source.stat()
    header = importlib.util.MAGIC_NUMBER + bytes(4)
    header += int(stat.st_mtime).to_bytes(4, "little") + stat.st_size.to_bytes(4, "little")
    cached.write_bytes(header + marshal.dumps(compile("SAYS = 'yours'", str(source), "exec")))
    assert import_module("early_two").SAYS == "mine"


def test_elsewhere_new_modules_are_as_welcome_as_ever(tmp_path: Path, folder: Path) -> None:
    other = tmp_path.parent / f"{tmp_path.name}-other"
    other.mkdir()
    (other / "late_one.py").write_text("SAYS = 'new'\n")
    sys.path.insert(0, str(other))
    try:
        assert import_module("late_one").SAYS == "new"
    finally:
        sys.path.remove(str(other))


def test_a_clock_that_was_set_back_makes_nothing_new_that_was_installed_before(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    (site / "library").mkdir(parents=True)
    module = site / "library" / "part.py"
    module.write_text("SAYS = 'theirs'\n")
    time.sleep(0.05)
    (site / "library-1.0.dist-info").mkdir()
    an_hour_ago = time.time() - 3600
    assert beginning(an_hour_ago, [str(tmp_path / "nowhere"), str(site)]) > module.stat().st_ctime
    assert beginning(an_hour_ago, []) == an_hour_ago
    later = time.time() + 3600
    assert beginning(later, [str(site)]) == later


def test_its_own_files_are_among_those_that_must_not_change() -> None:
    seen = look(own_folders())
    for place in ("engine/judge.py", "recorder/boot.py", "formats/as_json.py"):
        assert str(PACKAGE / place) in seen
    assert differences(seen, {**seen, str(PACKAGE / "cli.py"): "another"}) == [str(PACKAGE / "cli.py")]
