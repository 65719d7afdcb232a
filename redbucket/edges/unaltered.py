"""Keeps what was written after this process began from being imported into it.

Code under test runs as the same user, and may write into redbucket's own folder. What the gate imports later, the
formats of reports for instance, would then be that code, and say what it likes.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from redbucket.core.errors import WorldFailed

PACKAGE = Path(__file__).resolve().parent.parent


class _FromSource(SourceFileLoader):
    """Compiles the source anew: cached bytecode of another process may be anybody's."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Unaltered:
    """A finder that has the others find, and refuses files that changed after ``began`` (seconds of the clock).

    Looked at are modules that stand in one of ``folders``. A file's change time can't be set back by who writes to it.
    """

    def __init__(self, began: float, folders: Sequence[str]) -> None:
        self._began = began
        self._folders = tuple(f"{folder.rstrip('/')}/" for folder in folders)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of another finder. Raises WorldFailed "redbucket-rewritten"."""
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                return self._checked(spec)
        return None

    def _checked(self, spec: ModuleSpec) -> ModuleSpec:
        origin = spec.origin or ""
        if not spec.has_location or not origin.startswith(self._folders):
            return spec
        if self._changed(origin):
            raise WorldFailed(
                "redbucket-rewritten",
                f"{origin}, which redbucket needs now, was written after redbucket started",
                "unless you did that yourself: code under test did; make redbucket's environment anew, and let tests"
                ' run where they can\'t write to it ([run] sandbox = "require")',
            )
        if spec.cached and type(spec.loader) is SourceFileLoader and self._changed(spec.cached):
            spec.loader = _FromSource(spec.name, origin)
            spec.cached = None
        return spec

    def _changed(self, path: str) -> bool:
        try:
            return os.stat(path).st_ctime > self._began  # noqa: PTH116 (plain strings: half the time)
        except OSError:
            return False  # it is not there: the loader says so, or makes do without


def stand() -> None:
    """From now on let nothing into this process that is written to where its modules come from."""
    if any(isinstance(finder, Unaltered) for finder in sys.meta_path):
        return
    folders = [str(PACKAGE.parent), *(os.path.abspath(place) for place in sys.path)]  # noqa: PTH100 (texts)
    sys.meta_path.insert(0, Unaltered(beginning(time.time(), [str(PACKAGE), *folders]), folders))
    sys.dont_write_bytecode = True  # what this process compiles is not to look like what somebody wrote


def beginning(now: float, folders: Sequence[str]) -> float:
    """Return ``now``, or the change time of the newest thing right in ``folders`` if the clock was set back since.

    Otherwise all that was installed before that would look as if it had been written since. An installer writes a
    package's own folder of metadata last.
    """
    newest = now
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as listing:
            for entry in listing:
                with contextlib.suppress(OSError):
                    newest = max(newest, entry.stat(follow_symlinks=False).st_ctime)
    return newest
