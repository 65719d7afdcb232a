"""Contents of Git LFS, read without it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from redbucket.core.lfs import Pointer
from redbucket.edges.lfsstore import LfsStore


def test_only_a_content_that_is_what_the_pointer_says(tmp_path: Path) -> None:
    store = LfsStore(tmp_path)
    wanted = Pointer(sha256(b"bytes").hexdigest(), 5)
    place = tmp_path / "objects" / wanted.sha256[:2] / wanted.sha256[2:4] / wanted.sha256
    assert (store.holds(wanted), store.read(wanted)) == (False, None)
    place.mkdir(parents=True)
    assert (store.holds(wanted), store.read(wanted)) == (False, None)
    place.rmdir()
    place.write_bytes(b"other")
    assert (store.holds(wanted), store.read(wanted)) == (True, None)
    place.write_bytes(b"bytes and more")
    assert (store.holds(wanted), store.read(wanted)) == (False, None)
    place.write_bytes(b"bytes")
    assert (store.holds(wanted), store.read(wanted)) == (True, b"bytes")
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert (store.holds(wanted), store.read(wanted)) == (False, None)
