"""Rows are told where their tests are defined."""

from __future__ import annotations

from redbucket.core.buckets import Bucket
from redbucket.core.patch import FILE_MODE, Entry
from redbucket.core.report import Row
from redbucket.engine.places import placed


class View:
    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self.entries = {path: Entry(FILE_MODE, "0" * 40) for path in files}
        self.read_paths: list[str] = []

    def read(self, path: str) -> bytes:
        self.read_paths.append(path)
        return self._files[path]


SOURCE = b"""\
import unittest


class T(unittest.TestCase):
    def test_a(self):
        pass


def test_b():
    pass
"""


def test_red_rows_get_a_place_and_quiet_ones_none() -> None:
    view = View({"tests/test_x.py": SOURCE})
    ids = [
        "tests/test_x.py::T::test_a",
        "tests/test_x.py::test_b[1]",
        "tests.test_x.T.test_a",
        "gone.py::test",
    ]
    rows = [Row(nodeid=name, bucket=Bucket.INVARIANT_MISS) for name in ids]
    rows += [
        Row(nodeid=ids[0], bucket=Bucket.STABLE_PASS),
        Row(nodeid=ids[1], bucket=Bucket.SKIPPED, blocks=True),
    ]
    found = [(row.nodeid, row.path, row.line) for row in placed(rows, view)]
    path = "tests/test_x.py"
    assert found == [
        (ids[0], path, 5), (ids[1], path, 9), (ids[2], path, 5), (ids[3], None, None),
        (ids[0], None, None), (ids[1], path, 9),
    ]  # fmt: skip
    assert view.read_paths == [path]
