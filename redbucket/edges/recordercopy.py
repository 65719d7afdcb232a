"""Puts the recorder, which runs inside the project's process, into the folder of each run.

Sent to the far side of a connection, so it is of the standard library only, for Python 3.8.
"""

from __future__ import annotations

import base64
import json
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

_LIMIT = 60.0
# PEP 552: magic number, flags (1: by hash, which is not checked), hash of the source, code. What is read and written
# goes through pipes: code under test can write to any file.
_COMPILE = """
import base64, importlib.util, json, marshal, sys
made = {}
for name, text in json.load(sys.stdin).items():
    source = text.encode("utf-8")
    code = compile(source, name, "exec", dont_inherit=True)
    head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source)
    cached = importlib.util.cache_from_source(name, optimization="")
    made[cached] = base64.b64encode(head + marshal.dumps(code)).decode("ascii")
json.dump(made, sys.stdout)
"""


class RecorderCopy:
    """Writes the recorder's ``sources``, {name: text}, and their bytecode, so that no run compiles them again.

    They are compiled once for each interpreter, before anything of the judged tree has run in it.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._made: dict[str, dict[str, bytes]] = {}
        self._lock = threading.Lock()

    def put(self, folder: Path, python: str) -> None:
        """Write them into ``folder``, which is made, for runs of the interpreter ``python``."""
        with self._lock:
            if python not in self._made:
                self._made[python] = _compiled(python, self._sources)
        folder.mkdir(parents=True)
        for name, text in self._sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name, raw in self._made[python].items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(raw)


def read(folder: Path) -> dict[str, str]:
    """Return {name: text} of the modules in ``folder``."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def _compiled(python: str, sources: Mapping[str, str]) -> dict[str, bytes]:
    """Return {name of the cached file: its bytes}; nothing if that interpreter can't: the runs say why, or compile."""
    try:
        done = subprocess.run(
            [python, "-I", "-S", "-c", _COMPILE],
            input=json.dumps(dict(sources)).encode("ascii"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            timeout=_LIMIT,
            check=True,
        )
        return {name: base64.b64decode(text) for name, text in json.loads(done.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
